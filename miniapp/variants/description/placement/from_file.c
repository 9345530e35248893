#include "description/unequal.h"

#include "base/alloc.h"
#include <stdlib.h>

/// The lists of a placement file; docs/placement.md says what they mean. `over` and `origin` may be NULL.
struct lists {
    const json_t *first, *end, *rank, *over, *origin;
    size_t size;
};

/// Finds a list of the file, as long as the first one. Where it is absent and not `required`, it is NULL.
static bool find_list(const json_t *file, const char *name, bool required, struct lists *lists,
                      const json_t **list, struct error *error) {
    *list = json_object_get(file, name);
    if (!*list && !required) return true;
    if (!json_is_array(*list))
        return error_set(error, "placement.file: %s: %s; expected a list of integers", name,
                         *list ? "not a list" : "missing");
    if (list == &lists->first) lists->size = json_array_size(*list);
    if (json_array_size(*list) == lists->size && lists->size > 0) return true;
    return error_set(error,
                     "placement.file: %s has %zu values and first has %zu; expected as many, at least one",
                     name, json_array_size(*list), lists->size);
}

/// Checks what kind of file it is, and for how many ranks, and finds its lists.
static bool read_head(const json_t *file, int ranks, struct lists *lists, struct error *error) {
    const char *kind = json_string_value(json_object_get(file, "kind"));
    const json_t *version = json_object_get(file, "format_version"), *given = json_object_get(file, "ranks");
    if (!kind || strcmp(kind, "placement") != 0)
        return error_set(error, "placement.file: kind: \"%.40s\"; expected \"placement\"", kind ? kind : "");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return error_set(error, "placement.file: format_version: %lld; expected 1",
                         (long long)json_integer_value(version));
    if (!json_is_integer(given))
        return error_set(error, "placement.file: ranks: missing; expected the number of ranks");
    if (json_integer_value(given) != ranks)
        return error_set(
            error,
            "placement.file: ranks: %lld; expected %d, the ranks of this run (spikemark partition "
            "--ranks %d writes such a placement)",
            (long long)json_integer_value(given), ranks, ranks);
    return find_list(file, "first", true, lists, &lists->first, error) &&
           find_list(file, "end", true, lists, &lists->end, error) &&
           find_list(file, "rank", true, lists, &lists->rank, error) &&
           find_list(file, "over", false, lists, &lists->over, error) &&
           find_list(file, "origin", false, lists, &lists->origin, error);
}

/// Reads number `i` of a list. `list` is NULL where it takes its `fallback`.
static bool read_value(const json_t *list, const char *name, size_t i, int64_t fallback, int64_t low,
                       int64_t high, int64_t *value, struct error *error) {
    const json_t *given = json_array_get(list, i);
    *value = list ? (int64_t)json_integer_value(given) : fallback;
    if (list && !json_is_integer(given))
        return error_set(error,
                         "placement.file: %s.%zu: not an integer; expected an integer from %lld to %lld",
                         name, i, (long long)low, (long long)high);
    if (*value >= low && *value <= high) return true;
    return error_set(error, "placement.file: %s.%zu: %lld; expected an integer from %lld to %lld", name, i,
                     (long long)*value, (long long)low, (long long)high);
}

/// Reads range `i`. It must begin at `next`, the first neuron that no range has had yet.
static bool read_range(const struct lists *lists, size_t i, int64_t next, int64_t neurons, int ranks,
                       struct range *range, struct error *error) {
    int64_t first, end, rank, over, origin;
    if (!read_value(lists->first, "first", i, 0, 0, neurons, &first, error)) return false;
    if (first != next)
        return error_set(error, "placement.file: neuron %lld is %s, by range %zu; expected every neuron once",
                         (long long)(first > next ? next : first), first > next ? "left out" : "placed twice",
                         i);
    if (!read_value(lists->end, "end", i, 0, first, neurons, &end, error) ||
        !read_value(lists->rank, "rank", i, 0, 0, ranks - 1, &rank, error) ||
        !read_value(lists->over, "over", i, 1, 1, ranks - rank, &over, error) ||
        !read_value(lists->origin, "origin", i, first, 0, first, &origin, error))
        return false;
    *range = (struct range){(uint32_t)first, (uint32_t)end, (uint32_t)origin, (int)rank, (int)over};
    return true;
}

static bool read_ranges(const struct lists *lists, uint32_t neurons, int ranks, struct range *ranges,
                        struct error *error) {
    int64_t next = 0;
    for (size_t i = 0; i < lists->size; i++) {
        if (!read_range(lists, i, next, neurons, ranks, &ranges[i], error)) return false;
        next = ranges[i].end;
    }
    if (next == neurons) return true;
    return error_set(error,
                     "placement.file: neuron %lld is left out, after the last range; expected every neuron "
                     "once",
                     (long long)next);
}

static bool deal_file(struct placement *placement, const json_t *file, struct error *error) {
    const struct network *network = placement->network;
    struct lists lists = {0};
    const json_t *weights = json_object_get(file, "weights");
    if (!read_head(file, placement->ranks, &lists, error)) return false;
    if (weights && !placement_read_weights(placement, weights, "placement.file: weights", error))
        return false;
    if (lists.size + network->n_populations > UINT32_MAX)
        return error_set(error, "placement.file: %zu ranges; expected fewer than neurons", lists.size);
    struct range *ranges = ALLOC(struct range, lists.size);
    const bool good = read_ranges(&lists, network->n_neurons, placement->ranks, ranges, error);
    if (good) placement_deal_ranges(placement, ranges, lists.size);
    free(ranges);
    return good;
}

const struct placement_rule placement_from_file = {
    .name = "from_file",
    .summary = "ranges of neurons as a file of `spikemark partition` places them",
    .deal_file = deal_file,
};
