/// \file
/// What the tests share: small networks, their plans, running one, and the same network by brute force.

#pragma once

#include "base/rng.h"
#include "record/record.h"
#include "run/simulate.h"
#include "schedule/schedule.h"
#include "transport/communicator.h"

// cmocka wants these before it.
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/// Defines a test of the program, which test_main.c runs; tests run in the order in which they stand.
#define TEST(name)                                                                                           \
    static void name(void);                                                                                  \
    static void name##_run(void **state) {                                                                   \
        (void)state;                                                                                         \
        name();                                                                                              \
    }                                                                                                        \
    __attribute__((constructor)) static void name##_register(void) {                                         \
        register_test(#name, name##_run);                                                                    \
    }                                                                                                        \
    static void name(void)

/// Defines a test of what only the variants have; the core alone leaves it out.
#ifdef SPIKEMARK_VARIANTS
#define TEST_OF_VARIANTS(name) TEST(name)
#else
#define TEST_OF_VARIANTS(name) __attribute__((unused)) static void name(void)
#endif

/// Says that the tests of this program need MPI.
#define TESTS_NEED_MPI                                                                                       \
    __attribute__((constructor)) static void tests_need_mpi(void) {                                          \
        register_mpi();                                                                                      \
    }

void register_test(const char *name, CMUnitTestFunction run);
void register_mpi(void);

int world_rank(void);
int world_ranks(void);

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

/// A description and its plan on some ranks.
struct planned {
    struct description d;
    struct placement placement;
    struct schedule schedule;
    struct error refused; ///< stands if there is no plan
};

/// Overrides ("path=value") as a list.
#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/// Plans. Fails the test if the plan is refused. The plan is valid until the next call and must be finished.
struct planned *accept(const char *const *overrides, int ranks);

void finish(struct planned *planned);

/// Fails the test unless the plan is refused with a message that holds `message`.
void assert_no_plan(const char *const *overrides, int ranks, const char *message);

/// Weights without a common unit need wide cells of the ring buffer; for the others, narrow ones will do.
extern const char *const narrow_weight, *const wide_weight, *const own_weights;

/// Returns what brute force brings of `eight_areas` with that weight.
struct outcome expect(const char *weight, bool narrow);

/// Runs with the overrides, of which there are at least three, on all ranks. Fails the test unless the
/// outcome is the expected one.
void check_outcome(const char *const *overrides, int threads, const struct outcome *expected);
