#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { cache_line = 64, huge_page = 1 << 21 };

void *alloc(size_t count, size_t size) {
    size_t bytes = count * size;
    bool large = bytes >= 2 * huge_page;
    size_t alignment = large ? huge_page : cache_line;
    size_t rounded = (bytes / alignment + 1) * alignment;
    bool overflow = size != 0 && count > SIZE_MAX / 2 / size;
    void *block = overflow ? NULL : aligned_alloc(alignment, rounded);
    if (!block) {
        fprintf(stderr, "miniapp: out of memory: %zu x %zu bytes were asked for\n", count, size);
        _exit(1); // not exit(), since other threads are at work
    }
    if (large) madvise(block, rounded, MADV_HUGEPAGE); // without it the program is only slower
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
