/// \file
/// Delivery on one thread of a large machine, with the list lengths that the thread has there.
///
/// A network has one area for each rank; synapses come from all neurons alike, as they do with the
/// conventional schedule. Neurons, lists, ring buffer and spikes per cycle are those of one thread of one
/// rank. Of a thread with more than 30 million synapses the table holds only as many lists as have 30
/// million, which is beyond any cache. Writes one JSON object: per repetition, the processor time of the
/// thread in ns per synaptic event.

#include "base/alloc.h"
#include "base/rng.h"
#include "tables.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_synapses = 30000000, most_spikes = 4000000, events_per_repetition = 1000000 };
static const int32_t weight = 1;

/// What the command line asks for: --NAME VALUE.
struct asked {
    double neurons, indegree, ranks, threads, repetitions, delays, spikes_per_neuron;
    double starts; ///< 1: every list has a start, however short lists are
};

static double normal(uint32_t seed, uint32_t i) {
    struct rng_words drawn = rng_draw(seed, rng_synapse, 1, 0, i);
    return rng_normal(drawn.word[0], drawn.word[1]);
}

/// Draws a number of synapses with this mean, Poisson below 30 and normal above.
static uint32_t draw_length(double mean, uint32_t i) {
    if (mean > 30) return (uint32_t)fmax(0, nearbyint(mean + sqrt(mean) * normal(5, i)));
    double term = exp(-mean), below = term;
    const double drawn = rng_uniform(rng_draw(5, rng_synapse, 0, 0, i).word[0]);
    uint32_t n = 0;
    while (below < drawn && n < 200) below += term *= mean / ++n;
    return n;
}

struct part {
    struct synapse_table table;
    struct ring ring;
    uint32_t *spikes;
    size_t batch, next;
    uint32_t step;
};

static struct part open_part(const struct asked *asked, double lists_of_rank, double length) {
    struct part part = {.batch = (size_t)fmax(1, lists_of_rank * asked->spikes_per_neuron)};
    const uint32_t neurons = (uint32_t)fmax(1, asked->neurons / asked->threads);
    const uint32_t lists = (uint32_t)fmin(lists_of_rank, fmax(2, most_synapses / length));
    uint32_t *start = ALLOC(uint32_t, (size_t)lists + 1);
    start[0] = 0;
    for (uint32_t l = 0; l < lists; l++) start[l + 1] = start[l] + draw_length(length, l);
    struct synapse_format format;
    struct error error = {""};
    const uint32_t longest = (uint32_t)asked->delays;
    if (!synapse_format(&format, neurons, longest, &weight, 1, &error)) {
        fprintf(stderr, "bench_growth: %s\n", error.text);
        exit(2);
    }
    uint32_t *packed = ALLOC(uint32_t, (size_t)start[lists] + search_words);
    for (uint32_t i = 0; i < start[lists]; i++) {
        struct rng_words drawn = rng_draw(6, rng_synapse, 0, 0, i);
        packed[i] = synapse_pack(&format, (uint32_t)((uint64_t)drawn.word[0] * neurons >> 32),
                                 1 + (uint32_t)((uint64_t)drawn.word[1] * longest >> 32), 0);
    }
    part.table = (asked->starts > 0 ? table_with_starts : table_of_lists)(format, lists, start, packed);
    if (part.table.synapses != packed) free(packed);
    free(start);
    part.spikes = ALLOC(uint32_t, most_spikes);
    for (uint32_t i = 0; i < most_spikes; i++)
        part.spikes[i] = (uint32_t)((uint64_t)rng_draw(7, rng_synapse, 0, 0, i).word[0] * lists >> 32);
    part.ring = ring_open(neurons, longest, true);
    return part;
}

/// Delivers cycle after cycle. \return nanoseconds of the processor per synaptic event.
static double deliver_cycles(struct part *part, struct delivered *sum) {
    const size_t batch = part->batch < most_spikes ? part->batch : most_spikes;
    struct timespec from, to;
    uint64_t events = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    while (events < events_per_repetition) {
        if (part->next + batch > most_spikes) part->next = 0;
        part->step = (part->step + 1) % part->ring.slots;
        const struct delivered some = synapse_table_deliver(&part->table, part->spikes + part->next, batch,
                                                            spike_format(1), part->step, &part->ring);
        part->next += batch;
        events += some.synaptic_events;
        sum->first_accesses += some.first_accesses;
        sum->lookups += some.lookups;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    sum->synaptic_events += events;
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)events;
}

static bool read_asked(struct asked *asked, int argc, char **argv) {
    const struct {
        const char *name;
        double *value, least, most;
    } options[] = {{"--neurons", &asked->neurons, 1, 1e7},
                   {"--indegree", &asked->indegree, 1, 1e5},
                   {"--ranks", &asked->ranks, 1, 1e4},
                   {"--threads", &asked->threads, 1, 1e4},
                   {"--delays", &asked->delays, 1, 1e4},
                   {"--repetitions", &asked->repetitions, 1, 1e3},
                   {"--spikes", &asked->spikes_per_neuron, 1e-9, 1},
                   {"--starts", &asked->starts, 0, 1}};
    enum { n_options = sizeof options / sizeof *options };
    for (int i = 1; i < argc; i += 2) {
        int k = 0;
        while (k < n_options && strcmp(argv[i], options[k].name)) k++;
        char *end = NULL;
        const double value = k < n_options && i + 1 < argc ? strtod(argv[i + 1], &end) : NAN;
        if (!(end && *end == 0 && value >= options[k].least && value <= options[k].most)) {
            fprintf(stderr,
                    "bench_growth: %s %s; allowed: --neurons (of an area), --indegree, --ranks, --threads, "
                    "--delays (steps), --repetitions, --spikes (of a neuron in a cycle), --starts (1: for "
                    "every list), each with a number\n",
                    argv[i], i + 1 < argc ? argv[i + 1] : "");
            return false;
        }
        *options[k].value = value;
    }
    return true;
}

int main(int argc, char **argv) {
    struct asked asked = {129068, 5842, 2, 2, 7, 20, 2.5e-4, 0}; // the MAM-benchmark
    if (!read_asked(&asked, argc, argv)) return 2;
    const double synapses = asked.neurons * asked.indegree, sources = asked.neurons * asked.ranks;
    const double lists = sources * -expm1(-synapses / sources), length = synapses / lists / asked.threads;
    struct part part = open_part(&asked, lists, length);
    struct delivered sum = {0, 0, 0};
    deliver_cycles(&part, &sum);
    printf("{\"lists\": %.0f, \"synapses_per_list\": %.6g, \"ns_per_event\": [", lists, length);
    for (int r = 0; r < (int)asked.repetitions; r++)
        printf("%s%.4f", r ? ", " : "", deliver_cycles(&part, &sum));
    printf("], \"synaptic_events\": %llu, \"first_accesses\": %llu, \"lookups\": %llu}\n",
           (unsigned long long)sum.synaptic_events, (unsigned long long)sum.first_accesses,
           (unsigned long long)sum.lookups);
    synapse_table_close(&part.table);
    ring_close(&part.ring);
    free(part.spikes);
    return 0;
}
