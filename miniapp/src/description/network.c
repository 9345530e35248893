#include "description/network.h"

#include "base/alloc.h"
#include "base/registry.h"
#include "description/fixed_point.h"
#include "description/poisson.h"
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
    static const char *const names[] = {"rate_hz", "synapses", "weight"};
    struct fields fields;
    double rate_hz, synapses;
    if (!json_object_get(population->object, "external")) return true;
    if (!fields_enter(population, "external", true, &fields, error) ||
        !fields_only(&fields, names, COUNT(names), error) ||
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
            "%srate_hz: %.10g; allowed: 0, or %.4g to %.10g, so that a neuron receives %.2g to %d "
            "events per step of %.10g ms from %.10g synapses",
            fields.path, rate_hz, poisson_mean_min / per_hz, poisson_mean_max / per_hz, poisson_mean_min,
            poisson_mean_max, resolution_ms, synapses);
    struct poisson poisson = poisson_open(external->mean);
    external->most = poisson_most(&poisson);
    return true;
}

static bool read_population(struct network *network, struct population *population,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    static const char *const names[] = {"name", "area", "size", "neuron", "external"};
    double size;
    if (!fields_only(fields, names, COUNT(names), error) ||
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

/// Appends a source population to the pool; neighbouring populations make one range.
static void add_source(const struct network *network, struct projection *projection,
                       const struct population *source) {
    if (source->size == 0) return;
    projection->sources[projection->n_sources++] = (uint32_t)(source - network->populations);
    struct source_range *last = projection->ranges + projection->n_ranges - 1;
    if (projection->n_ranges > 0 && last->first + (last->end - last->begin) == source->first)
        last->end += source->size;
    else
        projection->ranges[projection->n_ranges++] =
            (struct source_range){source->first, projection->pool + source->size, projection->pool};
    projection->pool += source->size;
}

static bool read_sources(const struct network *network, struct projection *projection,
                         const struct fields *fields, struct error *error) {
    json_t *names = json_object_get(fields->object, "source");
    if (!names)
        return error_set(error, "%ssource: missing; allowed: a name or a list of names", fields->path);
    size_t count = json_is_array(names) ? json_array_size(names) : 1;
    projection->ranges = ALLOC(struct source_range, count + 1);
    projection->sources = ALLOC(uint32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        json_t *name = json_is_array(names) ? json_array_get(names, i) : names;
        const struct population *source = find(network, json_string_value(name));
        if (!source) return refuse_population(network, fields, "source", error);
        if ((uint64_t)projection->pool + source->size > UINT32_MAX)
            return fields_refuse(fields, "source", "at most 4294967295 neurons in the pool", error);
        add_source(network, projection, source);
    }
    return true;
}

static bool read_projection(struct network *network, struct projection *projection,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    static const char *const names[] = {"source", "target", "indegree", "weight", "delay"};
    const char *target;
    if (!fields_only(fields, names, COUNT(names), error) ||
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
    static const char *const names[] = {"populations", "projections"};
    struct fields fields, item;
    json_t *populations, *projections;
    *network = (struct network){
        .seed = seed, .weight_unit = 1, .population_numbers = json_object(), .area_numbers = json_object()};
    if (!fields_enter(run, "network", true, &fields, error) ||
        !fields_only(&fields, names, COUNT(names), error) ||
        !fields_list(&fields, "populations", true, &populations, error) ||
        !fields_list(&fields, "projections", false, &projections, error))
        return false;

    network->populations = ALLOC_ZERO(struct population, json_array_size(populations));
    for (size_t i = 0; i < json_array_size(populations); i++, network->n_populations++)
        if (!fields_item(&fields, "populations", i, &item, error) ||
            !read_population(network, &network->populations[i], &item, resolution_ms, error))
            return false;
    if (network->n_neurons == 0)
        return error_set(error, "network.populations: no neuron; allowed: at least one neuron in all");

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
        free(network->projections[i].ranges);
        free(network->projections[i].sources);
        indegree_close(&network->projections[i].indegree);
        weights_close(&network->projections[i].weights);
        delay_close(&network->projections[i].delay);
    }
    free(network->normal);
    free(network->projections);
    free(network->populations);
    json_decref(network->population_numbers);
    json_decref(network->area_numbers);
}
