/// \file
/// Sensors of the board on trees that stand for /sys: which are taken, and that none are added up by guess.

#include "fake_sysfs.h"
#include "support.h"

#include "measurement/meter.h"
#include <stdlib.h>
#include <string.h>

static char *root;
static struct meter_handle handle;
static double value[meter_channels_max];

static int set_up(void **state) {
    (void)state;
    root = fake_root();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    meter_close(&handle);
    fake_remove(root, "");
    free(root);
    return 0;
}

/// Opens with the sensors of these names, or with the meter's choice, and reads once.
static void open_sensors(int channels, const char *const *names, int count) {
    meter_close(&handle);
    const struct meter_request request = {.root = root, .names = names, .n_names = count};
    meter_open(&handle, meter_find("hwmon"), &request);
    assert_int_equal(handle.n_channels, channels);
    assert_int_equal(handle.status, channels > 0 ? meter_ok : meter_unavailable);
    meter_read(&handle, value);
}

static void hwmon_takes_energy_before_power_and_sockets_before_cores(void **state) {
    (void)state;
    fake_file(root, "class/hwmon/hwmon0/name", "ina226\n");
    fake_file(root, "class/hwmon/hwmon0/power1_input", "40000000\n");
    fake_file(root, "class/hwmon/hwmon0/power1_label", "VDD, in\n");
    fake_file(root, "class/hwmon/hwmon0/power1_crit", "90000000\n");
    open_sensors(1, NULL, 0);
    assert_string_equal(handle.channel[0].unit, "W");
    assert_string_equal(handle.channel[0].name, "ina226/VDD  in");
    assert_true(value[0] == 40);

    fake_file(root, "class/hwmon/hwmon1/name", "amd_energy\n");
    fake_file(root, "class/hwmon/hwmon1/energy1_input", "5\n");
    fake_file(root, "class/hwmon/hwmon1/energy1_label", "Ecore000\n");
    fake_file(root, "class/hwmon/hwmon1/energy2_input", "1000000\n");
    fake_file(root, "class/hwmon/hwmon1/energy2_label", "Esocket0\n");
    open_sensors(1, NULL, 0);
    assert_string_equal(handle.channel[0].name, "amd_energy/Esocket0");
    assert_string_equal(handle.channel[0].unit, "J");
    fake_file(root, "class/hwmon/hwmon1/energy2_input", "4000000\n");
    meter_read(&handle, value);
    assert_true(value[0] == 3);
}

static void hwmon_takes_average_power_where_there_is_no_other(void **state) {
    (void)state;
    fake_file(root, "class/hwmon/hwmon0/power1_average", "123000000\n");
    open_sensors(1, NULL, 0);
    assert_string_equal(handle.channel[0].name, "hwmon0/power1");
    assert_true(value[0] == 123);
}

/// A supply that tells its input, its output and a rail of it, and a board that tells all that it takes.
static void hwmon_adds_up_only_what_is_named(void **state) {
    (void)state;
    static const char *const files[][2] = {{"class/hwmon/hwmon0/name", "psu\n"},
                                           {"class/hwmon/hwmon0/power1_input", "100000000\n"},
                                           {"class/hwmon/hwmon0/power1_label", "pin\n"},
                                           {"class/hwmon/hwmon0/power2_input", "90000000\n"},
                                           {"class/hwmon/hwmon0/power2_label", "pout1\n"},
                                           {"class/hwmon/hwmon1/name", "psu\n"},
                                           {"class/hwmon/hwmon1/power1_input", "7000000\n"},
                                           {"class/hwmon/hwmon1/power1_label", "pin\n"},
                                           {"class/hwmon/hwmon2/name", "board\n"},
                                           {"class/hwmon/hwmon2/power1_average", "3000000\n"},
                                           {"class/hwmon/hwmon2/power1_input", "5000000\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) fake_file(root, files[i][0], files[i][1]);
    open_sensors(0, NULL, 0);
    assert_non_null(strstr(handle.reason, "4 sensors, which may overlap: record.energy_sensors"));
    assert_non_null(strstr(handle.reason, "there are: psu/pin, psu/pout1, psu/pin, board/power1"));

    open_sensors(3, (const char *const[]){"psu/pin", "board/power1"}, 2); // both supplies; no average
    assert_true(value[0] + value[1] + value[2] == 112);
    open_sensors(0, (const char *const[]){"psu/pin", "psu/pon"}, 2);
    assert_non_null(strstr(handle.reason, "no sensor psu/pon; there are: psu/pin, psu/pout1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hwmon_takes_energy_before_power_and_sockets_before_cores, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(hwmon_takes_average_power_where_there_is_no_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hwmon_adds_up_only_what_is_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
