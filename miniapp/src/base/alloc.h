/// \file
/// Memory that is there or ends the program: no caller can go on without it.
///
/// Blocks start on a cache line (64 bytes), so that a list of synapses or a row of the ring buffer touches
/// as few lines as its length allows; large ones ask for huge pages, since synapses and ring buffers are read
/// at random and would miss the TLB as well as the cache. Free them with free().

#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/// count * size bytes, contents undefined. Never returns NULL (count * size may be 0).
void *alloc(size_t count, size_t size);

/// As alloc(), set to zero by the calling thread (which thereby owns the pages on a NUMA machine).
void *alloc_zero(size_t count, size_t size);

/// A copy of a string.
char *alloc_string(const char *text);

#define ALLOC(type, count)      ((type *)alloc((count), sizeof(type)))
#define ALLOC_ZERO(type, count) ((type *)alloc_zero((count), sizeof(type)))

#endif
