/// \file
/// A thread of a network in its cycle: what is delivered drives neurons and routes out of the caches before
/// neurons are updated and their spikes collocated.

#ifndef BENCH_BETWEEN_H
#define BENCH_BETWEEN_H

#include "base/spike.h"
#include "drawn.h"
#include "neuron/model.h"

struct between {
    const struct neuron_model *model;
    struct drawn *drawn;
    void **blocks; ///< [n / block_neurons + 1] states of the neurons
    uint32_t n, step;
    int32_t *input;
    uint32_t *fired;
    struct spike *spikes; ///< [n] of the last update
    uint32_t n_spikes;
    double seconds; ///< of the last update
};

/// Opens `n` neurons of a model that receive 1.5 synaptic events in a step, as 5842 synapses at 2.5 spikes
/// per second do.
struct between *between_open(const char *model, uint32_t n);
void between_close(struct between *between);

/// Delivers what arrives in a step, and updates the neurons.
void between_step(struct between *between);

#endif
