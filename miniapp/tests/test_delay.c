/// \file
/// Delays from the table against delays that are redrawn and rounded as the definition says.

#include "support.h"

enum { draws = 200000, most = 400 };

static const struct setting {
    double mean, sd, low, high;
} settings[] = {
    {0.5, 0.25, 0.1, 2}, {1.5, 0.75, 1, 2}, {5, 2.5, 1, 20},
    {1, 2, 0.1, 0.3},    {0.8, 0.1, 1, 2},  {0.1, 0.05, 0.1, 0.1},
};

/// Exponential ones have no sd.
static const struct setting exponential[] = {
    {26.7, 0, 1, 80}, {0.3, 0, 0.1, 3}, {5, 0, 0.25, 1.17}, {0.05, 0, 2, 3}, {10, 0, 0.1, 2},
};

/// Draws, redraws until within the limits, rounds to the grid.
static uint32_t redraw(const struct setting *s, double h, uint32_t number) {
    for (uint32_t attempt = 0;; attempt++) {
        struct rng_words drawn = rng_draw(5, rng_neuron, attempt, attempt >> 16, number);
        double delay = s->mean + s->sd * rng_normal(drawn.word[0], drawn.word[1]);
        // A single grid point has no width to be redrawn into.
        if (s->low == s->high) return (uint32_t)nearbyint(s->low / h);
        if (delay >= s->low && delay <= s->high) return (uint32_t)floor(delay / h + 0.5);
    }
}

/// The same of an exponential distribution. Few draws come above a `low` of many means, so it starts there,
/// as this distribution does not mind.
static uint32_t redraw_exponential(const struct setting *s, double h, uint32_t number) {
    for (uint32_t attempt = 0;; attempt++) {
        struct rng_words drawn = rng_draw(5, rng_neuron, attempt, attempt >> 16, number);
        double delay = s->low - s->mean * log((drawn.word[0] + 0.5) / 4294967296.0);
        if (delay <= s->high) return (uint32_t)floor(delay / h + 0.5);
    }
}

/// Draws of both kinds differ by no more than chance: chi squared within five standard deviations.
static void assert_alike(const struct delay *delay, const struct setting *s, double h,
                         uint32_t (*redrawn)(const struct setting *, double, uint32_t)) {
    double table[most] = {0}, reference[most] = {0}, chi = 0;
    int freedom = 0;
    for (uint32_t n = 0; n < draws; n++) {
        uint32_t drawn = delay_draw(delay, rng_draw(6, rng_synapse, 0, 0, n).word[2]);
        assert_in_range(drawn, delay->shortest, delay->longest);
        table[drawn]++;
        reference[redrawn(s, h, n)]++;
    }
    for (int d = 0; d < most; d++) {
        if (table[d] + reference[d] < 10) continue;
        chi += (table[d] - reference[d]) * (table[d] - reference[d]) / (table[d] + reference[d]);
        freedom++;
    }
    assert_true(chi < freedom + 5 * sqrt(2.0 * freedom));
}

TEST(the_table_draws_as_redrawing_does) {
    const double h = 0.1;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        struct delay delay;
        if (s->low == s->high) {
            assert_true(delay_open(&delay, false, s->low, 0, s->low, s->high, h));
        } else {
            assert_true(delay_open(&delay, false, s->mean, s->sd, s->low, s->high, h));
        }
        assert_int_equal(delay.shortest, (uint32_t)nearbyint(s->low / h));
        assert_int_equal(delay.longest, (uint32_t)nearbyint(s->high / h));
        assert_alike(&delay, s, h, redraw);
        delay_close(&delay);
    }
}

TEST(exponential_delays_too) {
    for (size_t i = 0; i < sizeof exponential / sizeof *exponential; i++) {
        const struct setting *s = &exponential[i];
        const double h = s->mean > 20 && s->high > 2 ? 1 : 0.1;
        struct delay delay;
        assert_true(delay_open(&delay, true, s->mean, 0, s->low, s->high, h));
        assert_int_equal(delay.shortest, (uint32_t)floor(s->low / h + 0.5));
        assert_int_equal(delay.longest, (uint32_t)floor(s->high / h + 0.5));
        assert_alike(&delay, s, h, redraw_exponential);
        delay_close(&delay);
    }
}

TEST(the_extreme_words_draw_the_extreme_delays) {
    struct delay delay;
    assert_true(delay_open(&delay, false, 1.5, 0.75, 1, 2, 0.1));
    assert_int_equal(delay_draw(&delay, 0), 10);
    assert_int_equal(delay_draw(&delay, UINT32_MAX), 20);
    delay_close(&delay);
}

TEST(a_constant_is_one_delay) {
    struct delay delay;
    assert_true(delay_open(&delay, false, 0.7, 0, 0.1, 2, 0.1));
    assert_int_equal(delay.shortest, 7);
    assert_int_equal(delay.longest, 7);
    for (uint32_t n = 0; n < 100; n++) assert_int_equal(delay_draw(&delay, n * 42949672u), 7);
    delay_close(&delay);
}

TEST(what_cannot_be_drawn_is_refused) {
    struct delay delay;
    assert_false(delay_open(&delay, false, 1, 0.001, 50, 60, 0.1)); // no weight within the limits
    assert_false(delay_open(&delay, false, 3, 0, 1, 2, 0.1));       // the constant is outside
    assert_false(delay_open(&delay, false, 0.04, 0, 0.04, 1, 0.1)); // rounds to no delay
    assert_false(delay_open(&delay, true, 1, 0, 0.04, 1, 0.1));
}
