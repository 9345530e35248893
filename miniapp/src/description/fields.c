/// \file
/// Steps through objects and lists of a description and keeps the path for messages.
///
/// Every function either finds what it is asked for or leaves one line that begins with the path of the
/// field. How the fields of an object are checked against their table stands in field_table.c.

#include "description/fields.h"

#include "base/registry.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error) {
    // At most 60 characters of the value are quoted: a list can be long.
    char *text = json_dumps(json_object_get(fields->object, name),
                            JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    bool cut = text && strlen(text) > 60;
    error_set(error, "%s%s: %.60s%s; expected %s", fields->path, name, text ? text : "nothing",
              cut ? "..." : "", allowed);
    free(text);
    return false;
}

json_t *fields_get(const struct fields *fields, const char *name, json_t *fallback, const char *allowed,
                   struct error *error) {
    json_t *field = json_object_get(fields->object, name);
    if (field)
        json_decref(fallback);
    else if (fallback)
        json_object_set_new(fields->object, name, field = fallback);
    else
        error_set(error, "%s%s: missing; expected %s", fields->path, name, allowed);
    return field;
}

/// Makes `inner` the object that stands at a path. Fails where the path is too long.
static bool placed(struct fields *inner, json_t *object, struct error *error, const char *format,
                   const char *path, const char *name, size_t index) {
    int n = snprintf(inner->path, sizeof inner->path, format, path, name, index);
    if (n < 0 || (size_t)n >= sizeof inner->path)
        return error_set(error, "%s%s: nested too deeply", path, name);
    inner->object = object;
    return true;
}

bool fields_enter(const struct fields *parent, const char *name, bool required, struct fields *inner,
                  struct error *error) {
    json_t *object = fields_get(parent, name, required ? NULL : json_object(), "an object", error);
    if (!object) return false;
    if (!json_is_object(object)) return fields_refuse(parent, name, "an object", error);
    return placed(inner, object, error, "%s%s.", parent->path, name, 0);
}

// The list is borrowed from the object, also where it has just been made.
bool fields_list(const struct fields *fields, const char *name, bool required, json_t **list,
                 struct error *error) {
    *list = fields_get(fields, name, required ? NULL : json_array(), "a list", error);
    return *list && (json_is_array(*list) || fields_refuse(fields, name, "a list", error));
}

// Items are named by their number, as --set names them: "network.populations.0.".
bool fields_item(const struct fields *fields, const char *name, size_t index, struct fields *item,
                 struct error *error) {
    json_t *object = json_array_get(json_object_get(fields->object, name), index);
    if (!json_is_object(object))
        return error_set(error, "%s%s.%zu: not an object; expected an object", fields->path, name, index);
    return placed(item, object, error, "%s%s.%zu.", fields->path, name, index);
}

bool fields_only(const struct fields *fields, const char *const *names, size_t count, struct error *error) {
    const char *key;
    json_t *value;
    // The first unknown name is refused; the message lists those that are known.
    json_object_foreach(fields->object, key, value) {
        bool known = false;
        for (size_t i = 0; i < count; i++) known = known || strcmp(key, names[i]) == 0;
        if (known) continue;
        struct name_list allowed = {"", 0};
        for (size_t i = 0; i < count; i++) name_list_add(&allowed, names[i]);
        return error_set(error, "%s%.80s: unknown field; expected %s", fields->path, key, allowed.text);
    }
    return true;
}
