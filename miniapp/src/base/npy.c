#include "base/npy.h"

#include <stdlib.h>
#include <string.h>

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

/// Returns what follows 'key': in the header, or "".
static const char *value_of(const char *text, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *found = strstr(text, quoted);
    return found ? found + strlen(quoted) + strspn(found + strlen(quoted), " ") : "";
}

bool npy_read_header(FILE *file, const char *type, size_t *shape, int dimensions) {
    enum { preamble = 10, longest = 1024 };
    unsigned char head[preamble];
    char text[longest + 1] = "", quoted[16];
    if (fread(head, 1, preamble, file) != preamble || memcmp(head, "\x93NUMPY\x01", 7) != 0) return false;
    const size_t bytes = head[8] + 256u * head[9];
    if (bytes > longest || fread(text, 1, bytes, file) != bytes) return false;

    snprintf(quoted, sizeof quoted, "'%s'", type);
    if (strncmp(value_of(text, "descr"), quoted, strlen(quoted)) != 0) return false;
    if (strncmp(value_of(text, "fortran_order"), "False", 5) != 0) return false;
    const char *at = value_of(text, "shape");
    if (*at++ != '(') return false;
    for (int i = 0; i < dimensions; i++) {
        char *end;
        at += strspn(at, ", ");
        if (*at < '0' || *at > '9') return false;
        shape[i] = strtoull(at, &end, 10);
        at = end;
    }
    return at[strspn(at, ", ")] == ')';
}
