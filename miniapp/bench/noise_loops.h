/// \file
/// Two loops that show what takes time from a program on one core, for bench_noise.
///
/// The detour loop reads the clock again and again; a gap between two readings that is far longer than usual
/// is a detour: something else ran (selfish detour; Beckman et al. 2006, Hoefler, Schneider, Lumsdaine 2010).
/// The quanta loop does the same work again and again and times each piece (FWQ; Sottile, Minnich 2004): it
/// also shows cores that slow down without losing the processor.

#ifndef BENCH_NOISE_LOOPS_H
#define BENCH_NOISE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A detour: its begin by clock_now(), its length, and how often another thread took the core in it.
struct detour {
    double begin_s, length_s;
    bool switched;
};

/// What the detour loop found. Sums are of all detours, the list holds the first ones.
struct detours {
    double seconds; ///< how long the loop looked
    double usual_s; ///< gap between two readings, the median
    double threshold_s;
    uint64_t count, switched; ///< detours, and those in which another thread took the core
    double lost_s, switched_s;
    double largest_s;
    struct detour *detour; ///< [kept], owned, in the order of time
    size_t kept, most;
};

/// Lengths of equal pieces of work.
struct quanta {
    double *length_s; ///< [count], owned; ascending once the loop has ended
    size_t count, most;
    double seconds; ///< that the loop looked
};

/// Returns the factor by which clock_ticks() become seconds, from a comparison of both clocks.
double noise_tick_s(void);

/// Looks until `end_s` by clock_now(). A detour is longer than `times` usual gaps; at most `most` are kept.
void noise_detours(struct detours *found, double end_s, double times, double tick_s, size_t most);

/// Returns the amount of work that takes `seconds` on the calling core when nothing disturbs it.
uint64_t noise_work(double seconds, double tick_s);

/// Works until `end_s`, and does at most `most` pieces of work.
void noise_quanta(struct quanta *found, double end_s, uint64_t work, double tick_s, size_t most);

#endif
