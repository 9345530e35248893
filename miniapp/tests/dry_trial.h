/// \file
/// What the tests of dry runs share: running a rank among all or alone, and comparing the two.

#ifndef TESTS_DRY_TRIAL_H
#define TESTS_DRY_TRIAL_H

#include "support.h"

/// A run, or what was built of it.
struct one {
    struct placement placement;
    struct schedule schedule;
    struct model model;
    struct measured measured;
};

/// Builds the run on all ranks of the world, or with `dry` that rank alone; fails the test where that fails.
/// Close it with close_one().
void open_one(struct one *one, struct description *description, int threads, struct dry *dry);
void simulate_one(struct one *one);
void close_one(struct one *one);

int own_rank(void);

/// Returns a dry run of this rank, with few spikes prepared at a time.
struct dry dry_of(double rate_hz, enum dry_routing routing);

/// Compares the routes of each neuron, whatever their order.
void check_routes(const struct routes *expected, const struct routes *found, int ranks);
void check_spikes(const struct trace *expected, const struct trace *found);

/// Returns what a run of one rank has counted. Owned by the caller.
struct rank_tally *tally_of(const struct one *one);

/// Compares what two runs of one rank have counted; `what` stands in the message of a failure.
void check_counts(const struct one *expected, const struct one *found, const char *what);

#endif
