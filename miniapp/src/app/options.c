#include "app/job.h"
#include "measurement/clock.h"
#include <omp.h>
#include <unistd.h>

const char *const options_help =
    "miniapp: a spiking network that times every phase of every cycle on every rank\n"
    "\n"
    "  miniapp RUN.json --out DIR [--set path.to.field=value]...   run, write the record to DIR\n"
    "                      (replaces an earlier record there, refuses anything else)\n"
    "      --compute-times FILE   read how long ranks compute; only in the build for SimGrid\n"
    "      --progress FILE   write to FILE how many cycles are done\n"
    "      --as-rank r --of R   dry run: build and run rank r of R alone, in one process; the spikes of the\n"
    "                      other ranks are made up, and nothing is exchanged\n"
    "      --rate HZ   how often the others' neurons fire in it, if that is unknown\n"
    "      --routes exact|drawn   how it finds where its own spikes go; exact takes a draw per synapse\n"
    "  miniapp --explain RUN.json [--ranks R] [--threads T] [--set ...]   show what would run, as JSON\n"
    "  miniapp --list   list placements, schedules, exchanges, neuron models and meters, as JSON\n"
    "  miniapp --version   print version, commit and compiler\n"
    "\n"
    "Under mpirun -n R it runs on R ranks; OMP_NUM_THREADS sets the threads of each.\n"
    "miniapp/FORMAT.md states both formats. SPIKEMARK_SYSFS names a directory to read in place of\n"
    "/sys. Exit status: 0 done, 1 failed, 2 bad input.\n";

enum kind { takes_text, takes_count, takes_rank, takes_rate, takes_routing, is_flag, is_action };

/// An option: what follows it, where that goes, and the action that it belongs to.
static const struct rule {
    const char *name;
    enum kind kind;
    size_t at; ///< in struct options
    enum action action;
    bool alone; ///< refused with any other action
} rules[] = {
    {"--out", takes_text, offsetof(struct options, out), action_run, false},
    {"--set", takes_text, offsetof(struct options, overrides), action_run, false},
    {"--compute-times", takes_text, offsetof(struct options, compute_times), action_run, true},
    {"--progress", takes_text, offsetof(struct options, progress), action_run, true},
    {"--as-rank", takes_rank, offsetof(struct options, dry.rank), action_run, true},
    {"--of", takes_count, offsetof(struct options, dry.of), action_run, true},
    {"--rate", takes_rate, offsetof(struct options, dry.rate_hz), action_run, true},
    {"--routes", takes_routing, offsetof(struct options, dry.routing), action_run, true},
    {"--ranks", takes_count, offsetof(struct options, ranks), action_explain, true},
    {"--threads", takes_count, offsetof(struct options, threads), action_explain, true},
    {"--json", is_flag, offsetof(struct options, json), action_run, false}, // what --explain and --list print
    {"--list", is_action, 0, action_list, false},
    {"--explain", is_action, 0, action_explain, false},
    {"--version", is_action, 0, action_version, false},
    {"--help", is_action, 0, action_help, false},
    {"-h", is_action, 0, action_help, false},
};
enum { n_rules = sizeof rules / sizeof *rules };

static bool take(struct options *options, const struct rule *rule, const char *value, struct error *error) {
    char *end, *at = (char *)options + rule->at;
    if (rule->kind == is_action) options->action = rule->action;
    if (rule->kind == is_flag) *(bool *)at = true;
    if (rule->kind >= is_flag) return true;
    if (!value) return error_set(error, "%s: no value follows; see miniapp --help", rule->name);
    const long number = strtol(value, &end, 10);
    const bool whole = end != value && *end == '\0' && number <= 1000000;
    const double real = strtod(value, &end);
    if (rule->kind == takes_text && rule->at == offsetof(struct options, overrides))
        options->overrides[options->n_overrides++] = value;
    else if (rule->kind == takes_text)
        *(const char **)at = value;
    else if (rule->kind == takes_count || rule->kind == takes_rank)
        *(int *)at = (int)number;
    else if (rule->kind == takes_rate)
        *(double *)at = real;
    else
        options->dry.routing = strcmp(value, "drawn") == 0 ? routing_drawn : routing_exact;
    static const char *const expected[] = {[takes_count] = "an integer from 1 to 1000000",
                                           [takes_rank] = "a rank, from 0 to one less than --of",
                                           [takes_rate] = "spikes/s, from 0 to 1e6",
                                           [takes_routing] = "exact or drawn"};
    const bool good[] = {[takes_text] = true,
                         [takes_count] = whole && number >= 1,
                         [takes_rank] = whole && number >= 0,
                         [takes_rate] = end != value && *end == '\0' && real >= 0 && real <= 1e6,
                         [takes_routing] = strcmp(value, "exact") == 0 || strcmp(value, "drawn") == 0};
    return good[rule->kind] ||
           error_set(error, "%s: %s; expected %s", rule->name, value, expected[rule->kind]);
}

static bool check_dry(struct options *options, struct error *error) {
    const struct dry *dry = &options->dry;
    options->is_dry = dry->rank >= 0 || dry->of > 0;
    if (!options->is_dry && (!isnan(dry->rate_hz) || dry->routing != routing_by_size))
        return error_set(error, "--rate, --routes: expected only with --as-rank and --of");
    if (!options->is_dry) return true;
    if (dry->rank < 0) return error_set(error, "--as-rank: missing; expected a rank of those of --of");
    if (dry->of == 0) return error_set(error, "--of: missing; expected how many ranks there are, at least 1");
    if (dry->rank >= dry->of)
        return error_set(error, "--as-rank: %d of %d ranks; expected 0 to %d", dry->rank, dry->of,
                         dry->of - 1);
    return true;
}

bool options_read(struct options *options, int argc, char **argv, struct error *error) {
    bool given[n_rules] = {false};
    *options = (struct options){.overrides = ALLOC(const char *, (size_t)argc),
                                .dry = {.rank = -1, .rate_hz = NAN, .spikes_ahead = dry_spikes_ahead}};
    for (int i = 1; i < argc; i++) {
        int k = 0;
        while (k < n_rules && strcmp(argv[i], rules[k].name) != 0) k++;
        if (k < n_rules) {
            if (!take(options, &rules[k], i + 1 < argc ? argv[i + 1] : NULL, error)) return false;
            given[k] = true;
            i += rules[k].kind < is_flag;
        } else if (argv[i][0] == '-' || options->description) {
            return error_set(error, "%s: unexpected; expected RUN.json and options; see miniapp --help",
                             argv[i]);
        } else {
            options->description = argv[i];
        }
    }
    for (int k = 0; k < n_rules; k++)
        if (given[k] && rules[k].alone && rules[k].action != options->action)
            return error_set(error, "%s: expected only with %s; see miniapp --help", rules[k].name,
                             rules[k].action == action_run ? "a run" : "--explain");
    const bool runs = options->action == action_run;
    if ((runs || options->action == action_explain) && !options->description)
        return error_set(error, "RUN.json: missing; expected the path of a run description (miniapp --help)");
    if (runs && !options->out)
        return error_set(error, "--out: missing; expected the directory to write the record to");
    if (runs && options->json) return error_set(error, "--json: expected only with --explain or --list");
    return check_dry(options, error);
}

void options_close(struct options *options) {
    free(options->overrides);
}

enum { most_threads = 4096 };

/// Reads what OMP_NUM_THREADS asks for (the first number of a list); 0 where it is not set.
static bool read_variable(int *wanted, struct error *error) {
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    *wanted = 0;
    if (!text) return true;
    const long value = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || value < 1 || value > most_threads)
        return error_set(error, "OMP_NUM_THREADS: \"%.40s\"; expected an integer from 1 to %d", text,
                         most_threads);
    *wanted = (int)value;
    return true;
}

bool layout_read(struct layout *layout, MPI_Comm world, int provided, struct error *error) {
    int wanted, fewest, most;
    MPI_Comm_size(world, &layout->ranks);
    read_variable(&wanted, error);
    if (!agree(world, error)) return false;
    omp_set_dynamic(0);
    layout->threads = wanted ? wanted : omp_get_max_threads();
    const int granted = build_threads(layout->threads);
    if (granted != layout->threads)
        error_set(error, "OMP_NUM_THREADS: %d; expected at most %d, which is what the system grants",
                  layout->threads, granted);
    if (provided < MPI_THREAD_FUNNELED && layout->threads > 1)
        error_set(error, "OMP_NUM_THREADS: %d; expected 1, since this MPI library has no thread support",
                  layout->threads);
    MPI_Allreduce(&layout->threads, &fewest, 1, MPI_INT, MPI_MIN, world);
    MPI_Allreduce(&layout->threads, &most, 1, MPI_INT, MPI_MAX, world);
    if (fewest != most)
        error_set(error, "OMP_NUM_THREADS: %d on one rank, %d on another; expected the same on all", fewest,
                  most);
    return agree(world, error);
}

bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, int rank, struct error *error) {
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), gib = exp2(30);
    MPI_Comm node;
    if (time_is_simulated)
        MPI_Comm_dup(world, &node); // all ranks are on this machine
    else
        MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    struct estimate estimate = estimate_rank(description, placement, schedule, rank);
    double own = estimate_sum(&estimate), needed;
    MPI_Allreduce(&own, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    if (needed > memory)
        error_set(error,
                  "network: %.3g GiB on this node; expected at most its memory, %.3g GiB (see --explain)",
                  needed / gib, memory / gib);
    return agree(world, error);
}
