/// \file
/// Reads JSON objects strictly: every field must be expected, of the right type and in its range. Each
/// function returns false after error_set() with one line: the field's path ("network.populations.0.size"),
/// its value and what is expected. The fallback of an absent field is written into the object.

#pragma once

#include "base/error.h"
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>

struct fields {
    json_t *object; ///< borrowed
    char path[200]; ///< "" at the top, else with the trailing dot: "network.populations.0."
};

/// What a field must be, and where its value goes: a double or, of a text, a borrowed string. A number that
/// is required has the fallback REQUIRED, a text NULL. Fields that are `field_known` are read in another way.
struct field {
    const char *name;
    enum field_kind { field_known, field_number, field_integer, field_boolean, field_text } kind;
    size_t at; ///< in the struct that is read
    double fallback, low, high;
    const char *text; ///< fallback of a text
};

#define REQUIRED NAN
#define KNOWN(name)                                                                                          \
    { name, field_known, 0, 0, 0, 0, NULL }
#define TEXT(name, at, fallback)                                                                             \
    { name, field_text, at, 0, 0, 0, fallback }
#define BOOLEAN(name, at, fallback)                                                                          \
    { name, field_boolean, at, fallback, 0, 1, NULL }
#define NUMBER(name, at, fallback, ...)                                                                      \
    { name, field_number, at, fallback, __VA_ARGS__, NULL }
#define INTEGER(name, at, fallback, ...)                                                                     \
    { name, field_integer, at, fallback, __VA_ARGS__, NULL }

/// Refuses fields that are not among the `n` of a table, and reads these.
bool fields_table(const struct fields *fields, const struct field *table, size_t n, void *into,
                  struct error *error);
#define FIELDS_READ(fields, table, into, error)                                                              \
    fields_table(fields, table, sizeof(table) / sizeof *(table), into, error)
/// Enters the object `name` of `parent`; finds the list `name`, which is borrowed; enters item `index` of
/// that list, an object. Where the object or list is absent and not `required`, an empty one is made.
bool fields_enter(const struct fields *parent, const char *name, bool required, struct fields *inner,
                  struct error *error);
bool fields_list(const struct fields *fields, const char *name, bool required, json_t **list,
                 struct error *error);
bool fields_item(const struct fields *fields, const char *name, size_t index, struct fields *item,
                 struct error *error);

/// Refuses fields that are not among the `count` names, or those that follow.
bool fields_only(const struct fields *fields, const char *const *names, size_t count, struct error *error);
#define FIELDS_ONLY(fields, error, ...)                                                                      \
    fields_only(fields, (const char *const[]){__VA_ARGS__},                                                  \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), error)

/// These read one field, with fallbacks as in a table.
bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error);
bool fields_integer(const struct fields *fields, const char *name, double fallback, double low, double high,
                    double *value, struct error *error);
bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error);

/// Refuses a field that is there: "path.name: value; expected what".
bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error);

struct parameter {
    const char *name; ///< ends in the unit
    double fallback, low, high;
};

// -------------------- known
// Values of a record: null where they are unknown, which is a number that is not finite, a count of 0, and no
// text or an empty one.

static inline json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *known_count(uint64_t count) {
    return count ? json_integer((json_int_t)count) : json_null();
}

static inline json_t *known_text(const char *text) {
    return text && *text ? json_string(text) : json_null();
}
