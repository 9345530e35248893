/// \file
/// Runs networks in layouts, one after the other, and prints a line of JSON for each: what came out, or why
/// it was refused. tests/fuzz/layouts.py makes the layouts and compares what comes out.
///
/// mpirun -n RANKS run_layouts CASES.json, a list of {"run": description, "threads": n, "files": {name:
/// content}}; the files are those that the description names. With 0 threads, rank 0 counts by brute force
/// what should come out.

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

int main(int argc, char **argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    json_t *cases = argc > 1 ? json_load_file(argv[1], 0, NULL) : NULL;
    if (!json_is_array(cases)) {
        fprintf(stderr, "run_layouts: a file with a JSON list of cases is needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        run_case(json_array_get(cases, i), rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    json_decref(cases);
    MPI_Finalize();
    return 0;
}
