/// \file
/// `meters` of record.json and counters.csv: counts of all threads, and their sums.
///
/// Each rank makes a row for each thread, quantity and phase (rows_of_rank()). Rank 0 takes them rank by rank
/// (take_rows()), writes each to counters.csv, and adds it to the sum of its quantity and phase. A sum in
/// which a thread is missing, or in which threads counted different events, is not given: its entry says why.

#include "base/alloc.h"
#include "record/gather.h"
#include "record/results.h"
#include "transport/communicator.h"

/// One value of one thread, as it is sent to the first rank.
struct row {
    int rank, thread, phase; ///< thread -1: of the process; phase -1: of the whole measured part
    int quantity, event;     ///< numbers; event -1: none
    enum count_status status;
    double value; ///< NAN unless the status is count_ok
    char reason[reason_max];
};

/// The sum over all threads of a quantity, in a phase or in all.
struct sum {
    bool any, mixed; ///< mixed: threads counted different events, and there is no sum
    struct row row;  ///< of the first that was added; value is the sum
};

/// Makes a row. A value that could not be read is unavailable.
static struct row row_of(const struct count *count, int quantity, int rank, int thread, int phase,
                         double value) {
    struct row row = {rank, thread, phase, quantity, count->event, count->status, value, ""};
    memcpy(row.reason, count->reason, sizeof row.reason);
    if (row.status == count_ok && !isfinite(value)) {
        row.status = count_unavailable;
        snprintf(row.reason, sizeof row.reason, "%s could not be read",
                 quantities[quantity].events[count->event]);
    }
    if (row.status != count_ok) row.value = NAN;
    return row;
}

/// Makes the rows of a counter of one thread: the total, and the phases that occurred. \return how many.
static size_t counter_rows(struct row *rows, const struct thread_counters *own, int q, int rank, int thread) {
    // The first row is the total; it is filled in last.
    size_t n = 1;
    double sum = 0;
    for (int p = 0; p < n_phases && own->count[q].status == count_ok; p++) {
        if (own->marks[p] == 0) continue;
        sum += own->counted[p][q];
        rows[n++] = row_of(&own->count[q], q, rank, thread, p, own->counted[p][q]);
    }
    rows[0] = row_of(&own->count[q], q, rank, thread, -1, sum);
    return n;
}

/// Makes all rows of this rank, [*n].
static struct row *rows_of_rank(const struct counters *counters, double peak_bytes, int rank, size_t *n) {
    const size_t each = papi_quantities * (n_phases + 1) + usage_quantities;
    struct row *rows = ALLOC(struct row, (size_t)counters->threads * each + 1);
    *n = 0;
    for (int t = 0; t < counters->threads; t++) {
        const struct thread_counters *own = counters->thread[t];
        for (int q = 0; q < papi_quantities; q++)
            if (own->count[q].wanted) *n += counter_rows(rows + *n, own, q, rank, t);
        for (int i = 0; i < usage_quantities; i++)
            rows[(*n)++] =
                row_of(&own->count[quantity_usage + i], quantity_usage + i, rank, t, -1, own->used[i]);
    }
    rows[(*n)++] = row_of(&counters->thread[0]->count[quantity_peak], quantity_peak, rank, -1, -1,
                          peak_bytes > 0 ? peak_bytes : NAN);
    return rows;
}

/// Where rows go on rank 0.
struct output {
    struct sum (*sums)[n_phases + 1]; ///< [quantities], the total last
    FILE *file;
};

/// Adds the rows of a rank to the sums, and writes them: `take` of gather_blocks().
static bool take_rows(const void *block, size_t count, void *context) {
    const struct output *output = context;
    for (const struct row *row = block; row < (const struct row *)block + count; row++) {
        struct sum *sum = &output->sums[row->quantity][row->phase >= 0 ? row->phase : n_phases];
        const char *event = row->event >= 0 ? quantities[row->quantity].events[row->event] : "";
        // Events of different threads, such as cycles of two kinds of cores, must not be added.
        sum->mixed |= sum->any && sum->row.status == count_ok && row->status == count_ok &&
                      sum->row.event != row->event;
        if (!sum->any || (sum->row.status == count_ok && row->status != count_ok))
            sum->row = *row; // a missing row makes the sum missing
        else if (row->status == count_ok)
            sum->row.value += row->value;
        sum->any = true;
        if (!output->file) continue;
        fprintf(output->file, "%d,", row->rank);
        if (row->thread >= 0) fprintf(output->file, "%d", row->thread);
        fprintf(output->file, ",%s,%s,%s,", row->phase >= 0 ? phase_names[row->phase] : "",
                quantities[row->quantity].name, event);
        if (isfinite(row->value)) fprintf(output->file, "%.16g", row->value);
        fprintf(output->file, "\n");
    }
    return !output->file || !ferror(output->file);
}

/// Returns a new entry of `meters`. Counts are integers, unless they are too large to be exact.
static json_t *entry_of(const struct sum *sum) {
    static const char *const names[] = {"ok", "unavailable", "denied"};
    const struct quantity *q = &quantities[sum->row.quantity];
    const enum count_status status = sum->mixed ? count_unavailable : sum->row.status;
    const char *reason = sum->mixed ? "threads counted different events, see counters.csv" : sum->row.reason;
    const bool whole = strcmp(q->unit, "count") == 0 || strcmp(q->unit, "byte") == 0;
    json_t *value = status != count_ok               ? json_null()
                    : whole && sum->row.value < 9e15 ? json_integer((json_int_t)sum->row.value)
                                                     : json_real(sum->row.value);
    const char *event = sum->mixed || sum->row.event < 0 ? NULL : q->events[sum->row.event];
    json_t *entry =
        json_pack("{ss ss so ss ss? ss ss?}", "name", q->name, "unit", q->unit, "value", value, "source",
                  q->meter, "event", event, "status", names[status], "reason", *reason ? reason : NULL);
    if (sum->row.phase >= 0) json_object_set_new(entry, "phase", json_string(phase_names[sum->row.phase]));
    return entry;
}

bool meters_gather(json_t *list, const struct counters *counters, double peak_bytes, MPI_Comm world,
                   FILE *file) {
    size_t n;
    const int rank = comm_rank(world);
    struct row *rows = rows_of_rank(counters, peak_bytes, rank, &n);
    struct output output = {rank == 0 ? alloc_zero(quantities_max, sizeof *output.sums) : NULL, file};
    if (file) fprintf(file, "rank,thread,phase,name,event,value\n");
    const bool written = gather_blocks(world, rows, n, sizeof *rows, take_rows, &output);
    for (int q = 0; rank == 0 && q < quantities_max; q++) {
        const struct sum *total = &output.sums[q][n_phases];
        if (!total->any) continue;
        json_array_append_new(list, entry_of(total));
        for (int p = 0; p < n_phases && total->row.status == count_ok && !total->mixed; p++)
            if (output.sums[q][p].any) json_array_append_new(list, entry_of(&output.sums[q][p]));
    }
    FREE(output.sums, rows);
    return written;
}
