/// \file
/// A thread that calls a function again and again, beside the simulation.
///
/// The thread sleeps between calls and may run on any processor, so that the system can keep it away from
/// processors to which other threads are bound. Its cost is measured.

#ifndef MEASUREMENT_BEAT_H
#define MEASUREMENT_BEAT_H

/// Starts the thread, which calls `work` with `context` every `interval_s` until beat_stop(). The name is
/// that of the thread, at most 15 characters. \return NULL if no thread can be started.
struct beat *beat_start(void (*work)(void *context), void *context, double interval_s, const char *name);

/// Ends the thread between two calls. \return its processor time by wall-clock time.
double beat_stop(struct beat *beat);

#endif
