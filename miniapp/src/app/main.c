/// \file
/// The program: miniapp RUN.json --out DIR reads the description, builds, simulates, and writes the record.
///
/// main() starts MPI, reads the command line, and leaves the rest to a job (app/job.c), step by step: plan,
/// build, run. Whatever goes wrong in a step is one struct error, on which all ranks agree, and which is
/// printed here and nowhere else. So a run ends with one line, whatever the number of ranks, and nothing
/// half-written.
///
/// Read next: run/simulate.c for the cycle loop; app/job.c for what happens before and after it.

#include "app/estimate.h"
#include "app/explain.h"
#include "app/job.h"
#include "base/alloc.h"
#include "record/provenance.h"
#include "transport/communicator.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/// The exit status; 2 stands for anything that the user can mend.
enum { status_done = 0, status_failed = 1, status_bad_input = 2 };

/// Plans a run, and explains or carries it out. Collective. \return the exit status.
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

/// Prints what needs no run description.
static void tell(const struct options *options) {
    if (options->action == action_list)
        list_print();
    else if (options->action == action_help)
        fputs(options_help, stdout);
    else
        printf("miniapp %s, commit %s, %s %s\n", provenance_version, provenance_commit, provenance_compiler,
               provenance_flags);
}

/// Keeps any other file from taking the place of standard output where that is closed. \return whether it is
/// open.
static bool hold_output(void) {
    if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return true;
    int file;
    do file = open("/dev/null", O_RDONLY); // takes the lowest number that is free
    while (file >= 0 && file < STDOUT_FILENO);
    return false;
}

/// Says whether all that was printed has been written.
static bool check_output(bool is_open, struct error *error) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    return error_set(error, "standard output: %s", is_open ? strerror(errno) : "closed");
}

int main(int argc, char **argv) {
    // Before MPI opens files of its own.
    const bool output_is_open = hold_output();
    int provided, status = status_done;
    struct error error = {""};
    struct options options;
    struct layout layout;
    // Funneled: only the master thread of a rank calls MPI.
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const int rank = comm_rank(MPI_COMM_WORLD);
    if (!options_read(&options, argc, argv, &error) ||
        !layout_read(&layout, MPI_COMM_WORLD, provided, &error))
        status = status_bad_input;
    else if (options.action == action_run || options.action == action_explain)
        status = run(&options, &layout, MPI_COMM_WORLD, rank, &error);
    else if (rank == 0)
        tell(&options);
    if (status == status_done && rank == 0 && !check_output(output_is_open, &error)) status = status_failed;

    // The one place where a message is printed: one line, by one rank.
    if (rank == 0 && error_stands(&error)) fprintf(stderr, "miniapp: %s\n", error.text);
    options_close(&options);
    MPI_Finalize();
    return status;
}
