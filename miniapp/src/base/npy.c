#include "base/npy.h"

bool npy_header(FILE *file, const char *type, const size_t *shape, int dimensions) {
    char text[256];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < dimensions; i++) n += snprintf(text + n, sizeof text - (size_t)n, "%zu, ", shape[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");

    enum { preamble = 10, alignment = 64 };
    int padded = (preamble + n + 1 + alignment - 1) / alignment * alignment - preamble;
    unsigned char head[preamble] = "\x93NUMPY\x01";
    head[8] = (unsigned char)(padded & 255);
    head[9] = (unsigned char)(padded >> 8);
    return fwrite(head, 1, preamble, file) == preamble && fprintf(file, "%-*s\n", padded - 1, text) == padded;
}
