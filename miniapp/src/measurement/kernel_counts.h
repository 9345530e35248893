/// \file
/// What the kernel has counted on each hardware thread since boot, from /proc: interrupts by name, softirqs
/// by kind, and the time that interrupts and a hypervisor took.
///
/// A reading costs tens of microseconds on a small machine and milliseconds on one with hundreds of hardware
/// threads and interrupts. Only differences between two readings are of interest.

#ifndef MEASUREMENT_KERNEL_COUNTS_H
#define MEASUREMENT_KERNEL_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kernel_name_max = 64, kernel_files = 3, kernel_missing_max = 400 };

/// A row of one of the files, such as an interrupt.
struct kernel_cause {
    const char *source;         ///< "interrupts", "softirqs" or "stat"; the last counts ticks of `tick_s`
    char label[24];             ///< as the row begins
    char name[kernel_name_max]; ///< for people: the device, or what the kernel calls it; without commas
};

struct kernel_counts {
    int file[kernel_files]; ///< descriptors; -1: cannot be read
    char *text;             ///< of a file, [capacity]
    size_t capacity;
    int n_cores, *core; ///< [n_cores] numbers of the hardware threads, ascending
    int n_causes, causes_max;
    struct kernel_cause *cause; ///< [n_causes]
    uint32_t *now, *before;     ///< [n_causes][n_cores] of the last reading and of the one before; they wrap
    double tick_s;              ///< of "stat"
    char missing[kernel_missing_max]; ///< which files cannot be read, and why; "" if all can
};

/// Opens the files below `root`, which is /proc unless a test has its own, and reads them twice. What cannot
/// be read is missing and counts nothing.
void kernel_counts_open(struct kernel_counts *counts, const char *root);

/// Reads the files; what was `now` becomes `before`.
void kernel_counts_read(struct kernel_counts *counts);

/// Returns by how much a count rose between the last two readings; `core` is a place in the list.
static inline uint32_t kernel_counts_rise(const struct kernel_counts *counts, int cause, int core) {
    const int i = cause * counts->n_cores + core;
    return counts->now[i] - counts->before[i];
}

/// Writes which tracers of noise the kernel has and lets this user use, such as "osnoise timerlat", or
/// returns false and writes why not.
bool kernel_tracers(char *text, size_t size);

void kernel_counts_close(struct kernel_counts *counts);

#endif
