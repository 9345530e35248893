/// \file
/// Fuzz target: run descriptions with overrides, as `miniapp RUN.json --set … --explain` reads them.
///
/// An input is text. Its first line holds the ranks and the threads, the second one a description or the
/// number of one of those below, and every further line an override; one that begins with @ is instead the
/// content of every file that the description names. What is refused gets one line of UTF-8
/// that says what is allowed. What is accepted can be planned, explained and written as JSON, and the
/// description that a record holds can be read again and stays as it is.

#include "../one_draw.h"
#include "app/estimate.h"
#include "app/explain.h"
#include "app/job.h"
#include "fuzz.h"
#include "schedule/lane_json.h"
#include "schedule/schedule.h"

enum { most_overrides = 24, most_ranks = 64, most_threads = 9 };

/// Descriptions that an input names by their number, with ' in the place of ".
static const char *const known_words[] = {
    "{'format_version': 1, 'time': {'cycle_ms': 0.2, 'simulate_ms': 10, 'warmup_ms': 1}, 'delay_ratio': 5,"
    " 'network': {'populations': ["
    "  {'name': 'left', 'size': 100, 'neuron': {'model': 'ignore_and_fire'}},"
    "  {'name': 'right', 'area': 'r', 'size': 50, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 5}}],"
    " 'projections': [{'source': ['left', 'right'], 'target': 'right', 'indegree': 10,"
    "  'delay': {'mean': 1.5, 'sd': 0.5, 'min': 1}}]}}",
    "{'format_version': 1, 'seed': 7, 'delay_ratio': 'auto', 'lag': 2, 'wire': {'near': 'aer12'},"
    " 'exchange': {'far': {'name': 'two_level', 'inner': 'p2p', 'group': 2}},"
    " 'time': {'resolution_ms': 0.1, 'simulate_ms': 24}, 'placement': 'area_group',"
    " 'inject': {'mean_us': 3, 'minor_mode': {'share': 0.1, 'factor': 2}, 'wait': 'sleep'},"
    " 'record': {'spikes': true, 'counters': ['instructions'], 'energy': true, 'idle_pause_s': 1},"
    " 'schedule': [{'name': 'near', 'group': 'area'}, {'name': 'in', 'from': ['b'], 'to': 'a', 'lag': 1},"
    "  {'name': 'pair', 'group': 2, 'period': 'auto'}, {'name': 'far', 'period': 'D'}],"
    " 'network': {'populations': ["
    "  {'name': 'a', 'size': 37, 'neuron': {'model': 'lif_exp'},"
    "   'external': {'rate_hz': 8, 'synapses': 100, 'weight': 2}},"
    "  {'name': 'b', 'area': 'b', 'size': 0, 'neuron': {'model': 'lif_delta'}},"
    "  {'name': 'c', 'area': 'b', 'size': 20, 'neuron': {'model': 'ignore_and_fire', 'rate_cv': 0.5}}],"
    " 'projections': ["
    "  {'source': ['a', 'c'], 'target': 'a', 'indegree': {'mean': 11.5}, 'weight': {'mean': 2, 'sd': 0.5,"
    "   'classes': 5}, 'delay': {'distribution': 'exponential', 'mean': 1.5, 'min': 0.6, 'max': 2}},"
    "  {'source': 'a', 'target': 'c', 'indegree': 5, 'weight': {'mean': -1, 'sd': 0.1, 'classes': 3},"
    "   'delay': {'distribution': 'constant', 'mean': 0.3}}]}}",
};

/// A description, and all that is planned of it.
struct planned {
    struct description description;
    struct placement placement;
    struct schedule schedule;
};

/// Gives the description the file under every name by which an exchange could name it.
static void name_files(struct description *description, json_t *file) {
    const char *key, *field;
    json_t *choice, *value, *exchange = json_object_get(description->json.object, "exchange");
    description->exchange_files = json_object();
    json_object_foreach(exchange, key, choice) {
        if (json_is_string(choice))
            json_object_set(description->exchange_files, json_string_value(choice), file);
        json_object_foreach(choice, field, value) if (json_is_string(value))
            json_object_set(description->exchange_files, json_string_value(value), file);
    }
}

/// Reads and plans, as app/job.c does. `run` is taken over; `file` is the content of all files that it names.
/// Close it in any case.
static bool plan(struct planned *p, json_t *run, json_t *file, int ranks, int threads, struct error *error) {
    const struct placement_rule *rule;
    const struct neuron_model *model;
    double parameters[neuron_parameters_max];
    memset(p, 0, sizeof *p);
    if (!description_open(&p->description, run, error)) return false;
    const struct network *network = &p->description.network;
    for (uint32_t i = 0; i < network->n_populations; i++)
        if (!neuron_model_read(&network->populations[i], &model, parameters, error)) return false;
    name_files(&p->description, file);
    return schedule_placement(&p->description, &rule, error) &&
           placement_open(&p->placement, rule, network, ranks, threads, file,
                          p->description.placement_weights, error) &&
           schedule_plan(&p->schedule, &p->description, &p->placement, error);
}

static void close_plan(struct planned *p) {
    schedule_close(&p->schedule);
    placement_close(&p->placement);
    description_close(&p->description);
}

static char *written(const json_t *json) {
    return json_dumps(json, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
}

/// Checks the line that a refusal prints.
static void check_refusal(const struct error *error) {
    json_t *utf8 = json_string(error->text);
    promise(*error->text, "what is refused gets a line", "it gets none");
    promise(utf8, "a line is UTF-8", error->text);
    promise(!strpbrk(error->text, "\n\r"), "a refusal has one line", error->text);
    promise(strstr(error->text, "expected "), "a refusal says what is allowed", error->text);
    json_decref(utf8);
}

/// Checks that every neuron has one owner, by the first and the last of each range that is dealt.
static void check_owners(const struct placement *placement) {
    for (uint32_t i = 0; i < placement->network->n_populations; i++) {
        const struct population *p = &placement->network->populations[i];
        uint64_t on_ranks = 0, of_threads = 0, dealt = 0;
        for (int rank = 0; rank < placement->ranks; rank++) {
            on_ranks += placement_count(placement, i, rank);
            for (int thread = 0; thread < placement->threads; thread++)
                for (uint32_t d = placement->first_range[i]; d < placement->first_range[i + 1]; d++)
                    of_threads += placement_share(placement, d, rank, thread).count;
        }
        promise(on_ranks == p->size && of_threads == p->size, "every neuron has one owner", p->name);
        for (uint32_t d = placement->first_range[i]; d < placement->first_range[i + 1]; d++) {
            const struct range *range = &placement->ranges[d];
            promise(range->population == i && range->first >= p->first && range->end <= p->first + p->size,
                    "a range lies in its population", p->name);
            dealt += range->end - range->first;
            for (uint32_t last = 0; range->end > range->first && last < 2; last++) {
                const uint32_t gid = last ? range->end - 1 : range->first;
                const int rank = range_rank(range, gid),
                          thread = range_thread(range, placement->threads, gid);
                promise(rank >= 0 && rank < placement->ranks && thread >= 0 && thread < placement->threads,
                        "an owner is a rank and a thread", p->name);
            }
        }
        promise(dealt == p->size, "every neuron is in one range", p->name);
    }
}

/// Draws some synapses of each projection.
static void check_draws(const struct network *network) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const struct population *target = &network->populations[p->target];
        for (uint32_t last = 0; target->size > 0 && last < 2; last++) {
            const uint32_t gid = target->first + last * (target->size - 1);
            const uint32_t n = network_indegree(network, i, gid);
            promise(n <= p->indegree.most, "an in-degree is within its limits", target->name);
            for (uint32_t k = 0; k<n; k += n> 1 ? n - 1 : 1) {
                const struct synapse drawn = network_synapse(network, i, gid, k);
                promise(drawn.source < network->n_neurons, "a source is a neuron", target->name);
                promise(drawn.delay >= p->delay.shortest && drawn.delay <= p->delay.longest,
                        "a delay is within its limits", target->name);
                promise(drawn.delay <= network->longest_delay, "the ring holds every delay", target->name);
            }
        }
    }
}

/// Checks the lanes, and that they can be written as JSON.
static void check_lanes(const struct planned *p) {
    for (int l = 0; l < p->schedule.n_lanes; l++) {
        const struct lane_plan *lane = &p->schedule.lanes[l];
        const uint64_t steps = (uint64_t)lane->period * p->description.steps_per_cycle * (lane->lag + 1);
        promise(lane->period > 0, "a window lasts a cycle or more", lane->name);
        promise(lane->shortest_delay == 0 || steps <= lane->shortest_delay, "a lane is exact", lane->name);
        promise(lane->exchange.backend && lane->wire, "a lane has an exchange and a wire", lane->name);
        for (int rank = 0; rank < p->placement.ranks; rank++)
            promise(lane->groups.place[rank] >= 0 && lane->groups.place[rank] < lane->groups.size[rank] &&
                        lane->groups.size[rank] <= lane->groups.largest && lane->groups.first[rank] <= rank,
                    "a rank has a place in its group", lane->name);
        json_t *json = lane_json(lane, &p->description);
        char *text = json ? written(json) : NULL;
        promise(text, "a lane can be written as JSON", lane->name);
        free(text);
        json_decref(json);
    }
}

/// Checks that the memory of some ranks can be estimated.
static void check_estimate(const struct planned *p) {
    for (int rank = 0; rank < p->placement.ranks; rank += 17) {
        const struct estimate e = estimate_rank(&p->description, &p->placement, &p->schedule, rank);
        promise(isfinite(estimate_sum(&e)) && estimate_sum(&e) >= 0 && isfinite(e.building) &&
                    e.building >= 0,
                "an estimate is a number of bytes", "it is none");
    }
}

/// Checks that the description of the record is one.
static void check_again(const struct planned *p, json_t *file, int ranks, int threads) {
    struct planned again;
    struct error error = {""};
    char *first = written(p->description.json.object);
    promise(first, "a description as run can be written", "it cannot");
    json_t *run = json_loads(first, JSON_DECODE_ANY, NULL);
    promise(run, "a description as run is JSON", first);
    promise(plan(&again, run, file, ranks, threads, &error), "a description as run is accepted again",
            error.text);
    char *second = written(again.description.json.object);
    promise(strcmp(first, second) == 0, "a description as run stays as it is", second);
    promise(again.description.delay_ratio == p->description.delay_ratio, "D stays as it is", second);
    free(first);
    free(second);
    close_plan(&again);
}

static json_t *read_description(char *line) {
    if (*line < '0' || *line > '9' || line[1] != '\0') return json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    char *text =
        alloc_string(known_words[(size_t)(*line - '0') % (sizeof known_words / sizeof *known_words)]);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *run = json_loads(text, 0, NULL);
    free(text);
    return run;
}

static int between(char **line, int most) {
    const long number = strtol(*line, line, 10);
    return number < 1 ? 1 : (int)((number - 1) % most) + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {""};
    struct planned planned;
    char *text = ALLOC(char, size + 1), *rest = text, *line;
    memcpy(text, data, size);
    text[size] = '\0';
    char *layout = strsep(&rest, "\n");
    const int ranks = between(&layout, most_ranks), threads = between(&layout, most_threads);
    json_t *file = json_object(), *run = rest ? read_description(strsep(&rest, "\n")) : NULL;
    for (int i = 0; run && rest && i < most_overrides && !error_stands(&error); i++) {
        line = strsep(&rest, "\n");
        if (*line == '@') {
            json_decref(file);
            file = json_loads(line + 1, JSON_REJECT_DUPLICATES, NULL);
        } else if (*line) {
            description_override(run, line, &error);
        }
    }
    if (error_stands(&error)) {
        check_refusal(&error);
        json_decref(run);
    } else if (run) {
        if (plan(&planned, run, file, ranks, threads, &error)) {
            check_owners(&planned.placement);
            check_draws(&planned.description.network);
            check_lanes(&planned);
            check_estimate(&planned);
            check_again(&planned, file, ranks, threads);
            if (!estimate_check_words(&planned.description, &planned.placement, &planned.schedule, &error))
                check_refusal(&error);
        } else {
            check_refusal(&error);
        }
        close_plan(&planned);
    }
    json_decref(file);
    free(text);
    return 0;
}
