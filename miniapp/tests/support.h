/// \file
/// What the tests share: small networks, running one, and the same network by brute force.

#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include "record/tally.h"

// cmocka wants these before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/// Opens the description `text` with overrides ("path=value", ended by NULL); fails the test if it is bad.
void open_description(struct description *description, const char *text, const char *const *overrides);

/// Returns the message that reading it ends with, or "" if it is good. It is valid until the next call.
const char *refusal(const char *text, const char *const *overrides);

/// Returns a placement file that cuts the network without regard to its populations into unequal ranges, on
/// ranks that do not follow each other. Some ranges are dealt over several ranks. Owned by the caller.
json_t *scattered(const struct network *network, int ranks);

enum { placement_override_bytes = 80 };

/// Writes the override that chooses a placement; one that reads a file is given scattered().
void placement_override(char text[placement_override_bytes], const struct placement_rule *rule);

/// Opens the placement that the description names or implies. A rule that reads a file is given `given`, or
/// scattered() where that is NULL.
bool open_placement(struct placement *placement, const struct description *description, int ranks,
                    int threads, const json_t *given, struct error *error);

/// What is compared between runs.
struct outcome {
    uint64_t checksum, spikes, synaptic_events, external_events, first_accesses, synapses;
};

/// Builds and runs the description on all ranks of `world`. \return sums over all ranks, on every rank.
/// `meddle`, if not NULL, may change the schedule's lanes behind the back of the exactness check.
struct outcome run_network(struct description *description, int threads, MPI_Comm world,
                           void (*meddle)(struct schedule *));

/// Does the same and returns the outcome in `sum`; where a check refuses the description, it returns false,
/// on all ranks alike, and does not fail the test.
bool try_network(struct outcome *sum, struct description *description, int threads, MPI_Comm world,
                 void (*meddle)(struct schedule *), const json_t *placement_file, struct error *error);

/// Does the same by brute force: all neurons are one block, and every spike is compared with every synapse of
/// the network. `leave_out` is the number of a synapse to forget, or -1.
struct outcome run_brute_force(const struct description *description, int64_t leave_out);

/// Eight areas of unequal size and unequal rates, with two populations in the first area and mixed pools.
extern const char *const eight_areas;

#endif
