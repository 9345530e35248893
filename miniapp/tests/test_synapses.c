/// \file
/// Synapse tables: what is put in arrives, at the right neuron, step and weight.

#include "support.h"

#include "base/alloc.h"
#include "synapse/table.h"
#include <stdlib.h>

enum { neurons = 11, longest = 6, most_lists = 300, synapses = 400, window_steps = 3 };

static const int32_t weights[] = {3, -2, 1000};

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

/// With `own`, every synapse holds its weight itself.
static void fill(struct synapse_table *table, uint32_t lists, uint32_t classes, bool own) {
    struct synapse_format format;
    struct error error = {""};
    assert_true(synapse_format(&format, neurons, longest, own ? NULL : weights, own ? 0 : classes, &error));
    assert_int_equal(synapse_bytes(&format), own ? 8 : 4);
    synapse_table_open(table, format, lists);
    for (uint32_t i = 0; i < synapses; i++) synapse_table_add_count(table, drawn[i].list, 1);
    assert_true(synapse_table_allocate(table, &error));
    for (uint32_t i = 0; i < synapses; i++)
        if (own)
            synapse_table_put_own(table, drawn[i].list,
                                  synapse_pack(&format, drawn[i].target, drawn[i].delay, 0),
                                  weights[drawn[i].weight_class]);
        else
            synapse_table_put(table, drawn[i].list,
                              synapse_pack(&format, drawn[i].target, drawn[i].delay, drawn[i].weight_class));
}

/// Delivers many windows and compares every cell of the ring with the sum over all synapses.
static void check_deliveries(uint32_t lists, bool narrow, uint32_t classes, bool own) {
    struct synapse_table table;
    struct ring ring = ring_open(neurons, longest, narrow);
    draw(lists, classes);
    fill(&table, lists, classes, own);
    assert_int_equal(synapse_table_size(&table), synapses);
    const struct spike_format format = spike_format(window_steps);

    for (uint32_t window = 0; window < 60; window += window_steps) {
        // Every list once, at varying steps, list 2 twice.
        uint32_t words[most_lists + 1], steps[most_lists + 1], numbers[most_lists + 1];
        int32_t expected[longest + window_steps][neurons] = {{0}};
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
        struct delivered delivered = synapse_table_deliver(&table, words, lists + 1, format, window, &ring);
        assert_int_equal(delivered.synaptic_events, events);
        assert_int_equal(delivered.first_accesses, entered);
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
    }
    synapse_table_close(&table);
    ring_close(&ring);
}

static void deliveries_arrive_where_and_when_they_should(void **state) {
    (void)state;
    for (uint32_t classes = 1; classes <= 3; classes++) {
        for (int i = 0; i < 2; i++) {
            const uint32_t lists = i ? most_lists : 9; // of about one synapse, or of dozens
            check_deliveries(lists, true, classes, false);
            check_deliveries(lists, false, classes, false);
            check_deliveries(lists, false, classes, true);
        }
    }
}

static void nothing_is_delivered_from_an_empty_table(void **state) {
    (void)state;
    struct synapse_format format;
    struct synapse_table table;
    struct error error = {""};
    struct ring ring = ring_open(neurons, longest, true);
    assert_true(synapse_format(&format, neurons, longest, weights, 0, &error));
    synapse_table_open(&table, format, 1);
    assert_true(synapse_table_allocate(&table, &error));
    const uint32_t word = 0;
    assert_int_equal(synapse_table_deliver(&table, &word, 1, spike_format(1), 0, &ring).first_accesses, 0);
    synapse_table_close(&table);
    ring_close(&ring);
}

static void what_does_not_fit_four_bytes_is_refused(void **state) {
    (void)state;
    struct synapse_format format;
    struct error error = {""};
    assert_true(synapse_format(&format, 1u << 20, 1023, weights, 4, &error));
    assert_false(synapse_format(&format, 1u << 20, 1024, weights, 4, &error));
    assert_false(synapse_format(&format, 1u << 28, 1024, weights, 1, &error));
    assert_true(error_stands(&error));
    assert_true(synapse_format(&format, 1u << 20, 2047, NULL, 0, &error)); // places alone have 31 bits
    assert_false(synapse_format(&format, 1u << 20, 2048, NULL, 0, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deliveries_arrive_where_and_when_they_should),
        cmocka_unit_test(nothing_is_delivered_from_an_empty_table),
        cmocka_unit_test(what_does_not_fit_four_bytes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
