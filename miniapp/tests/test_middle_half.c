/// \file
/// Of short runs, those count that the machine did not interrupt.

#include "../bench/middle_half.h"
#include "support.h"

static void interrupted_runs_do_not_count(void **state) {
    (void)state;
    struct timed runs[400];
    for (size_t i = 0; i < 400; i++) { // 5 ns per item, in ten of 400 runs 150 µs more, in one nothing
        runs[i] = (struct timed){8 + i % 17, 5e-9 * (double)(8 + i % 17)};
        if (i % 40 == 0) runs[i].seconds += 150e-6;
    }
    runs[7] = (struct timed){0, 1e-6};
    const struct timed middle = middle_half(runs, 400);
    assert_float_equal(middle.seconds / (double)middle.items, 5e-9, 1e-12);
    assert_true(middle.items > 190 * 8 && middle.items < 210 * 24);
}

static void few_runs_count(void **state) {
    (void)state;
    struct timed runs[] = {{2, 6}, {1, 1}, {1, 9}, {4, 8}}; // 3, 1, 9 and 2 seconds per item
    assert_int_equal(middle_half(runs, 1).items, 2);
    assert_int_equal(middle_half(runs, 0).items, 0);
    const struct timed middle = middle_half(runs, 4);
    assert_int_equal(middle.items, 6);
    assert_true(middle.seconds == 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_runs_do_not_count),
        cmocka_unit_test(few_runs_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
