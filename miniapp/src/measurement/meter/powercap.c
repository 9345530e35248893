/// \file
/// Energy of the processor packages from the kernel's power capping framework (RAPL).
///
/// A package has zones within it (core, uncore, dram) and may be offered twice, the second time through MMIO.
/// A platform zone (psys) holds all packages. Only packages are counted, each name once. Memory is not among
/// them.
///
/// Readings may fail, but not so many in a row that the counter could have wrapped around unseen.

#include "measurement/sysfs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { in_a_row_max = 3 }; // readings in a row that may fail

static const struct meter_quantity quantities[] = {{"energy", "J"}, {NULL, NULL}};

struct powercap {
    uint64_t range_uj[meter_channels_max], last_uj[meter_channels_max];
    double energy_j[meter_channels_max]; ///< since the meter was opened
};

static bool known(const struct meter_handle *handle, const char *name) {
    for (int i = 0; i < handle->n_channels; i++)
        if (strcmp(handle->channel[i].name, name) == 0) return true;
    return false;
}

/// \return false after meter_fail().
static bool add_zone(struct meter_handle *handle, const char *zone) {
    struct powercap *powercap = handle->own;
    char path[sysfs_path_max], name[meter_name_max], reason[meter_reason_max];
    uint64_t range, energy;
    enum meter_status status;
    if (!strchr(strrchr(zone, '/'), ':') || !sysfs_join(path, zone, "name"))
        return true; // it is a control type
    status = sysfs_text(path, name, sizeof name, reason);
    if (status != meter_ok) { // it may be a package
        meter_fail(handle, status, "%s", reason);
        return false;
    }
    if (strncmp(name, "package", strlen("package")) != 0 || known(handle, name))
        return true; // it is a zone within a package, the platform, or the same package again
    if (handle->n_channels == meter_channels_max || !sysfs_join(path, zone, "max_energy_range_uj"))
        return true;
    status = sysfs_number(path, "", &range, reason);
    if (status != meter_ok) {
        meter_fail(handle, status, "%s (without it a wrap-around cannot be told)", reason);
        return false;
    }
    sysfs_join(path, zone, "energy_uj");
    status = sysfs_number(path, "", &energy, reason);
    if (status == meter_ok && energy > range) {
        snprintf(reason, sizeof reason, "%s: %llu is above its max_energy_range_uj of %llu", path,
                 (unsigned long long)energy, (unsigned long long)range);
        status = meter_unavailable;
    }
    if (status != meter_ok) {
        meter_fail(handle, status, "%s", reason);
        return false;
    }
    struct meter_channel *channel = meter_add(handle, name, "J");
    snprintf(channel->event, sizeof channel->event, "%s", path);
    powercap->range_uj[handle->n_channels - 1] = range;
    powercap->last_uj[handle->n_channels - 1] = energy;
    return true;
}

/// Adds all zones that are offered through MMIO, or all that are not, as `mmio` says.
static bool add_zones(struct meter_handle *handle, const char *root, const struct sysfs_names *names,
                      bool mmio) {
    for (int i = 0; i < names->count; i++) {
        char zone[sysfs_path_max];
        if ((strstr(names->name[i], "mmio") != NULL) == mmio && sysfs_join(zone, root, names->name[i]) &&
            !add_zone(handle, zone))
            return false;
    }
    return true;
}

static void open_powercap(struct meter_handle *handle, const struct meter_request *request) {
    char root[sysfs_path_max], reason[meter_reason_max];
    struct sysfs_names names;
    if (!sysfs_join(root, request->root, "class/powercap"))
        return meter_fail(handle, meter_unavailable, "%s: too long a path", request->root);
    enum meter_status status = sysfs_list(root, "", &names, reason);
    if (status != meter_ok) return meter_fail(handle, status, "%s", reason);
    if (add_zones(handle, root, &names, false) && add_zones(handle, root, &names, true) &&
        handle->n_channels == 0)
        meter_fail(handle, meter_unavailable, "%s: no zone is a package", root);
}

static double value_now(struct powercap *powercap, int i, struct meter_channel *channel) {
    char reason[meter_reason_max];
    uint64_t now, last = powercap->last_uj[i], range = powercap->range_uj[i];
    if (channel->status != meter_ok) return NAN;
    enum meter_status status = sysfs_number(channel->event, "", &now, reason);
    if (status == meter_ok && now > range)
        return meter_lose(channel, "%s: %llu is above its max_energy_range_uj of %llu", channel->event,
                          (unsigned long long)now, (unsigned long long)range);
    if (status != meter_ok) {
        meter_missed(channel, reason);
        if (channel->in_a_row > in_a_row_max) channel->status = status;
        return NAN;
    }
    channel->in_a_row = 0;
    powercap->energy_j[i] += 1e-6 * (double)(now >= last ? now - last : range - last + now);
    powercap->last_uj[i] = now;
    return powercap->energy_j[i];
}

static void read_powercap(struct meter_handle *handle, double *value) {
    for (int i = 0; i < handle->n_channels; i++) value[i] = value_now(handle->own, i, &handle->channel[i]);
}

const struct meter meter_powercap = {
    .name = "powercap",
    .summary = "energy of processor packages (RAPL), from class/powercap",
    .scope = meter_of_node,
    .quantities = quantities,
    .size = sizeof(struct powercap),
    .open = open_powercap,
    .read = read_powercap,
};
