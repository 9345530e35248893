/// \file
/// Leaky integrate-and-fire whose potential jumps with its input, exact on the grid of the resolution: dV/dt
/// = -(V - E_L) / tau_m + I_e / C, V += input.
///
/// It steps as NEST's iaf_psc_delta does: what arrives while the neuron is refractory is lost. Input is in
/// mV.

#include "neuron/lif.h"

#include "base/alloc.h"
#include <stdlib.h>

enum { C_m = lif_parameters, I_e, n_parameters };

static const struct parameter parameters[n_parameters] = {
    LIF_PARAMETERS,
    [C_m] = {"C_m_pF", 250, 1e-3, 1e9},
    [I_e] = {"I_e_pA", 0, -1e9, 1e9},
};

struct block {
    struct lif lif;
    double v_from_v, v_from_I_e; ///< propagators of one step: 1, mV
    double input_unit;           ///< mV
};

static void *open(const struct neuron_setup *setup) {
    const double *p = setup->parameters, h = setup->resolution_ms;
    struct block *block = ALLOC(struct block, 1);
    *block = (struct block){.lif = lif_open(setup),
                            .v_from_v = exp(-h / p[lif_tau_m]),
                            .v_from_I_e = -p[I_e] * p[lif_tau_m] / p[C_m] * expm1(-h / p[lif_tau_m]),
                            .input_unit = setup->input_unit};
    return block;
}

static void close(void *state) {
    struct block *block = state;
    lif_close(&block->lif);
    free(block);
}

static uint32_t update(void *state, const int32_t *restrict input, uint32_t step, uint32_t *restrict fired) {
    struct block *block = state;
    const uint32_t n = block->lif.n;
    const double v_from_v = block->v_from_v, v_from_I_e = block->v_from_I_e;
    const double unit = block->input_unit, threshold = block->lif.threshold;
    double *restrict v = block->lif.v;
    const uint32_t *restrict free_at = block->lif.free_at;
    uint32_t count = 0;
    for (uint32_t first = 0; first < n; first += lif_stripe) {
        const uint32_t end = n - first < lif_stripe ? n : first + lif_stripe;
        uint32_t any = 0;
        for (uint32_t i = first; i < end; i++) {
            const double old = v[i], received = input[i] * unit;
            const double advanced = v_from_I_e + lif_flush(v_from_v * old) + received;
            v[i] = step < free_at[i] ? old : advanced;
            any |= advanced >= threshold; // that of a refractory neuron has no effect
        }
        if (any) count = lif_fire(&block->lif, first, end, step, fired, count);
    }
    return count;
}

static uint64_t state_of(const void *state, uint32_t i) {
    return lif_state_of(&((const struct block *)state)->lif, i);
}

const struct neuron_model neuron_lif_delta = {
    .name = "lif_delta",
    .summary = "leaky integrate-and-fire, input makes the potential jump; input in mV",
    .parameters = parameters,
    .n_parameters = n_parameters,
    .bytes_per_neuron = sizeof(double) + sizeof(uint32_t),
    .check = lif_check,
    .open = open,
    .close = close,
    .update = update,
    .state_of = state_of,
};
