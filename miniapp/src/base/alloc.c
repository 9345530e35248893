/// \file
/// Takes memory, makes it larger or smaller, and gives it back.
///
/// Small blocks begin on a boundary of alloc_apart bytes. Blocks of 2 MB or more begin with a huge page and
/// ask the system for huge pages in all but their rest. alloc_release() gives pages back while a block is
/// still in use, which is how a table replaces its buckets without both being there at a time.

#include "base/alloc.h"

#include "base/fatal.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// Bytes of a huge page: 2 MiB on x86-64 and, with pages of 4 KiB, on ARM.
enum { huge_page = 1 << 21 };

/// Bytes of a block from which alloc_release() gives back huge pages only: 16 of them. A smaller block would
/// keep most of its memory until the end if it had to wait for a whole huge page.
enum { releases_huge_pages = 16 * huge_page };

/// Returns whether so many bytes are more than any block can have.
static bool overflows(size_t count, size_t size) {
    return size != 0 && count > SIZE_MAX / 2 / size;
}

/// Ends the program, with one line that says how much was asked for.
static _Noreturn void refuse(size_t count, size_t size) {
    fatal("out of memory: %.0f bytes (%zu x %zu) were asked for", (double)count * (double)size, count, size);
}

void *alloc(size_t count, size_t size) {
    // The product may overflow; then nothing is allocated with it.
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
    // A large block keeps whole huge pages.
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
    // Small blocks give back small pages, large ones only whole huge pages.
    const size_t page = bytes < releases_huge_pages ? (size_t)sysconf(_SC_PAGESIZE) : huge_page;
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
