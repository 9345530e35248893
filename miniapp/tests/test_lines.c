/// \file
/// Lines of synapse tables: their memory, and lists of all lengths in them.

#include "support.h"

enum { few = 11, longest = 6 };

static const int32_t weights[] = {3};

TEST(an_index_suits_the_lists_and_the_bits_to_spare) {
    for (uint32_t i = 0; i < 200000; i++) {
        struct rng_words word = rng_draw(3, rng_synapse, 0, 0, i);
        const uint32_t lists = i < 200 ? i : (word.word[0] >> word.word[1] % 32) | 1;
        const uint64_t n = i % 7 ? word.word[2] >> word.word[3] % 32 : lists / 8 + i % 3 - (lists > 8);
        const unsigned spare = i % 33;
        const struct synapse_format format = {.used_bits = 32 - spare, .classes = i % 2};
        const struct synapse_index index = synapse_index(&format, lists, n);
        const bool sparse = n > 0 && n < lists;
        unsigned filter_bits = 0;
        while (sparse && lists >> filter_bits > 8 * n) filter_bits++;
        assert_int_equal(index.filter_bits, filter_bits);
        assert_int_equal(index.filter_words > 0, sparse);
        assert_true(!sparse || index.filter_words * 64 << filter_bits >= lists);
        assert_int_equal(index.most_lists > 0, n > 0 && n < (uint64_t)5 * lists && spare >= 5 &&
                                                   n < (uint64_t)1 << (i % 2 ? 31 : 30));
        if (index.most_lists == 0) continue;
        assert_true(index.most_lists <= 1 << 14 && index.most_lists <= 1u << (spare - 1));
        assert_true((uint64_t)index.groups << index.group_bits >= lists);
        assert_true(((uint64_t)index.groups - 1) << index.group_bits < lists);
        assert_in_range(synapse_index_share(&index, lists, (double)n), 1, index.most_lists);
        const double bytes = synapse_index_bytes(&index, &format, n) / (double)n;
        const bool enough = index.most_lists >= 20.0 * lists / (double)n; // bits to spare
        if (i % 2 && enough && n > 100000 && n > lists / 20) assert_true(bytes < 1.55);
    }
}

/// Lists have Poisson lengths, in one part of them longer than in the other. \return synapses.
static uint32_t fill_unevenly(struct synapse_table *table, uint32_t lists, double mean, double part_mean,
                              bool own) {
    struct synapse_format format;
    struct buckets buckets;
    struct id_set sources;
    struct error error = {""};
    uint32_t *lengths = ALLOC(uint32_t, lists), n = 0;
    for (uint32_t l = 0; l < lists; l++) {
        const double term = exp(-(l < lists / 4 ? part_mean : mean));
        double below = 1;
        uint32_t length = 0;
        for (;; length++) {
            below *= rng_uniform(rng_draw(8, rng_synapse, l, 0, length).word[0]);
            if (below < term) break;
        }
        n += lengths[l] = length;
    }
    assert_true(synapse_format(&format, few, longest, own ? NULL : weights, own ? 0 : 1, &error));
    const unsigned bits = buckets_source_bits(&format, lists, lists, lists);
    buckets_open(&buckets, format, bits, lists);
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t k = 0; k < lengths[l]; k++) buckets_count(&buckets, l);
    buckets_allocate(&buckets);
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t k = 0; k < lengths[l]; k++) {
            if (own)
                buckets_put_own(&buckets, l, synapse_pack(&format, (l + k) % few, longest, 0), 1);
            else
                buckets_put(&buckets, l, synapse_pack(&format, (l + k) % few, longest, 0));
        }
    id_set_open(&sources, lists, id_set_bits(lists, bits, 1));
    for (uint32_t k = 0; k < sources.buckets; k++) {
        uint64_t present[1 << id_set_bits_max >> 6] = {0};
        for (uint32_t l = 0; l < 1u << sources.bits && (k << sources.bits) + l < lists; l++)
            present[l / 64] |= (uint64_t)1 << l % 64;
        id_set_fill(&sources, k, present);
    }
    assert_int_equal(id_set_number(&sources), lists);
    synapse_table_open(table, &buckets, &sources);
    id_set_close(&sources);
    // Each list is there: the spike of a list causes as many events as it is long.
    struct ring ring = ring_open(few, longest, false);
    for (uint32_t l = 0; l < lists; l++) {
        const struct delivered one = deliver_tuned(table, &l, 1, spike_format(1), 0, &ring);
        assert_int_equal(one.synaptic_events, lengths[l]);
        assert_int_equal(one.first_accesses, lengths[l] > 0);
        const struct delivered same = deliver_reference(table, &l, 1, spike_format(1), 0, &ring);
        assert_memory_equal(&same, &one, sizeof one);
    }
    ring_close(&ring);
    free(lengths);
    return n;
}

TEST(a_table_takes_the_memory_that_its_index_says) {
    for (int own = 0; own < 2; own++)
        for (double mean = 0.1; mean < 8; mean *= 1.3) {
            struct synapse_table table;
            const uint32_t n = fill_unevenly(&table, 60000, mean, mean, own);
            const double said = synapse_index_bytes(&table.index, &table.format, n) +
                                (double)n * (double)synapse_bytes(&table.format);
            assert_float_equal((double)synapse_table_bytes(&table) / said, 1, 0.01);
            synapse_table_close(&table);
        }
}

TEST(lists_of_different_lengths_take_about_as_much) {
    struct synapse_table table;
    for (double mean = 0.1; mean < 1; mean *= 2) {
        const uint32_t n = fill_unevenly(&table, 600000, mean, 20 * mean, false);
        const double said = synapse_index_bytes(&table.index, &table.format, n) + 4.0 * n;
        assert_float_equal((double)synapse_table_bytes(&table) / said, 1, 0.08);
        synapse_table_close(&table);
    }
}
