#include "app/options.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

const char *const options_help =
    "miniapp: a spiking network that times every phase of every cycle on every rank\n"
    "\n"
    "  miniapp RUN.json --out DIR [--set path.to.field=value]...   run, write the record to DIR\n"
    "                      (replaces an earlier record there, refuses anything else)\n"
    "      --require-counters   refuse to run if a counter in record.counters cannot be read\n"
    "      --compute-times FILE.npy   read how long ranks compute; only in the build for SimGrid\n"
    "      --progress FILE   write to FILE how many cycles are done\n"
    "  miniapp --explain RUN.json [--ranks R] [--threads T] [--json] [--set ...]   show what would run\n"
    "  miniapp --list [--json]   list placements, schedules, exchanges, neuron models and meters\n"
    "  miniapp --version   print version, commit and compiler\n"
    "\n"
    "Under mpirun -n R it runs on R ranks; OMP_NUM_THREADS sets the threads of each.\n"
    "miniapp/FORMAT.md states both formats. SPIKEMARK_SYSFS names a directory to read in place of\n"
    "/sys. Exit status: 0 done, 1 failed, 2 bad input.\n";

static bool read_count(const char *name, const char *text, int *count, struct error *error) {
    char *end;
    long value = strtol(text, &end, 10);
    *count = (int)value;
    if (end != text && *end == '\0' && value >= 1 && value <= 1000000) return true;
    return error_set(error, "%s: %s; allowed: an integer from 1 to 1000000", name, text);
}

/// Takes the option at argv[i] and its value.
static bool take(struct options *options, const char *name, const char *value, struct error *error) {
    if (!value) return error_set(error, "%s: no value follows; see miniapp --help", name);
    if (strcmp(name, "--out") == 0) return options->out = value, true;
    if (strcmp(name, "--compute-times") == 0) return options->compute_times = value, true;
    if (strcmp(name, "--progress") == 0) return options->progress = value, true;
    if (strcmp(name, "--set") == 0) return options->overrides[options->n_overrides++] = value, true;
    if (strcmp(name, "--ranks") == 0) return read_count(name, value, &options->ranks, error);
    return read_count(name, value, &options->threads, error);
}

bool options_read(struct options *options, int argc, char **argv, struct error *error) {
    static const char *const with_value[] = {"--out",     "--set",           "--ranks",
                                             "--threads", "--compute-times", "--progress"};
    *options = (struct options){.overrides = ALLOC(const char *, (size_t)argc)};
    for (int i = 1; i < argc; i++) {
        bool valued = false;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
            valued = valued || strcmp(argv[i], with_value[k]) == 0;
        if (valued) {
            if (!take(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL, error)) return false;
            i++;
        } else if (strcmp(argv[i], "--require-counters") == 0) {
            options->require_counters = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            options->action = action_list;
        } else if (strcmp(argv[i], "--explain") == 0) {
            options->action = action_explain;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->action = action_help;
        } else if (strcmp(argv[i], "--version") == 0) {
            options->action = action_version;
        } else if (argv[i][0] == '-' || options->description) {
            return error_set(error, "%s: unexpected; allowed: %s", argv[i],
                             "RUN.json --out DIR [--set field=value]... [--require-counters] "
                             "[--compute-times FILE.npy] [--progress FILE] | --explain RUN.json [--json] | "
                             "--list [--json] | --help");
        } else {
            options->description = argv[i];
        }
    }
    bool needs_description = options->action == action_run || options->action == action_explain;
    if (needs_description && !options->description)
        return error_set(error, "RUN.json: missing; allowed: the path of a run description (miniapp --help)");
    if (options->action == action_run && !options->out)
        return error_set(error, "--out: missing; allowed: the directory to write the record to");
    if (options->action != action_run && options->compute_times)
        return error_set(error, "--compute-times: only with a run; see miniapp --help");
    if (options->action != action_run && options->progress)
        return error_set(error, "--progress: only with a run; see miniapp --help");
    if (options->action != action_run && options->require_counters)
        return error_set(error, "--require-counters: only with a run; see miniapp --help");
    if (options->json && options->action != action_explain && options->action != action_list)
        return error_set(error, "--json: only with --explain or --list; see miniapp --help");
    if (options->action != action_explain && (options->ranks || options->threads))
        return error_set(
            error, "--ranks, --threads: only with --explain; a run takes mpirun -n and OMP_NUM_THREADS");
    return true;
}

void options_close(struct options *options) {
    free(options->overrides);
}
