/// \file
/// The kernels of the mini-app, set up on their own so that a benchmark can run them.
///
/// A kernel is one entry of a table: open() sets it up for a size and run() does a fixed amount of work and
/// says how many items that was. What was opened is kept and shared by kernels with the same open(), variant
/// and size. This is plain C, so that the benchmark's C++ sees no header of the mini-app.

#pragma once

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
};

enum { kernels_most = 64 };

/// Fills `kernels`, [kernels_most]. \return how many there are.
size_t kernels_list(struct kernel *kernels);

/// Likewise those of delivery.
size_t kernels_deliver(struct kernel *kernels);

#ifdef __cplusplus
}
#endif
