/// \file
/// Synapse tables: what is put in arrives, at the right neuron, step and weight.

#include "support.h"

enum { few = 11, many = 90000, longest = 6, most_lists = 9000, synapses = 400, window_steps = 3 };

static const int32_t weights[] = {3, -2, 1000};
static uint32_t neurons = few;

/// Returns the source of a list.
static uint32_t source_of(uint32_t list) {
    return list + list / 4;
}

static struct drawn { uint32_t list, target, delay, weight_class; } drawn[synapses];

static void draw(uint32_t lists, uint32_t classes) {
    for (uint32_t i = 0; i < synapses; i++) {
        struct rng_words word = rng_draw(9, rng_synapse, 0, 0, i);
        // Half of them are in one list; the last one stays empty; delays are at least as long as the window.
        uint32_t list = i % 2 ? 1 : word.word[0] % (lists - 1);
        drawn[i] = (struct drawn){list, word.word[1] % neurons,
                                  window_steps + word.word[2] % (longest - window_steps + 1),
                                  word.word[3] % classes};
    }
}

/// With `own`, every synapse holds its weight itself. A rank has lists of all sources but every fifth one.
static void fill(struct synapse_table *table, uint32_t lists, uint32_t classes, bool own) {
    struct synapse_format format;
    struct buckets buckets;
    struct id_set sources;
    struct error error = {""};
    assert_true(synapse_format(&format, neurons, longest, own ? NULL : weights, own ? 0 : classes, &error));
    assert_int_equal(synapse_bytes(&format), own ? 8 : 4);
    const uint32_t all = source_of(lists);
    const unsigned bits = buckets_source_bits(&format, all, all, all);
    buckets_open(&buckets, format, bits, all);
    for (uint32_t i = 0; i < synapses; i++) buckets_count(&buckets, source_of(drawn[i].list));
    buckets_allocate(&buckets);
    for (uint32_t i = 0; i < synapses; i++) {
        const uint32_t packed =
            synapse_pack(&format, drawn[i].target, drawn[i].delay, own ? 0 : drawn[i].weight_class);
        if (own)
            buckets_put_own(&buckets, source_of(drawn[i].list), packed, weights[drawn[i].weight_class]);
        else
            buckets_put(&buckets, source_of(drawn[i].list), packed);
    }
    assert_int_equal(buckets_size(&buckets), synapses);
    const unsigned wider = id_set_bits(all, bits, 1);
    id_set_open(&sources, all, wider);
    for (uint32_t k = 0; k < sources.buckets; k++) {
        uint64_t present[1 << id_set_bits_max >> 6] = {0};
        for (uint32_t l = 0; l < lists; l++)
            if (source_of(l) >> wider == k) {
                const uint32_t low = source_of(l) - (k << wider);
                present[low / 64] |= (uint64_t)1 << low % 64;
            }
        id_set_fill(&sources, k, present);
    }
    assert_int_equal(id_set_number(&sources), lists);
    synapse_table_open(table, &buckets, &sources);
    id_set_close(&sources);
}

/// Delivers many windows and compares every cell of the ring with the sum over all synapses.
static void check_delivery(delivery_function *deliver, uint32_t lists, bool narrow, uint32_t classes,
                           bool own) {
    struct synapse_table table;
    struct ring ring = ring_open(neurons, longest, narrow);
    draw(lists, classes);
    fill(&table, lists, classes, own);
    assert_int_equal(table.size, synapses);
    const struct spike_format format = spike_format(window_steps);

    for (uint32_t window = 0; window < 60; window += window_steps) {
        // Every list once, at varying steps, list 2 twice.
        uint32_t words[most_lists + 1], steps[most_lists + 1], numbers[most_lists + 1];
        int32_t(*expected)[neurons] = alloc_zero(longest + window_steps, sizeof *expected);
        uint64_t events = 0, entered = 0;
        for (uint32_t i = 0; i <= lists; i++) {
            numbers[i] = i < lists ? i : 2;
            steps[i] = (i + window) % window_steps;
            words[i] = spike_pack(format, numbers[i], steps[i]);
            uint64_t before = events;
            for (uint32_t s = 0; s < synapses; s++)
                if (drawn[s].list == numbers[i]) {
                    expected[steps[i] + drawn[s].delay][drawn[s].target] += weights[drawn[s].weight_class];
                    events++;
                }
            entered += events > before;
        }
        struct delivered delivered = deliver(&table, words, lists + 1, format, window, &ring);
        assert_int_equal(delivered.synaptic_events, events);
        assert_int_equal(delivered.first_accesses, entered);
        assert_int_equal(delivered.lookups, lists + 1);
        // The next rows to be read follow the window; every row is taken before it is reused.
        for (uint32_t step = window_steps; step < longest + window_steps; step++) {
            int32_t input[neurons], again[neurons];
            ring_take(&ring, window + step, 0, 4, input);
            ring_take(&ring, window + step, 4, neurons - 4, input + 4);
            ring_take(&ring, window + step, 0, neurons, again);
            for (uint32_t n = 0; n < neurons; n++) {
                assert_int_equal(input[n], expected[step][n]);
                assert_int_equal(again[n], 0);
            }
        }
        free(expected);
    }
    synapse_table_close(&table);
    ring_close(&ring);
}

/// Both deliveries, the tuned one and the reference.
static void check_deliveries(uint32_t lists, bool narrow, uint32_t classes, bool own) {
    check_delivery(deliver_tuned, lists, narrow, classes, own);
    check_delivery(deliver_reference, lists, narrow, classes, own);
}

TEST(deliveries_arrive_where_and_when_they_should) {
    for (uint32_t classes = 1; classes <= 3; classes++) {
        for (int i = 0; i < 4; i++) {
            const uint32_t lists =
                (const uint32_t[]){9, 99, 300, most_lists}[i]; // of dozens, four, one, or hardly any
            check_deliveries(lists, true, classes, false);
            check_deliveries(lists, false, classes, false);
            check_deliveries(lists, false, classes, true);
        }
    }
}

TEST(cells_of_a_ring_beyond_the_caches_are_fetched_and_added_to) {
    neurons = many;
    check_deliveries(300, true, 2, false);
    check_deliveries(300, false, 1, false);
    check_deliveries(300, false, 1, true);
    neurons = few;
}

TEST(nothing_is_delivered_from_an_empty_table) {
    struct synapse_format format;
    struct synapse_table table;
    struct error error = {""};
    struct ring ring = ring_open(neurons, longest, true);
    assert_true(synapse_format(&format, neurons, longest, weights, 0, &error));
    struct buckets buckets;
    struct id_set sources;
    buckets_open(&buckets, format, 0, 1);
    buckets_allocate(&buckets);
    id_set_open(&sources, 1, 0);
    id_set_fill(&sources, 0, &(uint64_t){1});
    id_set_number(&sources);
    synapse_table_open(&table, &buckets, &sources);
    id_set_close(&sources);
    const uint32_t word = 0;
    const struct delivered nothing = deliver_tuned(&table, &word, 1, spike_format(1), 0, &ring);
    assert_int_equal(nothing.first_accesses + nothing.lookups, 0);
    synapse_table_close(&table);
    ring_close(&ring);
}

TEST(what_does_not_fit_four_bytes_is_refused) {
    struct synapse_format format;
    struct error error = {""};
    assert_true(synapse_format(&format, 1u << 20, 1023, weights, 4, &error));
    assert_false(synapse_format(&format, 1u << 20, 1024, weights, 4, &error));
    assert_false(synapse_format(&format, 1u << 28, 1024, weights, 1, &error));
    assert_true(error_stands(&error));
    assert_true(synapse_format(&format, 1u << 20, 2047, NULL, 0, &error)); // places alone have 31 bits
    assert_false(synapse_format(&format, 1u << 20, 2048, NULL, 0, &error));
}

TEST(lists_of_any_length_arrive) {
    for (int own = 0; own < 2; own++)
        for (uint32_t lists = 3; lists <= 3 * synapses; lists += 1 + lists / 8) {
            check_deliveries(lists, false, 3, own);
            if (!own) check_deliveries(lists, true, 1, false);
        }
}

TEST(the_sources_of_one_area_are_spread_over_buckets) {
    enum { area = 16133, used_bits = 18 };
    const struct synapse_format format = {.used_bits = used_bits};
    for (uint32_t areas = 2; areas <= 1024; areas *= 2) {
        const unsigned bits = buckets_source_bits(&format, area * areas, area * areas, 1e12);
        assert_true((area * areas) >> bits <= 1 << 12);
        assert_true(area >> bits >= 3); // an area may have half of all synapses; a bucket is sorted apart
    }
    // A thread of a rank with few synapses of very many sources has no more than 2^14 buckets.
    const struct synapse_format short_words = {.used_bits = 16};
    const uint32_t billion = 1000000000;
    assert_true(billion >> buckets_source_bits(&short_words, billion, billion, 1e12) <= 1 << 14);
}

TEST(buckets_follow_the_synapses_where_most_neurons_are_no_sources) {
    const struct synapse_format format = {.used_bits = 16};
    for (uint32_t ids = 1 << 13; ids < UINT32_C(1) << 28; ids *= 2) {
        assert_true(ids >> buckets_source_bits(&format, 100, ids, 1000) <= 1 << 12);
        assert_true(ids >> buckets_source_bits(&format, 100, ids, 1 << 22) <= 1 << 18);
    }
    // Narrow buckets, where there are synapses enough for them.
    assert_int_equal(buckets_source_bits(&format, 100, 1 << 18, 1 << 22), 0);
    // No word holds more bits of its source than it has to spare.
    assert_int_equal(buckets_source_bits(&(struct synapse_format){.used_bits = 30}, 100, 1 << 28, 1000), 2);
}
