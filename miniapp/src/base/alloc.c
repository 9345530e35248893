#include "base/alloc.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { huge_page = 1 << 21 };

/// Returns whether so many bytes are more than any block can have.
static bool overflows(size_t count, size_t size) {
    return size != 0 && count > SIZE_MAX / 2 / size;
}

static _Noreturn void refuse(size_t count, size_t size) {
    fatal("out of memory: %zu x %zu bytes were asked for", count, size);
}

void *alloc(size_t count, size_t size) {
    size_t bytes = count * size;
    bool large = bytes >= huge_page;
    size_t alignment = large ? huge_page : alloc_apart;
    size_t rounded = (bytes / alignment + 1) * alignment;
    void *block = overflows(count, size) ? NULL : aligned_alloc(alignment, rounded);
    if (!block) refuse(count, size);
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
    void *more = overflows(count, size) ? NULL : realloc(block, count * size + 1);
    if (!more) refuse(count, size);
    return more;
}

void *alloc_room(void *block, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity) return block;
    void *larger = alloc(2 * count, size);
    if (*capacity) memcpy(larger, block, *capacity * size);
    free(block);
    *capacity = 2 * count;
    return larger;
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

void *alloc_copy(const void *items, size_t count, size_t size) {
    void *copy = alloc(count, size);
    return count ? memcpy(copy, items, count * size) : copy;
}

char *alloc_string(const char *text) {
    return alloc_copy(text, strlen(text) + 1, 1);
}

void alloc_free(void *const *blocks, size_t n) {
    for (size_t i = 0; i < n; i++) free(blocks[i]);
}

// -------------------- fatal

void fatal(const char *format, ...) {
    char line[1024] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "miniapp: %s\n", line);
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended) MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); // not exit(), since other threads are at work
}
