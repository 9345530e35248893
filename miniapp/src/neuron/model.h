/// \file
/// Neuron models. Each is one file that exports one `const struct neuron_model`, and one line in model.c.
///
/// A block holds neurons of one population on one thread, few enough to stay in the cache. The model owns the
/// block's state. Calls are made per block and step, never per neuron. State is kept in integers, or in IEEE
/// floating point with contraction off, so that spikes do not depend on vector width or optimisation.
///
/// A model is called once for each block and step: it finds the input of all its neurons in one array, and
/// writes who fires into another. It knows nothing of synapses, ranks or lanes. To add one, see model.c.

#pragma once

#include "base/registry.h"
#include "description/field_table.h"
#include "description/placement.h"

/// Parameters of a model at most. The largest has 10; more need nothing but a larger number here.
enum { neuron_parameters_max = 16 };

/// What a model needs to open a block.
struct neuron_setup {
    uint64_t seed;        ///< of the network
    double resolution_ms; ///< length of a step
    double input_unit;    ///< input x this is the sum of weights, in the unit of the model: pA or mV
    uint32_t population;  ///< number, for the random numbers
    struct share share;   ///< the neurons' ids
    double parameters[neuron_parameters_max]; ///< in the order and the units of the model's names
};

/// Spikes at equal intervals: at the steps `phase`, `phase` + `interval`, ...
struct train {
    uint32_t interval; ///< steps, at least 1; train_silent: there is no spike
    uint32_t phase;    ///< below `interval`
};

/// Interval of a neuron that never fires.
static const uint32_t train_silent = UINT32_MAX;

/// A neuron model: its name and parameters, and the functions that the cycle loop calls.
struct neuron_model {
    const char *name;                   ///< as in a run description
    const char *summary;                ///< one line for --list
    const struct parameter *parameters; ///< [n_parameters] with defaults and limits
    uint32_t n_parameters;              ///< at most neuron_parameters_max
    size_t bytes_per_neuron;            ///< of state

    /// Refuses parameters that are in range but do not go together. NULL where all combinations do.
    bool (*check)(const struct fields *neuron, const double *parameters, struct error *error);

    /// Returns the state of the block. Never fails; free it with close().
    void *(*open)(const struct neuron_setup *setup);
    /// Frees the state.
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

extern const struct neuron_model *const neuron_models[]; ///< all, ended by NULL

/// Returns the model of that name; NULL where there is none.
static inline const struct neuron_model *neuron_model_find(const char *name) {
    return registry_find(neuron_models, name);
}

/// Finds the model of a population and reads its parameters from the description, where it fills in defaults.
/// Fails naming the field for a model that there is not, a parameter that it has not, and values that are out
/// of range or do not go together. Not for several threads at a time, since it writes into the description.
bool neuron_model_read(const struct population *population, const struct neuron_model **model,
                       double parameters[neuron_parameters_max], struct error *error);
