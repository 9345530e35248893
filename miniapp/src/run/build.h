/// \file
/// The share of the network that one rank has, ready to run: neurons, synapses, lanes.
///
/// Each thread draws the incoming synapses of its own neurons twice: once to count them, and once to put them
/// into buckets of sources, which are then sorted one by one. A rank's memory follows its own synapses.

#pragma once

#include "neuron/external.h"
#include "neuron/model.h"
#include "run/dry.h"

enum { block_neurons = 4096 };

/// Neurons of one population on one thread, at most block_neurons of them, so that their input is still in
/// the cache when the model reads it. Steps are the outer loop and blocks the inner one: taking all steps of
/// a cycle block by block was no faster with ten steps a cycle, whether or not the state fitted into the
/// cache.
struct block {
    const struct neuron_model *model;
    void *state;
    struct external_input *external; ///< NULL without input from outside
    struct share share;
    uint32_t first; ///< number of its first neuron on the thread
};

/// Data of one thread. It is allocated separately, so that threads do not share cache lines.
struct part {
    struct block *blocks;
    uint32_t n_blocks, neurons;
    uint32_t first_neuron; ///< number on the rank of the thread's first neuron
    struct ring ring;
    struct spike *spikes; ///< emitted in the current cycle; room for every neuron in every step
    uint32_t n_spikes;
    int32_t *input;  ///< scratch of update, [block_neurons]
    uint32_t *fired; ///< scratch of update, [block_neurons]
    struct part_counts {
        uint64_t spikes, synaptic_events, external_events, first_accesses, lookups, checksum;
    } counts;
};

static inline void part_counts_add(struct part_counts *sum, const struct part_counts *one) {
    sum->spikes += one->spikes, sum->synaptic_events += one->synaptic_events;
    sum->external_events += one->external_events, sum->first_accesses += one->first_accesses;
    sum->lookups += one->lookups, sum->checksum += one->checksum;
}

struct population_model {
    const struct neuron_model *model;
    double parameters[neuron_parameters_max];
};

struct model {
    const struct description *description; ///< borrowed
    const struct placement *placement;     ///< borrowed
    const struct schedule *schedule;       ///< borrowed
    MPI_Comm world;                        ///< borrowed
    struct dry *dry;                       ///< borrowed; NULL but in a dry run
    int rank, ranks, threads;
    int process, processes; ///< number in `world` and its size: the rank and ranks, but 0 and 1 in a dry run
    struct population_model *neuron_models; ///< [populations]
    uint32_t neurons;                       ///< of this rank
    struct part **parts;                    ///< [threads]
    struct lane *lanes;
    int n_lanes;
    int32_t *weights;       ///< [n_classes] the distinct weights of all projections, in units, ascending
    uint32_t n_classes;     ///< of all projections together; 0 where every synapse has a weight of its own
    uint32_t *first_class;  ///< [projections] place of the first of its classes in weight_class
    uint32_t *weight_class; ///< [classes of each projection in turn] place in weights
};

/// Returns how many threads a parallel region gets when it asks for `wanted`.
int build_threads(int wanted);

/// Numbers the distinct weights of the projections of model->description, unless each synapse has its own.
void build_weights(struct model *model);
void build_close_weights(struct model *model);

/// Builds the share of the calling rank, or with `dry`, which may be NULL, of the rank that it names; then
/// `world` has one process. Collective over `world`; all ranks agree on an error. Close the model also after
/// a failure. A model set to zero may be closed, too.
bool build(struct model *model, const struct description *description, const struct placement *placement,
           const struct schedule *schedule, MPI_Comm world, struct dry *dry, struct error *error);

void build_close(struct model *model);

/// Forgets what the warm-up counted.
void build_reset_counts(struct model *model);
/// Returns how many synapses the threads of this rank have delivered to since then.
uint64_t build_synaptic_events(const struct model *model);

/// The bytes that each kind of structure holds on this rank, in the order of build_part_names.
enum { build_parts = 6 };
extern const char *const build_part_names[build_parts];
void build_bytes(const struct model *model, uint64_t bytes[build_parts]);

// -------------------- build_lists

/// What turns drawn synapses into numbered lists, needed only while the tables are built. Nothing here has an
/// entry for every neuron of the network: a thread counts buckets of sources (synapse/table.h), and the
/// sources of a rank are a set of two bytes for each of them (base/id_set.h).
struct lists {
    struct buckets **buckets; ///< [threads][lanes]
    struct wanted *wanted;    ///< [lanes]
    int *lanes;               ///< [projections] lane of all their synapses, or -1 if several share them
    unsigned *source_bits;    ///< [lanes] of the buckets
};

/// Refuses so many lists of a rank in a lane (of a broadcast: neurons) where a four-byte spike cannot name
/// them beside its step.
bool limits_check_words(const struct lane_plan *plan, const struct description *description, uint64_t number,
                        struct error *error);
