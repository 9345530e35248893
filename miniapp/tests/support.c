#include "support.h"
#include "base/checksum.h"
#include "one_draw.h"
#include "run/build.h"

const char *const eight_areas =
    "{'format_version': 1, 'seed': 7, 'delay_ratio': 3,"
    " 'time': {'resolution_ms': 0.1, 'cycle_ms': 0.2, 'warmup_ms': 3, 'simulate_ms': 12},"
    " 'network': {'populations': ["
    "  {'name': 'a-exc', 'area': 'a', 'size': 37, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 90}},"
    "  {'name': 'b', 'size': 20, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 150, 'rate_cv': 0.5}},"
    "  {'name': 'c', 'size': 0, 'neuron': {'model': 'ignore_and_fire'}},"
    "  {'name': 'd', 'size': 31, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 0}},"
    "  {'name': 'e', 'size': 1, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 10000}},"
    "  {'name': 'a-inh', 'area': 'a', 'size': 9, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 200}},"
    "  {'name': 'f', 'size': 16, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 120}},"
    "  {'name': 'g', 'size': 16, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 120}},"
    "  {'name': 'h', 'size': 16, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 120}}],"
    " 'projections': ["
    "  {'source': ['a-exc', 'a-inh'], 'target': 'a-exc', 'indegree': 12, 'weight': 2,"
    "   'delay': {'mean': 0.5, 'sd': 0.25, 'min': 0.2, 'max': 2}},"
    "  {'source': 'a-exc', 'target': 'a-inh', 'indegree': 5, 'weight': -1,"
    "   'delay': {'distribution': 'constant', 'mean': 0.3}},"
    "  {'source': ['b', 'a-inh', 'f', 'c', 'e'], 'target': 'a-exc', 'indegree': 20,"
    "   'delay': {'mean': 1, 'sd': 0.5, 'min': 0.6, 'max': 3}},"
    "  {'source': ['a-exc', 'b', 'e', 'g'], 'target': 'f', 'indegree': 30, 'weight': 0.5,"
    "   'delay': {'distribution': 'exponential', 'mean': 1.5, 'min': 0.6, 'max': 2}},"
    "  {'source': ['g', 'h', 'f'], 'target': 'd', 'indegree': 8,"
    "   'delay': {'mean': 0.7, 'min': 0.7, 'max': 0.7}},"
    "  {'source': 'h', 'target': 'h', 'indegree': 0, 'delay': {'mean': 0.1}},"
    "  {'source': 'e', 'target': 'h', 'indegree': 3, 'delay': {'mean': 2, 'sd': 1, 'min': 0.6}},"
    "  {'source': ['d', 'h'], 'target': 'b', 'indegree': 7, 'delay': {'mean': 2, 'sd': 1, 'min': 0.6}}]}}";

int world_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_ranks(void) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/// Parses JSON with ' in the place of ".
static json_t *parse(const char *text) {
    char *copy = alloc_string(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    json_error_t where;
    json_t *json = json_loads(copy, JSON_DECODE_ANY, &where);
    if (!json) fail_msg("test input, line %d: %s", where.line, where.text);
    free(copy);
    return json;
}

static bool try_open(struct description *description, const char *text, const char *const *overrides,
                     struct error *error) {
    json_t *run = parse(text);
    for (; overrides && *overrides; overrides++)
        if (!description_override(run, *overrides, error)) {
            json_decref(run);
            *description = (struct description){0};
            return false;
        }
    return description_open(description, run, error);
}

void open_description(struct description *description, const char *text, const char *const *overrides) {
    struct error error = {""};
    if (!try_open(description, text, overrides, &error)) fail_msg("%s", error.text);
}

const char *refusal(const char *text, const char *const *overrides) {
    static struct error error;
    struct description description;
    error = (struct error){""};
    try_open(&description, text, overrides, &error);
    description_close(&description);
    return error.text;
}

json_t *scattered(const struct network *network, int ranks) {
    static const uint32_t sizes[] = {7, 1, 23, 4, 11};
    json_t *first = json_array(), *end = json_array(), *rank = json_array(), *over = json_array();
    json_t *origin = json_array();
    uint32_t from = 0;
    for (int i = 0; from < network->n_neurons; i++) {
        const uint32_t size = sizes[i % 5], rest = network->n_neurons - from;
        const int over_ranks = i % 3 == 2 ? (ranks + 1) / 2 : 1;
        json_array_append_new(first, json_integer(from));
        json_array_append_new(rank, json_integer((5 * i + 1) % (ranks - over_ranks + 1)));
        json_array_append_new(over, json_integer(over_ranks));
        json_array_append_new(origin, json_integer(i % 2 ? from : from / 2));
        from += size < rest ? size : rest;
        json_array_append_new(end, json_integer(from));
    }
    return json_pack("{ss si si so so so so so}", "kind", "placement", "format_version", 1, "ranks", ranks,
                     "first", first, "end", end, "rank", rank, "over", over, "origin", origin);
}

void placement_override(char text[placement_override_bytes], const struct placement_rule *rule) {
    const char *const with_file = "placement={\"name\": \"%s\", \"file\": \"scattered.json\"}";
    snprintf(text, placement_override_bytes, rule->read_file ? with_file : "placement=%s", rule->name);
}

bool open_placement(struct placement *placement, const struct description *description, int ranks,
                    int threads, const json_t *given, struct error *error) {
    const struct placement_rule *rule;
    if (!schedule_placement(description, &rule, error)) return false;
    json_t *file = !rule->read_file ? NULL
                   : given          ? json_deep_copy(given)
                                    : scattered(&description->network, ranks);
    const bool opened = placement_open(placement, rule, &description->network, ranks, threads, file,
                                       description->placement_weights, error);
    json_decref(file);
    return opened;
}

/// Adds up what the ranks counted.
static struct outcome add_up(const struct model *model, const struct measured *measured, MPI_Comm world) {
    struct outcome sum = {0};
    struct rank_tally *all = tally(model, measured, 0, world);
    int ranks;
    MPI_Comm_size(world, &ranks);
    for (int r = 0; all && r < ranks; r++) {
        sum.checksum += all[r].counts.checksum + all[r].state_checksum;
        sum.spikes += all[r].counts.spikes;
        sum.synaptic_events += all[r].counts.synaptic_events;
        sum.external_events += all[r].counts.external_events;
        sum.first_accesses += all[r].counts.first_accesses;
        sum.synapses += all[r].synapses;
    }
    MPI_Bcast(&sum, sizeof sum, MPI_BYTE, 0, world);
    tally_close(all);
    return sum;
}

bool try_network(struct outcome *sum, struct description *description, int threads, MPI_Comm world,
                 void (*meddle)(struct schedule *), const json_t *placement_file, struct error *error) {
    struct placement placement = {0};
    struct schedule schedule = {0};
    struct model model = {0};
    struct measured measured;
    int ranks;
    MPI_Comm_size(world, &ranks);
    bool ready = open_placement(&placement, description, ranks, threads, placement_file, error) &&
                 schedule_plan(&schedule, description, &placement, error);
    if (ready && meddle) meddle(&schedule);
    ready = ready && build(&model, description, &placement, &schedule, world, NULL, error);
    if (ready) {
        simulate(&model, NULL, NULL, &(struct progress){NULL, NULL}, &measured);
        *sum = add_up(&model, &measured, world);
        measured_close(&measured);
    }
    build_close(&model);
    schedule_close(&schedule);
    placement_close(&placement);
    return ready;
}

struct outcome run_network(struct description *description, int threads, MPI_Comm world,
                           void (*meddle)(struct schedule *)) {
    struct error error = {""};
    struct outcome sum;
    if (!try_network(&sum, description, threads, world, meddle, NULL, &error)) fail_msg("%s", error.text);
    return sum;
}

struct all_synapses {
    struct flat_synapse {
        uint32_t source, target, delay;
        int32_t weight;
    } * synapse;
    uint64_t n;
};

static struct all_synapses draw_all(const struct network *network, int64_t leave_out) {
    uint64_t most = 0;
    for (uint32_t p = 0; p < network->n_projections; p++)
        most += (uint64_t)network->projections[p].indegree.most *
                network->populations[network->projections[p].target].size;
    struct all_synapses all = {ALLOC(struct flat_synapse, most), 0};
    int64_t number = 0;
    for (uint32_t p = 0; p < network->n_projections; p++) {
        const struct projection *projection = &network->projections[p];
        const struct population *target = &network->populations[projection->target];
        for (uint32_t gid = target->first; gid < target->first + target->size; gid++)
            for (uint32_t k = 0; k < network_indegree(network, p, gid); k++) {
                struct synapse drawn = network_synapse(network, p, gid, k);
                if (number++ == leave_out) continue;
                all.synapse[all.n++] = (struct flat_synapse){
                    drawn.source, gid, drawn.delay,
                    weights_draw_units(&projection->weights, network->normal, drawn.weight_word)};
            }
    }
    return all;
}

/// Adds the input from outside to a population, neuron by neuron. \return the number of events.
static uint64_t add_external(const struct network *network, uint32_t population, uint32_t step,
                             int32_t *input) {
    const struct population *p = &network->populations[population];
    const struct poisson poisson = poisson_open(p->external.mean);
    uint64_t sum = 0;
    for (uint32_t i = 0; p->external.mean > 0 && i < p->size; i++) {
        struct rng_words drawn = rng_draw(network->seed, rng_external, population, p->first + i, step / 4);
        uint32_t events = poisson_draw(&poisson, drawn.word[step % 4]);
        input[i] += (int32_t)events * p->external.weight_units;
        sum += events;
    }
    return sum;
}

struct outcome run_brute_force(const struct description *description, int64_t leave_out) {
    const struct network *network = &description->network;
    const uint32_t n = network->n_neurons;
    const uint32_t warmup = description->warmup_cycles * description->steps_per_cycle;
    const uint32_t steps = warmup + description->cycles * description->steps_per_cycle;
    struct all_synapses all = draw_all(network, leave_out);
    int32_t *input = ALLOC_ZERO(int32_t, (size_t)(steps + network->longest_delay + 1) * n);
    uint32_t *fired = ALLOC(uint32_t, n);
    void **state = ALLOC_ZERO(void *, network->n_populations);
    const struct neuron_model **model = ALLOC_ZERO(const struct neuron_model *, network->n_populations);
    struct outcome outcome = {.synapses = all.n};

    for (uint32_t p = 0; p < network->n_populations; p++) {
        const struct population *population = &network->populations[p];
        struct error error = {""};
        struct neuron_setup setup = {.seed = network->seed,
                                     .resolution_ms = description->given.resolution_ms,
                                     .input_unit = network->weight_unit,
                                     .population = p,
                                     .share = {population->first, 1, population->size}};
        if (!neuron_model_read(population, &model[p], setup.parameters, &error)) fail_msg("%s", error.text);
        state[p] = model[p]->open(&setup);
    }
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t p = 0; p < network->n_populations; p++) {
            uint32_t first = network->populations[p].first;
            uint64_t events = add_external(network, p, step, input + (size_t)step * n + first);
            if (step >= warmup) outcome.external_events += events;
            uint32_t count = model[p]->update(state[p], input + (size_t)step * n + first, step, fired);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t gid = first + fired[i];
                uint64_t outdegree = 0;
                for (uint64_t s = 0; s < all.n; s++) {
                    if (all.synapse[s].source != gid) continue;
                    input[(size_t)(step + all.synapse[s].delay) * n + all.synapse[s].target] +=
                        all.synapse[s].weight;
                    outdegree++;
                }
                if (step < warmup) continue;
                outcome.spikes++;
                outcome.synaptic_events += outdegree;
                outcome.first_accesses += outdegree > 0;
                outcome.checksum += checksum_spike(gid, step);
            }
        }
    for (uint32_t p = 0; p < network->n_populations; p++) {
        for (uint32_t i = 0; i < network->populations[p].size; i++)
            outcome.checksum +=
                checksum_state(network->populations[p].first + i, model[p]->state_of(state[p], i));
        model[p]->close(state[p]);
    }
    FREE(all.synapse, input, fired, state, model);
    return outcome;
}

static struct planned *plan(const char *const *overrides, int ranks) {
    static struct planned p;
    p = (struct planned){.refused = {""}};
    if (try_open(&p.d, eight_areas, overrides, &p.refused) &&
        open_placement(&p.placement, &p.d, ranks, 1, NULL, &p.refused))
        schedule_plan(&p.schedule, &p.d, &p.placement, &p.refused);
    return &p;
}

struct planned *accept(const char *const *overrides, int ranks) {
    struct planned *p = plan(overrides, ranks);
    if (error_stands(&p->refused)) fail_msg("%s", p->refused.text);
    return p;
}

void finish(struct planned *planned) {
    schedule_close(&planned->schedule);
    placement_close(&planned->placement);
    description_close(&planned->d);
}

void assert_no_plan(const char *const *overrides, int ranks, const char *message) {
    struct planned *p = plan(overrides, ranks);
    assert_true(error_stands(&p->refused));
    if (!strstr(p->refused.text, message))
        fail_msg("the message is '%s', expected '%s'", p->refused.text, message);
    finish(p);
}

const char *const narrow_weight = "network.projections.0.weight=2";
const char *const wide_weight = "network.projections.0.weight=1.2345678";
const char *const own_weights = "network.projections.0.weight={\"mean\": 2, \"sd\": 0.5, \"classes\": 0}";

struct outcome expect(const char *weight, bool narrow) {
    struct description description;
    open_description(&description, eight_areas, (const char *const[]){weight, NULL});
    assert_int_equal(description.network.narrow_input, narrow);
    struct outcome expected = run_brute_force(&description, -1);
    assert_true(expected.spikes > 100);
    description_close(&description);
    return expected;
}

void check_outcome(const char *const *overrides, int threads, const struct outcome *expected) {
    struct description description;
    open_description(&description, eight_areas, overrides);
    struct outcome outcome = run_network(&description, threads, MPI_COMM_WORLD, NULL);
    if (outcome.checksum != expected->checksum || outcome.spikes != expected->spikes ||
        outcome.synaptic_events != expected->synaptic_events || outcome.synapses != expected->synapses ||
        outcome.external_events != expected->external_events)
        fail_msg(
            "%s, %s, %s, %d threads: checksum %llx, %llu spikes, %llu events, %llu from outside; by brute "
            "force %llx, %llu, %llu, %llu",
            overrides[0], overrides[1], overrides[2], threads, (unsigned long long)outcome.checksum,
            (unsigned long long)outcome.spikes, (unsigned long long)outcome.synaptic_events,
            (unsigned long long)outcome.external_events, (unsigned long long)expected->checksum,
            (unsigned long long)expected->spikes, (unsigned long long)expected->synaptic_events,
            (unsigned long long)expected->external_events);
    assert_true(outcome.first_accesses >= expected->first_accesses);
    description_close(&description);
}
