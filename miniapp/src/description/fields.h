/// \file
/// An object of the description and its path, for reading JSON strictly: what is not expected is refused.
///
/// Each function returns false after error_set() with one line: the field's path
/// ("network.populations.0.size"), its value and what is expected. The fallback of an absent field is written
/// into the object, so that the object in the record says what was run.

#pragma once

#include "base/error.h"
#include <jansson.h>

/// An object of the description and where it stands, for messages.
struct fields {
    json_t *object; ///< borrowed
    char path[200]; ///< "" at the top, else with the trailing dot: "network.populations.0."
};

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

/// Returns a field, borrowed. Where it is absent, it becomes `fallback`, a new value that the object then
/// owns; with NULL it is missed, and `allowed` says in the error what is expected.
json_t *fields_get(const struct fields *fields, const char *name, json_t *fallback, const char *allowed,
                   struct error *error);

/// Refuses a field that is there: "path.name: value; expected what".
bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error);
