/// \file
/// A number of a record, or null where it is unknown.

#ifndef BASE_JSON_NUMBER_H
#define BASE_JSON_NUMBER_H

#include <jansson.h>
#include <math.h>

/// Returns a new number, or null for one that is not finite.
static inline json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

#endif
