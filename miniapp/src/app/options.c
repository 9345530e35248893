#include "app/options.h"

#include "base/alloc.h"
#include <math.h>
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
    "      --as-rank r --of R   dry run: build and run rank r of R alone, in one process; the spikes of the\n"
    "                      other ranks are made up, and nothing is exchanged\n"
    "      --rate HZ   how often the others' neurons fire in it, if that is unknown\n"
    "      --routes exact|drawn   how it finds where its own spikes go; exact takes a draw per synapse\n"
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

static bool read_rank(const char *text, int *rank, struct error *error) {
    char *end;
    const long value = strtol(text, &end, 10);
    *rank = (int)value;
    if (end != text && *end == '\0' && value >= 0 && value < 1000000) return true;
    return error_set(error, "--as-rank: %s; allowed: a rank, from 0 to one less than --of", text);
}

static bool read_rate(const char *text, double *rate_hz, struct error *error) {
    char *end;
    *rate_hz = strtod(text, &end);
    if (end != text && *end == '\0' && *rate_hz >= 0 && *rate_hz <= 1e6) return true;
    return error_set(error, "--rate: %s; allowed: spikes/s, from 0 to 1e6", text);
}

static bool read_routing(const char *text, enum dry_routing *routing, struct error *error) {
    *routing = strcmp(text, "drawn") == 0 ? routing_drawn : routing_exact;
    if (strcmp(text, "exact") == 0 || strcmp(text, "drawn") == 0) return true;
    return error_set(error, "--routes: %s; allowed: exact, drawn", text);
}

/// Takes the option at argv[i] and its value.
static bool take(struct options *options, const char *name, const char *value, struct error *error) {
    if (!value) return error_set(error, "%s: no value follows; see miniapp --help", name);
    if (strcmp(name, "--out") == 0) return options->out = value, true;
    if (strcmp(name, "--compute-times") == 0) return options->compute_times = value, true;
    if (strcmp(name, "--progress") == 0) return options->progress = value, true;
    if (strcmp(name, "--set") == 0) return options->overrides[options->n_overrides++] = value, true;
    if (strcmp(name, "--as-rank") == 0) return read_rank(value, &options->dry.rank, error);
    if (strcmp(name, "--of") == 0) return read_count(name, value, &options->dry.of, error);
    if (strcmp(name, "--rate") == 0) return read_rate(value, &options->dry.rate_hz, error);
    if (strcmp(name, "--routes") == 0) return read_routing(value, &options->dry.routing, error);
    if (strcmp(name, "--ranks") == 0) return read_count(name, value, &options->ranks, error);
    return read_count(name, value, &options->threads, error);
}

/// Refuses options of a dry run that are not complete or not of one.
static bool check_dry(struct options *options, struct error *error) {
    const struct dry *dry = &options->dry;
    options->is_dry = dry->rank >= 0 || dry->of > 0;
    if (!options->is_dry && (!isnan(dry->rate_hz) || dry->routing != routing_by_size))
        return error_set(error, "--rate, --routes: only with --as-rank and --of; see miniapp --help");
    if (!options->is_dry) return true;
    if (options->action != action_run)
        return error_set(error, "--as-rank, --of: only with a run; see miniapp --help");
    if (dry->rank < 0)
        return error_set(error, "--as-rank: missing; allowed: a rank from 0 to %d, which is --of less one",
                         dry->of - 1);
    if (dry->of == 0) return error_set(error, "--of: missing; allowed: how many ranks there are, at least 1");
    if (dry->rank >= dry->of)
        return error_set(error, "--as-rank: %d of %d ranks; allowed: 0 to %d", dry->rank, dry->of,
                         dry->of - 1);
    return true;
}

bool options_read(struct options *options, int argc, char **argv, struct error *error) {
    static const char *const with_value[] = {"--out",           "--set",      "--ranks",   "--threads",
                                             "--compute-times", "--progress", "--as-rank", "--of",
                                             "--rate",          "--routes"};
    *options = (struct options){.overrides = ALLOC(const char *, (size_t)argc),
                                .dry = {.rank = -1, .rate_hz = NAN, .spikes_ahead = dry_spikes_ahead}};
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
                             "[--compute-times FILE.npy] [--progress FILE] [--as-rank r --of R] | --explain "
                             "RUN.json [--json] | "
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
    return check_dry(options, error);
}

void options_close(struct options *options) {
    free(options->overrides);
}
