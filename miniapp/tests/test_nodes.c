/// \file
/// The nodes of a run: how the kernel sets their clocks, and whether ranks have cores of their own.

#include "fake_sysfs.h"
#include "support.h"

#include "measurement/frequency.h"
#include "record/sharing.h"
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 8 };

/// Ranks of one node, whose cores are given as text: "0,2" or "0-3".
static bool shares(struct sharing *found, int threads, int n_ranks, const char *const *cores) {
    static struct rank_tally ranks[most_ranks];
    int of_rank[most_ranks] = {0};
    const struct nodes nodes = {.count = 1, .of_rank = of_rank};
    memset(ranks, 0, sizeof ranks);
    for (int r = 0; r < n_ranks; r++)
        for (const char *at = cores[r]; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            int first, last;
            if (sscanf(at, "%d-%d", &first, &last) < 2) last = first = atoi(at);
            for (int core = first; core <= last; core++) {
                ranks[r].usable.word[core / 64] |= UINT64_C(1) << core % 64;
                ranks[r].usable_cores++;
            }
        }
    return sharing_find(found, &nodes, 0, ranks, n_ranks, threads);
}

static void ranks_with_a_core_for_each_thread_share_nothing(void **state) {
    (void)state;
    struct sharing found;
    assert_false(shares(&found, 1, 2, (const char *[]){"0", "1"}));
    assert_false(shares(&found, 2, 2, (const char *[]){"0-1", "2-3"}));
    assert_false(shares(&found, 2, 2, (const char *[]){"0-3", "0-3"})); // free to move, and there is room
    assert_false(shares(&found, 1, 3, (const char *[]){"0-2", "0-1", "0"})); // one after the other gives way
    assert_false(shares(&found, 1, 2, (const char *[]){"0,130", "130"}));
    assert_false(shares(&found, 1, 2, (const char *[]){"1023", "1022"}));
}

static void ranks_that_cannot_have_a_core_each_are_found(void **state) {
    (void)state;
    struct sharing found;
    assert_true(shares(&found, 1, 2, (const char *[]){"0", "0"}));
    assert_int_equal(found.n_ranks, 2);
    assert_int_equal(found.threads, 2);
    assert_int_equal(found.cores, 1);

    assert_true(shares(&found, 1, 4, (const char *[]){"0-3", "2", "3", "2"})); // rank 0 has others to go to
    assert_int_equal(found.first, 1);
    assert_int_equal(found.second, 3);
    assert_int_equal(found.n_ranks, 2);

    assert_true(shares(&found, 2, 3, (const char *[]){"0-3", "0-3", "0-3"}));
    assert_int_equal(found.threads, 6);
    assert_int_equal(found.cores, 4);
}

static void a_rank_with_too_few_cores_does_not_share_them_by_that_alone(void **state) {
    (void)state;
    struct sharing found;
    assert_false(shares(&found, 4, 2, (const char *[]){"0", "1"}));
    assert_true(shares(&found, 4, 2, (const char *[]){"0", "0"}));
    assert_int_equal(found.threads, 2); // as many as the ranks could use
}

static void ranks_of_other_nodes_and_unknown_bindings_do_not_matter(void **state) {
    (void)state;
    static struct rank_tally ranks[2];
    const struct core_set first_core = {.word = {1}};
    struct sharing found;
    for (int r = 0; r < 2; r++) ranks[r] = (struct rank_tally){.usable = first_core, .usable_cores = 1};
    const struct nodes two = {.count = 2, .of_rank = (int[]){0, 1}};
    assert_false(sharing_find(&found, &two, 0, ranks, 2, 1));
    assert_false(sharing_find(&found, &two, 1, ranks, 2, 1));
    memset(ranks, 0, sizeof ranks);
    const struct nodes one = {.count = 1, .of_rank = (int[]){0, 0}};
    assert_false(sharing_find(&found, &one, 0, ranks, 2, 1));
}

static void the_governor_is_that_of_all_processors(void **state) {
    (void)state;
    struct frequency found;
    char *root = fake_root();
    frequency_read(&found, root);
    assert_string_equal(found.governor, "");
    assert_non_null(strstr(found.reason, "cpu0/cpufreq/scaling_governor: not there"));
    assert_int_equal(found.high_hz, 0);

    fake_file(root, "devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    fake_file(root, "devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "1500000\n");
    fake_file(root, "devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2250000\n");
    frequency_read(&found, root);
    assert_string_equal(found.governor, "performance");
    assert_string_equal(found.reason, "");
    assert_true(found.low_hz == UINT64_C(1500000000));
    assert_true(found.high_hz == UINT64_C(2250000000));

    fake_file(root, "devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "fast\n");
    frequency_read(&found, root);
    assert_true(found.high_hz == 0);
    assert_string_equal(found.governor, "performance");
    fake_remove(root, "");
    free(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_with_a_core_for_each_thread_share_nothing),
        cmocka_unit_test(ranks_that_cannot_have_a_core_each_are_found),
        cmocka_unit_test(a_rank_with_too_few_cores_does_not_share_them_by_that_alone),
        cmocka_unit_test(ranks_of_other_nodes_and_unknown_bindings_do_not_matter),
        cmocka_unit_test(the_governor_is_that_of_all_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
