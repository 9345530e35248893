/// \file
/// Leaky integrate-and-fire with exponential post-synaptic currents, exact on the grid of the resolution
/// (Rotter and Diesmann 1999, section 3): C dV/dt = -C (V - E_L) / tau_m + I + I_e, dI/dt = -I / tau_syn +
/// input.
///
/// It steps as NEST's iaf_psc_exp does with equal excitatory and inhibitory time constants. Input is in pA.

#include "neuron/lif.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include <stdlib.h>

enum { C_m = lif_parameters, tau_syn, I_e, n_parameters };

static const struct parameter parameters[n_parameters] = {
    LIF_PARAMETERS,
    [C_m] = {"C_m_pF", 250, 1e-3, 1e9},
    [tau_syn] = {"tau_syn_ms", 0.5, 1e-3, 1e6},
    [I_e] = {"I_e_pA", 0, -1e9, 1e9},
};

struct block {
    struct lif lif;
    double *current;                             ///< [n] pA
    double v_from_v, v_from_current, v_from_I_e; ///< propagators of one step: 1, mV / pA, mV
    double current_from_current, input_unit;     ///< 1, pA
};

static void *open(const struct neuron_setup *setup) {
    const double *p = setup->parameters, h = setup->resolution_ms;
    struct block *block = ALLOC(struct block, 1);
    *block = (struct block){.lif = lif_open(setup),
                            .current = ALLOC_ZERO(double, setup->share.count),
                            .v_from_v = exp(-h / p[lif_tau_m]),
                            .v_from_current = lif_coupling(h, p[lif_tau_m], p[tau_syn]) / p[C_m],
                            .v_from_I_e = -p[I_e] * p[lif_tau_m] / p[C_m] * expm1(-h / p[lif_tau_m]),
                            .current_from_current = exp(-h / p[tau_syn]),
                            .input_unit = setup->input_unit};
    return block;
}

static void close(void *state) {
    struct block *block = state;
    lif_close(&block->lif);
    free(block->current);
    free(block);
}

static uint32_t update(void *state, const int32_t *restrict input, uint32_t step, uint32_t *restrict fired) {
    struct block *block = state;
    const uint32_t n = block->lif.n;
    const double v_from_v = block->v_from_v, v_from_current = block->v_from_current;
    const double v_from_I_e = block->v_from_I_e, current_from_current = block->current_from_current;
    const double unit = block->input_unit, threshold = block->lif.threshold;
    double *restrict v = block->lif.v, *restrict current = block->current;
    const uint32_t *restrict free_at = block->lif.free_at;
    uint32_t count = 0;
    for (uint32_t first = 0; first < n; first += lif_stripe) {
        const uint32_t end = n - first < lif_stripe ? n : first + lif_stripe;
        uint32_t any = 0;
        for (uint32_t i = first; i < end; i++) {
            const double old = v[i], old_current = current[i], received = input[i] * unit;
            const double advanced = lif_flush(old * v_from_v) + old_current * v_from_current + v_from_I_e;
            v[i] = step < free_at[i] ? old : advanced;
            current[i] = lif_flush(old_current * current_from_current) + received;
            any |= advanced >= threshold; // that of a refractory neuron has no effect
        }
        if (any) count = lif_fire(&block->lif, first, end, step, fired, count);
    }
    return count;
}

static uint64_t state_of(const void *state, uint32_t i) {
    const struct block *block = state;
    return checksum_mix(lif_state_of(&block->lif, i)) + lif_bits(block->current[i]);
}

const struct neuron_model neuron_lif_exp = {
    .name = "lif_exp",
    .summary = "leaky integrate-and-fire, exponential post-synaptic currents; input in pA",
    .parameters = parameters,
    .n_parameters = n_parameters,
    .bytes_per_neuron = 2 * sizeof(double) + sizeof(uint32_t),
    .check = lif_check,
    .open = open,
    .close = close,
    .update = update,
    .state_of = state_of,
};
