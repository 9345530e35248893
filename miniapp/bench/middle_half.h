/// \file
/// What counts of many short runs: those of the middle half, by time per item.
///
/// A part of a run lasts some microseconds. On a virtual machine, up to six of a thousand stopped for some
/// 150. A mean over a hundred runs then says more about the host than about the kernel.

#ifndef BENCH_MIDDLE_HALF_H
#define BENCH_MIDDLE_HALF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timed {
    uint64_t items;
    double seconds;
};

/// Returns the sums over the runs without the quarters with the least and with the most seconds per item.
/// Runs without items do not count. The order of `runs` changes.
struct timed middle_half(struct timed *runs, size_t n);

#ifdef __cplusplus
}
#endif

#endif
