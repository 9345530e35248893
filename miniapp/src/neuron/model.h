/// \file
/// Neuron models. Each is one file that exports one `const struct neuron_model`, and one line in model.c.
///
/// A block holds neurons of one population on one thread, few enough to stay in the cache. The model owns the
/// block's state. Calls are made per block and step, never per neuron. State is kept in integers, or in IEEE
/// floating point with contraction off, so that spikes do not depend on vector width or optimisation.

#pragma once

#include "description/placement.h"

enum { neuron_parameters_max = 16 };

struct neuron_setup {
    uint64_t seed;
    double resolution_ms;
    double input_unit;   ///< input x this is the sum of weights, in the unit of the model: pA or mV
    uint32_t population; ///< number, for the random numbers
    struct share share;  ///< the neurons' ids
    double parameters[neuron_parameters_max];
};

/// Spikes at equal intervals: at the steps `phase`, `phase` + `interval`, ...
struct train {
    uint32_t interval; ///< steps, at least 1; train_silent: there is no spike
    uint32_t phase;    ///< below `interval`
};

static const uint32_t train_silent = UINT32_MAX;

struct neuron_model {
    const char *name;
    const char *summary; ///< one line for --list
    const struct parameter *parameters;
    uint32_t n_parameters;
    size_t bytes_per_neuron; ///< of state

    /// Refuses parameters that are in range but do not go together. NULL where all combinations do.
    bool (*check)(const struct fields *neuron, const double *parameters, struct error *error);

    /// Returns the state of the block. Never fails; free it with close().
    void *(*open)(const struct neuron_setup *setup);
    void (*close)(void *state);

    /// Advances the block by the step `step`, in which neuron i receives input[i], in the input_unit of the
    /// setup. Writes to `fired`, which has room for all neurons, the numbers within the block of those that
    /// fire, in ascending order.
    /// \return how many fire.
    uint32_t (*update)(void *state, const int32_t *input, uint32_t step, uint32_t *fired);

    /// Returns the spikes of neuron `gid` of the setup's population, whatever it receives. NULL where they
    /// depend on that. Reads nothing of `setup->share`.
    struct train (*train)(const struct neuron_setup *setup, uint32_t gid);

    /// Returns the state that neuron number i of the block is left with, for the checksum.
    uint64_t (*state_of)(const void *state, uint32_t i);
};

extern const struct neuron_model *const neuron_models[];

static inline const struct neuron_model *neuron_model_find(const char *name) {
    return registry_find(neuron_models, name);
}

/// Finds the model of a population and reads its parameters from the description, where it fills in defaults.
bool neuron_model_read(const struct population *population, const struct neuron_model **model,
                       double parameters[neuron_parameters_max], struct error *error);
