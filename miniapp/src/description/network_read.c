/// \file
/// Reads populations and projections of a description, and closes what they hold.
///
/// network_open() reads the populations, numbers their neurons one after the other, reads the projections,
/// and then chooses the unit of the weights (fixed_point.c), for which all of them have to be known. Names
/// are looked up here once; from then on populations, areas and projections are numbers.
///
/// Cost: the size of the description; memory: the same. Nothing here depends on the number of neurons.

#include "description/network_read.h"

#include "base/alloc.h"
#include "base/registry.h"
#include "description/fixed_point.h"
#include "description/poisson.h"
#include <stdio.h>

/// The fields of a population and of its external input.
struct given_population {
    const char *name;
    double size, rate_hz, synapses, weight; ///< the latter three of `external`
};

#define AT(member) offsetof(struct given_population, member)
static const struct field
    of_network[] = {LIST("populations", REQUIRED, type_object), LIST("projections", ABSENT, type_object)},
    of_population[] = {TEXT("name", AT(name)),
                       {"area", type_text, FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
                       INTEGER("size", AT(size), REQUIRED, 0, 4e9),
                       OBJECT("neuron", REQUIRED),
                       OBJECT("external", ABSENT)},
    of_external[] = {NUMBER("rate_hz", AT(rate_hz), REQUIRED, 0, 1e9),
                     INTEGER("synapses", AT(synapses), 1, 0, 1e9),
                     NUMBER("weight", AT(weight), REQUIRED, -1e12, 1e12)},
    of_projection[] = {{"source", type_text | type_list, FIELD_APART, REQUIRED, 0, 0, NULL, NULL, type_text},
                       {"target", type_text, FIELD_APART, REQUIRED, 0, 0, NULL, NULL, 0},
                       {"indegree", type_integer | type_object, FIELD_APART, REQUIRED, 0, 4e9, NULL, NULL, 0},
                       {"weight", type_number | type_object, FIELD_APART, 1, -1e12, 1e12, NULL, NULL, 0},
                       OBJECT("delay", REQUIRED)};
const struct field_table table_of_network = FIELD_TABLE("network.", of_network),
                         table_of_population = FIELD_TABLE("network.populations.*.", of_population),
                         table_of_external = FIELD_TABLE("network.populations.*.external.", of_external),
                         table_of_projection = FIELD_TABLE("network.projections.*.", of_projection);

/// Reads the external input of a population, if it has any.
static bool read_external(struct external *external, const struct fields *population, double resolution_ms,
                          struct error *error) {
    struct given_population given;
    struct fields fields;
    if (!json_object_get(population->object, "external")) return true;
    if (!fields_enter(population, "external", true, &fields, error) ||
        !fields_read(&fields, &table_of_external, &given, error))
        return false;
    external->weight = given.weight;
    const double rate_hz = given.rate_hz, synapses = given.synapses;
    if (external->weight != 0 && fabs(external->weight) < 1e-100)
        return fields_refuse(&fields, "weight", "0, or a number from 1e-100 to 1e12 in magnitude", error);
    // Events of all sources together, in a step.
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

/// Reads a population and numbers its neurons after those of the one before. Areas are numbered as they
/// appear.
static bool read_population(struct network *network, struct population *population,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    struct given_population given;
    if (!fields_read(fields, &table_of_population, &given, error) ||
        !fields_string(fields, "area", given.name, &population->area_name, error) ||
        !fields_enter(fields, "neuron", true, &population->neuron, error) ||
        !fields_string(&population->neuron, "model", NULL, &population->model, error) ||
        !read_external(&population->external, fields, resolution_ms, error))
        return false;

    population->name = given.name;
    // Ids follow each other in the order of populations.
    population->first = network->n_neurons;
    population->size = (uint32_t)given.size;
    if (given.size + network->n_neurons > 4e9)
        return fields_refuse(fields, "size", "at most 4000000000 neurons in all", error);
    network->n_neurons += population->size;

    if (json_object_get(network->population_numbers, population->name))
        return fields_refuse(fields, "name", "a name that no other population has", error);
    json_object_set_new(network->population_numbers, population->name,
                        json_integer(population - network->populations));
    // A new area gets the next number.
    const json_t *area = json_object_get(network->area_numbers, population->area_name);
    population->area = area ? (uint32_t)json_integer_value(area) : network->n_areas;
    if (!area)
        json_object_set_new(network->area_numbers, population->area_name, json_integer(network->n_areas++));
    return true;
}

/// Returns the population of that name; NULL where there is none.
static const struct population *find(const struct network *network, const char *name) {
    const json_t *number = name ? json_object_get(network->population_numbers, name) : NULL;
    return number ? &network->populations[json_integer_value(number)] : NULL;
}

/// Refuses the name of a population that is not there, and lists those that are.
static bool refuse_population(const struct network *network, const struct fields *fields, const char *name,
                              struct error *error) {
    struct name_list names = {"", 0};
    char allowed[name_list_bytes + 40];
    for (uint32_t i = 0; i < network->n_populations; i++) name_list_add(&names, network->populations[i].name);
    snprintf(allowed, sizeof allowed, "the name of a population: %s", names.text);
    return fields_refuse(fields, name, allowed, error);
}

/// Reads the sources of a projection into one pool, from which each synapse draws a position. A population
/// may be in it several times.
static bool read_sources(const struct network *network, struct projection *projection,
                         const struct fields *fields, struct error *error) {
    json_t *names = json_object_get(fields->object, "source");
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
        // The pool is a list of ranges of ids, so that a position in it becomes an id by a few comparisons.
        struct source_range *next = projection->ranges + projection->n_ranges;
        struct source_range *last = projection->n_ranges > 0 ? next - 1 : NULL;
        if (last && last->first + (last->end - last->begin) == source->first)
            last->end += source->size; // neighbouring populations make one range
        else
            projection->ranges[projection->n_ranges++] =
                (struct source_range){source->first, projection->pool + source->size, projection->pool};
        projection->pool += source->size;
    }
    return true;
}

/// Reads a projection, whose populations have been read before.
static bool read_projection(struct network *network, struct projection *projection,
                            const struct fields *fields, double resolution_ms, struct error *error) {
    if (!fields_read(fields, &table_of_projection, NULL, error)) return false;
    const char *target = json_string_value(json_object_get(fields->object, "target"));
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
        !fields_read(&fields, &table_of_network, NULL, error) ||
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

    // Projections need the populations that they name.
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
