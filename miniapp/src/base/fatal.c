/// \file
/// Ends all ranks of a run from any one of them: by MPI_Abort() where MPI lets this thread call it, else by
/// the status of the process, upon which the launcher ends the others.
///
/// The thread level decides (MPI_THREAD_FUNNELED: only the thread that initialised MPI may call it). What
/// may_call_mpi() asks, any thread may ask at any time: MPI_Initialized(), MPI_Finalized(),
/// MPI_Query_thread() and MPI_Is_thread_main().

#include "base/fatal.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// Says whether this thread may call MPI now.
static bool may_call_mpi(void) {
    int begun = 0, ended = 0, level = MPI_THREAD_SINGLE, first = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!begun || ended) return false;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&first);
    return first || level == MPI_THREAD_MULTIPLE;
}

/// Writes "rank N: ", by what MPI or else the launcher says; nothing where neither does.
static void name_rank(char *text, size_t size, bool may_call) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    text[0] = '\0';
    if (may_call) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(text, size, "rank %d: ", rank);
        return;
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *rank = getenv(variables[i]);
        if (!rank || !*rank) continue;
        snprintf(text, size, "rank %.10s: ", rank);
        return;
    }
}

void fatal(const char *format, ...) {
    char line[1024] = "", rank[32];
    const bool may_call = may_call_mpi();
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    name_rank(rank, sizeof rank, may_call);
    fprintf(stderr, "miniapp: %s%s\n", rank, line);
    if (may_call) MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); // not exit(), since other threads are at work
}
