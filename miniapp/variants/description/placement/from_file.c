/// \file
/// The placement `from_file`: ranges of neurons as a file of `spikemark partition` places them.
///
/// The file has lists of equal length: range i holds the neurons first[i] ... end[i] - 1 and is on rank[i];
/// where over[i] is above 1, it is dealt over so many ranks from there. Ranges must ascend and hold every
/// neuron once. Everything is checked here, so that a file for another network or another number of ranks is
/// refused with one line. Cost: the ranges of the file.

#include "description/unequal.h"

#include "base/alloc.h"
#include <stdlib.h>

/// The lists of a placement file; docs/placement.md says what they mean. The last two may be NULL.
enum { of_first, of_end, of_rank, of_over, of_origin, n_lists };
static const char *const names[n_lists] = {"first", "end", "rank", "over", "origin"};
struct lists {
    const json_t *list[n_lists];
    size_t size;
};

/// Checks what kind of file it is, and for how many ranks, and finds its lists.
static bool read_head(const json_t *file, int ranks, struct lists *lists, struct error *error) {
    const char *kind = json_string_value(json_object_get(file, "kind"));
    const json_t *given = json_object_get(file, "ranks");
    const json_int_t version = json_integer_value(json_object_get(file, "format_version"));
    if (!kind || strcmp(kind, "placement") != 0)
        return error_set(error, "placement.file: kind: \"%.40s\"; expected \"placement\"", kind ? kind : "");
    if (version != 1)
        return error_set(error, "placement.file: format_version: %lld; expected 1", (long long)version);
    if (!json_is_integer(given) || json_integer_value(given) != ranks)
        return error_set(
            error,
            "placement.file: ranks: %lld; expected %d, the ranks of this run (spikemark partition "
            "--ranks %d writes such a placement)",
            (long long)json_integer_value(given), ranks, ranks);
    lists->size = json_array_size(json_object_get(file, names[of_first]));
    for (int i = 0; i < n_lists; i++) {
        const json_t *list = lists->list[i] = json_object_get(file, names[i]);
        if (!list && i >= of_over) continue;
        if (!json_is_array(list) || json_array_size(list) != lists->size || lists->size == 0)
            return error_set(error,
                             "placement.file: %s: %zu values, first: %zu; expected lists of equal length",
                             names[i], json_array_size(list), lists->size);
    }
    return true;
}

/// Reads number `i` of a list. Where there is no list, it takes its `fallback`.
static bool read_value(const struct lists *lists, int which, size_t i, int64_t fallback, int64_t low,
                       int64_t high, int64_t *value, struct error *error) {
    const json_t *list = lists->list[which], *given = json_array_get(list, i);
    *value = !list ? fallback : json_is_integer(given) ? (int64_t)json_integer_value(given) : -1;
    if (*value >= low && *value <= high) return true;
    return error_set(error, "placement.file: %s.%zu: %g; expected an integer from %lld to %lld", names[which],
                     i, json_number_value(given), (long long)low, (long long)high);
}

/// Reads all ranges, and checks that they have every neuron once and in order.
static bool read_ranges(const struct lists *lists, uint32_t neurons, int ranks, struct placed_range *ranges,
                        struct error *error) {
    int64_t next = 0, first, end, rank, over, origin; // next: the first neuron that no range has had yet
    for (size_t i = 0; i < lists->size; i++, next = end) {
        if (!read_value(lists, of_first, i, 0, 0, neurons, &first, error)) return false;
        if (first != next)
            return error_set(
                error, "placement.file: neuron %lld is %s, by range %zu; expected every neuron once",
                (long long)(first > next ? next : first), first > next ? "left out" : "placed twice", i);
        if (!read_value(lists, of_end, i, 0, first, neurons, &end, error) ||
            !read_value(lists, of_rank, i, 0, 0, ranks - 1, &rank, error) ||
            !read_value(lists, of_over, i, 1, 1, ranks - rank, &over, error) ||
            !read_value(lists, of_origin, i, first, 0, first, &origin, error))
            return false;
        ranges[i] =
            (struct placed_range){(uint32_t)first, (uint32_t)end, (uint32_t)origin, (int)rank, (int)over};
    }
    return next == neurons ||
           error_set(
               error,
               "placement.file: neuron %lld is left out, after the last range; expected every neuron once",
               (long long)next);
}

/// Reads the file that all ranks have got (app/job.c): `read_file` of struct placement_rule.
static bool read_file(struct placement *placement, const json_t *file, struct error *error) {
    const struct network *network = placement->network;
    struct lists lists = {0};
    const json_t *weights = json_object_get(file, "weights");
    if (!read_head(file, placement->ranks, &lists, error)) return false;
    if (weights && !placement_read_weights(placement, weights, "placement.file: weights", error))
        return false;
    struct placed_range *ranges = ALLOC(struct placed_range, lists.size);
    const bool good = read_ranges(&lists, network->n_neurons, placement->ranks, ranges, error);
    if (good) placement_set_ranges(placement, ranges, lists.size);
    free(ranges);
    return good;
}

const struct placement_rule placement_from_file = {
    .name = "from_file",
    .summary = "ranges of neurons as a file of `spikemark partition` places them",
    .read_file = read_file,
    .spread = spread_never,
};
