/// \file
/// Draws the events of a block for four steps at a time, 64 neurons side by side, and adds those of a step to
/// its input.

#include "neuron/external.h"

#include "base/alloc.h"
#include "base/rng_vector.h"
#include <stdlib.h>

struct external_input *external_open(const struct network *network, uint32_t population, struct share share) {
    const struct population *given = &network->populations[population];
    struct external_input *external = ALLOC(struct external_input, 1);
    *external = (struct external_input){.poisson = poisson_open(given->external.mean),
                                        .seed = network->seed,
                                        .population = population,
                                        .share = share,
                                        .weight_units = given->external.weight_units,
                                        .number = UINT32_MAX,
                                        .events = ALLOC(uint8_t, (size_t)share.count * external_steps)};
    return external;
}

void external_close(struct external_input *external) {
    if (external) free(external->events);
    free(external);
}

/// Neurons that are drawn for at a time: their words of four steps take 1 KiB, which stays in the first
/// cache, and loops over them have a constant length, which compilers turn into vector code without a rest.
enum { batch = 64 };

/// Draws for `n` neurons of the block from number `first`, at most `batch` of them.
static void draw(const struct external_input *external, uint32_t first, uint32_t n) {
    const struct poisson *poisson = &external->poisson;
    const uint32_t always = poisson->always, thresholds = poisson->n;
    uint32_t word[external_steps][batch] = {{0}}, events[batch];
    // One draw for each neuron has a word for each of the four steps.
    for (uint32_t i = 0; i < n; i += rng_elements)
        rng_draw_neurons(external->seed, rng_external, external->population,
                         external->share.first + (first + i) * external->share.stride, external->share.stride,
                         external->number, &word[0][i], batch);
    // A word becomes a number of events by counting the thresholds that it lies below.
    for (uint32_t step = 0; step < external_steps; step++) {
        // All elements are drawn, whatever n is: a loop of constant length leaves no rest.
        for (uint32_t i = 0; i < batch; i++) events[i] = always;
        for (uint32_t k = 0; k < thresholds; k++) {
            const uint32_t at_least = poisson->at_least[k];
            for (uint32_t i = 0; i < batch; i++) events[i] += word[step][i] < at_least;
        }
        uint8_t *kept = external->events + (size_t)step * external->share.count + first;
        for (uint32_t i = 0; i < n; i++) kept[i] = (uint8_t)events[i];
    }
}

uint64_t external_add(struct external_input *external, uint32_t step, int32_t *restrict input) {
    const uint32_t n = external->share.count;
    // Every fourth step draws for itself and the next three.
    if (external->number != step / external_steps) {
        external->number = step / external_steps;
        for (uint32_t first = 0; first < n; first += batch)
            draw(external, first, n - first < batch ? n - first : batch);
    }
    // Add what was drawn for this step.
    const uint8_t *restrict events = external->events + (size_t)(step % external_steps) * n;
    const int32_t weight = external->weight_units;
    uint32_t sum = 0; // 32 bits will do, since blocks are small
    for (uint32_t i = 0; i < n; i++) {
        input[i] += events[i] * weight;
        sum += events[i];
    }
    return sum;
}
