/// \file
/// A thread that calls a function again and again, beside the simulation.
///
/// It sleeps in between and may run on any processor, so that it disturbs no thread that is bound to one. Its
/// cost is measured.

#ifndef MEASUREMENT_BEAT_H
#define MEASUREMENT_BEAT_H

/// Starts the thread, which calls `work` with `context` every `interval_s` until beat_stop(). The name is
/// that of the thread, at most 15 characters. \return NULL if no thread can be started.
struct beat *beat_start(void (*work)(void *context), void *context, double interval_s, const char *name);

/// Ends the thread between two calls. \return its processor time by wall-clock time.
double beat_stop(struct beat *beat);

#endif
