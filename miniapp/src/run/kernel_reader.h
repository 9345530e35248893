/// \file
/// Reads what the kernel counts while the network runs: the first rank of every node reads the counts of all
/// its hardware threads again and again, in a thread beside the simulation, from before the warm-up to after
/// the measured part; and it lists the processes that have run beside the ranks.
///
/// The thread may run on any processor. Where ranks use all processors, it takes time from one of the ranks.
/// Each reading says on which hardware thread it was made.

#ifndef RUN_KERNEL_READER_H
#define RUN_KERNEL_READER_H

#include "description/description.h"
#include "measurement/beat.h"
#include "measurement/kernel_counts.h"
#include "measurement/processes.h"
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kernel_events_max = 2000000 }; ///< of a node; then reading ends, and the record says when

/// A count that rose from one reading to the next.
struct kernel_event {
    uint32_t reading, count;
    uint16_t cause, core; ///< places in the lists of `counts`
};

/// The reader on one rank.
struct kernel_reader {
    const struct description *description; ///< borrowed
    MPI_Comm world;                        ///< borrowed
    bool reads;                            ///< whether this rank reads for its node
    bool started, full;                    ///< reading has begun; there was no room for more
    struct kernel_counts counts;
    struct beat *beat;
    double *time_s;   ///< [readings] since the Unix epoch
    int *reader_core; ///< [readings] where the thread ran
    size_t readings, readings_max;
    struct kernel_event *event; ///< [events] in the order of time
    size_t events, events_max;
    double interval_s;       ///< as asked for, or longer where readings would take too much of a core
    double read_s;           ///< time of all readings
    double cost;             ///< processor time of the thread by wall-clock time
    double cycle_read_s;     ///< what reading the counts of the own thread costs in each cycle
    struct processes others; ///< what others used meanwhile
    int *own, n_own;         ///< process numbers of the ranks of this node
};

/// Finds out who reads. Collective. Without record.kernel, and in simulated time, nobody does. \param root
/// what is read in place of /proc.
void kernel_reader_open(struct kernel_reader *reader, const struct description *description, const char *root,
                        MPI_Comm world);

void kernel_reader_begin(struct kernel_reader *reader);
void kernel_reader_end(struct kernel_reader *reader);

void kernel_reader_close(struct kernel_reader *reader);

#endif
