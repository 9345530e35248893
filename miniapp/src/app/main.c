/// \file
/// miniapp RUN.json --out DIR: reads the description, builds, simulates, writes the record.

#include "app/job.h"

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };

static int run(const struct options *options, const struct layout *layout, MPI_Comm world, int rank,
               struct error *error) {
    struct job *job = ALLOC_ZERO(struct job, 1);
    int status = status_done;
    if (!job_plan(job, options, layout, world, error) ||
        (options->action == action_explain &&
         !estimate_check_words(&job->description, &job->placement, &job->schedule, error)))
        status = status_bad_input;
    else if (options->action == action_explain && rank == 0)
        explain_print(&job->description, &job->placement, &job->schedule);
    else if (options->action == action_run && !job_build(job, options, layout, world, error))
        status = status_bad_input;
    else if (options->action == action_run && !job_run(job, world, error))
        status = status_failed;
    job_close(job, world);
    return status;
}

static void tell(const struct options *options) {
    if (options->action == action_list)
        list_print();
    else if (options->action == action_help)
        fputs(options_help, stdout);
    else
        printf("miniapp %s, commit %s, %s %s\n", provenance_version, provenance_commit, provenance_compiler,
               provenance_flags);
}

int main(int argc, char **argv) {
    int provided, status = status_done;
    struct error error = {""};
    struct options options;
    struct layout layout;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const int rank = comm_rank(MPI_COMM_WORLD);
    if (!options_read(&options, argc, argv, &error) ||
        !layout_read(&layout, MPI_COMM_WORLD, provided, &error))
        status = status_bad_input;
    else if (options.action == action_run || options.action == action_explain)
        status = run(&options, &layout, MPI_COMM_WORLD, rank, &error);
    else if (rank == 0)
        tell(&options);

    if (rank == 0 && error_stands(&error)) fprintf(stderr, "miniapp: %s\n", error.text);
    options_close(&options);
    MPI_Finalize();
    return status;
}
