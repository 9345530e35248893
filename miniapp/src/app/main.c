/// \file
/// miniapp RUN.json --out DIR: reads the description, builds, simulates, writes the record.

#include "app/explain.h"
#include "app/layout.h"
#include "app/load.h"
#include "app/options.h"
#include "base/alloc.h"
#include "measurement/clock.h"
#include "record/provenance.h"
#include "record/record.h"
#include "transport/agree.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };

/// Reads and checks everything that can be checked before anything is built.
static bool prepare(const struct options *options, const struct layout *layout, MPI_Comm world,
                    struct description *description, struct placement *placement, struct schedule *schedule,
                    struct error *error) {
    int ranks = layout->ranks, threads = layout->threads;
    if (options->ranks) {
        // Asked about other ranks: with the threads that mpirun would leave each, unless told.
        threads = threads * ranks > options->ranks ? threads * ranks / options->ranks : 1;
        ranks = options->ranks;
    }
    if (options->threads) threads = options->threads;
    const struct placement_rule *rule;
    const struct neuron_model *model;
    double parameters[neuron_parameters_max];
    json_t *run = load_run(options->description, options->overrides, options->n_overrides, world, error);
    if (!run || !description_open(description, run, error)) return false;
    for (uint32_t p = 0; p < description->network.n_populations; p++)
        if (!neuron_model_read(&description->network.populations[p], &model, parameters, error)) return false;
    return schedule_placement(description, &rule, error) &&
           placement_open(placement, rule, &description->network, ranks, threads, error) &&
           schedule_plan(schedule, description, placement, error) && counters_check(description, error);
}

/// \return the exit status.
static int run(const struct options *options, const struct layout *layout, MPI_Comm world,
               struct error *error) {
    struct description description;
    struct placement placement;
    struct schedule schedule;
    struct run_directory directory = {NULL, NULL, false};
    struct counters counters = {0};
    struct compute_times times = {NULL};
    struct progress progress = {NULL, NULL};
    struct power *power = ALLOC(struct power, 1);
    struct host host;
    struct model model;
    struct measured measured;
    const char *sysfs = getenv("SPIKEMARK_SYSFS");
    struct report report = {.description = &description,
                            .model = &model,
                            .measured = &measured,
                            .host = &host,
                            .counters = &counters,
                            .power = power,
                            .sysfs = sysfs && *sysfs ? sysfs : "/sys"};

    time_t now = time(NULL);
    strftime(report.started, sizeof report.started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    double start = clock_now();
    int rank;
    MPI_Comm_rank(world, &rank);
    bool ready = prepare(options, layout, world, &description, &placement, &schedule, error);
    if (ready) layout_fits(world, &description, &placement, &schedule, error);
    if (ready && !error_stands(error))
        counters_open(&counters, &description, layout->threads, options->require_counters, error);
    if (ready && !error_stands(error))
        compute_times_open(&times, options->compute_times, layout->ranks, rank, description.cycles, error);
    if (ready && !error_stands(error)) progress_open(&progress, options->progress, rank, &description, error);
    if (ready && rank == 0 && !error_stands(error)) run_directory_open(&directory, options->out, error);
    if (!agree(world, error) || !build(&model, &description, &placement, &schedule, world, error)) {
        counters_close(&counters);
        compute_times_close(&times);
        progress_close(&progress, false);
        free(power);
        run_directory_close(&directory);
        return status_bad_input;
    }
    MPI_Barrier(world);
    double build_s = clock_now() - start;
    power_open(power, &description, report.sysfs, world);
    power_begin(power);
    simulate(&model, &counters, &times, &progress, &measured);
    power_end(power);

    report.clock_read_s = clock_cost();
    host_read(&host);
    struct rank_tally *ranks = tally(&model, &measured, &host, build_s, world);
    report.ranks = ranks;
    bool written = record_write(&report, &directory, world, error);
    run_directory_close(&directory);
    free(ranks);
    power_close(power);
    free(power);
    counters_close(&counters);
    compute_times_close(&times);
    progress_close(&progress, true);
    measured_close(&measured);
    build_close(&model);
    schedule_close(&schedule);
    placement_close(&placement);
    description_close(&description);
    return written ? status_done : status_failed;
}

static int explain(const struct options *options, const struct layout *layout, MPI_Comm world, int rank,
                   struct error *error) {
    struct description description;
    struct placement placement;
    struct schedule schedule;
    if (!prepare(options, layout, world, &description, &placement, &schedule, error)) return status_bad_input;
    if (rank == 0) explain_run(&description, &placement, &schedule);
    schedule_close(&schedule);
    placement_close(&placement);
    description_close(&description);
    return status_done;
}

int main(int argc, char **argv) {
    int rank, provided, status = status_done;
    struct error error = {""};
    struct options options;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct layout layout;
    if (!options_read(&options, argc, argv, &error) ||
        !layout_read(&layout, MPI_COMM_WORLD, provided, &error))
        status = status_bad_input;
    else if (options.action == action_run)
        status = run(&options, &layout, MPI_COMM_WORLD, &error);
    else if (options.action == action_explain)
        status = explain(&options, &layout, MPI_COMM_WORLD, rank, &error);
    else if (rank == 0 && options.action == action_list)
        explain_list();
    else if (rank == 0 && options.action == action_help)
        fputs(options_help, stdout);
    else if (rank == 0)
        printf("miniapp %s, commit %s, %s %s\n", provenance_version, provenance_commit, provenance_compiler,
               provenance_flags);

    if (rank == 0 && error_stands(&error)) fprintf(stderr, "miniapp: %s\n", error.text);
    free(options.overrides);
    MPI_Finalize();
    return status;
}
