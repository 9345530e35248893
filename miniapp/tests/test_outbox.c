/// \file
/// The outbox keeps the words of each destination, and its memory follows the words, not the destinations.

#include "support.h"

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/// Returns the bytes of the words, without what each destination takes.
static size_t pool_bytes(const struct outbox *outbox) {
    return outbox_bytes(outbox) - (size_t)outbox->ranks * outbox_place_bytes -
           (size_t)outbox->n_to * sizeof(int);
}

TEST(a_destination_without_words_takes_a_place_only) {
    struct outbox outbox;
    outbox_open(&outbox, 4000);
    assert_int_equal(outbox_bytes(&outbox), 4000 * (outbox_place_bytes + sizeof(int)));
    for (int rank = 0; rank < 4000; rank++) {
        assert_int_equal(outbox_count(&outbox, rank), 0);
        assert_int_equal(outbox_start(&outbox, rank), 0);
        assert_non_null(outbox_words(&outbox, rank));
    }
    outbox_close(&outbox);
}

TEST(one_busy_destination_of_4000_does_not_make_the_others_large) {
    enum { busy = 1234, words = 1000000 };
    struct outbox outbox;
    outbox_open(&outbox, 4000);
    for (int rank = 0; rank < 4000; rank += 100) outbox_add(&outbox, rank, (uint32_t)rank);
    for (uint32_t i = 0; i < words; i++) outbox_add(&outbox, busy, i);
    assert_true(pool_bytes(&outbox) < 3 * (words * sizeof(uint32_t) + 40 * 64));
    assert_int_equal(outbox_count(&outbox, busy), words);
    for (uint32_t i = 0; i < words; i++)
        if (outbox_words(&outbox, busy)[i] != i) fail_msg("word %u is %u", i, outbox_words(&outbox, busy)[i]);
    for (int rank = 0; rank < 4000; rank++) {
        if (rank == busy) continue;
        assert_int_equal(outbox_count(&outbox, rank), rank % 100 == 0);
        if (rank % 100 == 0) assert_int_equal(*outbox_words(&outbox, rank), rank);
    }
    outbox_close(&outbox);
}

enum { destinations = 37, most_words = 3000 };

/// What an outbox must hold.
struct reference {
    uint32_t count[destinations], words[destinations][most_words];
};

static void compare(const struct outbox *outbox, const struct reference *held) {
    for (int rank = 0; rank < destinations; rank++) {
        const uint32_t count = held->count[rank];
        assert_int_equal(outbox_count(outbox, rank), count);
        assert_memory_equal(outbox_words(outbox, rank), held->words[rank], count * sizeof(uint32_t));
        if (count == 0) continue;
        assert_ptr_equal(outbox->words + outbox_start(outbox, rank), outbox_words(outbox, rank));
        assert_int_equal((uintptr_t)outbox_words(outbox, rank) % 64, 0);
    }
}

/// Adds random words, singly and in runs. A few destinations get most of them, some get none.
static void add_random(struct outbox *outbox, struct reference *held, uint64_t *random) {
    uint32_t run[200];
    for (int i = 0; i < 400; i++) {
        const uint32_t drawn = next_random(random) % destinations, n = next_random(random) % 200;
        const int rank = (int)(drawn * drawn / destinations);
        if (held->count[rank] + n > most_words) continue;
        for (uint32_t k = 0; k < n; k++) run[k] = next_random(random);
        if (n % 3)
            outbox_append(outbox, rank, run, n);
        else
            for (uint32_t k = 0; k < n; k++) outbox_add(outbox, rank, run[k]);
        memcpy(held->words[rank] + held->count[rank], run, n * sizeof *run);
        held->count[rank] += n;
    }
}

TEST(it_holds_what_was_added) {
    struct reference *held = ALLOC_ZERO(struct reference, 1);
    struct outbox outbox;
    uint64_t random = 1;
    outbox_open(&outbox, destinations);
    for (int window = 0; window < 50; window++) {
        outbox_clear(&outbox);
        memset(held->count, 0, sizeof held->count);
        compare(&outbox, held);
        add_random(&outbox, held, &random);
        compare(&outbox, held);
    }
    outbox_close(&outbox);
    free(held);
}
