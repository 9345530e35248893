/// \file
/// Reads JSON objects strictly: every field must be expected, of the right type and in its range.
///
/// Each function returns false after error_set() with one line that names the field by its path
/// ("network.populations.0.size"), the value and what is allowed. An absent field takes its fallback. The
/// fallback is written into the object, so that the object shows in the end what was run.

#ifndef DESCRIPTION_JSON_FIELDS_H
#define DESCRIPTION_JSON_FIELDS_H

#include "base/error.h"
#include <jansson.h>

/// An object and its place in the description.
struct fields {
    json_t *object; ///< borrowed
    char path[200]; ///< "" at the top, else with the trailing dot: "network.populations.0."
};

/// Enters the object `name` of `parent`. Where it is absent and not `required`, an empty one is made.
bool fields_enter(const struct fields *parent, const char *name, bool required, struct fields *inner,
                  struct error *error);

/// Finds the list `name`, which is borrowed. Where it is absent and not `required`, an empty one is made.
bool fields_list(const struct fields *fields, const char *name, bool required, json_t **list,
                 struct error *error);

/// Enters item `index` of the list `name`, which must be an object.
bool fields_item(const struct fields *fields, const char *name, size_t index, struct fields *item,
                 struct error *error);

/// Refuses fields that are not among the `count` names.
bool fields_only(const struct fields *fields, const char *const *names, size_t count, struct error *error);

/// These read a number. A fallback of NAN means that the field is required.
bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error);
bool fields_integer(const struct fields *fields, const char *name, double fallback, double low, double high,
                    double *value, struct error *error);
bool fields_boolean(const struct fields *fields, const char *name, double fallback, double *value,
                    struct error *error);

/// Reads a string, which is borrowed from the object. A fallback of NULL means that the field is required.
bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error);

/// Refuses a field that is there with "path.name: value; allowed: what", for checks that the functions above
/// cannot make.
bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error);

#endif
