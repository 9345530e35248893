/// \file
/// The send buffer keeps the words of each destination, and its memory follows the words, not the
/// destinations.

#include "support.h"

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/// Returns the bytes of the words, without what each destination takes.
static size_t pool_bytes(const struct send_buffer *send_buffer) {
    return send_buffer_bytes(send_buffer) - (size_t)send_buffer->destinations * send_buffer_place_bytes -
           (size_t)send_buffer->n_reachable * sizeof(int);
}

TEST(a_destination_without_words_takes_a_place_only) {
    struct send_buffer send_buffer;
    send_buffer_open(&send_buffer, 4000);
    assert_int_equal(send_buffer_bytes(&send_buffer), 4000 * (send_buffer_place_bytes + sizeof(int)));
    for (int rank = 0; rank < 4000; rank++) {
        assert_int_equal(send_buffer_count(&send_buffer, rank), 0);
        assert_int_equal(send_buffer_start(&send_buffer, rank), 0);
        assert_non_null(send_buffer_words(&send_buffer, rank));
    }
    send_buffer_close(&send_buffer);
}

TEST(one_busy_destination_of_4000_does_not_make_the_others_large) {
    enum { busy = 1234, words = 1000000 };
    struct send_buffer send_buffer;
    send_buffer_open(&send_buffer, 4000);
    for (int rank = 0; rank < 4000; rank += 100) send_buffer_add(&send_buffer, rank, (uint32_t)rank);
    for (uint32_t i = 0; i < words; i++) send_buffer_add(&send_buffer, busy, i);
    assert_true(pool_bytes(&send_buffer) < 3 * (words * sizeof(uint32_t) + 40 * 64));
    assert_int_equal(send_buffer_count(&send_buffer, busy), words);
    for (uint32_t i = 0; i < words; i++)
        if (send_buffer_words(&send_buffer, busy)[i] != i)
            fail_msg("word %u is %u", i, send_buffer_words(&send_buffer, busy)[i]);
    for (int rank = 0; rank < 4000; rank++) {
        if (rank == busy) continue;
        assert_int_equal(send_buffer_count(&send_buffer, rank), rank % 100 == 0);
        if (rank % 100 == 0) assert_int_equal(*send_buffer_words(&send_buffer, rank), rank);
    }
    send_buffer_close(&send_buffer);
}

enum { destinations = 37, most_words = 3000 };

/// What a send buffer must hold.
struct reference {
    uint32_t count[destinations], words[destinations][most_words];
};

static void compare(const struct send_buffer *send_buffer, const struct reference *held) {
    for (int rank = 0; rank < destinations; rank++) {
        const uint32_t count = held->count[rank];
        assert_int_equal(send_buffer_count(send_buffer, rank), count);
        assert_memory_equal(send_buffer_words(send_buffer, rank), held->words[rank],
                            count * sizeof(uint32_t));
        if (count == 0) continue;
        assert_ptr_equal(send_buffer->words + send_buffer_start(send_buffer, rank),
                         send_buffer_words(send_buffer, rank));
        assert_int_equal((uintptr_t)send_buffer_words(send_buffer, rank) % 64, 0);
    }
}

/// Adds random words, singly and in runs. A few destinations get most of them, some get none.
static void add_random(struct send_buffer *send_buffer, struct reference *held, uint64_t *random) {
    uint32_t run[200];
    for (int i = 0; i < 400; i++) {
        const uint32_t drawn = next_random(random) % destinations, n = next_random(random) % 200;
        const int rank = (int)(drawn * drawn / destinations);
        if (held->count[rank] + n > most_words) continue;
        for (uint32_t k = 0; k < n; k++) run[k] = next_random(random);
        if (n % 3)
            send_buffer_append(send_buffer, rank, run, n);
        else
            for (uint32_t k = 0; k < n; k++) send_buffer_add(send_buffer, rank, run[k]);
        memcpy(held->words[rank] + held->count[rank], run, n * sizeof *run);
        held->count[rank] += n;
    }
}

TEST(it_holds_what_was_added) {
    struct reference *held = ALLOC_ZERO(struct reference, 1);
    struct send_buffer send_buffer;
    uint64_t random = 1;
    send_buffer_open(&send_buffer, destinations);
    for (int window = 0; window < 50; window++) {
        send_buffer_clear(&send_buffer);
        memset(held->count, 0, sizeof held->count);
        compare(&send_buffer, held);
        add_random(&send_buffer, held, &random);
        compare(&send_buffer, held);
    }
    send_buffer_close(&send_buffer);
    free(held);
}
