/// \file
/// A thread that reads a meter of the node again and again, beside the simulation.
///
/// It sleeps in between and may run on any processor, so that it disturbs no thread that is bound to one. Its
/// cost is measured.

#ifndef MEASUREMENT_SAMPLER_H
#define MEASUREMENT_SAMPLER_H

#include "measurement/meter.h"
#include <pthread.h>

/// The readings of all channels of a meter, in the order of time.
struct samples {
    int channels;
    size_t count, capacity;
    double *time_s; ///< [count] since the Unix epoch
    double *value;  ///< [count][channels] J or W; NAN where one failed
    double cost;    ///< processor time of the thread by wall-clock time
};

struct sampler {
    struct meter_handle *meter; ///< borrowed
    double interval_s, started_s;
    pthread_t thread;
    struct samples samples; ///< the thread's until it has ended
};

/// Reads the meter once, starts the thread, and borrows the meter until sampler_stop().
/// \return NULL if no thread can be started.
struct sampler *sampler_start(struct meter_handle *meter, double interval_s);

/// Ends the thread and reads the meter a last time. The caller owns `samples` and closes them.
void sampler_stop(struct sampler *sampler, struct samples *samples);

void samples_close(struct samples *samples);

#endif
