/// \file
/// Reads the command line, word by word; `options_help` is what --help prints.
///
/// Each option is a line of the table `rules`: its name, what follows it, where that goes in struct options,
/// and the actions it means something for. To add an option: a line there, a member, a line of the help. All
/// ranks read the same words, so that they find the same mistakes without asking each other.
///
/// What means nothing for the action is refused, not ignored: who writes it expects an effect. So are a
/// second action and an option in the place of a value. Only --help answers whatever stands beside it. What a
/// value may be is checked where it is read (take()); whether options go together, at the end of
/// options_read(). Paths are only borrowed from the command line; whether there is such a file is found out
/// by who opens it.

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

/// Ranks or threads that can be asked for at most. placement_open() limits their product; this one keeps
/// numbers within an int.
enum { count_most = 1000000 };

/// What an option takes: a value of some kind, or nothing.
enum kind { takes_text, takes_count, takes_rank, takes_rate, takes_routing, is_flag, is_action };

/// The actions for which an option, or a run description, means something.
struct scope {
    unsigned actions;  ///< a bit for each of enum action
    const char *words; ///< the same, for messages
};
static const struct scope of_run = {1u << action_run, "a run"};
static const struct scope of_explain = {1u << action_explain, "--explain"};
static const struct scope of_both = {1u << action_run | 1u << action_explain, "a run or --explain"};
static const struct scope of_printing = {1u << action_explain | 1u << action_list, "--explain or --list"};

/// An option: what follows it, where that goes, and when it means something.
static const struct rule {
    const char *name;          ///< as on the command line
    enum kind kind;            ///< what follows
    size_t at;                 ///< in struct options
    const struct scope *scope; ///< NULL of is_action
    enum action action;        ///< of is_action, which it chooses
} rules[] = {
    {"--out", takes_text, offsetof(struct options, out), &of_run, 0},
    {"--set", takes_text, offsetof(struct options, overrides), &of_both, 0},
    {"--compute-times", takes_text, offsetof(struct options, compute_times), &of_run, 0},
    {"--progress", takes_text, offsetof(struct options, progress), &of_run, 0},
    {"--as-rank", takes_rank, offsetof(struct options, dry.rank), &of_run, 0},
    {"--of", takes_count, offsetof(struct options, dry.of), &of_run, 0},
    {"--rate", takes_rate, offsetof(struct options, dry.rate_hz), &of_run, 0},
    {"--routes", takes_routing, offsetof(struct options, dry.routing), &of_run, 0},
    {"--ranks", takes_count, offsetof(struct options, ranks), &of_explain, 0},
    {"--threads", takes_count, offsetof(struct options, threads), &of_explain, 0},
    {"--json", is_flag, offsetof(struct options, json), &of_printing, 0},
    {"--list", is_action, 0, NULL, action_list},
    {"--explain", is_action, 0, NULL, action_explain},
    {"--version", is_action, 0, NULL, action_version},
    {"--help", is_action, 0, NULL, action_help},
    {"-h", is_action, 0, NULL, action_help},
};
enum { n_rules = sizeof rules / sizeof *rules };

/// Returns the option of that name; NULL where there is none.
static const struct rule *find(const char *word) {
    for (int k = 0; k < n_rules; k++)
        if (strcmp(word, rules[k].name) == 0) return &rules[k];
    return NULL;
}

/// Takes an action. Fails where another one has been chosen, other than --help.
static bool choose(struct options *options, const struct rule *rule, struct error *error) {
    const enum action before = options->action;
    if (before == action_help) return true;
    options->action = rule->action;
    if (before == action_run || before == rule->action || rule->action == action_help) return true;
    const char *other = "";
    for (int k = 0; k < n_rules; k++)
        if (rules[k].kind == is_action && rules[k].action == before) other = rules[k].name;
    return error_set(error, "%s: given beside %s; expected one of them", rule->name, other);
}

/// Takes an option and the word that follows it, if it needs one. Fails where that is not what it takes.
static bool take(struct options *options, const struct rule *rule, const char *value, struct error *error) {
    char *end, *at = (char *)options + rule->at;
    if (rule->kind == is_action) return choose(options, rule, error);
    if (rule->kind == is_flag) *(bool *)at = true;
    if (rule->kind == is_flag) return true;
    if (!value) return error_set(error, "%s: no value follows; see miniapp --help", rule->name);
    if (find(value))
        return error_set(error, "%s: no value follows, but %s; see miniapp --help", rule->name, value);
    // What follows is read as every kind of value; that of the option counts.
    const long number = strtol(value, &end, 10);
    const bool whole = end != value && *end == '\0' && number <= count_most;
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
    // The value has been stored; if it is not good, the message ends the program anyway.
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

/// Checks the options of a dry run, which need each other.
static bool check_dry(struct options *options, struct error *error) {
    const struct dry *dry = &options->dry;
    options->is_dry = dry->rank >= 0 || dry->of > 0;
    if (!options->is_dry && (!isnan(dry->rate_hz) || dry->routing != routing_by_size))
        return error_set(error, "--rate, --routes: expected only with --as-rank and --of");
    if (!options->is_dry) return true;
    if (!dry_hooks)
        return error_set(error, "--as-rank: given; expected none, as this mini-app has no variants");
    if (dry->rank < 0) return error_set(error, "--as-rank: missing; expected a rank of those of --of");
    if (dry->of == 0) return error_set(error, "--of: missing; expected how many ranks there are, at least 1");
    if (dry->rank >= dry->of)
        return error_set(error, "--as-rank: %d of %d ranks; expected 0 to %d", dry->rank, dry->of,
                         dry->of - 1);
    return true;
}

/// Refuses what means nothing for the action, and what it lacks.
static bool check_action(const struct options *options, const bool *given, struct error *error) {
    const unsigned action = 1u << options->action;
    for (int k = 0; k < n_rules; k++)
        if (given[k] && rules[k].scope && !(rules[k].scope->actions & action))
            return error_set(error, "%s: expected only with %s; see miniapp --help", rules[k].name,
                             rules[k].scope->words);
    const bool takes_description = of_both.actions & action;
    if (options->description && !takes_description)
        return error_set(error, "%s: unexpected; expected RUN.json only with %s; see miniapp --help",
                         options->description, of_both.words);
    if (!options->description && takes_description)
        return error_set(error, "RUN.json: missing; expected the path of a run description (miniapp --help)");
    if (options->action == action_run && !options->out)
        return error_set(error, "--out: missing; expected the directory to write the record to");
    return true;
}

bool options_read(struct options *options, int argc, char **argv, struct error *error) {
    bool given[n_rules] = {false};
    *options = (struct options){.overrides = ALLOC(const char *, (size_t)argc),
                                .dry = {.rank = -1, .rate_hz = NAN, .spikes_ahead = dry_spikes_ahead}};
    for (int i = 1; i < argc; i++) {
        // A word is an option, or else the path of the run description.
        const struct rule *rule = find(argv[i]);
        if (rule) {
            if (!take(options, rule, i + 1 < argc ? argv[i + 1] : NULL, error)) return false;
            given[rule - rules] = true;
            i += rule->kind < is_flag;
        } else if (argv[i][0] == '-' || options->description) {
            return error_set(error, "%s: unexpected; expected RUN.json and options; see miniapp --help",
                             argv[i]);
        } else {
            options->description = argv[i];
        }
    }
    if (options->action == action_help) return true;
    return check_action(options, given, error) && check_dry(options, error);
}

void options_close(struct options *options) {
    free(options->overrides);
}
