/// \file
/// Reads the quota of processors of the control group of this process, and of the groups above it.
///
/// find_group() finds the name of the own group in /proc/self/cgroup, find_mount() where its tree is mounted,
/// both for version 1 and 2 of control groups. quota_read() then goes up from the group to the root: the
/// smallest quota counts, and the times for which groups were throttled add up.

#include "measurement/quota.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { path_max = 1024, line_max = 4096 };

/// Where the groups of a process are: a tree of folders, and the path of its own group in it.
struct place {
    bool version_2;
    char group[path_max];  ///< as /proc/self/cgroup names it
    char mount[path_max];  ///< the folder where the tree is mounted
    char folder[path_max]; ///< of the group, below `mount`: "" or "/a/b"
};

/// Says whether `word` is one of the words of a list with commas in between.
static bool lists(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        const bool begins = at == list || at[-1] == ',';
        if (begins && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

/// Finds the group that rations processors: that of version 1, if its tree exists, else that of version 2.
/// Lines of the file are NUMBER:CONTROLLERS:PATH; version 2 has no controllers.
static bool find_group(struct place *place, const char *root) {
    char path[path_max], line[line_max];
    snprintf(path, sizeof path, "%.500s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        const bool version_1 = lists(controllers + 1, "cpu");
        if (!version_1 && (found || controllers[1] != '\0')) continue;
        found = true;
        place->version_2 = !version_1;
        snprintf(place->group, sizeof place->group, "%.1000s", group);
        if (version_1) break;
    }
    if (file) fclose(file);
    return found;
}

/// Takes the part of the group's path that lies below what is mounted. \return false where it does not.
static bool below(struct place *place, const char *mounted) {
    const size_t length = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
    const char *rest = place->group + length;
    if (strncmp(place->group, mounted, length) != 0 || (*rest != '/' && *rest != '\0')) return false;
    if (strstr(rest, "/..")) return false; // of a process that came from outside a namespace
    snprintf(place->folder, sizeof place->folder, "%s", strcmp(rest, "/") == 0 ? "" : rest);
    return true;
}

/// Finds where the tree of the group is mounted. Lines of the file are: two numbers, a device, what part of
/// the tree is mounted, where, options, optional words, "-", type, source, options of the tree.
static bool find_mount(struct place *place, const char *root) {
    char path[path_max], line[line_max], mounted[path_max], where[path_max], type[64], options[1024];
    snprintf(path, sizeof path, "%.500s/proc/self/mountinfo", root);
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(line, "%*s %*s %*s %1023s %1023s", mounted, where) != 2) continue;
        if (sscanf(tail, " - %63s %*s %1023s", type, options) != 2) continue;
        const bool fits = place->version_2 ? strcmp(type, "cgroup2") == 0
                                           : strcmp(type, "cgroup") == 0 && lists(options, "cpu");
        found = fits && below(place, mounted);
    }
    if (file) fclose(file);
    if (found) snprintf(place->mount, sizeof place->mount, "%.400s%.600s", root, where);
    return found;
}

/// Reads the first line of a file of a group. \return false where there is none.
static bool read_line(const struct place *place, const char *name, char line[128]) {
    char path[3 * path_max];
    snprintf(path, sizeof path, "%s%s/%s", place->mount, place->folder, name);
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(line, 128, file);
    if (file) fclose(file);
    return read;
}

/// Returns the quota of a group in cores; INFINITY without one.
static double group_cores(const struct place *place) {
    char quota[128], period[128];
    double quota_us, period_us;
    if (!read_line(place, place->version_2 ? "cpu.max" : "cpu.cfs_quota_us", quota)) return INFINITY;
    if (place->version_2) {
        if (sscanf(quota, "%lf %lf", &quota_us, &period_us) != 2) return INFINITY; // "max 100000"
    } else {
        if (!read_line(place, "cpu.cfs_period_us", period)) return INFINITY;
        if (sscanf(quota, "%lf", &quota_us) != 1 || sscanf(period, "%lf", &period_us) != 1) return INFINITY;
    }
    return quota_us > 0 && period_us > 0 ? quota_us / period_us : INFINITY; // version 1: -1 is none
}

/// Returns how long a group was throttled, in seconds; 0 for one that cannot be, which does not say.
static double group_throttled_s(const struct place *place) {
    char path[3 * path_max], line[128];
    unsigned long long count;
    double seconds = 0;
    snprintf(path, sizeof path, "%s%s/cpu.stat", place->mount, place->folder);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "throttled_usec %llu", &count) == 1) seconds = 1e-6 * (double)count;
        if (sscanf(line, "throttled_time %llu", &count) == 1) seconds = 1e-9 * (double)count;
    }
    if (file) fclose(file);
    return seconds;
}

void quota_read(struct quota *quota, const char *root) {
    struct place place;
    *quota = (struct quota){.cores = NAN, .throttled_s = NAN};
    if (!find_group(&place, root)) {
        snprintf(quota->reason, sizeof quota->reason, "/proc/self/cgroup names no group of this process");
        return;
    }
    if (!find_mount(&place, root)) {
        snprintf(quota->reason, sizeof quota->reason,
                 "the control group of this process is not mounted here, see /proc/self/mountinfo");
        return;
    }
    quota->cores = INFINITY;
    quota->throttled_s = 0;
    for (;;) { // from the own group upwards
        quota->cores = fmin(quota->cores, group_cores(&place));
        quota->throttled_s += group_throttled_s(&place);
        char *last = strrchr(place.folder, '/');
        if (!last) break;
        *last = '\0';
    }
}
