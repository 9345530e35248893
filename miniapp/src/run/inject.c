/// \file
/// Draws the injected waits of a rank, two normal numbers and a uniform one for each cycle (see inject.h
/// for the model).
///
/// The first draw of a rank gives its rank effect and the first z. Each cycle then
/// draws by its number, so that waits do not depend on how the run is divided; only z is carried from cycle
/// to cycle: z' = rho z + sqrt(1 - rho^2) normal, which keeps its variance at 1.

#include "run/inject.h"

#include "base/rng.h"
#include <math.h>

/// Returns the mean wait of a rank in us, without what its neurons and synapses add. It may be below 0.
static double mean_us(const struct description *d, struct rng_words drawn) {
    return d->given.inject_mean_us + rng_normal(drawn.word[0], drawn.word[1]) * d->given.inject_rank_us;
}

/// Draws what a rank keeps for the whole run.
static struct rng_words draw_rank(const struct description *d, int rank) {
    return rng_draw(d->network.seed, rng_inject, 0, (uint32_t)rank, 0);
}

int inject_cut(const struct description *d, int ranks) {
    int cut = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const double more =
            per_rank_value(&d->inject_neuron_ns, rank) + per_rank_value(&d->inject_synapse_ns, rank);
        cut += more == 0 && mean_us(d, draw_rank(d, rank)) < 0;
    }
    return cut;
}

struct inject inject_open(const struct description *d, int rank, uint32_t neurons, int threads) {
    struct rng_words drawn = draw_rank(d, rank);
    const double per_neuron = per_rank_value(&d->inject_neuron_ns, rank);
    const double per_synapse = per_rank_value(&d->inject_synapse_ns, rank);
    return (struct inject){
        .description = d,
        .rank = (uint32_t)rank,
        .rank_s = 1e-6 * mean_us(d, drawn) + 1e-9 * per_neuron * neurons / threads,
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
    // What the rank delivered to since the last wait makes it wait longer.
    const uint64_t delivered = synapses - inject->synapses;
    inject->synapses = synapses;
    double wait =
        inject->rank_s + 1e-6 * d->given.inject_sd_us * inject->z + inject->synapse_s * (double)delivered;
    // Now and then a wait is longer by a factor (minor_mode).
    if (rng_uniform(drawn.word[2]) < d->given.inject_share) wait *= d->given.inject_factor;
    return fmax(wait, 0);
}
