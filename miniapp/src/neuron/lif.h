/// \file
/// Common part of the leaky integrate-and-fire models: membrane potential, refractory period, and firing.
///
/// Within a step the order is that of NEST's models, so that spikes fall into the same steps at equal h.
/// First the potential advances, unless the neuron is refractory. Then the input of the step takes effect.
/// Then a neuron at or above the threshold fires and is reset. It keeps the reset potential for the
/// refractory period, which is rounded to whole steps and begins with the next step.
///
/// All numbers are IEEE doubles. Propagators are computed in open(), so that no step calls the mathematical
/// library. They are as exact as its exp and expm1, and the same on all ranks that use one library.

#ifndef NEURON_LIF_H
#define NEURON_LIF_H

#include "neuron/model.h"

/// The parameters that the list of every such model begins with, in this order.
enum { lif_tau_m, lif_t_ref, lif_E_L, lif_V_th, lif_V_reset, lif_V_init, lif_V_init_sd, lif_parameters };

// clang-format off
#define LIF_PARAMETERS                                                                                        \
    [lif_tau_m]     = {"tau_m_ms",     10,  1e-3, 1e6},                                                       \
    [lif_t_ref]     = {"t_ref_ms",     2,   0,    1e6},                                                       \
    [lif_E_L]       = {"E_L_mV",       -65, -1e4, 1e4},                                                       \
    [lif_V_th]      = {"V_th_mV",      -50, -1e4, 1e4},                                                       \
    [lif_V_reset]   = {"V_reset_mV",   -65, -1e4, 1e4},                                                       \
    [lif_V_init]    = {"V_init_mV",    -65, -1e4, 1e4},                                                       \
    [lif_V_init_sd] = {"V_init_sd_mV", 0,   0,    1e4}
// clang-format on

struct lif {
    uint32_t n;
    double *v;               ///< [n] mV above E_L
    uint32_t *free_at;       ///< [n] first step in which the neuron is not refractory
    double threshold, reset; ///< mV above E_L
    uint32_t refractory;     ///< steps
};

/// Neurons are looked at in stripes, because most stripes hold none that fires.
enum { lif_stripe = 64 };

/// Draws the initial potentials, which are normal and depend on the neuron.
struct lif lif_open(const struct neuron_setup *setup);
void lif_close(struct lif *lif);

/// Refuses a reset at or above the threshold.
bool lif_check(const struct fields *neuron, const double *parameters, struct error *error);

/// Lets those of the neurons first up to end fire that have reached the threshold: resets them and appends
/// them to `fired`. \return the new count.
uint32_t lif_fire(struct lif *lif, uint32_t first, uint32_t end, uint32_t step, uint32_t *fired,
                  uint32_t count);

/// Returns a mix of the potential and of the time until which the neuron is refractory.
uint64_t lif_state_of(const struct lif *lif, uint32_t i);

/// Returns the bits of a double.
uint64_t lif_bits(double value);

/// Returns the integral from 0 to h of exp(-(h - s) / tau) exp(-s / tau_source) ds in ms: what a source that
/// decays with one time constant adds to a quantity that decays with another. The time constants may be
/// equal, or nearly so.
double lif_coupling(double h, double tau, double tau_source);

/// Sets a decaying value to zero before it is so small (denormal) that processors are slow with it.
static inline double lif_flush(double value) {
    return fabs(value) < 1e-200 ? 0 : value;
}

#endif
