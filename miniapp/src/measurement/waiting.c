#include "measurement/waiting.h"

#include "measurement/simulated.h"
#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const struct waiting_variable waiting_variable[waiting_variables] = {
    {"OMP_WAIT_POLICY", "passive"},        // OpenMP: threads sleep
    {"OMPI_MCA_mpi_yield_when_idle", "1"}, // Open MPI: between two looks for a message, others may run
    {"MPIR_CVAR_POLLS_BEFORE_YIELD",
     "1"},                       // MPICH with ch3, otherwise after 1000 looks; ch4 has no such thing
    {"I_MPI_WAIT_MODE", "1"},    // Intel MPI: several ranks on a processor
    {"I_MPI_THREAD_YIELD", "2"}, // Intel MPI: sched_yield()
};

static const char mark[] = "SPIKEMARK_WAITING"; // set where the mini-app has chosen

/// Returns entry number `node` of a list as Slurm writes it, such as 4(x2),2; 0 where there is none.
static long of_node(const char *list, long node) {
    while (*list) {
        char *end;
        long times = 1;
        const long ranks = strtol(list, &end, 10);
        if (end == list) return 0;
        if (strncmp(end, "(x", 2) == 0) times = strtol(end + 2, &end, 10), end += *end == ')';
        if (node < times) return ranks;
        node -= times;
        list = end + (*end == ',');
    }
    return 0;
}

/// Returns the number of ranks on this node, as the launcher tells it; 0 where it does not. mpirun comes
/// first, because it may itself have been started by srun.
/// *told is the variable that tells it.
static long ranks_here(const char **told) {
    static const char *const local[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", // Open MPI
                                        "MPI_LOCALNRANKS",            // Hydra of MPICH and Intel MPI
                                        "MV2_COMM_WORLD_LOCAL_SIZE"}; // MVAPICH2
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (getenv(*told = local[i])) return of_node(getenv(local[i]), 0);
    const char *list = getenv(*told = "SLURM_STEP_TASKS_PER_NODE"), *node = getenv("SLURM_NODEID");
    return list ? of_node(list, node ? strtol(node, NULL, 10) : 0) : 0;
}

/// Opens a file of /proc; NULL where there is none that may be read.
static FILE *open_process(pid_t process, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, name);
    return fopen(path, "r");
}

/// Says whether a process was started with an environment variable, as far as that may be read.
static bool was_told(pid_t process, const char *variable) {
    FILE *file = open_process(process, "environ");
    const size_t length = strlen(variable);
    char *entry = NULL;
    size_t size = 0;
    bool found = false;
    while (file && !found && getdelim(&entry, &size, '\0', file) > 0)
        found = strncmp(entry, variable, length) == 0 && entry[length] == '=';
    free(entry);
    if (file) fclose(file);
    return found;
}

/// Returns the process that started another one; 0 where unknown.
static pid_t parent_of(pid_t process) {
    FILE *file = open_process(process, "status");
    char line[256];
    long parent = 0;
    while (file && parent == 0 && fgets(line, sizeof line, file)) sscanf(line, "PPid: %ld", &parent);
    if (file) fclose(file);
    return (pid_t)parent;
}

/// Returns the launcher: who started this process and all scripts between, which the launcher has told the
/// ranks, too.
static pid_t launcher(const char *told) {
    pid_t process = getppid();
    for (pid_t parent; was_told(process, told) && (parent = parent_of(process)) > 0;) process = parent;
    return process;
}

/// Returns how many hardware threads this process or its launcher may use. A rank may be bound to a few of
/// those that the ranks share, which its launcher may use all; LONG_MAX where unknown.
static long processors(const char *told) {
    cpu_set_t own, parent;
    if (sched_getaffinity(0, sizeof own, &own) != 0) return LONG_MAX;
    if (sched_getaffinity(launcher(told), sizeof parent, &parent) == 0) CPU_OR(&own, &own, &parent);
    const char *given = getenv("SLURM_CPUS_ON_NODE"); // slurmstepd is not confined to them
    const long all = CPU_COUNT(&own), allowed = given ? strtol(given, NULL, 10) : all;
    return allowed > 0 && allowed < all ? allowed : all;
}

void waiting_choose(char **argv) {
    const char *told;
    const long ranks = time_is_simulated ? 0 : ranks_here(&told);
    const char *threads_wait = getenv(waiting_variable[0].name);
    if (ranks < 2 || ranks * omp_get_max_threads() <= processors(told)) return;
    if (threads_wait && strcasecmp(threads_wait, waiting_variable[0].passive) != 0) return;
    for (int i = 0; i < waiting_variables; i++)
        setenv(waiting_variable[i].name, waiting_variable[i].passive, 0);
    if (threads_wait) return;
    setenv(mark, waiting_variable[0].passive, 1);
    execv("/proc/self/exe", argv);
    unsetenv(mark);
    unsetenv(waiting_variable[0].name); // threads go on as they have begun
}

struct waiting waiting_read(void) {
    const char *threads_wait = getenv(waiting_variable[0].name);
    struct waiting waiting = {.passive =
                                  threads_wait && strcasecmp(threads_wait, waiting_variable[0].passive) == 0};
    for (int i = 0; i < waiting_variables; i++)
        if (getenv(waiting_variable[i].name)) waiting.chosen_by = "environment";
    if (getenv(mark)) waiting.chosen_by = "miniapp";
    return waiting;
}
