// Preloaded into the ranks of a private Slurm, whose nodes are all this host. Each rank sees the name of its
// node, and its binding is moved on by the number of the node, so that single ranks of two nodes do not share
// a core. The programs of Slurm itself keep the name of the host, by which they find one another.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/// The name of the node, or NULL where the host's own name is due.
static const char *node(void) {
    static const char *const own[] = {"srun",     "sbatch",  "squeue",    "sinfo",
                                      "scontrol", "scancel", "slurmstepd"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(program_invocation_short_name, own[i]) == 0) return NULL;
    return getenv("SLURMD_NODENAME");
}

int uname(struct utsname *system) {
    int (*real)(struct utsname *) = (int (*)(struct utsname *))dlsym(RTLD_NEXT, "uname");
    int status = real(system);
    if (status == 0 && node()) strncpy(system->nodename, node(), sizeof system->nodename - 1);
    return status;
}

int gethostname(char *name, size_t size) {
    struct utsname system;
    if (uname(&system) != 0) return -1;
    strncpy(name, system.nodename, size);
    return 0;
}

/// The value of a variable of the environment, or "" without it.
static const char *value(char **environment, const char *name) {
    size_t length = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return "";
}

/// Runs before the library of OpenMP looks at the binding, and so before getenv works.
__attribute__((constructor)) static void move_binding(int argc, char **argv, char **environment) {
    (void)argc, (void)argv;
    if (atoi(value(environment, "SLURM_TASK_PID")) != getpid()) return; // started by a rank: moved already
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const char *name = value(environment, "SLURMD_NODENAME");
    int number = *name ? atoi(name + 1) - 1 : 0; // n1 is the first
    cpu_set_t bound, moved;
    CPU_ZERO(&moved);
    if (number <= 0 || sched_getaffinity(0, sizeof bound, &bound) != 0) return;
    for (int i = 0; i < cpus; i++)
        if (CPU_ISSET(i, &bound)) CPU_SET((i + number) % cpus, &moved);
    sched_setaffinity(0, sizeof moved, &moved);
}
