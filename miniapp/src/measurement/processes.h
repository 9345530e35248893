/// \file
/// Which processes have used how much processor time, and where: those that a program shares its machine
/// with. The kernel counts in ticks of 10 ms, and nobody sees processes that began and ended in between.

#ifndef MEASUREMENT_PROCESSES_H
#define MEASUREMENT_PROCESSES_H

#include <stddef.h>

struct process {
    int pid, core;     ///< the hardware thread that it last ran on
    char name[17];     ///< as the kernel knows it
    double used_s;     ///< processor time since it began
    unsigned long age; ///< when it began: tells it from a later process of the same number
};

struct processes {
    struct process *process; ///< [count], owned
    size_t count;
};

/// Lists the processes that `root`, /proc, shows.
void processes_read(struct processes *processes, const char *root);

/// Turns the later of two lists into what was used in between, the busiest process first, without those that
/// used nothing.
void processes_since(struct processes *later, const struct processes *earlier);

void processes_close(struct processes *processes);

#endif
