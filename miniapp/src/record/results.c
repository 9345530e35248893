#include "record/results.h"

#include <math.h>

double results_largest(const struct results *results, size_t member) {
    double value = -INFINITY;
    for (int r = 0; r < results->model->processes; r++)
        value = fmax(value, *(const double *)((const char *)&results->ranks[r] + member));
    return value;
}

uint64_t results_sum(const struct results *results, size_t member) {
    uint64_t sum = 0;
    for (int r = 0; r < results->model->processes; r++)
        sum += *(const uint64_t *)((const char *)&results->ranks[r] + member);
    return sum;
}

double results_counter_overhead(const struct results *results, double simulate_s) {
    uint64_t reads = 0;
    for (int p = 0; p < n_phases; p++) reads += results->counters->thread[0]->marks[p];
    return (double)reads * results->counters->read_s / simulate_s;
}

/// Writes the next value of a line, or nothing where it is unknown.
static void write_count(FILE *file, uint64_t count, bool is_known) {
    if (is_known)
        fprintf(file, ",%llu", (unsigned long long)count);
    else
        fprintf(file, ",");
}

bool results_write_ranks(const struct results *results, FILE *file) {
    const struct dry *dry = results->model->dry;
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s,node,lookups,checksum,thread_wait_s\n");
    for (int r = 0; r < results->model->processes; r++) {
        const struct rank_tally *t = &results->ranks[r];
        const uint64_t counts[] = {t->neurons,
                                   t->synapses,
                                   t->counts.spikes,
                                   t->counts.synaptic_events,
                                   t->counts.external_events,
                                   t->counts.first_accesses};
        fprintf(file, "%d", dry ? dry->rank : r);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) write_count(file, counts[i], true);
        write_count(file, t->traffic.messages, !dry);
        write_count(file, t->traffic.bytes, !dry);
        write_count(file, t->peak_bytes, t->peak_bytes > 0);
        fprintf(file, dry ? ",%.9g," : ",%.9g,%.9g", t->build_s, t->simulate_s);
        fprintf(file, ",%d,%llu,%016llx,%.9g\n", results->nodes->of_rank[r],
                (unsigned long long)t->counts.lookups,
                (unsigned long long)(t->counts.checksum + t->state_checksum), t->phase_s[phase_thread_wait]);
    }
    return !ferror(file);
}
