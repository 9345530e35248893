/// \file
/// Fires at its own interval whatever it receives: the load of a network without its dynamics (the
/// MAM-benchmark of Lober et al. 2026, section 4.2; NEST has a model of the same name).
///
/// The input is not ignored altogether. It is read, as it would be in any model, and summed into a
/// fingerprint with a factor that differs from step to step. The fingerprint ends in the checksum, so a
/// synapse that is missing, late or delivered twice shows.

#include "base/alloc.h"
#include "base/rng.h"
#include "description/field_table.h"
#include "neuron/model.h"

enum { rate_hz, rate_cv, n_parameters };

static const struct parameter parameters[n_parameters] = {
    [rate_hz] = {"rate_hz", 2.5, 0, 1e6},
    [rate_cv] = {"rate_cv", 0, 0, 1},
};

/// A step that no run reaches: the next spike of neurons that do not fire any more. (A step, where
/// train_silent is an interval.)
static const uint32_t never = UINT32_MAX;

/// The state of a block: twelve bytes for each neuron.
struct state {
    uint32_t n;            ///< neurons
    uint32_t *next;        ///< [n] step of the next spike
    uint32_t *interval;    ///< [n] steps from spike to spike
    uint32_t *fingerprint; ///< [n] of the input received
};

/// Draws the rate of a neuron: normal around the mean, redrawn until it is positive.
static double draw_rate(const struct neuron_setup *setup, uint32_t gid) {
    double mean = setup->parameters[rate_hz], rate = mean;
    if (setup->parameters[rate_cv] == 0 || mean == 0) return mean;
    uint32_t attempt = 1;
    do {
        struct rng_words drawn = rng_draw(setup->seed, rng_neuron, setup->population, gid, attempt++);
        rate = mean * (1 + setup->parameters[rate_cv] * rng_normal(drawn.word[0], drawn.word[1]));
    } while (!(rate > 0));
    return rate;
}

/// Returns interval and phase of a neuron. Both are drawn from its id, so that any rank can compute the
/// spikes of any neuron: dry runs do.
static struct train train(const struct neuron_setup *setup, uint32_t gid) {
    const double rate = draw_rate(setup, gid);
    const double steps = rate > 0 ? nearbyint(1000 / (rate * setup->resolution_ms)) : train_silent;
    const uint32_t interval = steps < 1 ? 1 : steps >= train_silent ? train_silent : (uint32_t)steps;
    const struct rng_words phase = rng_draw(setup->seed, rng_neuron, setup->population, gid, 0);
    return (struct train){interval, rng_below(phase.word[0], phase.word[1], interval)};
}

/// Opens the state of a block; neurons that never fire have `never` as their next step.
static void *open_block(const struct neuron_setup *setup) {
    struct state *block = ALLOC(struct state, 1);
    uint32_t n = setup->share.count;
    *block = (struct state){n, ALLOC(uint32_t, n), ALLOC(uint32_t, n), ALLOC_ZERO(uint32_t, n)};
    for (uint32_t i = 0; i < n; i++) {
        const struct train own = train(setup, setup->share.first + i * setup->share.stride);
        block->interval[i] = own.interval;
        block->next[i] = own.interval == train_silent ? never : own.phase;
    }
    return block;
}

/// Frees the state.
static void close_block(void *state) {
    struct state *block = state;
    FREE(block->next, block->interval, block->fingerprint, block);
}

/// Advances the block by a step: sums the input into fingerprints, and lets those fire whose step it is.
static uint32_t update(void *state, const int32_t *input, uint32_t step, uint32_t *fired) {
    struct state *block = state;
    // 2^32 over the golden ratio: neighbouring steps get factors that have little in common (Knuth, The Art
    // of Computer Programming, vol. 3, section 6.4).
    const uint32_t n = block->n, factor = (step * 2654435761u) | 1;
    uint32_t *restrict fingerprint = block->fingerprint, *restrict next = block->next;
    // The factor is odd and differs from step to step, so that input that arrives late changes the sum.
    for (uint32_t i = 0; i < n; i++) fingerprint[i] += (uint32_t)input[i] * factor;

    // Neurons are looked at in stripes, since most hold none that fires: at 2.5 spikes/s and steps of 0.1 ms,
    // one in 64. A stripe of 64 is four lines of the cache, looked at by vector code; chosen, not tuned.
    enum { stripe = 64 };
    uint32_t count = 0;
    for (uint32_t first = 0; first < n; first += stripe) {
        uint32_t end = n - first < stripe ? n : first + stripe, any = 0;
        for (uint32_t i = first; i < end; i++) any |= next[i] == step;
        for (uint32_t i = first; any && i < end; i++) {
            if (next[i] != step) continue;
            fired[count++] = i;
            // The sum could exceed 32 bits: then the next spike lies beyond all steps, and there is none.
            next[i] = block->interval[i] < never - step ? step + block->interval[i] : never;
        }
    }
    return count;
}

/// Returns next spike and fingerprint, all that is left of what a neuron received.
static uint64_t state_of(const void *state, uint32_t i) {
    const struct state *block = state;
    return ((uint64_t)block->next[i] << 32) | block->fingerprint[i];
}

const struct neuron_model neuron_ignore_and_fire = {
    .name = "ignore_and_fire",
    .summary = "fires at its own interval; input is received and has no effect",
    .parameters = parameters,
    .n_parameters = n_parameters,
    .bytes_per_neuron = 3 * sizeof(uint32_t),
    .open = open_block,
    .close = close_block,
    .update = update,
    .train = train,
    .state_of = state_of,
};
