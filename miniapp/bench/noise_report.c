#include "noise_report.h"

#include "measurement/clock.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { most_processes = 20 };

static int by_length(const void *a, const void *b) {
    const struct detour *x = a, *y = b;
    return (x->length_s < y->length_s) - (x->length_s > y->length_s);
}

static int by_begin(const void *a, const void *b) {
    const struct detour *x = a, *y = b;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

/// Returns a quantile of the lengths of detours, which are sorted from the longest to the shortest.
static double detour_quantile(const struct detours *d, double q) {
    return d->kept ? d->detour[(size_t)((1 - q) * (double)(d->kept - 1))].length_s : NAN;
}

static double quantile(const struct quanta *q, double share) {
    return q->count ? q->length_s[(size_t)(share * (double)(q->count - 1))] : NAN;
}

static void print_number(FILE *file, const char *name, double value) {
    fprintf(file, isfinite(value) ? "\"%s\": %.9g, " : "\"%s\": null, ", name, value);
}

static void print_string(FILE *file, const char *text) {
    fputc('"', file);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\') fputc(*c, file);
    fputc('"', file);
}

static void print_detours(FILE *file, struct detours *d, size_t list) {
    fprintf(file, "\"detour\": {");
    print_number(file, "seconds", d->seconds);
    print_number(file, "usual_gap_s", d->usual_s);
    print_number(file, "threshold_s", d->threshold_s);
    print_number(file, "lost_s", d->lost_s);
    print_number(file, "switched_s", d->switched_s);
    print_number(file, "largest_s", d->largest_s);
    qsort(d->detour, d->kept, sizeof *d->detour, by_length);
    print_number(file, "median_s", detour_quantile(d, 0.5));
    print_number(file, "q99_s", detour_quantile(d, 0.99));
    fprintf(file, "\"detours\": %llu, \"switched\": %llu, \"kept\": %zu,\n   \"longest\": [",
            (unsigned long long)d->count, (unsigned long long)d->switched, d->kept);
    const size_t n = d->kept < list ? d->kept : list;
    qsort(d->detour, n, sizeof *d->detour, by_begin);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "%s[%.9f, %.9g, %s]", i ? ", " : "", d->detour[i].begin_s, d->detour[i].length_s,
                d->detour[i].switched ? "true" : "false");
    fprintf(file, "]}");
}

static void print_quanta(FILE *file, const struct quanta *q) {
    double sum = 0;
    for (size_t i = 0; i < q->count; i++) sum += q->length_s[i];
    fprintf(file, "\"fwq\": {");
    print_number(file, "seconds", q->seconds);
    print_number(file, "shortest_s", quantile(q, 0));
    print_number(file, "mean_s", q->count ? sum / (double)q->count : NAN);
    print_number(file, "median_s", quantile(q, 0.5));
    print_number(file, "q99_s", quantile(q, 0.99));
    print_number(file, "largest_s", quantile(q, 1));
    fprintf(file, "\"quanta\": %zu}", q->count);
}

static void print_counts(FILE *file, const struct kernel_counts *counts, int core) {
    int place = -1, printed = 0;
    for (int i = 0; i < counts->n_cores; i++)
        if (counts->core[i] == core) place = i;
    fprintf(file, "\"counts\": [");
    for (int c = 0; c < counts->n_causes && place >= 0; c++) {
        const uint32_t rise = kernel_counts_rise(counts, c, place);
        if (rise == 0) continue;
        fprintf(file, "%s{\"source\": \"%s\", \"name\": ", printed++ ? ", " : "", counts->cause[c].source);
        print_string(file, counts->cause[c].name);
        fprintf(file, ", \"count\": %u}", rise);
    }
    fprintf(file, "]");
}

static void print_processes(FILE *file, const struct processes *used) {
    int printed = 0;
    fprintf(file, "\"processes\": [");
    for (size_t i = 0; i < used->count && printed < most_processes; i++) {
        const struct process *p = &used->process[i];
        if (p->pid == getpid()) continue;
        fprintf(file, "%s\n  {\"pid\": %d, \"name\": ", printed++ ? "," : "", p->pid);
        print_string(file, p->name);
        fprintf(file, ", \"core\": %d, \"used_s\": %.9g}", p->core, p->used_s);
    }
    fprintf(file, "]");
}

const char *noise_node(const struct host *host) {
    const char *slurm = getenv("SLURMD_NODENAME");
    return slurm && *slurm ? slurm : host->name;
}

void noise_print(FILE *file, const struct options *options, struct witness *witness, int n, double began_s,
                 const struct kernel_counts *counts, const struct processes *used) {
    struct host host;
    host_read(&host);
    fprintf(file, "{\"kind\": \"noise\", \"format_version\": 1, \"node\": ");
    print_string(file, noise_node(&host));
    fprintf(file, ", \"virtual_machine\": %s, \"clock\": \"%s\", ", host.virtual_machine ? "true" : "false",
            clock_name());
    fprintf(file, "\"began_s\": %.6f, \"monotonic_to_epoch_s\": %.6f, ", began_s, clock_ahead());
    print_number(file, "seconds", options->seconds);
    print_number(file, "tick_s", counts->tick_s);
    char tracers[200];
    fprintf(file,
            "\"may_trace\": %s, \"tracers\": ", kernel_tracers(tracers, sizeof tracers) ? "true" : "false");
    print_string(file, tracers);
    fprintf(file, ", \"missing\": ");
    print_string(file, counts->missing);
    fprintf(file, ",\n ");
    print_processes(file, used);
    fprintf(file, ",\n \"cores\": [");
    for (int i = 0; i < n; i++) {
        struct witness *w = &witness[i];
        fprintf(file, "%s\n  {\"core\": %d, \"bound\": %s, ", i ? "," : "", w->core,
                w->bound ? "true" : "false");
        print_number(file, "cpu_s", w->after.cpu_s - w->before.cpu_s);
        fprintf(file, "\"involuntary\": %.0f, \"voluntary\": %.0f, \"faults\": %.0f,\n   ",
                w->after.involuntary - w->before.involuntary, w->after.voluntary - w->before.voluntary,
                w->after.faults - w->before.faults);
        print_detours(file, &w->detours, (size_t)options->list);
        fprintf(file, ",\n   ");
        print_quanta(file, &w->quanta);
        fprintf(file, ",\n   ");
        print_counts(file, counts, w->core);
        fprintf(file, "}");
    }
    fprintf(file, "\n]}\n");
}
