/// \file
/// Energy, or where there is none power, from hardware monitoring chips.
///
/// All sensors of the kind count, so they should not overlap; of a chip that tells sockets and cores apart
/// (amd_energy) sockets alone are taken.

#include "measurement/sysfs.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct meter_quantity quantities[] = {{"energy", "J"}, {NULL, NULL}};

/// A kind of file: its beginning and end, and what it holds.
struct kind {
    const char *prefix, *suffix, *unit;
};

static const struct kind energies = {"energy", "_input", "J"}, powers = {"power", "_input", "W"},
                         averages = {"power", "_average", "W"};

struct hwmon {
    uint64_t first[meter_channels_max], last[meter_channels_max]; ///< microjoules
};

static bool is_core(const char *label) {
    return strncmp(label, "Ecore", strlen("Ecore")) == 0;
}

/// The sensor's label, or its number where it has none.
static void label_of(const char *chip, const char *sensor, char *label) {
    char path[sysfs_path_max], file[64], reason[meter_reason_max];
    snprintf(file, sizeof file, "%.40s_label", sensor);
    if (!sysfs_join(path, chip, file) || sysfs_text(path, label, meter_name_max, reason) != meter_ok)
        snprintf(label, meter_name_max, "%.40s", sensor);
}

/// Adds the sensors of a kind. \return how many; -1 after meter_fail().
static int add_chip(struct meter_handle *handle, const char *chip, const char *folder,
                    const struct kind *kind) {
    struct hwmon *hwmon = handle->own;
    struct sysfs_names files;
    char reason[meter_reason_max], name[meter_name_max] = "", path[sysfs_path_max];
    int added = 0;
    if (sysfs_list(chip, kind->prefix, &files, reason) != meter_ok) return 0;
    if (!sysfs_join(path, chip, "name") || sysfs_text(path, name, 24, reason) != meter_ok)
        snprintf(name, sizeof name, "%.23s", folder);
    for (int i = 0; i < files.count; i++) {
        char sensor[64], label[meter_name_max], title[2 * meter_name_max];
        char *end = strrchr(strcpy(sensor, files.name[i]), '_');
        if (!end || strcmp(end, kind->suffix) != 0 || handle->n_channels == meter_channels_max) continue;
        *end = '\0';
        label_of(chip, sensor, label);
        if (is_core(label) || !sysfs_join(path, chip, files.name[i])) continue;
        uint64_t value;
        enum meter_status status = sysfs_number(path, "", &value, reason);
        if (status != meter_ok) {
            meter_fail(handle, status, "%s", reason);
            return -1;
        }
        snprintf(title, sizeof title, "%s/%s", name, label);
        struct meter_channel *channel = meter_add(handle, title, kind->unit);
        snprintf(channel->event, sizeof channel->event, "%s", path);
        hwmon->first[handle->n_channels - 1] = hwmon->last[handle->n_channels - 1] = value;
        added++;
    }
    return added;
}

/// Adds all sensors of a kind on all chips. \return as add_chip().
static int add_kind(struct meter_handle *handle, const char *root, const struct sysfs_names *chips,
                    const struct kind *kind) {
    int added = 0;
    for (int i = 0; i < chips->count; i++) {
        char chip[sysfs_path_max];
        if (!sysfs_join(chip, root, chips->name[i])) continue;
        int here = add_chip(handle, chip, chips->name[i], kind);
        if (here < 0) return -1;
        added += here;
    }
    return added;
}

static void open_hwmon(struct meter_handle *handle, const struct meter_request *request) {
    char root[sysfs_path_max], reason[meter_reason_max];
    struct sysfs_names chips;
    if (!sysfs_join(root, request->root, "class/hwmon"))
        return meter_fail(handle, meter_unavailable, "%s: too long a path", request->root);
    enum meter_status status = sysfs_list(root, "hwmon", &chips, reason);
    if (status != meter_ok) return meter_fail(handle, status, "%s", reason);
    const struct kind *const kinds[] = {&energies, &powers, &averages};
    for (int k = 0; k < 3; k++)
        if (add_kind(handle, root, &chips, kinds[k]) != 0) return;
    meter_fail(handle, meter_unavailable, "%s: no chip has energy*_input, power*_input or power*_average",
               root);
}

static void read_hwmon(struct meter_handle *handle, double *value) {
    struct hwmon *hwmon = handle->own;
    for (int i = 0; i < handle->n_channels; i++) {
        struct meter_channel *channel = &handle->channel[i];
        uint64_t now;
        value[i] = NAN;
        if (channel->status != meter_ok) continue;
        channel->status = sysfs_number(channel->event, "", &now, channel->reason);
        if (channel->status != meter_ok) continue;
        if (channel->unit[0] == 'W') {
            value[i] = 1e-6 * (double)now;
        } else if (now < hwmon->last[i]) { // its range is not known
            char reason[meter_reason_max]; // apart: the compiler takes the channel's own for an overlap
            channel->status = meter_unavailable;
            snprintf(reason, sizeof reason, "%s: fell from %llu to %llu", channel->event,
                     (unsigned long long)hwmon->last[i], (unsigned long long)now);
            memcpy(channel->reason, reason, sizeof reason);
        } else {
            hwmon->last[i] = now;
            value[i] = 1e-6 * (double)(now - hwmon->first[i]);
        }
    }
}

const struct meter meter_hwmon = {
    .name = "hwmon",
    .summary = "energy, else power, from sensors of the board, from class/hwmon",
    .scope = meter_of_node,
    .quantities = quantities,
    .size = sizeof(struct hwmon),
    .open = open_hwmon,
    .read = read_hwmon,
};
