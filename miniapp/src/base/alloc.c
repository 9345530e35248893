#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { huge_page = 1 << 21 };

void *alloc(size_t count, size_t size) {
    size_t bytes = count * size;
    bool large = bytes >= huge_page;
    size_t alignment = large ? huge_page : alloc_apart;
    size_t rounded = (bytes / alignment + 1) * alignment;
    bool overflow = size != 0 && count > SIZE_MAX / 2 / size;
    void *block = overflow ? NULL : aligned_alloc(alignment, rounded);
    if (!block) {
        fprintf(stderr, "miniapp: out of memory: %zu x %zu bytes were asked for\n", count, size);
        _exit(1); // not exit(), since other threads are at work
    }
    // The rest of the block stays in small pages, so that none of it is memory that nobody asked for. Where
    // the system has no huge pages, the program is only slower.
    if (large) madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE);
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
