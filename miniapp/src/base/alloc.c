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

void *alloc_more(void *block, size_t count, size_t size) {
    void *more = realloc(block, count * size + 1);
    if (more) return more;
    fprintf(stderr, "miniapp: out of memory: %zu x %zu bytes were asked for\n", count, size);
    _exit(1);
}

void *alloc_less(void *block, size_t count, size_t size) {
    const size_t whole = (count * size / huge_page + 1) * huge_page; // none of which is divided
    void *less = realloc(block, count * size < huge_page ? count * size + 1 : whole);
    if (!less) return block;
    if ((uintptr_t)less % alloc_apart == 0) return less;
    void *aligned = alloc(count, size); // another allocator may have moved it
    memcpy(aligned, less, count * size);
    free(less);
    return aligned;
}

size_t alloc_release(size_t bytes, void *from, void *to) {
    const size_t page = bytes < 16 * (size_t)huge_page ? (size_t)sysconf(_SC_PAGESIZE) : huge_page;
    const uintptr_t first = ((uintptr_t)from + page - 1) / page * page, end = (uintptr_t)to / page * page;
    if (first >= end || end - first < bytes / alloc_releases) return 0;
    madvise((char *)from + (first - (uintptr_t)from), end - first, MADV_DONTNEED);
    return end - (uintptr_t)from;
}

char *alloc_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(alloc(bytes, 1), text, bytes);
}
