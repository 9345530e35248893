#include "run/energy_reader.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include "measurement/pause.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct interval none = {NAN, NAN};

static struct meter_handle *chosen(struct energy_reader *reader) {
    struct meter_handle *last = reader->n_sources > 0 ? &reader->source[reader->n_sources - 1] : NULL;
    return last && last->status == meter_ok ? last : NULL;
}

void energy_reader_open(struct energy_reader *reader, const struct description *description, const char *root,
                        MPI_Comm world) {
    memset(reader, 0, sizeof *reader);
    reader->description = description;
    reader->world = world;
    reader->idle_before = reader->idle_after = none;
    reader->pause_s = description->idle_pause_s;
    if (description->given.record_energy == 0) return;
    int rank, on_node;
    MPI_Comm node;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    reader->reads = on_node == 0;
    if (reader->reads) reader->source = ALLOC_ZERO(struct meter_handle, energy_sources_max); // large
    const bool named = description->n_sensors > 0;
    const struct meter_request request = {
        .root = root, .names = named ? description->sensors : NULL, .n_names = description->n_sensors};
    for (int i = 0; meters[i] && reader->reads && !chosen(reader); i++)
        if (meters[i]->scope == meter_of_node && (!named || meters[i]->chooses) &&
            reader->n_sources < energy_sources_max)
            meter_open(&reader->source[reader->n_sources++], meters[i], &request);
    int here = chosen(reader) != NULL, anywhere;
    MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_LOR, world);
    if (!anywhere && !description->pause_asked_for) reader->pause_s = 0;
}

/// Lets all ranks sleep. \return when they slept.
static struct interval idle(const struct energy_reader *reader) {
    if (reader->pause_s == 0) return none;
    MPI_Barrier(reader->world);
    struct interval span = {.from_s = clock_now()};
    pause_for(reader->pause_s, true);
    span.to_s = clock_now();
    return span;
}

void energy_reader_begin(struct energy_reader *reader) {
    struct meter_handle *meter = chosen(reader);
    if (meter) reader->sampler = sampler_start(meter, reader->description->given.energy_interval_s);
    if (meter && !reader->sampler)
        meter_fail(meter, meter_unavailable, "no thread for reading it could be started");
    reader->idle_before = idle(reader);
}

void energy_reader_end(struct energy_reader *reader) {
    reader->idle_after = idle(reader);
    if (reader->sampler) sampler_stop(reader->sampler, &reader->samples);
    reader->sampler = NULL;
}

void energy_reader_close(struct energy_reader *reader) {
    if (reader->sampler) sampler_stop(reader->sampler, &reader->samples);
    samples_close(&reader->samples);
    for (int i = 0; i < reader->n_sources; i++) meter_close(&reader->source[i]);
    free(reader->source);
    reader->source = NULL;
    reader->n_sources = 0;
}
