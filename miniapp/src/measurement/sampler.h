/// \file
/// Reads a meter of the node again and again, in a thread of its own (beat.h) beside the simulation.

#ifndef MEASUREMENT_SAMPLER_H
#define MEASUREMENT_SAMPLER_H

#include "measurement/meter.h"
#include <stddef.h>

/// The readings of all channels of a meter, in the order of time.
struct samples {
    int channels;
    size_t count, capacity;
    double *time_s; ///< [count] by the monotonic clock
    double *value;  ///< [count][channels] J or W; NAN where one failed
    double cost;    ///< processor time of the thread by wall-clock time
};

struct sampler {
    struct meter_handle *meter; ///< borrowed
    struct beat *beat;
    struct samples samples; ///< the thread's until it has ended
};

/// Reads the meter once, starts the thread, and borrows the meter until sampler_stop().
/// \return NULL if no thread can be started.
struct sampler *sampler_start(struct meter_handle *meter, double interval_s);

/// Ends the thread and reads the meter a last time. The caller owns `samples` and closes them.
void sampler_stop(struct sampler *sampler, struct samples *samples);

void samples_close(struct samples *samples);

#endif
