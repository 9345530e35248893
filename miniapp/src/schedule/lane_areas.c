/// \file
/// Turns names of areas into a flag for each area of the network.
///
/// Areas have no list of their own in a description: an area is what populations name, and gets its number
/// when the first of them does. So a name is looked for among the populations. Cost: names x populations,
/// once.

#include "schedule/lane_areas.h"

#include "base/alloc.h"
#include "base/registry.h"
#include <stdlib.h>
#include <string.h>

/// Returns the number of the area of that name, or the number of areas if there is none.
static uint32_t area_find(const struct network *network, const char *name) {
    for (uint32_t p = 0; name && p < network->n_populations; p++)
        if (strcmp(network->populations[p].area_name, name) == 0) return network->populations[p].area;
    return network->n_areas;
}

/// Refuses the value of `from` or `to`, and lists the areas of the network.
static bool refuse_area(const struct fields *lane, const char *field, const json_t *name,
                        const struct network *network, struct error *error) {
    char *shown = json_dumps(name, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    struct name_list allowed = {"", 0};
    for (uint32_t p = 0, area = 0; p < network->n_populations; p++) {
        if (network->populations[p].area != area) continue; // areas are numbered by first appearance
        name_list_add(&allowed, network->populations[p].area_name);
        area++;
    }
    error_set(error, "%s%s: %.60s; expected an area of the network, or a list of them, none twice: %s",
              lane->path, field, shown ? shown : "nothing", allowed.text);
    free(shown);
    return false;
}

bool lane_areas_read(bool **areas, const struct fields *lane, const char *field,
                     const struct network *network, struct error *error) {
    const json_t *given = json_object_get(lane->object, field);
    const bool list = json_is_array(given);
    if (!given) return true;
    if (list && json_array_size(given) == 0) return refuse_area(lane, field, given, network, error);
    *areas = ALLOC_ZERO(bool, network->n_areas);
    for (size_t i = 0; i < (list ? json_array_size(given) : 1); i++) {
        const json_t *name = list ? json_array_get(given, i) : given;
        const uint32_t area = area_find(network, json_string_value(name));
        if (area == network->n_areas || (*areas)[area]) return refuse_area(lane, field, name, network, error);
        (*areas)[area] = true;
    }
    return true;
}
