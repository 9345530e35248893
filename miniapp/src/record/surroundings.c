/// \file
/// Reads the environment, the priority and the limits of this process: only what libraries are known to
/// read, and not what mpirun tells its ranks about the job.

#include "record/surroundings.h"

#include <string.h>

#include "measurement/platform.h"
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

/// Beginnings of the names of variables that OpenMP, MPI, the network, the allocator or the loader read.
static const char *const read_by_libraries[] = {
    "OMP_", "GOMP_", "KMP_",   "OMPI_MCA_", "PRTE_MCA_",      "PMIX_MCA_",  "MPIR_CVAR_", "MPICH_",  "I_MPI_",
    "UCX_", "FI_",   "HWLOC_", "MALLOC_",   "GLIBC_TUNABLES", "LD_PRELOAD", "LD_AUDIT",   "SCOREP_", NULL};

/// Those of them with which mpirun tells its ranks about the job; they differ from run to run.
static const char *const told_by_launchers[] = {"OMPI_MCA_orte_",
                                                "OMPI_MCA_ess",
                                                "OMPI_MCA_pmix",
                                                "OMPI_MCA_num_procs",
                                                "OMPI_MCA_initial_wdir",
                                                "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                                "OMPI_MCA_PREFIXES",
                                                "OMPI_MCA_cpu_type",
                                                "OMPI_MCA_mpi_oversubscribe",
                                                "OMPI_MCA_mca_base_component_path",
                                                "PMIX_MCA_mca_base_component_",
                                                "PMIX_MCA_psec",
                                                "PRTE_MCA_ess",
                                                "PRTE_MCA_prte_",
                                                "I_MPI_HYDRA_",
                                                "I_MPI_MPIRUN",
                                                "I_MPI_INFO_",
                                                NULL};

/// Says whether a text begins with any of some beginnings.
static bool begins_with_one_of(const char *text, const char *const *beginnings) {
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0) return true;
    return false;
}

/// Returns the variables of the environment that may change times, as an object.
static json_t *variables(void) {
    extern char **environ;
    json_t *all = json_object();
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        char name[100];
        if (!value || value - *variable >= (long)sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *variable), *variable);
        if (!begins_with_one_of(name, read_by_libraries) || begins_with_one_of(name, told_by_launchers))
            continue;
        // JSON needs UTF-8; variables may hold anything.
        json_t *text = json_string(value + 1); // NULL if it is no UTF-8
        json_object_set_new(all, name, text ? text : json_string("(no UTF-8)"));
    }
    return all;
}

/// Returns a limit of this process in bytes; null where there is none.
static json_t *limit_bytes(int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return json_null();
    return json_integer((json_int_t)limit.rlim_cur);
}

/// Returns the name of the scheduling policy; null where it has none of these.
static json_t *scheduler(void) {
    // 0 stands for the calling thread.
    switch (sched_getscheduler(0)) {
    case SCHED_OTHER:
        return json_string("other");
    case SCHED_BATCH:
        return json_string("batch");
    case SCHED_IDLE:
        return json_string("idle");
    case SCHED_FIFO:
        return json_string("fifo");
    case SCHED_RR:
        return json_string("rr");
    default:
        return json_null();
    }
}

/// Returns when the kernel uses large pages by itself: always, madvise or never; null where unknown.
static json_t *huge_pages(void) {
    char line[100] = "", *word = NULL;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (file && fgets(line, sizeof line, file)) word = strchr(line, '['); // "always [madvise] never"
    if (file) fclose(file);
    if (!word || !strchr(word, ']')) return json_null();
    *strchr(word, ']') = '\0';
    return json_string(word + 1);
}

json_t *surroundings_json(void) {
    if (!platform.has_hosts) return json_null();
    return json_pack("{so si so so so so so}", "variables", variables(), "nice", getpriority(PRIO_PROCESS, 0),
                     "scheduler", scheduler(), "huge_pages", huge_pages(), "stack_bytes",
                     limit_bytes(RLIMIT_STACK), "locked_bytes", limit_bytes(RLIMIT_MEMLOCK),
                     "address_space_bytes", limit_bytes(RLIMIT_AS));
}
