#include "description/network.h"

#include "base/alloc.h"
#include <stdio.h>
#include <stdlib.h>

// -------------------- unit of the weights

/// Projections without synapses have no say in the unit of the weights.
static bool has_synapses(const struct network *network, uint32_t projection) {
    const struct projection *p = &network->projections[projection];
    return p->indegree.most > 0 && network->populations[p->target].size > 0;
}

/// Populations without neurons, or without input from outside, have none either.
static bool has_external(const struct population *population) {
    return population->size > 0 && population->external.mean > 0;
}

/// Finds the largest input of a neuron in a step: from its sources, if all of them fire at once, and in all.
/// \return the population of the neuron with the most in all.
static uint32_t largest_input(const struct network *network, double *synapses, double *all) {
    uint32_t most = 0;
    double *sum = ALLOC_ZERO(double, network->n_populations);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        if (!has_synapses(network, i)) continue;
        sum[p->target] += weights_largest(&p->weights) * p->indegree.most;
    }
    *synapses = *all = 0;
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const struct external *external = &network->populations[p].external;
        *synapses = fmax(*synapses, sum[p]);
        if (has_external(&network->populations[p])) sum[p] += fabs(external->weight) * external->most;
        if (sum[p] > *all) most = p;
        *all = fmax(*all, sum[p]);
    }
    free(sum);
    return most;
}

/// Returns every weight that can become input, [*n]; the caller frees it.
static double *all_weights(const struct network *network, size_t *n) {
    size_t most = network->n_populations;
    for (uint32_t i = 0; i < network->n_projections; i++) most += network->projections[i].weights.classes;
    double *all = ALLOC(double, most);
    *n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct weights *weights = &network->projections[i].weights;
        for (uint32_t k = 0; has_synapses(network, i) && k < weights->classes; k++)
            all[(*n)++] = weights->weight[k];
    }
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (has_external(&network->populations[p])) all[(*n)++] = network->populations[p].external.weight;
    return all;
}

/// Returns a unit of which all weights are multiples, up to the rounding of decimal fractions, such that
/// input from synapses stays within 16 bits and all input within 32; 0 if there is none.
static double narrow_unit(const struct network *network, double synapses, double all) {
    size_t n, good = 0;
    double smallest = INFINITY, unit = 0;
    if (network->normal) return 0;
    if (all == 0) return 1;
    double *weight = all_weights(network, &n);
    for (size_t i = 0; i < n; i++)
        if (weight[i] != 0) smallest = fmin(smallest, fabs(weight[i]));
    for (int part = 1; good < n || part == 1; part++) {
        unit = smallest / part;
        if (part > 64 || !(synapses / unit <= INT16_MAX) || !(all / unit <= INT32_MAX)) break;
        for (good = 0; good < n; good++)
            if (!(fabs(weight[good] / unit - nearbyint(weight[good] / unit)) <= 1e-9)) break;
    }
    free(weight);
    return good == n ? unit : 0;
}

/// Refuses a weight that has too few units to be told from others.
static bool check_weight(const struct network *network, const char *path, const char *list, uint32_t i,
                         const char *field, double weight, double largest, uint32_t most,
                         struct error *error) {
    if (network->narrow_input || weight == 0 || fabs(nearbyint(weight / network->weight_unit)) >= 16)
        return true;
    return error_set(
        error,
        "%s%s.%u.%s: %.10g; expected 0 or at least %.3g in magnitude, since the input of a neuron, "
        "up to %.3g (in population %s), is summed in 32-bit fixed point",
        path, list, i, field, weight, 16 * network->weight_unit, largest, network->populations[most].name);
}

/// Chooses network.weight_unit and whether input is narrow, so that the input of no neuron can overflow, even
/// if all its sources fire in one step and its input from outside is at its largest. Then expresses all
/// weights in that unit. Fails where a weight is too small for it. `fields` is the object "network".
static bool fixed_point_choose(struct network *network, const struct fields *fields, struct error *error) {
    double synapses, all;
    for (uint32_t i = 0; i < network->n_projections; i++)
        if (has_synapses(network, i) && network->projections[i].weights.classes == 0 && !network->normal)
            network->normal = normal_open();
    const uint32_t most = largest_input(network, &synapses, &all);
    const double unit = narrow_unit(network, synapses, all);
    network->narrow_input = unit > 0;
    network->weight_unit = unit > 0 ? unit : exp2(ceil(log2(all)) - 30);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        struct weights *weights = &network->projections[i].weights;
        if (!has_synapses(network, i)) continue;
        if (!check_weight(network, fields->path, "projections", i, "weight", weights->mean, all, most, error))
            return false;
        weights_set_unit(weights, network->weight_unit);
    }
    for (uint32_t p = 0; p < network->n_populations; p++) {
        struct external *external = &network->populations[p].external;
        if (!has_external(&network->populations[p])) continue;
        if (!check_weight(network, fields->path, "populations", p, "external.weight", external->weight, all,
                          most, error))
            return false;
        external->weight_units = (int32_t)nearbyint(external->weight / network->weight_unit);
    }
    return true;
}

// -------------------- network

uint32_t network_population(const struct network *network, uint32_t gid) {
    uint32_t low = 0, high = network->n_populations;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (network->populations[middle].first <= gid)
            low = middle;
        else
            high = middle;
    }
    return low; // the last population that starts at or before gid, so never an empty one
}

uint64_t network_synapses(const struct network *network) {
    double n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *projection = &network->projections[i];
        n += projection->indegree.mean * network->populations[projection->target].size;
    }
    return (uint64_t)nearbyint(n);
}

static bool read_external(struct external *external, const struct fields *population, double resolution_ms,
                          struct error *error) {
    struct fields fields;
    double rate_hz, synapses;
    if (!json_object_get(population->object, "external")) return true;
    if (!fields_enter(population, "external", true, &fields, error) ||
        !FIELDS_ONLY(&fields, error, "rate_hz", "synapses", "weight") ||
        !fields_number(&fields, "rate_hz", NAN, 0, 1e9, &rate_hz, error) ||
        !fields_integer(&fields, "synapses", 1, 0, 1e9, &synapses, error) ||
        !fields_number(&fields, "weight", NAN, -1e12, 1e12, &external->weight, error))
        return false;
    if (external->weight != 0 && fabs(external->weight) < 1e-100)
        return fields_refuse(&fields, "weight", "0, or a number from 1e-100 to 1e12 in magnitude", error);
    external->mean = synapses * rate_hz * 1e-3 * resolution_ms;
    const double per_hz = synapses * 1e-3 * resolution_ms;
    if (external->mean > poisson_mean_max || (external->mean > 0 && external->mean < poisson_mean_min))
        return error_set(
            error,
            "%srate_hz: %.10g; expected 0, or %.4g to %.10g, so that a neuron receives %.2g to %d "
            "events per step of %.10g ms from %.10g synapses",
            fields.path, rate_hz, poisson_mean_min / per_hz, poisson_mean_max / per_hz, poisson_mean_min,
            poisson_mean_max, resolution_ms, synapses);
    struct poisson poisson = poisson_open(external->mean);
    external->most = poisson_most(&poisson);
    return true;
}

static bool read_population(struct network *network, struct population *population,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    double size;
    if (!FIELDS_ONLY(fields, error, "name", "area", "size", "neuron", "external") ||
        !fields_string(fields, "name", NULL, &population->name, error) ||
        !fields_string(fields, "area", population->name, &population->area_name, error) ||
        !fields_integer(fields, "size", NAN, 0, 4e9, &size, error) ||
        !fields_enter(fields, "neuron", true, &population->neuron, error) ||
        !fields_string(&population->neuron, "model", NULL, &population->model, error) ||
        !read_external(&population->external, fields, resolution_ms, error))
        return false;

    population->first = network->n_neurons;
    population->size = (uint32_t)size;
    if (size + network->n_neurons > 4e9)
        return fields_refuse(fields, "size", "at most 4000000000 neurons in all", error);
    network->n_neurons += population->size;

    if (json_object_get(network->population_numbers, population->name))
        return fields_refuse(fields, "name", "a name that no other population has", error);
    json_object_set_new(network->population_numbers, population->name,
                        json_integer(population - network->populations));
    const json_t *area = json_object_get(network->area_numbers, population->area_name);
    population->area = area ? (uint32_t)json_integer_value(area) : network->n_areas;
    if (!area)
        json_object_set_new(network->area_numbers, population->area_name, json_integer(network->n_areas++));
    return true;
}

static const struct population *find(const struct network *network, const char *name) {
    const json_t *number = name ? json_object_get(network->population_numbers, name) : NULL;
    return number ? &network->populations[json_integer_value(number)] : NULL;
}

static bool refuse_population(const struct network *network, const struct fields *fields, const char *name,
                              struct error *error) {
    struct name_list names = {"", 0};
    char allowed[name_list_bytes + 40];
    for (uint32_t i = 0; i < network->n_populations; i++) name_list_add(&names, network->populations[i].name);
    snprintf(allowed, sizeof allowed, "the name of a population: %s", names.text);
    return fields_refuse(fields, name, allowed, error);
}

static bool read_sources(const struct network *network, struct projection *projection,
                         const struct fields *fields, struct error *error) {
    json_t *names = json_object_get(fields->object, "source");
    if (!names)
        return error_set(error, "%ssource: missing; expected a name or a list of names", fields->path);
    size_t count = json_is_array(names) ? json_array_size(names) : 1;
    projection->ranges = ALLOC(struct source_range, count + 1);
    projection->sources = ALLOC(uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        json_t *name = json_is_array(names) ? json_array_get(names, i) : names;
        const struct population *source = find(network, json_string_value(name));
        if (!source) return refuse_population(network, fields, "source", error);
        if ((uint64_t)projection->pool + source->size > UINT32_MAX)
            return fields_refuse(fields, "source", "at most 4294967295 neurons in the pool", error);
        if (source->size == 0) continue;
        projection->sources[projection->n_sources++] = (uint32_t)(source - network->populations);
        struct source_range *last = projection->ranges + projection->n_ranges - 1;
        if (projection->n_ranges > 0 && last->first + (last->end - last->begin) == source->first)
            last->end += source->size; // neighbouring populations make one range
        else
            projection->ranges[projection->n_ranges++] =
                (struct source_range){source->first, projection->pool + source->size, projection->pool};
        projection->pool += source->size;
    }
    return true;
}

static bool read_projection(struct network *network, struct projection *projection,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    const char *target;
    if (!FIELDS_ONLY(fields, error, "source", "target", "indegree", "weight", "delay") ||
        !fields_string(fields, "target", NULL, &target, error))
        return false;
    const struct population *population = find(network, target);
    if (!population) return refuse_population(network, fields, "target", error);
    projection->target = (uint32_t)(population - network->populations);

    if (!read_sources(network, projection, fields, error) ||
        !indegree_read(&projection->indegree, fields, error) ||
        !weights_read(&projection->weights, fields, error) ||
        !delay_read(&projection->delay, fields, resolution_ms, error))
        return false;
    if (projection->indegree.most > 0 && projection->pool == 0)
        return fields_refuse(fields, "indegree", "0, since the sources hold no neuron", error);
    if (projection->delay.longest > network->longest_delay)
        network->longest_delay = projection->delay.longest;
    return true;
}

bool network_open(struct network *network, const struct fields *run, uint64_t seed, double resolution_ms,
                  struct error *error) {
    struct fields fields, item;
    json_t *populations, *projections;
    *network = (struct network){
        .seed = seed, .weight_unit = 1, .population_numbers = json_object(), .area_numbers = json_object()};
    if (!fields_enter(run, "network", true, &fields, error) ||
        !FIELDS_ONLY(&fields, error, "populations", "projections") ||
        !fields_list(&fields, "populations", true, &populations, error) ||
        !fields_list(&fields, "projections", false, &projections, error))
        return false;

    network->populations = ALLOC_ZERO(struct population, json_array_size(populations));
    for (size_t i = 0; i < json_array_size(populations); i++, network->n_populations++)
        if (!fields_item(&fields, "populations", i, &item, error) ||
            !read_population(network, &network->populations[i], &item, resolution_ms, error))
            return false;
    if (network->n_neurons == 0)
        return error_set(error, "network.populations: no neuron; expected at least one neuron in all");

    network->projections = ALLOC_ZERO(struct projection, json_array_size(projections));
    for (size_t i = 0; i < json_array_size(projections); i++) {
        network->n_projections = (uint32_t)i + 1; // so that network_close() frees what this one holds
        if (!fields_item(&fields, "projections", i, &item, error) ||
            !read_projection(network, &network->projections[i], &item, resolution_ms, error))
            return false;
    }
    return fixed_point_choose(network, &fields, error);
}

void network_close(struct network *network) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        FREE(network->projections[i].ranges, network->projections[i].sources);
        indegree_close(&network->projections[i].indegree);
        weights_close(&network->projections[i].weights);
        delay_close(&network->projections[i].delay);
    }
    FREE(network->normal, network->projections, network->populations);
    json_decref(network->population_numbers);
    json_decref(network->area_numbers);
}

void network_draw(const struct network *network, uint32_t number, uint32_t target, uint32_t first, uint32_t n,
                  uint32_t source[network_batch], uint32_t *delay, uint32_t *weight_word) {
    const struct projection *projection = &network->projections[number];
    uint32_t delay_word[network_batch];
    for (uint32_t k = 0; k < n; k += rng_elements) {
        uint32_t word[4][rng_elements];
        rng_draw_vector(network->seed, rng_synapse, number, target, first + k, word);
        for (uint32_t i = 0; i < rng_elements; i++)
            source[k + i] = rng_below(word[0][i], word[1][i], projection->pool);
        memcpy(delay_word + k, word[2], sizeof word[2]);
        if (weight_word) memcpy(weight_word + k, word[3], sizeof word[3]);
    }
    for (uint32_t k = 0; k < n; k++) source[k] = projection_source(projection, source[k]);
    for (uint32_t k = 0; delay && k < n; k++) delay[k] = delay_draw(&projection->delay, delay_word[k]);
}
