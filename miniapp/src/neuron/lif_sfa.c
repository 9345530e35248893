/// \file
/// Leaky integrate-and-fire with spike-frequency adaptation, whose potential jumps with its input. It is the
/// neuron of DPSNN (Simula et al. 2019), here exact on the grid of the resolution.
///
/// The equations are dV/dt = -(V - E_L) / tau_m - g_c c, dc/dt = -c / tau_c, V += input; a spike adds alpha_c
/// to c. The adaptation c has no unit. It goes on decaying while the neuron is refractory, when input is
/// lost. Input is in mV. With g_c = 0 the model does what lif_delta does. DPSNN itself lets each event act at
/// its own time.

#include "neuron/lif.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include <stdlib.h>

enum { g_c = lif_parameters, alpha_c, tau_c, n_parameters };

static const struct parameter parameters[n_parameters] = {
    LIF_PARAMETERS,
    [g_c] = {"g_c_mV_per_ms", 0.02, 0, 1e6},
    [alpha_c] = {"alpha_c", 1, 0, 1e6},
    [tau_c] = {"tau_c_ms", 1000, 1e-3, 1e6},
};

struct block {
    struct lif lif;
    double *adaptation;                        ///< [n]
    double v_from_v, v_from_c, c_from_c, jump; ///< propagators of one step: 1, mV, 1; alpha_c
    double input_unit;                         ///< mV
};

static void *open(const struct neuron_setup *setup) {
    const double *p = setup->parameters, h = setup->resolution_ms;
    struct block *block = ALLOC(struct block, 1);
    *block = (struct block){.lif = lif_open(setup),
                            .adaptation = ALLOC_ZERO(double, setup->share.count),
                            .v_from_v = exp(-h / p[lif_tau_m]),
                            .v_from_c = -p[g_c] * lif_coupling(h, p[lif_tau_m], p[tau_c]),
                            .c_from_c = exp(-h / p[tau_c]),
                            .jump = p[alpha_c],
                            .input_unit = setup->input_unit};
    return block;
}

static void close(void *state) {
    struct block *block = state;
    lif_close(&block->lif);
    free(block->adaptation);
    free(block);
}

static uint32_t update(void *state, const int32_t *restrict input, uint32_t step, uint32_t *restrict fired) {
    struct block *block = state;
    const uint32_t n = block->lif.n;
    const double v_from_v = block->v_from_v, v_from_c = block->v_from_c, c_from_c = block->c_from_c;
    const double unit = block->input_unit, threshold = block->lif.threshold;
    double *restrict v = block->lif.v, *restrict c = block->adaptation;
    const uint32_t *restrict free_at = block->lif.free_at;
    uint32_t count = 0;
    for (uint32_t first = 0; first < n; first += lif_stripe) {
        const uint32_t end = n - first < lif_stripe ? n : first + lif_stripe;
        uint32_t any = 0;
        for (uint32_t i = first; i < end; i++) {
            const double old = v[i], old_c = c[i], received = input[i] * unit;
            const double advanced = old_c * v_from_c + lif_flush(v_from_v * old) + received;
            v[i] = step < free_at[i] ? old : advanced;
            c[i] = lif_flush(old_c * c_from_c);
            any |= advanced >= threshold; // that of a refractory neuron has no effect
        }
        if (!any) continue;
        const uint32_t before = count;
        count = lif_fire(&block->lif, first, end, step, fired, count);
        for (uint32_t k = before; k < count; k++) c[fired[k]] += block->jump;
    }
    return count;
}

static uint64_t state_of(const void *state, uint32_t i) {
    const struct block *block = state;
    return checksum_mix(lif_state_of(&block->lif, i)) + lif_bits(block->adaptation[i]);
}

const struct neuron_model neuron_lif_sfa = {
    .name = "lif_sfa",
    .summary = "leaky integrate-and-fire with spike-frequency adaptation (DPSNN); input in mV",
    .parameters = parameters,
    .n_parameters = n_parameters,
    .bytes_per_neuron = 2 * sizeof(double) + sizeof(uint32_t),
    .check = lif_check,
    .open = open,
    .close = close,
    .update = update,
    .state_of = state_of,
};
