#include "neuron/lif.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include <stdlib.h>
#include <string.h>

/// The numbers of the draws of a neuron.
enum { draw_v_init };

struct lif lif_open(const struct neuron_setup *setup) {
    const double *parameters = setup->parameters;
    const uint32_t n = setup->share.count;
    struct lif lif = {.n = n,
                      .v = ALLOC(double, n),
                      .free_at = ALLOC_ZERO(uint32_t, n),
                      .threshold = parameters[lif_V_th] - parameters[lif_E_L],
                      .reset = parameters[lif_V_reset] - parameters[lif_E_L]};
    double steps = nearbyint(parameters[lif_t_ref] / setup->resolution_ms);
    lif.refractory = steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        lif.v[i] = parameters[lif_V_init] - parameters[lif_E_L];
        if (parameters[lif_V_init_sd] == 0) continue;
        struct rng_words drawn = rng_draw(setup->seed, rng_neuron, setup->population,
                                          setup->share.first + i * setup->share.stride, draw_v_init);
        lif.v[i] += parameters[lif_V_init_sd] * rng_normal(drawn.word[0], drawn.word[1]);
    }
    return lif;
}

void lif_close(struct lif *lif) {
    free(lif->v);
    free(lif->free_at);
}

bool lif_check(const struct fields *neuron, const double *parameters, struct error *error) {
    if (parameters[lif_V_reset] < parameters[lif_V_th]) return true;
    return error_set(error, "%sV_reset_mV: %.10g; allowed: below the threshold V_th_mV, %.10g mV",
                     neuron->path, parameters[lif_V_reset], parameters[lif_V_th]);
}

uint32_t lif_fire(struct lif *lif, uint32_t first, uint32_t end, uint32_t step, uint32_t *fired,
                  uint32_t count) {
    const uint32_t latest = UINT32_MAX - 1 - step;
    const uint32_t wait = lif->refractory < latest ? lif->refractory : latest;
    for (uint32_t i = first; i < end; i++) {
        if (lif->v[i] < lif->threshold) continue;
        lif->v[i] = lif->reset;
        lif->free_at[i] = step + wait + 1;
        fired[count++] = i;
    }
    return count;
}

uint64_t lif_bits(double value) {
    uint64_t bits;
    value += 0.0; // makes 0 of -0, which is the same state
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t lif_state_of(const struct lif *lif, uint32_t i) {
    return checksum_mix(lif_bits(lif->v[i])) + lif->free_at[i];
}

double lif_coupling(double h, double tau, double tau_source) {
    const double difference = 1 / tau_source - 1 / tau;
    if (difference == 0) return h * exp(-h / tau);
    return -exp(-h / tau) * expm1(-difference * h) / difference;
}
