/// \file
/// Values of a record: null where they are unknown. A number is unknown that is not finite, a count that is
/// 0, and a text that is NULL or empty. Nothing that was not measured is ever written as 0.

#pragma once

#include <jansson.h>
#include <math.h>
#include <stdint.h>

/// Returns a number as a new value, null if it is NAN or infinite.
static inline json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/// Returns a count as a new value, null if it is 0.
static inline json_t *known_count(uint64_t count) {
    return count ? json_integer((json_int_t)count) : json_null();
}

/// Returns a text as a new value, null if there is none.
static inline json_t *known_text(const char *text) {
    return text && *text ? json_string(text) : json_null();
}
