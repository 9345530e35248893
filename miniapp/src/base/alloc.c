#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cache_line = 64 };

void *alloc(size_t count, size_t size) {
    size_t bytes = count * size;
    size_t rounded = (bytes / cache_line + 1) * cache_line;
    bool overflow = size != 0 && count > SIZE_MAX / 2 / size;
    void *block = overflow ? NULL : aligned_alloc(cache_line, rounded);
    if (!block) {
        fprintf(stderr, "miniapp: out of memory: %zu x %zu bytes were asked for\n", count, size);
        abort();
    }
    return block;
}

void *alloc_zero(size_t count, size_t size) {
    void *block = alloc(count, size);
    memset(block, 0, count * size);
    return block;
}

char *alloc_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(alloc(bytes, 1), text, bytes);
}
