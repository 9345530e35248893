/// \file
/// Leaky integrate-and-fire models, exact on the grid of the resolution (Rotter and Diesmann 1999, section
/// 3).
///
/// lif_delta: dV/dt = -(V - E_L) / tau_m + I_e / C, V += input (mV). It steps as NEST's iaf_psc_delta does.
///
/// lif_exp: C dV/dt = -C (V - E_L) / tau_m + I + I_e, dI/dt = -I / tau_syn + input (pA). It steps as NEST's
/// iaf_psc_exp does with equal excitatory and inhibitory time constants.
///
/// lif_sfa: dV/dt = -(V - E_L) / tau_m - g_c c, dc/dt = -c / tau_c, V += input (mV); a spike adds alpha_c to
/// the adaptation c, which has no unit and goes on decaying while the neuron is refractory. It is the neuron
/// of DPSNN (Simula et al. 2019), where each event acts at its own time.
///
/// Within a step the order is that of NEST's models, so that spikes fall into the same steps at equal h.
/// First the potential advances, unless the neuron is refractory. Then the input of the step takes effect;
/// what arrives at the potential of a refractory neuron is lost. Then a neuron at or above the threshold
/// fires and is reset. It keeps the reset potential for the refractory period, which is rounded to whole
/// steps and begins with the next step.
///
/// All numbers are IEEE doubles. Propagators are computed in open(), so that no step calls the mathematical
/// library. They are as exact as its exp and expm1, and the same on all ranks that use one library.

#include "base/alloc.h"
#include "base/checksum.h"
#include "base/rng.h"
#include "description/field_table.h"
#include "neuron/model.h"
#include <math.h>
#include <string.h>

/// The parameters of every model, and then its own. A model has either a capacitance or an adaptation, so
/// g_c of lif_sfa has the number that C_m has in the others, and a model has no more parameters than it uses.
enum { tau_m, t_ref, E_L, V_th, V_reset, V_init, V_init_sd, C_m, I_e, tau_syn, g_c = C_m, alpha_c, tau_c };

// clang-format off
#define COMMON                                  \
    [tau_m]     = {"tau_m_ms",     10,  1e-3, 1e6}, \
    [t_ref]     = {"t_ref_ms",     2,   0,    1e6}, \
    [E_L]       = {"E_L_mV",       -65, -1e4, 1e4}, \
    [V_th]      = {"V_th_mV",      -50, -1e4, 1e4}, \
    [V_reset]   = {"V_reset_mV",   -65, -1e4, 1e4}, \
    [V_init]    = {"V_init_mV",    -65, -1e4, 1e4}, \
    [V_init_sd] = {"V_init_sd_mV", 0,   0,    1e4}
static const struct parameter
    of_delta[] = {COMMON, [C_m] = {"C_m_pF", 250, 1e-3, 1e9}, [I_e] = {"I_e_pA", 0, -1e9, 1e9}},
    of_exp[]   = {COMMON, [C_m] = {"C_m_pF", 250, 1e-3, 1e9}, [tau_syn] = {"tau_syn_ms", 0.5, 1e-3, 1e6},
                  [I_e] = {"I_e_pA", 0, -1e9, 1e9}},
    of_sfa[]   = {COMMON, [g_c] = {"g_c_mV_per_ms", 0.02, 0, 1e6}, [alpha_c] = {"alpha_c", 1, 0, 1e6},
                  [tau_c] = {"tau_c_ms", 1000, 1e-3, 1e6}};
// clang-format on

/// Which of the three models a block has; a constant where it is passed on.
enum kind { delta, exponential, adapting };

/// The state of a block, an array for each variable, and the propagators of a step.
struct state {
    uint32_t n;                              ///< neurons
    double *v;                               ///< [n] mV above E_L
    double *second;                          ///< [n] current in pA, or adaptation; NULL in lif_delta
    uint32_t *free_at;                       ///< [n] first step in which the neuron is not refractory
    double threshold, reset;                 ///< mV above E_L
    uint32_t refractory;                     ///< steps
    double v_from_v, v_from_second, v_extra; ///< propagators of one step: 1, mV / pA or mV, mV of I_e
    double second_from_second, jump;         ///< 1, alpha_c
    double input_unit;                       ///< mV, or pA
};

/// Returns the integral from 0 to h of exp(-(h - s) / tau) exp(-s / tau_source) ds in ms: what a source that
/// decays with one time constant adds to a quantity that decays with another. The time constants may be
/// equal, or nearly so.
static double coupling(double h, double tau, double tau_source) {
    const double difference = 1 / tau_source - 1 / tau;
    if (difference == 0) return h * exp(-h / tau);
    return -exp(-h / tau) * expm1(-difference * h) / difference;
}

/// Opens the common part. The initial potentials are normal and depend on the neuron.
static struct state *open_block(const struct neuron_setup *setup, bool second) {
    enum { draw_v_init };
    const double *p = setup->parameters, steps = nearbyint(p[t_ref] / setup->resolution_ms);
    const uint32_t n = setup->share.count;
    struct state *block = ALLOC(struct state, 1);
    *block = (struct state){.n = n,
                            .v = ALLOC(double, n),
                            .second = second ? ALLOC_ZERO(double, n) : NULL,
                            .free_at = ALLOC_ZERO(uint32_t, n),
                            .threshold = p[V_th] - p[E_L],
                            .reset = p[V_reset] - p[E_L],
                            .refractory = steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX,
                            .v_from_v = exp(-setup->resolution_ms / p[tau_m]),
                            .input_unit = setup->input_unit};
    for (uint32_t i = 0; i < n; i++) {
        block->v[i] = p[V_init] - p[E_L];
        if (p[V_init_sd] == 0) continue;
        struct rng_words drawn = rng_draw(setup->seed, rng_neuron, setup->population,
                                          setup->share.first + i * setup->share.stride, draw_v_init);
        block->v[i] += p[V_init_sd] * rng_normal(drawn.word[0], drawn.word[1]);
    }
    return block;
}

/// Opens a block of one of the models: the common part, and the propagators that differ.
static void *open_kind(const struct neuron_setup *setup, enum kind kind) {
    const double *p = setup->parameters, h = setup->resolution_ms;
    struct state *block = open_block(setup, kind != delta);
    if (kind != adapting) block->v_extra = -p[I_e] * p[tau_m] / p[C_m] * expm1(-h / p[tau_m]);
    if (kind == exponential) {
        block->v_from_second = coupling(h, p[tau_m], p[tau_syn]) / p[C_m];
        block->second_from_second = exp(-h / p[tau_syn]);
    } else if (kind == adapting) {
        block->v_from_second = -p[g_c] * coupling(h, p[tau_m], p[tau_c]);
        block->second_from_second = exp(-h / p[tau_c]);
        block->jump = p[alpha_c];
    }
    return block;
}

/// Frees the state.
static void close_block(void *state) {
    struct state *block = state;
    FREE(block->v, block->second, block->free_at, block);
}

/// Refuses a reset potential at or above the threshold: the neuron would fire for ever.
static bool check(const struct fields *neuron, const double *p, struct error *error) {
    if (p[V_reset] < p[V_th]) return true;
    return error_set(error, "%sV_reset_mV: %.10g; expected below the threshold V_th_mV, %.10g mV",
                     neuron->path, p[V_reset], p[V_th]);
}

/// Lets those of the neurons first up to end fire that have reached the threshold: resets them and appends
/// them to `fired`. \return the new count.
static uint32_t fire(struct state *block, uint32_t first, uint32_t end, uint32_t step, uint32_t *fired,
                     uint32_t count) {
    // The step in which the neuron is free again must be a number of 32 bits.
    const uint32_t latest = UINT32_MAX - 1 - step;
    const uint32_t wait = block->refractory < latest ? block->refractory : latest;
    for (uint32_t i = first; i < end; i++) {
        if (block->v[i] < block->threshold) continue;
        block->v[i] = block->reset;
        block->free_at[i] = step + wait + 1;
        fired[count++] = i;
    }
    return count;
}

/// Sets a decaying value to zero before it is so small (denormal) that processors are slow with it.
static inline double flush(double value) {
    const double smallest = 1e-200; // far above denormal numbers (2e-308), far below any potential in mV
    return fabs(value) < smallest ? 0 : value;
}

/// Advances a block; the constant `kind` makes a loop of its own for each model. Neurons are looked at in
/// stripes, because most stripes hold none that fires.
ALWAYS_INLINE uint32_t update(struct state *block, const int32_t *restrict input, uint32_t step,
                              uint32_t *restrict fired, const enum kind kind) {
    enum { stripe = 64 };
    const uint32_t n = block->n;
    const double v_from_v = block->v_from_v, v_from_second = block->v_from_second, extra = block->v_extra;
    const double second_from_second = block->second_from_second;
    const double unit = block->input_unit, threshold = block->threshold;
    double *restrict v = block->v, *restrict second = block->second;
    const uint32_t *restrict free_at = block->free_at;
    uint32_t count = 0;
    for (uint32_t first = 0; first < n; first += stripe) {
        // First advance all neurons of the stripe, without a branch: refractory ones keep their potential.
        const uint32_t end = n - first < stripe ? n : first + stripe;
        uint32_t any = 0;
        for (uint32_t i = first; i < end; i++) {
            const double old = v[i], received = input[i] * unit, of_second = kind == delta ? 0 : second[i];
            const double from = kind == delta ? extra : of_second * v_from_second;
            const double advanced = flush(v_from_v * old) + from + (kind == exponential ? extra : received);
            v[i] = step < free_at[i] ? old : advanced;
            if (kind == exponential) second[i] = flush(of_second * second_from_second) + received;
            if (kind == adapting) second[i] = flush(of_second * second_from_second);
            any |= advanced >= threshold; // that of a refractory neuron has no effect
        }
        // Most stripes end here.
        if (!any) continue;
        const uint32_t before = count;
        count = fire(block, first, end, step, fired, count);
        for (uint32_t k = before; kind == adapting && k < count; k++) second[fired[k]] += block->jump;
    }
    return count;
}

/// Returns the bits of a number, for the checksum.
static uint64_t bits_of(double value) {
    uint64_t bits;
    value += 0.0; // makes 0 of -0, which is the same state
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// Mixes all state variables of a neuron into one item of the checksum.
static uint64_t state_of(const void *state, uint32_t i) {
    const struct state *block = state;
    const uint64_t mixed = checksum_mix(bits_of(block->v[i])) + block->free_at[i];
    return block->second ? checksum_mix(mixed) + bits_of(block->second[i]) : mixed;
}

// Makes the functions and the entry of a model. Each gets a copy of update() in which `kind` is constant.
#define LIF(name_of, kind, about, doubles)                                                                   \
    static void *open_##name_of(const struct neuron_setup *setup) {                                          \
        return open_kind(setup, kind);                                                                       \
    }                                                                                                        \
    static uint32_t update_##name_of(void *state, const int32_t *input, uint32_t step, uint32_t *fired) {    \
        return update(state, input, step, fired, kind);                                                      \
    }                                                                                                        \
    const struct neuron_model neuron_lif_##name_of = {                                                       \
        .name = "lif_" #name_of,                                                                             \
        .summary = "leaky integrate-and-fire" about,                                                         \
        .parameters = of_##name_of,                                                                          \
        .n_parameters = sizeof of_##name_of / sizeof *of_##name_of,                                          \
        .bytes_per_neuron = doubles * sizeof(double) + sizeof(uint32_t),                                     \
        .check = check,                                                                                      \
        .open = open_##name_of,                                                                              \
        .close = close_block,                                                                                \
        .update = update_##name_of,                                                                          \
        .state_of = state_of,                                                                                \
    };
LIF(delta, delta, ", input makes the potential jump; input in mV", 1)
LIF(exp, exponential, ", exponential post-synaptic currents; input in pA", 2)
LIF(sfa, adapting, " with spike-frequency adaptation (DPSNN); input in mV", 2)
