/// \file
/// Quotas of control groups, read from folders that stand for /.

#include "measurement/quota.h"
#include "support.h"
#include <sys/stat.h>

/// In the folder of the build, where the tests run.
static const char root[] = "test_quota_root";

/// Writes a file below `root`, and makes the folders above it.
static void put(const char *name, const char *content) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void expect_quota(double cores, double throttled_s, bool known) {
    struct quota quota;
    quota_read(&quota, root);
    assert_int_equal(quota.reason[0] == '\0', known);
    assert_int_equal(isnan(quota.cores) && isnan(quota.throttled_s), !known);
    if (!known) return;
    assert_true(quota.cores == cores);
    assert_true(fabs(quota.throttled_s - throttled_s) < 1e-9);
}

#define MOUNT_2 "31 23 0:28 / /cg rw,relatime shared:4 - cgroup2 cgroup2 rw\n"

TEST(the_tightest_group_of_version_2_counts) {
    put("proc/self/cgroup", "0::/a/b\n");
    put("proc/self/mountinfo", MOUNT_2);
    put("cg/cpu.stat", "usage_usec 5\n"); // the root has no quota, and says nothing of throttling
    put("cg/a/cpu.max", "150000 100000\n");
    put("cg/a/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 2000000\n");
    put("cg/a/b/cpu.max", "max 100000\n");
    put("cg/a/b/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 500000\n");
    expect_quota(1.5, 2.5, true);
    put("cg/a/b/cpu.max", "50000 100000\n");
    expect_quota(0.5, 2.5, true);
    put("proc/self/cgroup", "0::/\n"); // the group of a container, which is all that is mounted there
    expect_quota(INFINITY, 0, true);
}

TEST(version_1_comes_first_and_its_mount_may_be_a_part_of_the_tree) {
    put("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/7/job\n1:name=systemd:/\n0::/a\n");
    put("proc/self/mountinfo", MOUNT_2 "32 31 0:29 /docker/7 /cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                                       "33 31 0:30 / /cpuset rw - cgroup cgroup rw,cpuset\n");
    put("cpu/cpu.cfs_quota_us", "200000\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    put("cpu/job/cpu.cfs_quota_us", "-1\n");
    put("cpu/job/cpu.cfs_period_us", "100000\n");
    put("cpu/job/cpu.stat", "nr_periods 22\nnr_throttled 20\nthrottled_time 618050878\n");
    expect_quota(2, 0.618050878, true);
}

TEST(what_cannot_be_read_has_a_reason) {
    put("proc/self/mountinfo", MOUNT_2);
    put("proc/self/cgroup", "0::/../b\n"); // outside this namespace
    expect_quota(0, 0, false);
    put("proc/self/cgroup", "3:cpuset:/x\n");
    expect_quota(0, 0, false);
    put("proc/self/cgroup", "0::/a\n");
    put("proc/self/mountinfo", "31 23 0:28 / /proc rw - proc proc rw\n");
    expect_quota(0, 0, false);
}

TEST(the_groups_of_this_process_are_read) {
    struct quota quota;
    quota_read(&quota, "");
    assert_int_equal(isnan(quota.cores), quota.reason[0] != '\0');
    assert_true(isnan(quota.cores) || quota.cores > 0);
    assert_true(isnan(quota.throttled_s) || quota.throttled_s >= 0);
}
