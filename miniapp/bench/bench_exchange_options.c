#include "bench_exchange_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { word = 4, most_bytes = 1 << 24, most_words = 1 << 28 };

const char *const bench_options_help =
    "bench_exchange: measures how long each exchange between the ranks of mpirun takes\n"
    "\n"
    "  mpirun -n R bench_exchange [--filter REGEX] [--bytes LIST] [--targets LIST] [--skew-us LIST]\n"
    "                             [--repetitions N] [--min-time S] [--seed N] [--out FILE]\n"
    "  bench_exchange --list      lists the cases that these options choose, and what is left out\n"
    "\n"
    "  --filter REGEX   only exchanges whose names match (.)\n"
    "  --bytes LIST     bytes from rank to rank (powers of two from 4 to 65536, and five times those)\n"
    "  --targets LIST   receivers: all, ring (both neighbours), or a fraction of the other ranks (all)\n"
    "  --skew-us LIST   before the barrier, ranks spin for a random time below this (0)\n"
    "  --repetitions N  repetitions of every case, each in a shuffled order (5)\n"
    "  --min-time S     shortest time of a repetition (0.02)\n"
    "  --seed N         seed of the order, the skew and the fractions (the time of day)\n"
    "  --out FILE       file for the JSON (standard output)\n"
    "\n"
    "miniapp/FORMAT.md states the JSON. Exit status: 0 done, 1 failed, 2 bad input.\n";

/// Takes one value of a list; `i` is its place.
typedef bool (*take_value)(struct bench_options *options, const char *value, int ranks, struct error *error);

static bool read_number(const char *text, double low, double high, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

static bool twice(const char *name, const char *value, struct error *error) {
    return error_set(error, "%s: \"%s\" twice; allowed: every value once", name, value);
}

static bool take_bytes(struct bench_options *options, const char *value, int ranks, struct error *error) {
    const int most = most_words / ranks * word < most_bytes ? most_words / ranks * word : most_bytes;
    double bytes;
    if (!read_number(value, word, most, &bytes) || fmod(bytes, word) != 0)
        return error_set(error, "--bytes: \"%s\"; allowed: multiples of %d from %d to %d", value, word, word,
                         most);
    for (size_t i = 0; i < options->n_bytes; i++)
        if (options->bytes[i] == (uint32_t)bytes) return twice("--bytes", value, error);
    options->bytes[options->n_bytes++] = (uint32_t)bytes;
    return true;
}

static bool take_targets(struct bench_options *options, const char *value, int ranks, struct error *error) {
    (void)ranks;
    struct bench_targets *targets = &options->targets[options->n_targets++];
    const bool named = strcmp(value, "all") == 0 || strcmp(value, "ring") == 0;
    *targets = (struct bench_targets){.fraction = 0};
    if ((!named && (!read_number(value, 0, 1, &targets->fraction) || targets->fraction == 0)) ||
        strlen(value) >= sizeof targets->name)
        return error_set(error, "--targets: \"%s\"; allowed: all, ring, or a fraction above 0, at most 1",
                         value);
    for (struct bench_targets *t = options->targets; t < targets; t++)
        if (strcmp(t->name, value) == 0) return twice("--targets", value, error);
    strcpy(targets->name, value);
    return true;
}

static bool take_skew(struct bench_options *options, const char *value, int ranks, struct error *error) {
    (void)ranks;
    double *skew_us = &options->skew_us[options->n_skews++];
    if (!read_number(value, 0, 1e6, skew_us))
        return error_set(error, "--skew-us: \"%s\"; allowed: microseconds from 0 to 1000000", value);
    for (double *s = options->skew_us; s < skew_us; s++)
        if (*s == *skew_us) return twice("--skew-us", value, error);
    return true;
}

/// Takes what stands between commas.
static bool take_list(struct bench_options *options, const char *name, const char *list, take_value take,
                      int ranks, struct error *error) {
    char value[32];
    for (size_t i = 0;; i++) {
        size_t length = strcspn(list, ",");
        if (i == values_most) return error_set(error, "%s: more than %d values", name, values_most);
        snprintf(value, sizeof value, "%.*s", length < sizeof value ? (int)length : 31, list);
        if (!take(options, value, ranks, error)) return false;
        if (list[length] == '\0') return true;
        list += length + 1;
    }
}

static bool take(struct bench_options *options, const char *name, const char *value, int ranks,
                 struct error *error) {
    double number;
    if (!value) return error_set(error, "%s: no value follows; see bench_exchange --help", name);
    if (strcmp(name, "--filter") == 0) return options->filter = value, true;
    if (strcmp(name, "--out") == 0) return options->out = value, true;
    if (strcmp(name, "--bytes") == 0) {
        options->n_bytes = 0;
        return take_list(options, name, value, take_bytes, ranks, error);
    }
    if (strcmp(name, "--targets") == 0) {
        options->n_targets = 0;
        return take_list(options, name, value, take_targets, ranks, error);
    }
    if (strcmp(name, "--skew-us") == 0) {
        options->n_skews = 0;
        return take_list(options, name, value, take_skew, ranks, error);
    }
    if (strcmp(name, "--min-time") == 0) {
        if (read_number(value, 1e-6, 1e4, &options->min_time_s)) return true;
        return error_set(error, "%s: \"%s\"; allowed: seconds from 0.000001 to 10000", name, value);
    }
    const bool seed = strcmp(name, "--seed") == 0;
    const double low = seed ? 0 : 1, high = seed ? UINT32_MAX : 10000;
    if (!read_number(value, low, high, &number) || number != floor(number))
        return error_set(error, "%s: \"%s\"; allowed: an integer from %.0f to %.0f", name, value, low, high);
    if (seed)
        options->seed = (uint32_t)number, options->seeded = true;
    else
        options->repetitions = (int)number;
    return true;
}

static void set_defaults(struct bench_options *options) {
    *options = (struct bench_options){.filter = ".",
                                      .targets = {{"all", 0}},
                                      .n_targets = 1,
                                      .n_skews = 1,
                                      .repetitions = 5,
                                      .min_time_s = 0.02};
    // The sizes include twice, five and ten times each other, up to the largest.
    for (uint32_t bytes = word; bytes <= 1 << 16; bytes *= 2) {
        options->bytes[options->n_bytes++] = bytes;
        if (5 * bytes <= 1 << 16) options->bytes[options->n_bytes++] = 5 * bytes;
    }
}

bool bench_options_read(struct bench_options *options, int argc, char **argv, int ranks,
                        struct error *error) {
    static const char *const with_value[] = {"--filter",      "--bytes",    "--targets", "--skew-us",
                                             "--repetitions", "--min-time", "--seed",    "--out"};
    set_defaults(options);
    for (int i = 1; i < argc; i++) {
        bool valued = false;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
            valued = valued || strcmp(argv[i], with_value[k]) == 0;
        if (valued) {
            if (!take(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL, ranks, error)) return false;
            i++;
        } else if (strcmp(argv[i], "--list") == 0) {
            options->action = bench_list;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options->action = bench_help;
        } else {
            return error_set(error, "%s: unexpected; see bench_exchange --help", argv[i]);
        }
    }
    return true;
}
