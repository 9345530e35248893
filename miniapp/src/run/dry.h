/// \file
/// A dry run: one process builds and runs one rank of many alone. The spikes of the others are made up
/// (run/foreign.h), and so is where its own would go (run/dry_routes.h). Nothing is exchanged; words are
/// copied into the inbox instead, which is timed apart and belongs to no phase.

#ifndef RUN_DRY_H
#define RUN_DRY_H

#include "description/description.h"
#include "measurement/phases.h"
#include "run/lane.h"

/// How to find where the rank's spikes go. By size: exactly, where that takes no more than dry_draws_most
/// draws, or dry_draws_few where there are more than dry_ranks_most ranks. Each draw takes some 10 ns, and
/// one in as many as there are ranks is needed anyway.
enum dry_routing { routing_by_size, routing_exact, routing_drawn };

static const double dry_draws_most = 4e9, dry_draws_few = 1e8;
static const int dry_ranks_most = 1000;

enum { dry_spikes_ahead = 1 << 22 };

struct dry {
    int rank, of;   ///< which rank of how many
    double rate_hz; ///< of neurons whose spikes are not known; NAN: not given
    enum dry_routing routing;
    uint32_t spikes_ahead; ///< made up at a time for a lane, unless a window has more: dry_spikes_ahead
    bool exact_spikes;     ///< no rate was needed
    bool exact_routes;     ///< how it was done
    double routes_s;       ///< of making up routes and sources, while the network is built
    double prepare_s;      ///< of making up spikes, in the measured part; in no phase
    double inbox_s;        ///< of copying words into the inboxes, likewise
    uint64_t words;        ///< copied, likewise
    uint64_t reference;    ///< copied in the warm-up
};

/// Refuses a rate where none is needed, and none where one is. Finds out how routes are to be made.
bool dry_check(struct dry *dry, const struct description *description, struct error *error);

/// Call these before and after routes and sources are made up.
void dry_begin_routes(struct dry *dry);
void dry_end_routes(struct dry *dry);

/// Forgets what the warm-up took.
void dry_reset(struct dry *dry, const struct lane *lanes, int n);

/// Ends the window of a lane, makes up what the other ranks send, and takes in what is due; with `all`, every
/// window under way.
void dry_exchange(struct dry *dry, struct lane *lane, uint32_t next, bool all);

/// Marks the phases that there are none of in a dry run, and counts the words of the measured part.
void dry_end(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n);

#endif
