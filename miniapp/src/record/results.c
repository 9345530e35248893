#include "record/results.h"

#include "schedule/lane_levels.h"
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

/// Writes what a rank has sent in each level, all lanes together.
static void write_levels(FILE *file, const struct rank_tally *rank, const struct model *model, int levels) {
    for (int i = 0; i < levels; i++) {
        struct level_traffic sum = {0};
        for (int l = 0; l < model->n_lanes; l++) {
            sum.messages += rank->lanes[l].levels[i].messages;
            sum.words += rank->lanes[l].levels[i].words;
            sum.bytes += rank->lanes[l].levels[i].bytes;
        }
        write_count(file, sum.messages, !model->dry);
        write_count(file, sum.words, !model->dry);
        write_count(file, sum.bytes, !model->dry);
    }
}

bool results_write_ranks(const struct results *results, FILE *file) {
    const struct dry *dry = results->model->dry;
    const int levels = lane_levels_most(results->model->schedule);
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s,node,lookups,checksum,thread_wait_s");
    for (int i = 1; i <= levels; i++)
        fprintf(file, ",messages_level_%d,words_level_%d,bytes_level_%d", i, i, i);
    fprintf(file, "\n");
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
        fprintf(file, ",%d,%llu,%016llx,%.9g", results->nodes->of_rank[r],
                (unsigned long long)t->counts.lookups,
                (unsigned long long)(t->counts.checksum + t->state_checksum), t->phase_s[phase_thread_wait]);
        write_levels(file, t, results->model, levels);
        fprintf(file, "\n");
    }
    return !ferror(file);
}
