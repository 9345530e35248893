#include "run/inject.h"

#include "base/rng.h"
#include <math.h>

struct inject inject_open(const struct description *d, int rank, uint32_t neurons, int threads) {
    struct rng_words drawn = rng_draw(d->network.seed, rng_inject, 0, (uint32_t)rank, 0);
    double effect = rng_normal(drawn.word[0], drawn.word[1]);
    const double per_neuron = per_rank_value(&d->inject_neuron_ns, rank);
    const double per_synapse = per_rank_value(&d->inject_synapse_ns, rank);
    return (struct inject){
        .description = d,
        .rank = (uint32_t)rank,
        .rank_s = 1e-6 * (d->given.inject_mean_us + effect * d->given.inject_rank_us) +
                  1e-9 * per_neuron * neurons / threads,
        .synapse_s = 1e-9 * per_synapse / threads,
        .z = rng_normal(drawn.word[2], drawn.word[3]),
        .active = d->given.inject_mean_us > 0 || d->given.inject_sd_us > 0 || d->given.inject_rank_us > 0 ||
                  per_neuron > 0 || per_synapse > 0,
    };
}

double inject_next(struct inject *inject, uint64_t synapses) {
    const struct description *d = inject->description;
    const double rho = d->given.inject_serial;
    struct rng_words drawn = rng_draw(d->network.seed, rng_inject, 1, inject->rank, inject->cycle);
    if (inject->cycle++ > 0)
        inject->z = rho * inject->z + sqrt(1 - rho * rho) * rng_normal(drawn.word[0], drawn.word[1]);
    const uint64_t delivered = synapses - inject->synapses;
    inject->synapses = synapses;
    double wait =
        inject->rank_s + 1e-6 * d->given.inject_sd_us * inject->z + inject->synapse_s * (double)delivered;
    if (rng_uniform(drawn.word[2]) < d->given.inject_share) wait *= d->given.inject_factor;
    return fmax(wait, 0);
}
