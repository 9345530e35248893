/// \file
/// What a run will need, known from its description alone: above all the memory of each rank.
///
/// `miniapp --explain` prints it, and a run that does not fit its nodes is refused before anything is built
/// (app/layout.c).

#pragma once

#include "description/description.h"
#include "description/placement.h"
#include "schedule/lane_plan.h"

/// The bytes of each part of a rank, as build_bytes() finds them afterwards. Lists and routes are
/// expectations over the random sources, so all are doubles.
struct estimate {
    double neurons;  ///< state of the neurons, and input from outside that has been drawn
    double synapses; ///< the words of synapses
    double lists;  ///< what finds the synapses of a list: starts, or lines with their free words, and filters
    double routes; ///< where the spikes of the rank's neurons go
    double ring;   ///< input in the steps to come
    double
        buffers; ///< spikes of a cycle, send and receive buffers of small windows: more words need more room
    /// What building takes at most on top of what stays, bytes. While the synapses are drawn, every thread
    /// counts the buckets of sources of each lane, 4 bytes each, and neither lists nor routes are there yet.
    /// When it sorts them, the sources of the rank are there, too, 2 bytes for each and 16 for each bucket,
    /// and every thread has room for one bucket; where it writes lines, also for a group of lists and for
    /// 1 / alloc_releases of its synapses, whose memory it has not given back yet. When the routes are made,
    /// only the sources are left, and a round of requests: 16 bytes for each of its lists.
    double building;
    double lane_lists[schedule_lanes_max]; ///< expected lists of the rank in each lane
};

/// Returns what rank `rank` of a planned run will need.
struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank);

/// Returns what each rank will need, [ranks], in little more time than one, since what all have in common is
/// found once. Owned by the caller.
struct estimate *estimate_ranks(const struct description *description, const struct placement *placement,
                                const struct schedule *schedule);

/// Returns the bytes of all parts, which stay.
double estimate_sum(const struct estimate *estimate);

/// Refuses lanes that may be expected to have more lists on a rank than a four-byte spike can name.
bool estimate_check_words(const struct description *description, const struct placement *placement,
                          const struct schedule *schedule, struct error *error);
