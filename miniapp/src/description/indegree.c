/// \file
/// Makes the Poisson distribution of in-degrees by its recurrence, and reads the field of a projection.
///
/// Only numbers that a word of 32 bits can reach are kept, so that `least` and `most` bound what can occur:
/// the bound of the input of a neuron, and so the unit of the weights, needs the most (fixed_point.c).

#include "description/indegree.h"

#include "base/alloc.h"
#include "description/field_table.h"
#include <stddef.h>
#include <stdlib.h>

/// Below the smallest mean, rounding to 2^-32 would be felt; above the largest, nobody has needed more.
static const double mean_min = 1e-4;
#define mean_max 1e6

/// Numbers that are less likely than the likeliest one by this factor are not drawn: no word reaches them.
static const double negligible = 1e-11;

/// Computes the Poisson distribution by its recurrence, from the likeliest number in both directions.
static void open_poisson(struct indegree *indegree) {
    const double mean = indegree->mean;
    const uint32_t likeliest = (uint32_t)mean;
    double relative = 1;
    indegree->least = indegree->most = likeliest;
    while (indegree->least > 0 && relative > negligible) relative *= indegree->least-- / mean;
    relative = 1;
    while (relative > negligible) relative *= mean / ++indegree->most;

    // The likeliest number gets 1; discrete_open() scales.
    const uint32_t n = indegree->most - indegree->least + 1;
    double *probability = ALLOC(double, n);
    probability[likeliest - indegree->least] = 1;
    for (uint32_t k = likeliest; k > indegree->least; k--)
        probability[k - 1 - indegree->least] = probability[k - indegree->least] * k / mean;
    for (uint32_t k = likeliest; k < indegree->most; k++)
        probability[k + 1 - indegree->least] = probability[k - indegree->least] * mean / (k + 1);
    indegree->above = ALLOC(struct discrete, 1);
    discrete_open(indegree->above, probability, n);
    free(probability);
}

/// The fields of an in-degree that is an object.
struct given_indegree {
    double mean;
    const char *distribution;
};

static const struct field of_indegree[] = {
    NUMBER("mean", offsetof(struct given_indegree, mean), REQUIRED, 0, mean_max),
    WORD("distribution", offsetof(struct given_indegree, distribution), "poisson", "poisson")};
const struct field_table table_of_indegree = FIELD_TABLE("network.projections.*.indegree.", of_indegree);

bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error) {
    struct given_indegree given;
    struct fields fields;
    const json_t *field = json_object_get(projection->object, "indegree");
    *indegree = (struct indegree){0};
    if (!json_is_object(field)) {
        indegree->mean = json_number_value(field);
        indegree->least = indegree->most = (uint32_t)indegree->mean;
        return true;
    }
    if (!fields_enter(projection, "indegree", true, &fields, error) ||
        !fields_read(&fields, &table_of_indegree, &given, error))
        return false;
    indegree->mean = given.mean;
    if (indegree->mean > 0 && indegree->mean < mean_min)
        return error_set(error, "%smean: %.10g; expected 0, or a number from %g to %g", fields.path,
                         indegree->mean, mean_min, mean_max);
    if (indegree->mean > 0) open_poisson(indegree);
    return true;
}

void indegree_close(struct indegree *indegree) {
    if (indegree->above) free(indegree->above->upper);
    free(indegree->above);
}
