/// \file
/// What is made of readings: energy between two times, sums over threads, the reading thread, counters by
/// phase.

#include "fake_sysfs.h"
#include "support.h"

#include "measurement/energy.h"
#include "record/meter_sums.h"
#include "run/counters.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double times[] = {0, 1, 2, 4, 10};

static struct samples of(double *values) {
    return (struct samples){.channels = 1, .count = 5, .time_s = times, .value = values};
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-12 * (1 + fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void energy_is_interpolated(void **state) {
    (void)state;
    const struct samples joules = of((double[]){0, 10, 30, 90, 90}),
                         watts = of((double[]){0, 10, 10, 30, 30});
    assert_near(energy_between(&joules, 0, false, (struct interval){0, 10}), 90);
    assert_near(energy_between(&joules, 0, false, (struct interval){0.5, 3}), 5 + 20 + 30);
    assert_near(energy_between(&joules, 0, false, (struct interval){2.5, 3.5}), 30);
    assert_near(energy_between(&watts, 0, true, (struct interval){0, 10}), 5 + 10 + 40 + 180);
    assert_near(energy_between(&watts, 0, true, (struct interval){0.5, 1}), 0.5 * 7.5);
    assert_near(energy_between(&watts, 0, true, (struct interval){3, 5}), 25 + 30);
}

static void energy_that_is_not_enclosed_is_not_a_number(void **state) {
    (void)state;
    const struct samples whole = of((double[]){0, 1, 2, 3, 4}), headless = of((double[]){NAN, 1, 2, 3, 4}),
                         tailless = of((double[]){0, 1, 2, 3, NAN}), holed = of((double[]){0, 1, NAN, 4, 10});
    assert_true(isnan(energy_between(&whole, 0, false, (struct interval){-1, 3})));
    assert_true(isnan(energy_between(&whole, 0, false, (struct interval){1, 11})));
    assert_true(isnan(energy_between(&headless, 0, false, (struct interval){0.5, 3})));
    assert_true(isnan(energy_between(&tailless, 0, false, (struct interval){1, 5})));
    assert_true(isnan(energy_between(&whole, 0, false, (struct interval){NAN, NAN})));
    assert_near(energy_between(&holed, 0, false, (struct interval){0, 4}), 4);
}

static void coverage_counts_close_readings_only(void **state) {
    (void)state;
    const struct samples whole = of((double[]){0, 1, 2, 3, 4}), holed = of((double[]){0, NAN, 2, 3, 4});
    assert_near(energy_coverage(&whole, (struct interval){0, 10}, 2), 0.4);
    assert_near(energy_coverage(&whole, (struct interval){0, 10}, 6), 1);
    assert_near(energy_coverage(&whole, (struct interval){3, 5}, 2), 0.5);
    assert_near(energy_coverage(&holed, (struct interval){0, 4}, 1.5), 0);
    assert_int_equal(energy_readings(&whole, (struct interval){0.5, 4}), 3);
    assert_int_equal(energy_readings(&holed, (struct interval){0.5, 4}), 2);
}

static struct meter_row row(const char *event, enum meter_status status, double value, int phase) {
    struct meter_row made = {
        .phase = phase, .status = status, .value = value, .name = "cycles", .unit = "count"};
    strcpy(made.source, "papi");
    snprintf(made.event, sizeof made.event, "%s", event);
    snprintf(made.reason, sizeof made.reason, "%s", status == meter_ok ? "" : "why");
    return made;
}

/// Returns, as text, the entries that rows become.
static char *entries_of(const struct meter_row *rows, size_t count) {
    struct meter_sums sums = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) meter_sums_add(&sums, &rows[i]);
    meter_sums_append(&sums, list);
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    meter_sums_close(&sums);
    return text;
}

#define ENTRIES(...)                                                                                         \
    entries_of((struct meter_row[]){__VA_ARGS__},                                                            \
               sizeof((struct meter_row[]){__VA_ARGS__}) / sizeof(struct meter_row))

static void rows_add_up_or_are_missing(void **state) {
    (void)state;
    char *good = ENTRIES(row("A", meter_ok, 3, -1), row("A", meter_ok, 3, 0), row("A", meter_ok, 4, -1),
                         row("A", meter_ok, 4, 0));
    assert_string_equal(
        good, "[{\"name\":\"cycles\",\"unit\":\"count\",\"value\":7,\"source\":\"papi\",\"event\":\"A\","
              "\"status\":\"ok\",\"reason\":null},"
              "{\"name\":\"cycles\",\"unit\":\"count\",\"value\":7,\"source\":\"papi\",\"event\":\"A\","
              "\"status\":\"ok\",\"reason\":null,\"phase\":\"deliver\"}]");
    for (int swap = 0; swap < 2; swap++) {
        struct meter_row ok = row("A", meter_ok, 3, -1), none = row("", meter_denied, NAN, -1);
        char *missing = ENTRIES(row("A", meter_ok, 3, 0), swap ? none : ok, swap ? ok : none);
        assert_string_equal(missing,
                            "[{\"name\":\"cycles\",\"unit\":\"count\",\"value\":null,\"source\":\"papi\","
                            "\"event\":null,\"status\":\"denied\",\"reason\":\"why\"}]");
        free(missing);
    }
    char *mixed = ENTRIES(row("A", meter_ok, 3, -1), row("B", meter_ok, 4, -1));
    assert_non_null(strstr(mixed, "\"value\":null"));
    assert_non_null(strstr(mixed, "different events"));
    free(good);
    free(mixed);
}

static void the_reading_thread_reads_and_ends(void **state) {
    (void)state;
    char *root = fake_root();
    struct meter_handle *handle = malloc(sizeof *handle);
    struct samples samples;
    fake_file(root, "cray/pm_counters/energy", "10 J\n");
    meter_open(handle, meter_find("pm_counters"), &(struct meter_request){.root = root});
    struct sampler *sampler;
    // The test waits longer and longer, until the machine, whatever else it does, has let the thread read in
    // between.
    for (int wait_ms = 50, read = 0; !read; wait_ms *= 2) {
        sampler = sampler_start(handle, 0.002);
        assert_non_null(sampler);
        nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L}, NULL);
        sampler_stop(sampler, &samples);
        read = samples.count >= 3;
        assert_true(read || wait_ms < 60000);
        if (!read) samples_close(&samples);
    }
    for (size_t i = 1; i < samples.count; i++) assert_true(samples.time_s[i] > samples.time_s[i - 1]);
    assert_true(samples.value[0] == 0);
    assert_true(samples.cost > 0 && samples.cost < 1);
    samples_close(&samples);

    sampler = sampler_start(handle, 30); // ending it does not take that long
    sampler_stop(sampler, &samples);
    assert_int_equal(samples.count, 2);
    assert_true(samples.time_s[1] - samples.time_s[0] < 10);
    samples_close(&samples);
    meter_close(handle);
    free(handle);
    fake_remove(root, "");
    free(root);
}

static void counters_are_read_at_the_seams_only_if_asked_for(void **state) {
    (void)state;
    enum { threads = 2, cycles = 3 };
    for (int asked = 0; asked < 2; asked++) {
        struct description description;
        struct counters counters;
        struct error error = {""};
        open_description(
            &description, eight_areas,
            (const char *const[]){asked ? "record.counters=[\"task_clock\",\"cycles\"]" : "seed=2", NULL});
        counters_open(&counters, &description, threads, false, &error);
        counters_start(&counters);
        assert_int_equal(counters.thread[1]->papi.n_channels, asked ? 2 : 0);
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
            assert_int_equal(own->marks[phase_deliver], counters.by_phase ? cycles : 0);
            assert_int_equal(own->marks[phase_update], 0);
            for (int i = 0; i < own->papi.n_channels; i++) // one that cannot be counted has a reason
                assert_true((own->papi.channel[i].status == meter_ok) ==
                            (own->papi.channel[i].reason[0] == '\0'));
            assert_int_equal(own->usage.n_channels, 6);
            for (int i = 0; i < 6; i++) assert_true(own->used[i] >= 0);
        }
        counters_close(&counters);
        description_close(&description);
    }
}

static void names_of_counters_are_checked(void **state) {
    (void)state;
    struct description description;
    struct error error = {""};
    open_description(&description, eight_areas,
                     (const char *const[]){"record.counters=[\"cycles\",\"joy\"]", NULL});
    assert_false(counters_check(&description, &error));
    assert_non_null(
        strstr(error.text, "record.counters.1: \"joy\"; allowed: instructions, cycles, last_level_misses"));
    description_close(&description);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_interpolated),
        cmocka_unit_test(energy_that_is_not_enclosed_is_not_a_number),
        cmocka_unit_test(coverage_counts_close_readings_only),
        cmocka_unit_test(rows_add_up_or_are_missing),
        cmocka_unit_test(the_reading_thread_reads_and_ends),
        cmocka_unit_test(counters_are_read_at_the_seams_only_if_asked_for),
        cmocka_unit_test(names_of_counters_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
