/// \file
/// Counters by phase and thread, and their sums over threads.

#include "support.h"
#include <omp.h>

/// Counters of two threads, of which the first two quantities are wanted.
static struct counters made(struct thread_counters own[2]) {
    static struct thread_counters *threads[2];
    memset(own, 0, 2 * sizeof *own);
    for (int t = 0; t < 2; t++) {
        threads[t] = &own[t];
        own[t].marks[phase_deliver] = own[t].marks[phase_update] = 1;
        for (int q = 0; q < 2; q++) own[t].count[q].wanted = true;
        for (int q = quantity_usage; q < quantities_max; q++) own[t].count[q].wanted = true;
    }
    own[0].counted[phase_deliver][0] = 3;
    own[1].counted[phase_deliver][0] = 4;
    own[1].counted[phase_update][0] = 5;
    return (struct counters){.threads = 2, .by_phase = true, .thread = threads};
}

static const json_t *entry(const json_t *list, const char *name, const char *phase) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *of = json_string_value(json_object_get(one, "phase"));
        if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0 &&
            (phase ? of && !strcmp(of, phase) : !of))
            return one;
    }
    return NULL;
}

TEST(threads_add_up_or_are_missing) {
    static struct thread_counters own[2];
    const struct counters counters = made(own);
    own[1].count[1] = (struct count){true, count_denied, -1, "why"};
    json_t *list = json_array();
    assert_true(meters_gather(list, &counters, 100, MPI_COMM_SELF, NULL));
    assert_int_equal(json_integer_value(json_object_get(entry(list, "instructions", NULL), "value")), 12);
    assert_int_equal(json_integer_value(json_object_get(entry(list, "instructions", "deliver"), "value")), 7);
    assert_int_equal(json_integer_value(json_object_get(entry(list, "instructions", "update"), "value")), 5);
    assert_null(entry(list, "instructions", "collocate"));
    assert_true(json_is_null(json_object_get(entry(list, "cycles", NULL), "value"))); // one thread has none
    assert_string_equal(json_string_value(json_object_get(entry(list, "cycles", NULL), "reason")), "why");
    assert_null(entry(list, "cycles", "deliver"));
    assert_int_equal(json_integer_value(json_object_get(entry(list, "resident_peak", NULL), "value")), 100);
    json_decref(list);

    own[0].count[0].event = 1; // events that differ have no sum
    list = json_array();
    meters_gather(list, &counters, 0, MPI_COMM_SELF, NULL);
    assert_string_equal(json_string_value(json_object_get(entry(list, "instructions", NULL), "status")),
                        "unavailable");
    assert_true(json_is_null(json_object_get(entry(list, "resident_peak", NULL), "value")));
    json_decref(list);
}

TEST(counters_are_read_at_the_ends_of_phases_only_if_asked_for) {
    enum { threads = 2, cycles = 3 };
    for (int asked = 0; asked < 2; asked++) {
        struct description description;
        struct counters counters;
        open_description(
            &description, eight_areas,
            (const char *const[]){asked ? "record.counters=[\"task_clock\",\"cycles\"]" : "seed=2", NULL});
        counters_open(&counters, &description, threads);
        counters_start(&counters);
        if (!asked) assert_false(counters.by_phase);
        assert_true(isnan(counters.read_s) == !counters.by_phase);
#pragma omp parallel num_threads(threads)
        for (int c = 0; c < cycles && counters.by_phase; c++) {
            counters_mark(&counters, omp_get_thread_num(), phase_deliver);
            counters_mark(&counters, omp_get_thread_num(), phase_thread_wait);
        }
        counters_stop(&counters);
        for (int t = 0; t < threads; t++) {
            const struct thread_counters *own = counters.thread[t];
            int wanted = 0;
            assert_int_equal(own->marks[phase_deliver], counters.by_phase ? cycles : 0);
            assert_int_equal(own->marks[phase_update], 0);
            for (int q = 0; q < papi_quantities; q++) { // one that cannot be counted has a reason
                wanted += own->count[q].wanted;
                if (own->count[q].wanted)
                    assert_true((own->count[q].status == count_ok) == (own->count[q].reason[0] == '\0'));
            }
            assert_int_equal(wanted, asked ? 2 : 0);
            for (int i = 0; i < usage_quantities; i++) assert_true(own->used[i] >= 0);
        }
        counters_close(&counters);
        description_close(&description);
    }
}

TEST(names_of_counters_are_checked) {
    struct description description;
    struct error error = {""};
    open_description(&description, eight_areas,
                     (const char *const[]){"record.counters=[\"cycles\",\"joy\"]", NULL});
    assert_false(counters_check(&description, &error));
    assert_non_null(strstr(error.text, "record.counters.1: \"joy\""));
    description_close(&description);
}

TESTS_NEED_MPI
