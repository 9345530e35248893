/// \file
/// The share of the network that one rank has, ready to run: neurons, synapses, lanes.
///
/// A model has a part for each thread, with the blocks of its neurons, their ring buffer, and the spikes of
/// the present cycle; and a lane for each set of synapses (run/lane.h), which holds a synapse table for each
/// thread. What threads write lies in parts of their own, so that they meet only where the cycle loop says so
/// (run/simulate.c). run/build.c makes a model and frees it; nothing else owns any of it.

#pragma once

#include "description/description.h"
#include "description/placement.h"
#include "neuron/external.h"
#include "neuron/model.h"
#include "run/dry.h"
#include "run/lane.h"
#include "schedule/lane_plan.h"

/// Neurons of a block at most: their input of a step, four bytes each, takes 16 KiB, half of a first cache.
/// Half as many would double the calls of models, twice as many would leave no room for their state.
enum { block_neurons = 4096 };

/// Neurons of one population on one thread, at most block_neurons of them, so that their input is still in
/// the cache when the model reads it. Steps are the outer loop and blocks the inner one: taking all steps of
/// a cycle block by block was no faster with ten steps a cycle, whether or not the state fitted into the
/// cache.
struct block {
    const struct neuron_model *model; ///< whose functions advance the block
    void *state;                      ///< of its neurons; owned, closed by the model
    struct external_input *external;  ///< owned; NULL without input from outside
    struct share share;               ///< the ids of its neurons
    uint32_t first;                   ///< number of its first neuron on the thread
    uint32_t population;              ///< number in the network
};

/// Data of one thread. It is allocated separately, so that threads do not share cache lines.
struct part {
    struct block *blocks;       ///< [n_blocks] owned
    uint32_t n_blocks, neurons; ///< of this thread
    uint32_t first_neuron;      ///< number on the rank of the thread's first neuron
    struct ring ring;           ///< input of the thread's neurons in the steps to come
    struct spike *spikes;       ///< emitted in the current cycle; room for every neuron in every step
    uint32_t n_spikes;          ///< of the current cycle
    int32_t *input;             ///< scratch of update, [block_neurons]
    uint32_t *fired;            ///< scratch of update, [block_neurons]
    /// What the thread has counted since build_reset_counts(). The checksum is a sum over spikes.
    struct part_counts {
        uint64_t spikes;          ///< emitted
        uint64_t synaptic_events; ///< synapses that were delivered to
        uint64_t external_events; ///< from outside the network
        uint64_t first_accesses;  ///< lists entered that hold a synapse
        uint64_t lookups;         ///< spikes examined, with or without a synapse here
        uint64_t checksum;        ///< sum of the items of its spikes, modulo 2^64 (base/checksum.h)
    } counts;
};

/// Adds one thread's counts to a sum.
static inline void part_counts_add(struct part_counts *sum, const struct part_counts *one) {
    sum->spikes += one->spikes, sum->synaptic_events += one->synaptic_events;
    sum->external_events += one->external_events, sum->first_accesses += one->first_accesses;
    sum->lookups += one->lookups, sum->checksum += one->checksum;
}

/// The neuron model of a population and its parameters, in the order in which the model names them.
struct population_model {
    const struct neuron_model *model;         ///< found by its name
    double parameters[neuron_parameters_max]; ///< in the unit that each name ends in
};

/// The share of one rank: all that the cycle loop needs.
struct model {
    const struct description *description; ///< borrowed
    const struct placement *placement;     ///< borrowed
    const struct schedule *schedule;       ///< borrowed
    MPI_Comm world;                        ///< borrowed
    struct dry *dry;                       ///< borrowed; NULL but in a dry run
    int rank, ranks, threads; ///< which share of the network this is, of how many; threads of the rank
    int process, processes; ///< number in `world` and its size: the rank and ranks, but 0 and 1 in a dry run
    struct population_model *neuron_models; ///< [populations]
    uint32_t neurons;                       ///< of this rank
    struct part **parts;                    ///< [threads]
    struct lane *lanes;                     ///< [n_lanes] owned, from narrow to wide
    int n_lanes;                            ///< as the schedule has
    int32_t *weights;       ///< [n_classes] the distinct weights of all projections, in units, ascending
    uint32_t n_classes;     ///< of all projections together; 0 where every synapse has a weight of its own
    uint32_t *first_class;  ///< [projections] place of the first of its classes in weight_class
    uint32_t *weight_class; ///< [classes of each projection in turn] place in weights
};
