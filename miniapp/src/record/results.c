/// \file
/// Sums over ranks, and ranks.csv: a line for each rank.
///
/// Members of struct rank_tally are named by their offset (RESULTS_SUM, RESULTS_LARGEST in results.h), so
/// that one loop serves all of them. In ranks.csv, what is unknown is an empty field, never 0: counts of
/// messages and times in a dry run, the peak of the memory where the system does not tell. miniapp/FORMAT.md
/// names the columns; a column is added at the end of its group, since readers go by names.
///
/// Only rank 0 comes here. Cost: ranks x members; the file has some 200 bytes for each rank.

#include "record/results.h"

#include "schedule/schedule.h"
#include <math.h>

// The cast is safe: the macro takes the offset of a double from struct rank_tally.
double results_largest(const struct results *results, size_t member) {
    double value = -INFINITY;
    for (int r = 0; r < results->model->processes; r++)
        value = fmax(value, *(const double *)((const char *)&results->ranks[r] + member));
    return value;
}

// The same for members of type uint64_t. Checksums are summed as well: modulo 2^64 is what they mean.
uint64_t results_sum(const struct results *results, size_t member) {
    uint64_t sum = 0;
    for (int r = 0; r < results->model->processes; r++)
        sum += *(const uint64_t *)((const char *)&results->ranks[r] + member);
    return sum;
}

double results_counter_overhead(const struct results *results, double simulate_s) {
    // Thread 0 is the master thread, whose phases are those of the record.
    uint64_t reads = 0;
    for (int p = 0; p < n_phases; p++) reads += results->counters->thread[0]->marks[p];
    return (double)reads * results->counters->read_s / simulate_s;
}

/// A count as printf() takes it.
#define LONG(count) ((unsigned long long)(count))

/// Writes the next value of a line, or nothing where it is unknown.
static void write_count(FILE *file, uint64_t count, bool is_known) {
    fprintf(file, is_known ? ",%llu" : ",", LONG(count));
}

bool results_write_ranks(const struct results *results, FILE *file) {
    const struct dry *dry = results->model->dry;
    // There are columns for the levels of the lane that has most; others leave theirs at 0.
    const int levels = lane_levels_most(results->model->schedule);
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s,node,lookups,checksum,thread_wait_s");
    for (int i = 1; i <= levels; i++)
        fprintf(file, ",messages_level_%d,words_level_%d,bytes_level_%d", i, i, i);
    fprintf(file, "\n");
    for (int r = 0; r < results->model->processes; r++) {
        const struct rank_tally *t = &results->ranks[r];
        fprintf(file, "%d,%llu,%llu,%llu,%llu,%llu,%llu", dry ? dry->rank : r, LONG(t->neurons),
                LONG(t->synapses), LONG(t->counts.spikes), LONG(t->counts.synaptic_events),
                LONG(t->counts.external_events), LONG(t->counts.first_accesses));
        write_count(file, t->traffic.messages, !dry);
        write_count(file, t->traffic.bytes, !dry);
        write_count(file, t->peak_bytes, t->peak_bytes > 0);
        // A dry run has no time of the whole cycle; the extra argument is then not printed.
        fprintf(file, dry ? ",%.9g," : ",%.9g,%.9g", t->build_s, t->simulate_s);
        fprintf(file, ",%d,%llu,%016llx,%.9g", results->nodes->of_rank[r], LONG(t->counts.lookups),
                LONG(t->counts.checksum + t->state_checksum), t->phase_s[phase_thread_wait]);
        for (int i = 0; i < levels; i++) { // what it has sent in each level, all lanes together
            struct level_traffic sum = {0};
            for (int l = 0; l < results->model->n_lanes; l++) level_traffic_add(&sum, &t->lanes[l].levels[i]);
            write_count(file, sum.messages, !dry);
            write_count(file, sum.words, !dry);
            write_count(file, sum.bytes, !dry);
        }
        fprintf(file, "\n");
    }
    return !ferror(file);
}
