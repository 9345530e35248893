#include "run/power.h"

#include "measurement/clock.h"
#include "measurement/pause.h"
#include <math.h>
#include <string.h>

static const struct interval none = {NAN, NAN};

static struct meter_handle *chosen(struct power *power) {
    struct meter_handle *last = power->n_sources > 0 ? &power->source[power->n_sources - 1] : NULL;
    return last && last->status == meter_ok ? last : NULL;
}

void power_open(struct power *power, const struct description *description, const char *root,
                MPI_Comm world) {
    memset(power, 0, sizeof *power);
    power->description = description;
    power->world = world;
    power->idle_before = power->idle_after = none;
    power->pause_s = description->idle_pause_s;
    if (description->given.record_energy == 0) return;
    int rank, on_node;
    MPI_Comm node;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    power->reads = on_node == 0;
    const bool named = description->n_sensors > 0;
    const struct meter_request request = {
        .root = root, .names = named ? description->sensors : NULL, .n_names = description->n_sensors};
    for (int i = 0; meters[i] && power->reads && !chosen(power); i++)
        if (meters[i]->scope == meter_of_node && (!named || meters[i]->chooses) &&
            power->n_sources < power_sources_max)
            meter_open(&power->source[power->n_sources++], meters[i], &request);
    int here = chosen(power) != NULL, anywhere;
    MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_LOR, world);
    if (!anywhere && !description->pause_asked_for) power->pause_s = 0;
}

/// All ranks sleep. \return when.
static struct interval idle(const struct power *power) {
    if (power->pause_s == 0) return none;
    MPI_Barrier(power->world);
    struct interval span = {.from_s = clock_epoch()};
    pause_for(power->pause_s, true);
    span.to_s = clock_epoch();
    return span;
}

void power_begin(struct power *power) {
    struct meter_handle *meter = chosen(power);
    if (meter) power->sampler = sampler_start(meter, power->description->given.energy_interval_s);
    if (meter && !power->sampler)
        meter_fail(meter, meter_unavailable, "no thread for reading it could be started");
    power->idle_before = idle(power);
}

void power_end(struct power *power) {
    power->idle_after = idle(power);
    if (power->sampler) sampler_stop(power->sampler, &power->samples);
    power->sampler = NULL;
}

void power_close(struct power *power) {
    if (power->sampler) sampler_stop(power->sampler, &power->samples);
    samples_close(&power->samples);
    for (int i = 0; i < power->n_sources; i++) meter_close(&power->source[i]);
    power->n_sources = 0;
}
