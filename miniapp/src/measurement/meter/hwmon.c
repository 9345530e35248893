/// \file
/// Energy, or power where there is none, from hardware monitoring chips.
///
/// Nothing tells which sensors overlap: a supply has one for its input and one for its output, a board has
/// one for all and one for each rail. So no sums are guessed. One sensor that is alone is taken. Of a chip
/// that tells sockets and cores apart (amd_energy), the sockets are taken. Where there are more sensors of a
/// kind, those that the request names are taken; without such a request the meter is refused, and the refusal
/// lists their names.

#include "base/alloc.h"
#include "measurement/sysfs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct meter_quantity quantities[] = {{"energy", "J"}, {NULL, NULL}};

/// The kinds of files: how their names begin and end, and what they hold. The first kind that is there is
/// taken.
static const struct kind {
    const char *prefix, *suffix, *unit;
} kinds[] = {{"energy", "_input", "J"}, {"power", "_input", "W"}, {"power", "_average", "W"}};

enum { n_kinds = 3, sensors_max = 256 };

struct sensor {
    char name[meter_name_max]; ///< CHIP/LABEL
    char path[sysfs_path_max];
    int kind;
    bool socket, taken;
};

struct sensors {
    int count;
    struct sensor sensor[sensors_max];
};

struct hwmon {
    uint64_t first[meter_channels_max], last[meter_channels_max]; ///< microjoules
};

/// Reads the label of the sensor, or takes its number where it has none.
static void label_of(const char *chip, const char *sensor, char *label, size_t bytes) {
    char path[sysfs_path_max], file[64], reason[meter_reason_max];
    snprintf(file, sizeof file, "%.40s_label", sensor);
    if (!sysfs_join(path, chip, file) || sysfs_text(path, label, bytes, reason) != meter_ok)
        snprintf(label, bytes, "%.20s", sensor);
}

/// Adds the sensors of a kind on a chip, except those of single cores.
static void find(struct sensors *sensors, const char *chip, const char *folder, int kind) {
    struct sysfs_names files;
    char reason[meter_reason_max], name[24] = "", path[sysfs_path_max];
    if (sysfs_list(chip, kinds[kind].prefix, &files, reason) != meter_ok) return;
    if (!sysfs_join(path, chip, "name") || sysfs_text(path, name, sizeof name, reason) != meter_ok)
        snprintf(name, sizeof name, "%.23s", folder);
    for (int i = 0; i < files.count && sensors->count < sensors_max; i++) {
        char number[64], label[24];
        char *end = strrchr(strcpy(number, files.name[i]), '_');
        struct sensor *sensor = &sensors->sensor[sensors->count];
        if (!end || strcmp(end, kinds[kind].suffix) != 0 || !sysfs_join(sensor->path, chip, files.name[i]))
            continue;
        *end = '\0';
        label_of(chip, number, label, sizeof label);
        if (strncmp(label, "Ecore", strlen("Ecore")) == 0) continue;
        snprintf(sensor->name, sizeof sensor->name, "%s/%s", name, label);
        for (char *c = sensor->name; *c; c++)
            if (*c == ',' || *c == '"') *c = ' '; // as in the name of the channel
        sensor->kind = kind;
        sensor->socket = strncmp(label, "Esocket", strlen("Esocket")) == 0;
        sensors->count++;
    }
}

/// Lists the names of the sensors of a kind, or of any kind if it is below 0.
static struct name_list list(const struct sensors *sensors, int kind) {
    struct name_list names = {"", 0};
    for (int i = 0; i < sensors->count; i++)
        if (kind < 0 || sensors->sensor[i].kind == kind) name_list_add(&names, sensors->sensor[i].name);
    return names;
}

/// Takes the sensors of that name, of the first kind that has it: the energy and the power of a sensor are
/// not two.
static bool take_named(struct sensors *sensors, const char *name) {
    int kind = n_kinds;
    for (int i = 0; i < sensors->count; i++)
        if (strcmp(sensors->sensor[i].name, name) == 0 && sensors->sensor[i].kind < kind)
            kind = sensors->sensor[i].kind;
    for (int i = 0; i < sensors->count; i++)
        if (strcmp(sensors->sensor[i].name, name) == 0 && sensors->sensor[i].kind == kind)
            sensors->sensor[i].taken = true;
    return kind < n_kinds;
}

/// Takes the sensors that the request names, or those that surely do not overlap. \return false after
/// meter_fail().
static bool choose(struct meter_handle *handle, struct sensors *sensors,
                   const struct meter_request *request) {
    for (int i = 0; i < request->n_names; i++) {
        if (take_named(sensors, request->names[i])) continue;
        meter_fail(handle, meter_unavailable, "no sensor %.40s; there are: %s", request->names[i],
                   list(sensors, -1).text);
        return false;
    }
    if (request->n_names > 0) return true;
    const int kind = sensors->sensor[0].kind;
    int count = 0, sockets = 0;
    for (int i = 0; i < sensors->count && sensors->sensor[i].kind == kind; i++) {
        count++;
        sockets += sensors->sensor[i].socket;
    }
    for (int i = 0; i < count; i++)
        sensors->sensor[i].taken = sockets ? sensors->sensor[i].socket : count == 1;
    if (sockets > 0 || count == 1) return true;
    meter_fail(handle, meter_unavailable,
               "%d sensors, which may overlap: record.energy_sensors says which to add up; there are: %s",
               count, list(sensors, kind).text);
    return false;
}

/// Adds a channel for every sensor that was taken.
static void add(struct meter_handle *handle, const struct sensors *sensors) {
    struct hwmon *hwmon = handle->own;
    for (int i = 0; i < sensors->count; i++) {
        const struct sensor *sensor = &sensors->sensor[i];
        char reason[meter_reason_max];
        uint64_t value;
        if (!sensor->taken) continue;
        if (handle->n_channels == meter_channels_max)
            return meter_fail(handle, meter_unavailable, "more than %d sensors", meter_channels_max);
        enum meter_status status = sysfs_number(sensor->path, "", &value, reason);
        if (status != meter_ok) return meter_fail(handle, status, "%s", reason);
        struct meter_channel *channel = meter_add(handle, sensor->name, kinds[sensor->kind].unit);
        snprintf(channel->event, sizeof channel->event, "%s", sensor->path);
        hwmon->first[handle->n_channels - 1] = hwmon->last[handle->n_channels - 1] = value;
    }
}

static void open_hwmon(struct meter_handle *handle, const struct meter_request *request) {
    char root[sysfs_path_max], chip[sysfs_path_max], reason[meter_reason_max];
    struct sysfs_names chips;
    if (!sysfs_join(root, request->root, "class/hwmon"))
        return meter_fail(handle, meter_unavailable, "%s: too long a path", request->root);
    enum meter_status status = sysfs_list(root, "hwmon", &chips, reason);
    if (status != meter_ok) return meter_fail(handle, status, "%s", reason);
    struct sensors *sensors = ALLOC_ZERO(struct sensors, 1);
    for (int k = 0; k < n_kinds; k++)
        for (int i = 0; i < chips.count; i++)
            if (sysfs_join(chip, root, chips.name[i])) find(sensors, chip, chips.name[i], k);
    if (sensors->count == 0)
        meter_fail(handle, meter_unavailable, "%s: no chip has energy*_input, power*_input or power*_average",
                   root);
    else if (choose(handle, sensors, request))
        add(handle, sensors);
    free(sensors);
}

static double value_now(struct hwmon *hwmon, int i, struct meter_channel *channel) {
    char reason[meter_reason_max];
    uint64_t now;
    if (channel->status != meter_ok) return NAN;
    if (sysfs_number(channel->event, "", &now, reason) != meter_ok) return meter_missed(channel, reason);
    if (channel->unit[0] == 'W') return 1e-6 * (double)now;
    if (now < hwmon->last[i]) // it has wrapped around, and its range is not known
        return meter_lose(channel, "%s: fell from %llu to %llu", channel->event,
                          (unsigned long long)hwmon->last[i], (unsigned long long)now);
    hwmon->last[i] = now;
    return 1e-6 * (double)(now - hwmon->first[i]);
}

static void read_hwmon(struct meter_handle *handle, double *value) {
    for (int i = 0; i < handle->n_channels; i++) value[i] = value_now(handle->own, i, &handle->channel[i]);
}

const struct meter meter_hwmon = {
    .name = "hwmon",
    .summary = "energy, else power, from a sensor of the board, from class/hwmon",
    .scope = meter_of_node,
    .chooses = true,
    .quantities = quantities,
    .size = sizeof(struct hwmon),
    .open = open_hwmon,
    .read = read_hwmon,
};
