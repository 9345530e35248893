#include "record/meter_sums.h"

#include "base/alloc.h"
#include "record/gather.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void meter_sums_close(struct meter_sums *sums) {
    free(sums->sum);
    *sums = (struct meter_sums){0};
}

static struct meter_sum *find(const struct meter_sums *sums, const struct meter_row *row) {
    for (size_t i = 0; i < sums->count; i++) {
        const struct meter_row *other = &sums->sum[i].row;
        if (other->phase == row->phase && strcmp(other->name, row->name) == 0 &&
            strcmp(other->source, row->source) == 0)
            return &sums->sum[i];
    }
    return NULL;
}

static void append(struct meter_sums *sums, const struct meter_row *row) {
    if (sums->count == sums->capacity) {
        sums->capacity = 2 * sums->capacity + 16;
        struct meter_sum *grown = ALLOC(struct meter_sum, sums->capacity);
        if (sums->count > 0) memcpy(grown, sums->sum, sums->count * sizeof *grown);
        free(sums->sum);
        sums->sum = grown;
    }
    sums->sum[sums->count++] = (struct meter_sum){.row = *row};
}

void meter_sums_add(struct meter_sums *sums, const struct meter_row *row) {
    struct meter_sum *sum = find(sums, row);
    if (!sum) {
        append(sums, row);
    } else if (sum->row.status == meter_ok && row->status == meter_ok) {
        sum->mixed = sum->mixed || strcmp(sum->row.event, row->event) != 0;
        sum->row.value += row->value;
    } else if (sum->row.status == meter_ok) {
        sum->row = *row; // a missing row makes the sum missing
    }
}

/// Makes a row of a rank or a thread, filled in from a channel.
static struct meter_row row_of(const struct meter_handle *handle, int i, int rank, int thread) {
    const struct meter_channel *channel = &handle->channel[i];
    struct meter_row row = {
        .rank = rank, .thread = thread, .phase = -1, .status = channel->status, .value = NAN};
    snprintf(row.name, sizeof row.name, "%s", channel->name);
    snprintf(row.unit, sizeof row.unit, "%s", channel->unit);
    snprintf(row.source, sizeof row.source, "%s", handle->meter->name);
    snprintf(row.event, sizeof row.event, "%s", channel->event);
    snprintf(row.reason, sizeof row.reason, "%s", channel->reason);
    return row;
}

static void set_value(struct meter_row *row, double value) {
    row->value = value;
    if (row->status != meter_ok || isfinite(value)) return;
    row->status = meter_unavailable;
    snprintf(row->reason, sizeof row->reason, "%.200s could not be read", row->event);
}

/// Makes the rows of a counter of one thread: the total, and the phases that occurred.
static size_t add_counter(struct meter_row *rows, const struct thread_counters *own, int i, int rank,
                          int thread) {
    struct meter_row *total = &rows[0];
    size_t n = 1;
    double sum = 0;
    *total = row_of(&own->papi, i, rank, thread);
    for (int p = 0; p < n_phases && total->status == meter_ok; p++) {
        if (own->marks[p] == 0) continue;
        sum += own->counted[p][i];
        rows[n] = *total;
        rows[n].phase = p;
        set_value(&rows[n++], own->counted[p][i]);
    }
    set_value(total, total->status == meter_ok ? sum : NAN);
    return n;
}

/// Makes all rows of this rank, [*count].
static struct meter_row *rows_of_rank(const struct counters *counters, double peak_bytes, int rank,
                                      size_t *count) {
    size_t room = 1, n = 0;
    for (int t = 0; t < counters->threads; t++)
        room += (size_t)(counters->thread[t]->usage.n_channels +
                         counters->thread[t]->papi.n_channels * (n_phases + 1));
    struct meter_row *rows = ALLOC(struct meter_row, room);
    for (int t = 0; t < counters->threads; t++) {
        const struct thread_counters *own = counters->thread[t];
        for (int i = 0; i < own->papi.n_channels; i++) n += add_counter(rows + n, own, i, rank, t);
        for (int i = 0; i < own->usage.n_channels; i++) {
            rows[n] = row_of(&own->usage, i, rank, t);
            set_value(&rows[n++], own->used[i]);
        }
    }
    struct meter_handle *memory = ALLOC(struct meter_handle, 1);
    meter_open(memory, meter_find("memory"), &(struct meter_request){0});
    rows[n] = row_of(memory, 0, rank, -1);
    set_value(&rows[n++], peak_bytes > 0 ? peak_bytes : NAN);
    meter_close(memory);
    free(memory);
    *count = n;
    return rows;
}

struct output {
    struct meter_sums *sums;
    FILE *file;
};

static bool take_rows(const void *block, size_t count, void *context) {
    const struct meter_row *rows = block;
    struct output *output = context;
    for (size_t i = 0; i < count; i++) {
        const struct meter_row *row = &rows[i];
        meter_sums_add(output->sums, row);
        if (!output->file) continue;
        fprintf(output->file, "%d,", row->rank);
        if (row->thread >= 0) fprintf(output->file, "%d", row->thread);
        fprintf(output->file, ",%s,%s,%s,", row->phase >= 0 ? phase_names[row->phase] : "", row->name,
                row->event);
        if (isfinite(row->value)) fprintf(output->file, "%.16g", row->value);
        fprintf(output->file, "\n");
    }
    return !output->file || !ferror(output->file);
}

bool meter_sums_gather(struct meter_sums *sums, const struct counters *counters, double peak_bytes,
                       MPI_Comm world, FILE *file) {
    int rank;
    MPI_Comm_rank(world, &rank);
    size_t count;
    struct meter_row *rows = rows_of_rank(counters, peak_bytes, rank, &count);
    struct output output = {sums, rank == 0 ? file : NULL};
    *sums = (struct meter_sums){0};
    if (output.file) fprintf(output.file, "rank,thread,phase,name,event,value\n");
    const bool written = gather_blocks(world, rows, count, sizeof *rows, take_rows, &output);
    free(rows);
    return written;
}

static json_t *text_or_null(const char *text) {
    return *text ? json_string(text) : json_null();
}

/// Returns counts as integers, unless they are too large to be exact.
static json_t *number(double value, const char *unit) {
    const bool whole = strcmp(unit, "count") == 0 || strcmp(unit, "byte") == 0;
    return whole && value < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

json_t *meters_entry(const struct meter_row *row) {
    json_t *value = row->status == meter_ok ? number(row->value, row->unit) : json_null();
    json_t *entry = json_pack("{ss ss so ss so ss so}", "name", row->name, "unit", row->unit, "value", value,
                              "source", row->source, "event", text_or_null(row->event), "status",
                              meter_status_name(row->status), "reason", text_or_null(row->reason));
    if (row->phase >= 0) json_object_set_new(entry, "phase", json_string(phase_names[row->phase]));
    return entry;
}

/// Says whether the sum over all phases, of which this is a part, is good.
static bool total_is_good(const struct meter_sums *sums, const struct meter_sum *sum) {
    struct meter_row total = sum->row;
    total.phase = -1;
    const struct meter_sum *found = find(sums, &total);
    return found && found->row.status == meter_ok && !found->mixed;
}

void meter_sums_append(const struct meter_sums *sums, json_t *list) {
    for (size_t i = 0; i < sums->count; i++) {
        const struct meter_sum *sum = &sums->sum[i];
        struct meter_row row = sum->row;
        if (row.phase >= 0 && !total_is_good(sums, sum)) continue; // it lacks some thread
        if (sum->mixed) {
            row.status = meter_unavailable;
            row.event[0] = '\0';
            snprintf(row.reason, sizeof row.reason, "threads counted different events, see counters.csv");
        }
        json_array_append_new(list, meters_entry(&row));
    }
}

void meter_sums_warn(const struct meter_sums *sums, json_t *list) {
    struct name_list without = {"", 0};
    for (size_t i = 0; i < sums->count; i++) {
        const struct meter_row *row = &sums->sum[i].row;
        if (row->phase >= 0 || row->status == meter_ok || strcmp(row->source, "papi") != 0) continue;
        if (strncmp(row->reason, METER_NO_PMU, strlen(METER_NO_PMU)) == 0)
            name_list_add(&without, row->name);
        else
            json_array_append_new(list,
                                  json_sprintf("counters: %s cannot be read: %s", row->name, row->reason));
    }
    if (without.length > 0)
        json_array_append_new(list,
                              json_sprintf("counters: " METER_NO_PMU ", as in many virtual machines, so "
                                           "these cannot be read: %s",
                                           without.text));
}
