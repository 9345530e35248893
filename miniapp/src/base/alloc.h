/// \file
/// Allocation that either succeeds or ends the program, since no caller can go on without its memory.
///
/// Blocks start on a cache line (64 bytes), so that a list of synapses or a row of the ring buffer touches as
/// few lines as its length allows. Large blocks ask for huge pages: synapses and ring buffers are read at
/// random and would otherwise miss the TLB as well as the cache. Free all blocks with free().

#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/// Allocates count * size bytes, whose contents are undefined. Never returns NULL (count * size may be 0).
void *alloc(size_t count, size_t size);

/// Allocates as alloc() does and lets the calling thread set the bytes to zero, which makes it the owner of
/// the pages on a NUMA machine.
void *alloc_zero(size_t count, size_t size);

/// Returns a copy of a string.
char *alloc_string(const char *text);

#define ALLOC(type, count)      ((type *)alloc((count), sizeof(type)))
#define ALLOC_ZERO(type, count) ((type *)alloc_zero((count), sizeof(type)))

#endif
