/// \file
/// What the kernel counts, on trees that stand for /proc of several machines: names, cores, differences.

#include "fake_sysfs.h"
#include "support.h"

#include "measurement/kernel_counts.h"
#include "measurement/processes.h"
#include <stdlib.h>
#include <string.h>

static char *root;
static struct kernel_counts counts;

static int set_up(void **state) {
    (void)state;
    root = fake_root();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    kernel_counts_close(&counts);
    fake_remove(root, "");
    free(root);
    return 0;
}

/// Returns by how much a cause rose on a hardware thread; -1 where there is no such cause.
static long rise(const char *source, const char *name, int core) {
    for (int c = 0; c < counts.n_causes; c++)
        for (int i = 0; i < counts.n_cores; i++)
            if (counts.core[i] == core && strcmp(counts.cause[c].source, source) == 0 &&
                strcmp(counts.cause[c].name, name) == 0)
                return kernel_counts_rise(&counts, c, i);
    return -1;
}

static const char *const stat_2 = "cpu  30 0 30 30 0 3 3 3 0 0\n"
                                  "cpu0 10 0 10 10 0 1 1 1 0 0\n"
                                  "cpu1 20 0 20 20 0 2 2 2 0 0\n"
                                  "intr 448751 0 0\nctxt 751633\n";

static void x86_server(void **state) {
    (void)state;
    fake_file(root, "stat", stat_2);
    fake_file(root, "softirqs",
              "                    CPU0       CPU1       \n"
              "          HI:          0          0\n"
              "       TIMER:         10         20\n");
    fake_file(root, "interrupts",
              "            CPU0       CPU1       \n"
              "   0:         36          0  IR-IO-APIC    2-edge      timer\n"
              "   9:          0          0  IR-IO-APIC    9-fasteoi   acpi\n"
              "  27:          5          6  IR-PCI-MSI-0000:c1:00.0    0-edge      nvme0q0\n"
              " 312:          7          8  IR-PCI-MSI 1048576-edge      mlx5_async0@pci:0000:01:00.0\n"
              "  16:          1          2  IO-APIC   16-fasteoi   ehci_hcd:usb1, snd_hda_intel\n"
              " NMI:          4          3   Non-maskable interrupts\n"
              " LOC:        100        200   Local timer interrupts\n"
              " ERR:          9\n"
              " MIS:          0\n");
    kernel_counts_open(&counts, root);
    assert_string_equal(counts.missing, "");
    assert_int_equal(counts.n_cores, 2);
    assert_int_equal(rise("interrupts", "Local timer interrupts", 1), 0);
    fake_file(root, "interrupts",
              "            CPU0       CPU1       \n"
              "   0:         36          0  IR-IO-APIC    2-edge      timer\n"
              "   9:          0          0  IR-IO-APIC    9-fasteoi   acpi\n"
              "  27:          5          7  IR-PCI-MSI-0000:c1:00.0    0-edge      nvme0q0\n"
              "  28:          3          0  IR-PCI-MSI-0000:c1:00.0    1-edge      nvme0q1\n"
              " 312:         17          8  IR-PCI-MSI 1048576-edge      mlx5_async0@pci:0000:01:00.0\n"
              "  16:          1          4  IO-APIC   16-fasteoi   ehci_hcd:usb1, snd_hda_intel\n"
              " NMI:          4          3   Non-maskable interrupts\n"
              " LOC:        350        450   Local timer interrupts\n"
              " ERR:         19\n");
    kernel_counts_read(&counts);
    assert_int_equal(rise("interrupts", "timer", 0), 0);
    assert_int_equal(rise("interrupts", "nvme0q0", 1), 1);
    assert_int_equal(rise("interrupts", "nvme0q1", 0), 3); // a row that was not there before
    assert_int_equal(rise("interrupts", "mlx5_async0@pci:0000:01:00.0", 0), 10);
    assert_int_equal(rise("interrupts", "ehci_hcd:usb1  snd_hda_intel", 1), 2);
    assert_int_equal(rise("interrupts", "Local timer interrupts", 0), 250);
    assert_int_equal(rise("softirqs", "TIMER", 0), 0);
    kernel_counts_read(&counts);
    assert_int_equal(rise("interrupts", "Local timer interrupts", 0), 0);
}

static void arm_with_a_core_that_is_off(void **state) {
    (void)state;
    fake_file(root, "stat", "cpu  3 0 3 3 0 3 3 3 0 0\ncpu0 1 0 1 1 0 1 1 1 0 0\ncpu2 1 0 1 1 0 1 1 1 0 0\n");
    fake_file(root, "softirqs",
              "                    CPU0       CPU1       CPU2\n"
              "      NET_RX:          1          2          3\n");
    fake_file(root, "interrupts",
              "           CPU0       CPU2\n"
              "  3:        100        300     GICv3  27 Level     arch_timer\n"
              " 14:          0          8     GICv3  79 Edge      eth0\n"
              "IPI0:        11         12       Rescheduling interrupts\n"
              "Err:          0\n");
    kernel_counts_open(&counts, root);
    assert_int_equal(counts.n_cores, 2);
    assert_int_equal(counts.core[1], 2);
    fake_file(root, "softirqs",
              "                    CPU0       CPU1       CPU2\n"
              "      NET_RX:          1          9         33\n");
    fake_file(root, "interrupts",
              "           CPU0       CPU2\n"
              "  3:        100        301     GICv3  27 Level     arch_timer\n"
              " 14:          0         10     GICv3  79 Edge      eth0\n"
              "IPI0:        11         15       Rescheduling interrupts\n");
    kernel_counts_read(&counts);
    assert_int_equal(rise("softirqs", "NET_RX", 2), 30); // softirqs list all possible cores
    assert_int_equal(rise("interrupts", "arch_timer", 2), 1);
    assert_int_equal(rise("interrupts", "eth0", 2), 2);
    assert_int_equal(rise("interrupts", "Rescheduling interrupts", 2), 3);
    assert_int_equal(rise("interrupts", "eth0", 1), -1);
}

static void counts_wrap_and_steal_is_told(void **state) {
    (void)state;
    fake_file(root, "stat", stat_2);
    fake_file(root, "softirqs", "                    CPU0       CPU1\n         RCU: 4294967290          1\n");
    kernel_counts_open(&counts, root);
    assert_non_null(strstr(counts.missing, "/interrupts: No such file"));
    fake_file(root, "softirqs", "                    CPU0       CPU1\n         RCU:          4          1\n");
    fake_file(root, "stat", "cpu  30 0 30 30 0 3 3 3\ncpu0 10 0 10 10 0 1 1 1\ncpu1 20 0 20 20 0 2 2 42\n");
    kernel_counts_read(&counts);
    assert_int_equal(rise("softirqs", "RCU", 0), 10);
    assert_int_equal(rise("stat", "steal", 1), 40);
    assert_int_equal(rise("stat", "steal", 0), 0);
}

static void nothing_to_read_counts_nothing(void **state) {
    (void)state;
    kernel_counts_open(&counts, root);
    assert_int_equal(counts.n_cores, 0);
    assert_int_equal(counts.n_causes, 0);
    assert_non_null(strstr(counts.missing, "/stat: No such file"));
    kernel_counts_read(&counts);
}

static void processes_are_told_apart_from_later_ones(void **state) {
    (void)state;
    const char *rest = " S 1 1 1 0 -1 0 0 0 0 0 %d %d 0 0 20 0 1 0 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0\n";
    const struct {
        const char *path, *name;
        int user, system, begin;
    } before[] = {{"10/stat", "10 (idle)", 5, 5, 1},
                  {"11/stat", "11 (a b) c)", 100, 0, 2},
                  {"12/stat", "12 (gone)", 7, 0, 3}},
      after[] = {{"10/stat", "10 (idle)", 5, 5, 1},
                 {"11/stat", "11 (a b) c)", 150, 50, 2},
                 {"12/stat", "12 (new)", 20, 0, 9}};
    struct processes earlier, later;
    char numbers[400], text[500];
    for (int i = 0; i < 3; i++) {
        snprintf(numbers, sizeof numbers, rest, before[i].user, before[i].system, before[i].begin);
        snprintf(text, sizeof text, "%s%s", before[i].name, numbers);
        fake_file(root, before[i].path, text);
    }
    processes_read(&earlier, root);
    for (int i = 0; i < 3; i++) {
        snprintf(numbers, sizeof numbers, rest, after[i].user, after[i].system, after[i].begin);
        snprintf(text, sizeof text, "%s%s", after[i].name, numbers);
        fake_file(root, after[i].path, text);
    }
    processes_read(&later, root);
    processes_since(&later, &earlier);
    assert_int_equal(later.count, 2);
    assert_string_equal(later.process[0].name, "a b) c");
    assert_int_equal(later.process[0].core, 3);
    assert_string_equal(later.process[1].name, "new");
    assert_true(later.process[0].used_s == 5 * later.process[1].used_s);
    processes_close(&earlier);
    processes_close(&later);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(x86_server), TEST(arm_with_a_core_that_is_off), TEST(counts_wrap_and_steal_is_told),
        TEST(nothing_to_read_counts_nothing), TEST(processes_are_told_apart_from_later_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
