/// \file
/// A dry run: one process builds and runs one rank of many alone. The spikes of the others are made up,
/// and so is where its own would go. Nothing is exchanged; words are
/// copied into the inbox instead, which is timed apart and belongs to no phase.

#pragma once

#include "measurement/phases.h"
#include "run/lane.h"
#include "transport/made_up.h"

struct model;

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

/// Forgets what the warm-up took.
void dry_reset(struct dry *dry, const struct lane *lanes, int n);

/// Ends the window of a lane, makes up what the other ranks send, and takes in what is due; with `all`, every
/// window under way.
void dry_exchange(struct dry *dry, struct lane *lane, uint32_t next, bool all);

/// Marks the phases that there are none of in a dry run, and counts the words of the measured part.
void dry_end(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n);

/// Ends the time that routes and sources take, which dry_routes_open() begins.
void dry_end_routes(struct dry *dry);

// -------------------- dry_routes
// The routes of the only rank of a dry run. In a run, the other ranks tell it which of its neurons they want
// (transport/routes.h). Here this is found out without them.
//
// Exactly: the sources of the synapses of the other ranks are drawn again, one rank after the other, into a
// bit for each neuron of the network and lane. That takes a draw for each synapse of the network. Or at
// random: a rank has a list of a neuron with the probability that a draw of one of its synapses hits the
// neuron, for each pair apart. Then the numbers of lists there are not known, and words that leave name the
// neuron instead.

/// Opens the routes of all lanes, and the searches of those that broadcast. `wanted` [lanes] are the lists of
/// this rank, `own_gids` the ids of its neurons in their order.
void dry_routes_open(struct model *model, const struct wanted *wanted, const uint32_t *own_gids, bool exact);

// -------------------- foreign
// The spikes of the other ranks of a lane, made up in a dry run, where these ranks do not exist.
//
// Neurons whose spikes do not depend on what they receive (neuron/model.h: train) fire exactly as they
// would. All others fire at equal intervals from a random phase on, at a rate that is given; in a window
// that is shorter than the interval, each of them fires as likely as in a Poisson process of that rate.
//
// Words stand in the order in which the real ranks would send them: by rank, cycle, thread, step, neuron.
// They are prepared for several windows at a time, so that the caches are disturbed in few cycles only.

/// Opens the spikes of lane `lane` of the model, which is built by then. Takes over `wanted`, which it leaves
/// empty. model->dry has the rate of neurons whose spikes are not known.
struct foreign *foreign_open(const struct model *model, int lane, struct wanted *wanted);

/// Returns the words of the window from step `first` up to step `end`, and a run for each other rank of the
/// lane that sends some. They are valid until the next call. Windows must follow each other.
struct made_up_words foreign_window(struct foreign *foreign, uint32_t first, uint32_t end);

/// Frees it; NULL is ignored.
void foreign_close(struct foreign *foreign);
