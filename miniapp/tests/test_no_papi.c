/// \file
/// The meter papi of a program that is built without PAPI: everything is unavailable, with the reason.

#include "support.h"

#include "measurement/meter.h"
#include <string.h>

static void everything_is_unavailable_with_the_reason(void **state) {
    (void)state;
    const struct meter *papi = meter_find("papi");
    static const char *const names[] = {"task_clock", "cycles"};
    const struct meter_request requests[] = {{0}, {.names = names, .n_names = 2}};
    const int channels[] = {5, 2};
    assert_non_null(strstr(papi->absent, "without PAPI"));
    for (int i = 0; i < 2; i++) {
        struct meter_handle handle;
        double value[meter_channels_max] = {0};
        meter_open(&handle, papi, &requests[i]);
        meter_read(&handle, value);
        assert_int_equal(handle.n_channels, channels[i]);
        for (int c = 0; c < channels[i]; c++) {
            assert_int_equal(handle.channel[c].status, meter_unavailable);
            assert_non_null(strstr(handle.channel[c].reason, papi->absent));
            assert_true(isnan(value[c]));
        }
        meter_close(&handle);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_unavailable_with_the_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
