/// \file
/// Random numbers against Random123's known answers; wire format; order-free checksum.

#include "base/checksum.h"
#include "base/registry.h"
#include "base/rng_vector.h"
#include "support.h"

TEST(blocks_lie_apart_and_large_ones_on_huge_pages) {
    enum { small = 20, huge = 1 << 21 };
    char *block[small];
    for (size_t i = 0; i < small; i++) {
        block[i] = ALLOC(char, 1 + 100 * i);
        assert_int_equal((uintptr_t)block[i] % alloc_apart, 0);
        for (size_t k = 0; k < i; k++) { // their last and first bytes
            const uintptr_t from = (uintptr_t)block[k], other = (uintptr_t)block[i];
            assert_true(from / alloc_apart > (other + 100 * i) / alloc_apart ||
                        (from + 100 * k) / alloc_apart < other / alloc_apart);
        }
    }
    for (size_t i = 0; i < small; i++) free(block[i]);
    const size_t large[] = {huge, huge + 1, 3 * huge - 1, 3 * huge};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char *zeros = ALLOC_ZERO(char, large[i]);
        assert_int_equal((uintptr_t)zeros % huge, 0);
        assert_int_equal(zeros[large[i] - 1], 0);
        free(zeros);
    }
}

TEST(messages_are_one_line_of_utf8) {
    static const char *const told[][2] = {
        {"a\nb\x7f", "a?b?"},
        {"\xc3\xbc\xe2\x82\xac", "\xc3\xbc\xe2\x82\xac"},
        {"cut \xc3...", "cut ?..."},
        {"cut \xe2\x82", "cut ??"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xc0\xaf \xf5", "?? ?"},
        {"a\xc2\x85"
         "b\xe2\x80\xae"
         "c\xe2\x81\xa7",
         "a?b?c?"},                                      // U+0085, U+202E, U+2067
        {"\xe0\x80\x8a\xed\xa0\x80\xef\xbb\xbf", "???"}, // overlong, half a pair, U+FEFF
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct error error = {""};
        assert_false(error_set(&error, "%s", told[i][0]));
        assert_string_equal(error.text, told[i][1]);
    }
    char name[1200];
    struct error error = {""};
    for (size_t i = 0; i < sizeof name - 1; i += 2) memcpy(name + i, "\xc3\xbc", 3);
    name[sizeof name - 1] = '\0';
    error_set(&error, "%s", name);
    assert_string_equal(error.text + strlen(error.text) - 1, "?"); // the last letter is cut
}

TEST(philox_gives_the_known_answers) {
    // kat_vectors of Random123: philox4x32, 10 rounds: counter, key, result.
    static const uint32_t known[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
         0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
         0x5001e420, 0x24126ea1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t *k = known[i];
        struct rng_words drawn =
            rng_draw((uint64_t)k[5] << 32 | k[4], (enum rng_purpose)k[3], k[2], k[1], k[0]);
        for (int w = 0; w < 4; w++) assert_int_equal(drawn.word[w], k[6 + w]);
    }
}

TEST(vectors_draw_the_same_words) {
    static const uint64_t seeds[] = {0, 1, 0xfedcba9876543210u, UINT64_MAX};
    static const uint32_t firsts[] = {0, 5, 1000000, UINT32_MAX - 3}; // the last one wraps around
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++)
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            uint32_t word[4][rng_elements], by_neuron[4][rng_elements];
            rng_draw_vector(seeds[s], rng_neuron, 77, 123456789, firsts[f], word);
            rng_draw_neurons(seeds[s], rng_neuron, 77, firsts[f], 3, 123456789, by_neuron[0], rng_elements);
            for (uint32_t i = 0; i < rng_elements; i++) {
                struct rng_words drawn = rng_draw(seeds[s], rng_neuron, 77, 123456789, firsts[f] + i);
                for (int w = 0; w < 4; w++) assert_int_equal(word[w][i], drawn.word[w]);
                drawn = rng_draw(seeds[s], rng_neuron, 77, firsts[f] + 3 * i, 123456789);
                for (int w = 0; w < 4; w++) assert_int_equal(by_neuron[w][i], drawn.word[w]);
            }
        }
}

TEST(below_is_the_high_product) {
    static const uint32_t bounds[] = {1, 2, 3, 1000, 129068, 0xffffffff};
    for (uint32_t i = 0; i < 1000; i++) {
        struct rng_words drawn = rng_draw(1, rng_neuron, 0, 0, i);
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
            unsigned __int128 wide =
                (unsigned __int128)((uint64_t)drawn.word[0] << 32 | drawn.word[1]) * bounds[b];
            assert_int_equal(rng_below(drawn.word[0], drawn.word[1], bounds[b]), (uint32_t)(wide >> 64));
        }
    }
}

TEST(normal_has_mean_0_and_variance_1) {
    enum { n = 100000 };
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct rng_words drawn = rng_draw(3, rng_neuron, 0, 0, i);
        double x = rng_normal(drawn.word[0], drawn.word[1]);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / n) < 4 / sqrt(n));
    assert_true(fabs(squares / n - 1) < 4 * sqrt(2.0 / n));
}

TEST(a_spike_survives_the_wire) {
    for (uint32_t steps = 1; steps < 3000; steps = steps * 2 + 1) {
        struct spike_format format = spike_format(steps);
        uint32_t lists[] = {0, 1, 12345, (uint32_t)(spike_lists_limit(format) - 1)};
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            for (uint32_t step = 0; step < steps; step += 1 + steps / 5) {
                uint32_t word = spike_pack(format, lists[i], step);
                assert_int_equal(spike_list(format, word), lists[i]);
                assert_int_equal(spike_step(format, word), step);
            }
    }
}

TEST(a_window_of_more_steps_than_a_word_can_tell_leaves_no_room_for_lists) {
    assert_int_equal(spike_format(UINT32_MAX).step_bits, 32);
    assert_int_equal(spike_format((uint64_t)5000 * 1000000).step_bits, 32);
    assert_true(spike_lists_limit(spike_format((uint64_t)1 << 33)) == 1);
}

TEST(the_checksum_of_a_spike_is_splitmix64) {
    // First outputs of splitmix64 seeded with 0 and with 1234567 (the reference implementation's).
    assert_true(checksum_mix(0) == 0xe220a8397b1dcdafu);
    assert_true(checksum_mix(1234567) == 6457827717110365317u);
    assert_true(checksum_spike(5, 9) == checksum_mix(5 + ((uint64_t)9 << 32)));
    assert_true(checksum_spike(5, 9) != checksum_spike(9, 5));
}

struct variant {
    const char *name;
    int number;
};

TEST(a_variant_is_found_by_its_name) {
    static const struct variant one = {"one", 1}, other = {"other", 2};
    static const struct variant *const registry[] = {&one, &other, NULL}, *const nothing[] = {NULL};
    assert_ptr_equal(registry_find(registry, "one"), &one);
    assert_ptr_equal(registry_find(registry, "other"), &other);
    assert_null(registry_find(registry, "on"));
    assert_null(registry_find(nothing, "one"));
    assert_string_equal(registry_names(registry).text, "one, other");
    assert_string_equal(registry_names(nothing).text, "");
}

/// Names that are together longer than a list has room for: the list says so, and keeps within its bounds.
TEST(a_list_of_many_long_names_ends_in_dots) {
    enum { variants = 40 };
    char names[variants][100];
    struct variant variant[variants];
    const struct variant *registry[variants + 1] = {NULL};
    for (int length = 1; length < 100; length++) {
        for (int i = 0; i < variants; i++) {
            memset(names[i], 'a' + i % 26, (size_t)length);
            names[i][length] = '\0';
            variant[i] = (struct variant){names[i], i};
            registry[i] = &variant[i];
        }
        const struct name_list list = registry_names(registry);
        const size_t shown = (size_t)(length < name_list_longest ? length : name_list_longest);
        const size_t whole = variants * (shown + 2) - 2, written = strlen(list.text);
        assert_true(written < sizeof list.text);
        assert_int_equal(strcmp(list.text + written - 3, "...") == 0, whole >= sizeof list.text - 5);
        if (whole < sizeof list.text - 5) assert_int_equal(written, whole);
        assert_true(strncmp(list.text, names[0], shown) == 0 && strncmp(list.text + shown, ", b", 3) == 0);
    }
}

TEST(a_set_numbers_its_ids_in_order) {
    static const uint32_t ids[] = {0, 3, 63, 64, 127, 640, 641, 999};
    enum { n = sizeof ids / sizeof *ids };
    for (unsigned bits = 0; bits <= 10; bits++) {
        struct id_set set;
        id_set_open(&set, 1000, bits);
        for (uint32_t k = 0; k < set.buckets; k++) {
            uint64_t present[16] = {0};
            for (int i = 0; i < n; i++) {
                const uint32_t low = ids[i] - (k << bits);
                if (ids[i] >> bits == k) present[low / 64] |= (uint64_t)1 << low % 64;
            }
            id_set_fill(&set, k, present);
        }
        assert_int_equal(id_set_number(&set), n);
        for (uint32_t first = 0; first < n; first++) {
            struct id_cursor cursor = id_set_from(&set, first);
            for (uint32_t i = first; i < n; i++) assert_int_equal(id_set_next(&cursor), ids[i]);
        }
        id_set_close(&set);
    }
    assert_int_equal(id_set_bits(1 << 24, 3, 128), 11);
    assert_int_equal(id_set_bits(1 << 30, 3, 1), id_set_bits_max);
    assert_int_equal(id_set_bits(100, 5, 8), 5);
}

/// Delivery fetches ahead within a run, so the words of many short runs must become one run, in their order.
TEST(short_runs_of_an_receive_buffer_are_joined) {
    enum { runs = 128, most = 4, apart = most + 1 };
    uint32_t words[runs * apart], joint[runs * most];
    struct receive_buffer receive_buffer;
    struct word_buffer joined = {0};
    receive_buffer_open(&receive_buffer, runs);
    for (uint32_t round = 0, n = 0; round < 3; round++, n = 0) {
        receive_buffer_clear(&receive_buffer);
        for (size_t i = 0; i < runs; i++) {
            const size_t count = (i + round) % most;
            for (size_t k = 0; k < count; k++, n++) joint[n] = words[i * apart + k] = 1000 * round + n;
            receive_buffer_add(&receive_buffer, (int)i, words + i * apart, count);
        }
        assert_int_equal(receive_buffer.words, n);
        assert_int_equal(receive_buffer.runs, runs * (most - 1) / most);
        assert_null(receive_buffer.together);
        assert_true(receive_buffer_is_scattered(&receive_buffer));
        receive_buffer_join(&joined, &receive_buffer);
        assert_memory_equal(joined.words, joint, n * sizeof *words);
    }
    word_buffer_close(&joined);
    receive_buffer_clear(&receive_buffer);
    for (int i = 0; i < 10; i++) receive_buffer_add(&receive_buffer, i, words + i, 1);
    assert_ptr_equal(receive_buffer.together, words); // nothing need be copied
    receive_buffer_clear(&receive_buffer);
    for (int i = 0; i < 2; i++) receive_buffer_add(&receive_buffer, i, words + 3 * i, 1 << 20);
    assert_false(receive_buffer_is_scattered(&receive_buffer)); // few long runs stay where they are
    receive_buffer_clear(&receive_buffer);
    receive_buffer_add(&receive_buffer, 5, words, 1);
    assert_false(receive_buffer_is_scattered(&receive_buffer)); // and so does a single one
    for (int i = 1; i < runs; i++) receive_buffer_add(&receive_buffer, i, words, 1);
    assert_false(receive_buffer.damaged);
    receive_buffer_add(&receive_buffer, 0, words, 0); // no words, no run
    assert_false(receive_buffer.damaged);
    receive_buffer_add(&receive_buffer, 0, words, 1); // a run more than there are sources
    assert_true(receive_buffer.damaged);
    receive_buffer_clear(&receive_buffer);
    assert_false(receive_buffer.damaged);
    receive_buffer_close(&receive_buffer);
}
