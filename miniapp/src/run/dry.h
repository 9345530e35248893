/// \file
/// A dry run: one process builds and runs one rank of many alone, an emulated rank. The spikes of the
/// other ranks are made up, and so is where its own would go. Nothing is exchanged; words are copied into
/// the receive buffer instead, which is timed apart and belongs to no phase. Here is what the core has to
/// know of it; variants/run/dry.c does it.

#pragma once

#include "base/error.h"
#include "measurement/phases.h"
#include "transport/exchange.h"

struct description;
struct foreign; ///< spikes of the other ranks of a lane, made up
struct lane;
struct source_table;

struct model;

/// How to find where the rank's spikes go. By size: exactly, where that takes no more than dry_draws_most
/// draws, or dry_draws_few where there are more than dry_ranks_most ranks. Each draw takes some 10 ns, and
/// one in as many as there are ranks is needed anyway.
enum dry_routing { routing_by_size, routing_exact, routing_drawn };

static const double dry_draws_most = 4e9, dry_draws_few = 1e8;
static const int dry_ranks_most = 1000;

enum { dry_spikes_ahead = 1 << 22 };

/// What was asked for with --as-rank, what could be done exactly, and what it took (seconds of this process).
struct dry {
    int rank, of;   ///< which rank of how many
    double rate_hz; ///< of neurons whose spikes are not known; NAN: not given
    enum dry_routing routing;
    uint32_t spikes_ahead;   ///< made up at a time for a lane, unless a window has more: dry_spikes_ahead
    bool exact_spikes;       ///< no rate was needed
    bool exact_routes;       ///< how it was done
    double routes_s;         ///< of making up routes and sources, while the network is built
    double prepare_s;        ///< of making up spikes, in the measured part; in no phase
    double receive_buffer_s; ///< of copying words into the receive buffers, likewise
    uint64_t words;          ///< copied, likewise
    uint64_t reference;      ///< copied in the warm-up
};

/// What dry runs add to the core, where it is linked with them.
struct dry_hooks {
    /// Refuses a rate where none is needed, and none where one is. Finds out how routes are to be made.
    bool (*check)(struct dry *dry, const struct description *description, struct error *error);

    /// Makes up the routes of all lanes of a model, and the searches of those that broadcast. `source_table`
    /// [lanes] are the lists of this rank, `own_gids` the ids of its neurons in their order. end_routes()
    /// ends the time that this takes.
    void (*open_routes)(struct model *model, const struct source_table *source_table,
                        const uint32_t *own_gids, bool exact);
    void (*end_routes)(struct dry *dry);

    /// Opens the spikes of the other ranks in a lane of the model. Takes over `source_table`, which it leaves
    /// empty.
    struct foreign *(*open_foreign)(const struct model *model, int lane, struct source_table *source_table);
    void (*close_foreign)(struct foreign *foreign);

    /// Opens an exchange with ranks that do not exist.
    struct exchange *(*open_exchange)(int ranks, int own, int sources);

    /// Forgets what the warm-up took.
    void (*reset)(struct dry *dry, const struct lane *lanes, int n);
    /// Ends the window of a lane, makes up what the other ranks send, and takes in what is due; with `all`,
    /// every window under way.
    void (*exchange)(struct dry *dry, struct lane *lane, uint32_t next, bool all);
    /// Marks the phases that there are none of in a dry run, and counts the words of the measured part.
    void (*end)(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n);
};

extern const struct dry_hooks *const dry_hooks; ///< NULL without variants
