/// \file
/// What is known of a run from its description alone, above all the memory that its ranks will need.

#pragma once

#include "run/dry.h"

/// The bytes of each part, as build_bytes() finds them afterwards. Lists and routes are expectations over the
/// random sources. Buffers are those of an exchange with small windows: more words need more room.
struct estimate {
    double neurons, synapses, lists, routes, ring, buffers;
    /// What building takes at most on top of what stays, bytes. While the synapses are drawn, every thread
    /// counts the buckets of sources of each lane, 4 bytes each, and neither lists nor routes are there yet.
    /// When it sorts them, the sources of the rank are there, too, 2 bytes for each and 16 for each bucket,
    /// and every thread has room for one bucket; where it writes lines, also for a group of lists and for
    /// 1 / alloc_releases of its synapses, whose memory it has not given back yet. When the routes are made,
    /// only the sources are left, and a round of requests: 16 bytes for each of its lists.
    double building;
    double lane_lists[schedule_lanes_max];
};

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank);

/// Returns the bytes of all parts, which stay.
double estimate_sum(const struct estimate *estimate);

/// Refuses lanes that may be expected to have more lists on a rank than a four-byte spike can name, and says
/// which windows, or how many ranks, would do.
bool estimate_check_words(const struct description *description, const struct placement *placement,
                          const struct schedule *schedule, struct error *error);

/// Refuses a dry run of a rank for the same reason, or because it would need more than `memory` bytes while
/// it is built or runs, and says how many ranks would do.
bool estimate_check_dry(const struct description *description, const struct placement *placement,
                        const struct schedule *schedule, const struct dry *dry, double memory,
                        struct error *error);

/// --list (miniapp/FORMAT.md): prints all registered variants, with what is known of each, and the files of a
/// run.
void list_print(void);

/// --explain (miniapp/FORMAT.md): prints what would run, and the memory of each rank.
void explain_print(const struct description *description, const struct placement *placement,
                   const struct schedule *schedule);
