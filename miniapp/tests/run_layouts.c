/// \file
/// Runs networks in layouts, one after the other, and prints a line of JSON for each: what came out, or why
/// it was refused. tests/fuzz/layouts.py makes the layouts and compares what comes out.
///
/// mpirun -n RANKS run_layouts CASES.json, a list of {"run": description, "threads": n, "files": {name:
/// content}}; the files are those that the description names. With 0 threads, rank 0 counts by brute force
/// what should come out.
///
/// run_layouts --explain CASES.json, a list of {"file": path of a run description, "ranks": n, "threads": n},
/// only says of each whether `miniapp --explain` would refuse it, and why.

#include "app/estimate.h"
#include "app/explain.h"
#include "app/job.h"
#include "support.h"

#include <inttypes.h>

static void print(const struct outcome *o) {
    printf("{\"checksum\": \"%016" PRIx64 "\", \"spikes\": %" PRIu64 ", \"synaptic_events\": %" PRIu64
           ", \"external_events\": %" PRIu64 ", \"first_accesses\": %" PRIu64 ", \"synapses\": %" PRIu64
           "}\n",
           o->checksum, o->spikes, o->synaptic_events, o->external_events, o->first_accesses, o->synapses);
}

static void print_refusal(const struct error *error) {
    json_t *line = json_pack("{ss}", "refused", error->text);
    char *text = json_dumps(line, 0);
    printf("%s\n", text ? text : "{\"refused\": \"\"}");
    free(text);
    json_decref(line);
}

static void run_case(const json_t *given, int rank) {
    struct error error = {""};
    struct description description;
    struct outcome outcome;
    const int threads = (int)json_integer_value(json_object_get(given, "threads"));
    json_t *files = json_object_get(given, "files");
    bool ran = description_open(&description, json_deep_copy(json_object_get(given, "run")), &error);
    if (ran) description.exchange_files = json_incref(files);
    if (ran && threads > 0)
        ran = try_network(
            &outcome, &description, threads, MPI_COMM_WORLD, NULL,
            description.placement_file ? json_object_get(files, description.placement_file) : NULL, &error);
    else if (ran && rank == 0)
        outcome = run_brute_force(&description, -1);
    if (rank == 0 && ran)
        print(&outcome);
    else if (rank == 0)
        print_refusal(&error);
    if (rank == 0) fflush(stdout);
    description_close(&description);
}

/// Does what `miniapp --explain` does, but for printing the plan.
static void explain_case(const json_t *given) {
    struct error error = {""};
    struct job *job = ALLOC_ZERO(struct job, 1);
    const struct layout layout = {1, 1};
    const struct options options = {.action = action_explain,
                                    .description = json_string_value(json_object_get(given, "file")),
                                    .ranks = (int)json_integer_value(json_object_get(given, "ranks")),
                                    .threads = (int)json_integer_value(json_object_get(given, "threads")),
                                    .dry = {.rank = -1, .rate_hz = NAN}};
    if (job_plan(job, &options, &layout, MPI_COMM_WORLD, &error) &&
        estimate_check_words(&job->description, &job->placement, &job->schedule, &error))
        printf("{}\n");
    else
        print_refusal(&error);
    job_close(job, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool explains = argc > 2 && strcmp(argv[1], "--explain") == 0;
    json_t *cases = argc > 1 ? json_load_file(argv[argc - 1], 0, NULL) : NULL;
    if (!json_is_array(cases)) {
        fprintf(stderr, "run_layouts: a file with a JSON list of cases is needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        if (explains)
            explain_case(json_array_get(cases, i));
        else
            run_case(json_array_get(cases, i), rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    json_decref(cases);
    MPI_Finalize();
    return 0;
}
