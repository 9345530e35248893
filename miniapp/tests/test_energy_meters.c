/// \file
/// Meters of a node on trees that stand for /sys: what is found, what is refused and why, what the readings
/// are.

#include "fake_sysfs.h"
#include "support.h"

#include "measurement/meter.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void open_meter(const char *name) {
    meter_close(&handle);
    meter_open(&handle, meter_find(name), &(struct meter_request){.root = root});
}

/// The meter must not open, with this status and with `text` in its reason.
static void assert_fails(const char *name, enum meter_status status, const char *text) {
    open_meter(name);
    assert_int_equal(handle.status, status);
    assert_int_equal(handle.n_channels, 0);
    if (!strstr(handle.reason, text)) fail_msg("%s: \"%s\" is not in \"%s\"", name, text, handle.reason);
}

static void assert_opens(const char *name, int channels) {
    open_meter(name);
    if (handle.status != meter_ok) fail_msg("%s: %s", name, handle.reason);
    assert_int_equal(handle.n_channels, channels);
    meter_read(&handle, value);
}

static void two_packages(void) {
    fake_file(root, "class/powercap/intel-rapl/enabled", "1\n");
    fake_zone(root, "intel-rapl-mmio:0", "package-0\n", "777\n", "65712999613\n");
    fake_zone(root, "intel-rapl:0", "package-0\n", "1000000\n", "65712999613\n");
    fake_zone(root, "intel-rapl:0:0", "core\n", "400000\n", "65712999613\n");
    fake_zone(root, "intel-rapl:0:1", "dram\n", "300000\n", "65712999613\n");
    fake_zone(root, "intel-rapl:1", "package-1\n", "5000000\n", "262143328850\n");
    fake_zone(root, "intel-rapl:2", "psys\n", "9000000\n", "65712999613\n");
}

static void nothing_there_is_unavailable(void **state) {
    (void)state;
    for (int i = 0; meters[i]; i++)
        if (meters[i]->scope == meter_of_node) assert_fails(meters[i]->name, meter_unavailable, "not there");
    fake_file(root, "class/powercap/intel-rapl/enabled", "1\n");
    assert_fails("powercap", meter_unavailable, "no zone is a package");
    fake_file(root, "class/hwmon/hwmon0/name", "nvme\n");
    fake_file(root, "class/hwmon/hwmon0/temp1_input", "40000\n");
    assert_fails("hwmon", meter_unavailable, "no chip has");
}

static void packages_are_counted_once(void **state) {
    (void)state;
    two_packages();
    assert_opens("powercap", 2);
    assert_string_equal(handle.channel[0].name, "package-0");
    assert_string_equal(handle.channel[1].name, "package-1");
    assert_non_null(strstr(handle.channel[0].event, "/class/powercap/intel-rapl:0/energy_uj"));
    assert_true(value[0] == 0 && value[1] == 0);
    fake_file(root, "class/powercap/intel-rapl:0/energy_uj", "3500000\n");
    fake_file(root, "class/powercap/intel-rapl:1/energy_uj", "5000001\n");
    fake_file(root, "class/powercap/intel-rapl-mmio:0/energy_uj", "99999999\n");
    meter_read(&handle, value);
    assert_true(fabs(value[0] - 2.5) < 1e-12 && fabs(value[1] - 1e-6) < 1e-12);
}

static void a_package_that_only_mmio_offers_is_counted(void **state) {
    (void)state;
    fake_zone(root, "intel-rapl-mmio:0", "package-0\n", "777\n", "65712999613\n");
    assert_opens("powercap", 1);
}

static void wrap_around_is_undone(void **state) {
    (void)state;
    fake_zone(root, "intel-rapl:0", "package-0\n", "65000000000\n", "65712999613\n");
    assert_opens("powercap", 1);
    fake_file(root, "class/powercap/intel-rapl:0/energy_uj", "287000387\n");
    meter_read(&handle, value);
    assert_true(fabs(value[0] - 1000) < 1e-9);
    fake_file(root, "class/powercap/intel-rapl:0/energy_uj", "288000387\n");
    meter_read(&handle, value);
    assert_true(fabs(value[0] - 1001) < 1e-9);
}

static void without_a_range_it_is_refused(void **state) {
    (void)state;
    fake_zone(root, "intel-rapl:0", "package-0\n", "1\n", NULL);
    assert_fails("powercap", meter_unavailable, "max_energy_range_uj: not there (without it");
    fake_zone(root, "intel-rapl:0", "package-0\n", "11\n", "10\n");
    assert_fails("powercap", meter_unavailable, "11 is above its max_energy_range_uj of 10");
}

static void garbage_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } bad[] = {{"", "empty"},        {"\n", "empty"},
               {"-5\n", "\"-5\""},   {"12x\n", "\"12x\""},
               {"1 2\n", "\"1 2\""}, {"nan\n", "\"nan\""},
               {"+4\n", "\"+4\""},   {"\x80\x01\n", "\"??\""},
               {"1e6\n", "\"1e6\""}, {"99999999999999999999\n", "\"99999999999999999999\""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_zone(root, "intel-rapl:0", "package-0\n", bad[i].text, "65712999613\n");
        assert_fails("powercap", meter_unavailable, bad[i].reason);
        fake_zone(root, "intel-rapl:0", "package-0\n", "1\n", bad[i].text);
        assert_fails("powercap", meter_unavailable, bad[i].reason);
        fake_file(root, "cray/pm_counters/energy", bad[i].text);
        assert_fails("pm_counters", meter_unavailable, bad[i].reason);
        fake_file(root, "class/hwmon/hwmon0/energy1_input", bad[i].text);
        assert_fails("hwmon", meter_unavailable, bad[i].reason);
    }
}

/// Anybody but root; root reads everything.
static void permission_denied_is_denied_not_absent(void **state) {
    (void)state;
    char path[300];
    two_packages();
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:1/energy_uj", root);
    assert_int_equal(chmod(path, 0000), 0);
    const bool root_user = geteuid() == 0;
    if (root_user) assert_int_equal(seteuid(65534), 0);
    open_meter("powercap");
    if (root_user) assert_int_equal(seteuid(0), 0);
    assert_int_equal(handle.status, meter_denied);
    assert_int_equal(handle.n_channels, 0);
    assert_non_null(strstr(handle.reason, "intel-rapl:1/energy_uj: Permission denied"));
}

/// One that is there again goes on, unless its counter may have wrapped around unseen.
static void a_zone_that_vanishes_is_lost_after_a_while(void **state) {
    (void)state;
    two_packages();
    assert_opens("powercap", 2);
    for (unsigned failures = 1; failures <= 4; failures++) {
        fake_remove(root, "class/powercap/intel-rapl:1/energy_uj");
        fake_file(root, "class/powercap/intel-rapl:0/energy_uj", "2000000\n");
        for (unsigned i = 0; i < failures; i++) {
            meter_read(&handle, value);
            assert_true(fabs(value[0] - 1) < 1e-12);
            assert_true(isnan(value[1]));
        }
        assert_non_null(strstr(handle.channel[1].reason, "intel-rapl:1/energy_uj: not there"));
        fake_file(root, "class/powercap/intel-rapl:1/energy_uj", "8000000\n");
        meter_read(&handle, value);
        assert_int_equal(handle.channel[1].status, failures <= 3 ? meter_ok : meter_unavailable);
        assert_true(failures <= 3 ? fabs(value[1] - 3) < 1e-12 : isnan(value[1]));
    }
    assert_int_equal(handle.channel[0].status, meter_ok);
    assert_int_equal(handle.channel[0].failed, 0);
    assert_int_equal(handle.channel[1].failed, 1 + 2 + 3 + 4);
}

/// Any meter: a bad reading is not a number, and the next good one goes on.
static void one_failed_reading_is_only_one(void **state) {
    (void)state;
    static const struct {
        const char *meter, *path;
    } files[] = {{"powercap", "class/powercap/intel-rapl:0/energy_uj"},
                 {"pm_counters", "cray/pm_counters/energy"},
                 {"hwmon", "class/hwmon/hwmon0/power1_input"},
                 {"hwmon", "class/hwmon/hwmon0/energy1_input"}};
    fake_zone(root, "intel-rapl:0", "package-0\n", "0\n", "65712999613\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fake_file(root, files[i].path, "1000000\n");
        assert_opens(files[i].meter, 1);
        const char *const bad[] = {"", "garbage\n", "-1\n"};
        for (int b = 0; b < 3; b++) {
            fake_file(root, files[i].path, bad[b]);
            meter_read(&handle, value);
            assert_true(isnan(value[0]));
            fake_file(root, files[i].path, "3000000\n");
            meter_read(&handle, value);
            assert_true(value[0] > 0);
            assert_int_equal(handle.channel[0].status, meter_ok);
            assert_int_equal(handle.channel[0].failed, b + 1);
        }
    }
}

static void a_counter_above_its_range_is_lost(void **state) {
    (void)state;
    fake_zone(root, "intel-rapl:0", "package-0\n", "5\n", "10\n");
    assert_opens("powercap", 1);
    fake_file(root, "class/powercap/intel-rapl:0/energy_uj", "11\n");
    meter_read(&handle, value);
    assert_true(isnan(value[0]));
    assert_int_equal(handle.channel[0].status, meter_unavailable);
    assert_non_null(strstr(handle.channel[0].reason, "11 is above its max_energy_range_uj of 10"));
}

/// A zone without a name may be a package: what is left would be half of the energy.
static void a_zone_whose_name_cannot_be_read_is_not_left_out(void **state) {
    (void)state;
    two_packages();
    fake_remove(root, "class/powercap/intel-rapl:1/name");
    assert_fails("powercap", meter_unavailable, "intel-rapl:1/name: not there");
}

static void cray_counters_are_joules(void **state) {
    (void)state;
    fake_file(root, "cray/pm_counters/energy", "123456 J 1595333 us\n");
    assert_opens("pm_counters", 1);
    assert_true(value[0] == 0);
    fake_file(root, "cray/pm_counters/energy", "123500 J 1695333 us\n");
    meter_read(&handle, value);
    assert_true(value[0] == 44);
    fake_file(root, "cray/pm_counters/energy", "3 J 1795333 us\n");
    meter_read(&handle, value);
    assert_true(isnan(value[0]));
    assert_non_null(strstr(handle.channel[0].reason, "fell from 123500 J to 3 J"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_there_is_unavailable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packages_are_counted_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_package_that_only_mmio_offers_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrap_around_is_undone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_range_it_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(garbage_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(permission_denied_is_denied_not_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_zone_that_vanishes_is_lost_after_a_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_failed_reading_is_only_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_counter_above_its_range_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_zone_whose_name_cannot_be_read_is_not_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cray_counters_are_joules, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
