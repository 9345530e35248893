/// \file
/// Fuzz target: the words of spikes. What a wire format packs comes back; a search finds exactly the numbers
/// that it was given, whatever number is asked for; and delivery adds exactly what the named lists hold.
///
/// Words that arrive are trusted by design: other ranks of the same run sent them, and delivery does not
/// check that their list exists (synapse/table.h). So delivery is asked only for lists that there are.

#include "fuzz.h"
#include "run/build.h"
#include "synapse/table.h"
#include "transport/exchange.h"
#include "transport/routes.h"
#include "transport/wire.h"

static void wires(struct bytes *bytes) {
    const uint32_t word = next_word(bytes), gid = next_word(bytes), step = next_word(bytes);
    for (int w = 0; wire_formats[w]; w++) {
        uint32_t words[wire_words_max];
        promise(wire_formats[w]->words <= wire_words_max, "a format has room", wire_formats[w]->name);
        wire_pack(wire_formats[w], words, word, gid, step);
        promise(words[wire_formats[w]->at] == word, "a packed word comes back", wire_formats[w]->name);
    }
    const uint32_t steps = next_word(bytes) >> next_byte(bytes) % 32;
    const struct spike_format format = spike_format(steps);
    if (format.step_bits > 31) return; // a lane without synapses: it has no words
    const uint32_t list = (uint32_t)(word % spike_lists_limit(format)), within = steps ? gid % steps : 0;
    const uint32_t packed = spike_pack(format, list, within);
    promise(spike_list(format, packed) == list && spike_step(format, packed) == within,
            "list and step come back", "another list or step");
}

static void searches(struct bytes *bytes) {
    enum { most_ranks = 4, most_lists = 24 };
    const int ranks = (int)next_number(bytes, 1, most_ranks);
    uint32_t per_owner[most_ranks], number[most_ranks][most_lists];
    struct search search;
    for (int rank = 0; rank < ranks; rank++) per_owner[rank] = next_number(bytes, 0, most_lists);
    search_open(&search, ranks, per_owner);
    for (int rank = 0; rank < ranks; rank++)
        for (uint32_t i = 0; i < per_owner[rank]; i++) { // different numbers, in any order
            number[rank][i] = (uint32_t)next_byte(bytes) << 24 | i * 0x010001;
            search_add(&search, rank, number[rank][i], 100 * (uint32_t)rank + i);
        }
    search_sort(&search);
    for (int ask = 0; ask < 64; ask++) {
        const int rank = (int)next_number(bytes, 0, (uint32_t)ranks - 1);
        const uint32_t i = next_byte(bytes), any = next_word(bytes);
        const uint32_t asked = i < per_owner[rank] ? number[rank][i] : any;
        uint32_t expected = search_nothing;
        for (uint32_t k = 0; k < per_owner[rank]; k++)
            if (number[rank][k] == asked) expected = 100 * (uint32_t)rank + k;
        promise(search_list(&search, rank, asked) == expected, "a search finds its numbers and no others",
                "it does not");
    }
    search_close(&search);
}

enum { most_synapses = 96, most_spikes = 80, most_lists = 3000, longest_delay = 12 };

/// A drawn network of one thread: `gap` ids follow each list's source that have no list.
struct drawn {
    uint32_t neurons, longest, steps, lists, gap, classes, n;
    bool narrow;
    struct {
        uint32_t list, target, delay, weight_class;
        int32_t weight;
    } synapse[most_synapses];
    int32_t weights[4];
};

static void draw(struct drawn *d, struct bytes *bytes) {
    d->neurons = next_number(bytes, 1, 40);
    d->longest = next_number(bytes, 1, longest_delay);
    d->steps = next_number(bytes, 1, d->longest);
    d->lists = next_number(bytes, 1, next_byte(bytes) % 2 ? 20 : most_lists);
    d->gap = next_number(bytes, 0, 3);
    d->classes = next_number(bytes, 0, 4);
    d->narrow = next_byte(bytes) % 2 && d->classes > 0;
    for (uint32_t c = 0; c < 4; c++) d->weights[c] = (int32_t)next_number(bytes, 0, 6) - 3;
    d->n = next_number(bytes, 0, most_synapses);
    for (uint32_t i = 0; i < d->n; i++) {
        const uint32_t chosen = d->classes ? next_number(bytes, 0, d->classes - 1) : 0;
        d->synapse[i].list = next_number(bytes, 0, d->lists - 1);
        d->synapse[i].target = next_number(bytes, 0, d->neurons - 1);
        d->synapse[i].delay = next_number(bytes, d->steps, d->longest);
        d->synapse[i].weight_class = chosen;
        d->synapse[i].weight = d->classes ? d->weights[chosen] : (int32_t)next_byte(bytes) - 128;
    }
}

static uint32_t source_of(const struct drawn *d, uint32_t list) {
    return list * (d->gap + 1);
}

static void build_table(struct synapse_table *table, const struct drawn *d) {
    struct synapse_format format;
    struct buckets buckets;
    struct id_set sources;
    struct error error = {""};
    promise(
        synapse_format(&format, d->neurons, d->longest, d->classes ? d->weights : NULL, d->classes, &error),
        "a small network fits", error.text);
    const uint32_t all = source_of(d, d->lists);
    const unsigned bits = buckets_source_bits(&format, all, all, all), wider = id_set_bits(all, bits, 1);
    buckets_open(&buckets, format, bits, all);
    for (uint32_t i = 0; i < d->n; i++) buckets_count(&buckets, source_of(d, d->synapse[i].list));
    buckets_allocate(&buckets);
    for (uint32_t i = 0; i < d->n; i++) {
        const uint32_t source = source_of(d, d->synapse[i].list);
        const uint32_t packed =
            synapse_pack(&format, d->synapse[i].target, d->synapse[i].delay, d->synapse[i].weight_class);
        if (d->classes)
            buckets_put(&buckets, source, packed);
        else
            buckets_put_own(&buckets, source, packed, d->synapse[i].weight);
    }
    id_set_open(&sources, all, wider);
    for (uint32_t k = 0, list = 0; k < sources.buckets; k++) {
        uint64_t present[1 << id_set_bits_max >> 6] = {0};
        for (; list < d->lists && source_of(d, list) >> wider == k; list++) {
            const uint32_t low = source_of(d, list) - (k << wider);
            present[low / 64] |= (uint64_t)1 << low % 64;
        }
        id_set_fill(&sources, k, present);
    }
    promise(id_set_number(&sources) == d->lists, "every list has a number", "one has none");
    synapse_table_open(table, &buckets, &sources);
    id_set_close(&sources);
}

static void deliveries(struct bytes *bytes) {
    static struct drawn d;
    static int32_t expected[2 * longest_delay][40];
    struct synapse_table table;
    draw(&d, bytes);
    build_table(&table, &d);
    struct ring ring = ring_open(d.neurons, d.longest, d.narrow);
    const struct spike_format format = spike_format(d.steps);
    const uint32_t window = next_number(bytes, 0, 1000) * d.steps, n = next_number(bytes, 0, most_spikes);
    uint32_t *words = malloc(n * sizeof *words + 1);
    struct delivered sum = {0, 0, 0};
    memset(expected, 0, sizeof expected);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t list = next_number(bytes, 0, d.lists - 1), step = next_number(bytes, 0, d.steps - 1);
        const uint64_t before = sum.synaptic_events;
        words[i] = spike_pack(format, list, step);
        for (uint32_t s = 0; s < d.n; s++) {
            if (d.synapse[s].list != list) continue;
            expected[step + d.synapse[s].delay][d.synapse[s].target] += d.synapse[s].weight;
            sum.synaptic_events++;
        }
        sum.first_accesses += sum.synaptic_events > before;
    }
    delivery_function *deliver = next_byte(bytes) % 2 ? deliver_reference : deliver_tuned;
    const struct delivered found = deliver(&table, words, n, format, window, &ring);
    promise(found.synaptic_events == sum.synaptic_events && found.first_accesses == sum.first_accesses,
            "all synapses of the lists are visited", "others are");
    for (uint32_t step = d.steps; step < d.steps + d.longest; step++) {
        int32_t input[40];
        ring_take(&ring, window + step, 0, d.neurons, input);
        promise(memcmp(input, expected[step], d.neurons * sizeof *input) == 0,
                "the input is the sum of the weights", "it is not");
    }
    free(words);
    synapse_table_close(&table);
    ring_close(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const targets[])(struct bytes *) = {wires, searches, deliveries, deliveries};
    struct bytes bytes = {data, size};
    targets[next_byte(&bytes) % 4](&bytes);
    return 0;
}
