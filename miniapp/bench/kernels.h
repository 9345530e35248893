/// \file
/// The kernels of the mini-app, set up on their own so that a benchmark can run them.
///
/// A kernel is one entry of a table: open() sets it up for a size, run() does a fixed amount of work and says
/// how many items that was, close() frees it. This is plain C, so that the benchmark's C++ sees no header of
/// the mini-app.

#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kernel {
    char name[64];
    const char *item;     ///< what is counted: synapse, neuron step, ...
    const int64_t *sizes; ///< ended by 0
    const void *variant;  ///< for open(): which of several kernels that share functions
    void *(*open)(const void *variant, int64_t size);
    uint64_t (*run)(void *state);
    void (*close)(void *state);
    double (*seconds)(const void *state); ///< of the last run that count; NULL: all of it
};

/// Fills `kernels`, up to `capacity` of them. \return how many there are.
size_t kernels_list(struct kernel *kernels, size_t capacity);

// Each family of kernels adds its own.
size_t kernels_deliver(struct kernel *kernels, size_t capacity);
size_t kernels_neurons(struct kernel *kernels, size_t capacity);
size_t kernels_network(struct kernel *kernels, size_t capacity);
size_t kernels_drawn(struct kernel *kernels, size_t capacity);
size_t kernels_between(struct kernel *kernels, size_t capacity);
size_t kernels_collocate(struct kernel *kernels, size_t capacity);
size_t kernels_machine(struct kernel *kernels, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
