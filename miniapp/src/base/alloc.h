/// \file
/// Allocation that either succeeds or ends the program, since no caller can go on without its memory.
///
/// Blocks start on a cache line, so that a list of synapses or a row of the ring buffer touches as few lines
/// as its length allows. No two blocks share a line, nor a pair of lines that are fetched together, so what
/// one thread writes does not take a line from another. Blocks of 2 MB and more begin with a huge page and
/// ask for huge pages: synapses, their index and ring buffers are read at random and would otherwise miss the
/// TLB as well as the cache. No huge page holds parts of two blocks.
///
/// A page belongs to the memory node of the thread that first writes to it, not of the one that allocates it.
/// So the thread that will use a block should fill it. Free all blocks with free().

#pragma once

#include <stddef.h>

/// A function whose constant arguments make a loop of its own wherever it is called.
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/// Bytes that lie between things of different threads: the longest cache line of processors in use (A64FX),
/// and two pairs of lines of others.
enum { alloc_apart = 256 };

/// Allocates count * size bytes, whose contents are undefined. Never returns NULL (count * size may be 0).
void *alloc(size_t count, size_t size);

/// Allocates as alloc() does and lets the calling thread set the bytes to zero, so that the pages are near
/// it.
void *alloc_zero(size_t count, size_t size);

/// Makes a block, or NULL, of alloc() larger, or smaller. What was in it stays; it may be elsewhere. A block
/// that got larger need not begin on a line, nor with a huge page.
void *alloc_more(void *block, size_t count, size_t size);
void *alloc_less(void *block, size_t count, size_t size);

/// Makes room for `count` items in an array that grows, with room for *capacity of them (NULL: none), and for
/// as many again, so that it seldom moves. What was in it stays, and it begins on a line.
void *alloc_room(void *block, size_t *capacity, size_t count, size_t size);

/// A block can be given back in so many parts. Each time, other processors forget its pages, which takes
/// microseconds. With 64 parts, at most 1/64 of a block is there twice while a table replaces it; with 32 it
/// would be 3 %, and with 128 the calls would take twice the time.
enum { alloc_releases = 64 };

/// Gives the memory of the whole pages from ... to - 1 of a block of `bytes` bytes back to the system: huge
/// pages where the block has many. It does nothing while they are less than bytes / alloc_releases. What is
/// in them is lost; they can be written to again. \return bytes from `from` up to the end of the last of
/// these pages, 0 if none was given back.
size_t alloc_release(size_t bytes, void *from, void *to);

/// Return a copy of `count` items, or of a string.
void *alloc_copy(const void *items, size_t count, size_t size);
char *alloc_string(const char *text);

/// Frees blocks, of which any may be NULL.
#define FREE(...) alloc_free((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void alloc_free(void *const *blocks, size_t n);

/// Allocate `count` items of a type, undefined or set to zero.
#define ALLOC(type, count)      ((type *)alloc((count), sizeof(type)))
#define ALLOC_ZERO(type, count) ((type *)alloc_zero((count), sizeof(type)))
