#include "record/results.h"

#include <math.h>

double results_largest(const struct results *results, size_t member) {
    double value = -INFINITY;
    for (int r = 0; r < results->model->ranks; r++)
        value = fmax(value, *(const double *)((const char *)&results->ranks[r] + member));
    return value;
}

uint64_t results_sum(const struct results *results, size_t member) {
    uint64_t sum = 0;
    for (int r = 0; r < results->model->ranks; r++)
        sum += *(const uint64_t *)((const char *)&results->ranks[r] + member);
    return sum;
}

double results_counter_overhead(const struct results *results, double simulate_s) {
    uint64_t reads = 0;
    for (int p = 0; p < n_counted_phases; p++) reads += results->counters->thread[0]->marks[p];
    return (double)reads * results->counters->read_s / simulate_s;
}

bool results_write_ranks(const struct results *results, FILE *file) {
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s,node,lookups\n");
    for (int r = 0; r < results->model->ranks; r++) {
        const struct rank_tally *t = &results->ranks[r];
        const uint64_t counts[] = {t->neurons,
                                   t->synapses,
                                   t->counts.spikes,
                                   t->counts.synaptic_events,
                                   t->counts.external_events,
                                   t->counts.first_accesses,
                                   t->traffic.messages,
                                   t->traffic.bytes};
        fprintf(file, "%d", r);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            fprintf(file, ",%llu", (unsigned long long)counts[i]);
        if (t->peak_bytes)
            fprintf(file, ",%llu", (unsigned long long)t->peak_bytes);
        else
            fprintf(file, ",");
        fprintf(file, ",%.9g,%.9g,%d,%llu\n", t->build_s, t->simulate_s, results->nodes->of_rank[r],
                (unsigned long long)t->counts.lookups);
    }
    return !ferror(file);
}
