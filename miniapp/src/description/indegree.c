#include "description/indegree.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Below the smallest mean, rounding to 2^-32 would be felt; above the largest, nobody has needed more.
static const double mean_min = 1e-4, mean_max = 1e6;

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

bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error) {
    static const char *const names[] = {"mean", "distribution"};
    struct fields fields;
    const char *distribution;
    *indegree = (struct indegree){0};
    if (!json_is_object(json_object_get(projection->object, "indegree"))) {
        if (!fields_integer(projection, "indegree", NAN, 0, 4e9, &indegree->mean, error)) return false;
        indegree->least = indegree->most = (uint32_t)indegree->mean;
        return true;
    }
    if (!fields_enter(projection, "indegree", true, &fields, error) ||
        !fields_only(&fields, names, sizeof names / sizeof *names, error) ||
        !fields_number(&fields, "mean", NAN, 0, mean_max, &indegree->mean, error) ||
        !fields_string(&fields, "distribution", "poisson", &distribution, error))
        return false;
    if (strcmp(distribution, "poisson") != 0) return fields_refuse(&fields, "distribution", "poisson", error);
    if (indegree->mean > 0 && indegree->mean < mean_min)
        return error_set(error, "%smean: %.10g; allowed: 0, or a number from %g to %g", fields.path,
                         indegree->mean, mean_min, mean_max);
    if (indegree->mean > 0) open_poisson(indegree);
    return true;
}

void indegree_close(struct indegree *indegree) {
    if (indegree->above) discrete_close(indegree->above);
    free(indegree->above);
}
