#include "description/description.h"

#include "base/alloc.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/// Reads the value as JSON, or else as a string.
static json_t *parse_value(const char *text) {
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : json_string(text);
}

/// Returns the index that `key` names in `list`, or the size of the list if it names none.
static size_t list_index(json_t *list, const char *key) {
    char *end;
    size_t index = isdigit((unsigned char)*key) ? strtoul(key, &end, 10) : json_array_size(list);
    bool valid = isdigit((unsigned char)*key) && *end == '\0' && index < json_array_size(list);
    return valid ? index : json_array_size(list);
}

static bool refuse_index(const char *assignment, json_t *list, const char *key, struct error *error) {
    if (json_array_size(list) == 0)
        return error_set(error, "--set %s: %s; allowed: no item, the list is empty", assignment, key);
    return error_set(error, "--set %s: %s; allowed: an item from 0 to %zu", assignment, key,
                     json_array_size(list) - 1);
}

/// Returns the object or list below `key`. In an object it is made if it is missing.
static json_t *step_into(json_t *at, const char *key, const char *assignment, struct error *error) {
    if (json_is_array(at)) {
        size_t index = list_index(at, key);
        if (index == json_array_size(at)) refuse_index(assignment, at, key, error);
        return json_array_get(at, index);
    }
    json_t *inner = json_object_get(at, key);
    if (!inner && json_is_object(at)) json_object_set_new(at, key, inner = json_object());
    if (!json_is_object(inner) && !json_is_array(inner)) {
        error_set(error, "--set %s: %s is not an object or a list; allowed: path.to.field=value", assignment,
                  key);
        return NULL;
    }
    return inner;
}

bool description_override(json_t *run, const char *assignment, struct error *error) {
    enum { deepest = 32 };
    const char *equals = strchr(assignment, '=');
    json_t *utf8 = json_string(assignment);
    json_decref(utf8);
    if (!utf8)
        return error_set(error, "--set: an assignment that is not UTF-8; allowed: path.to.field=value");
    if (!equals || equals == assignment)
        return error_set(error, "--set %.200s: no field or no value; allowed: path.to.field=value",
                         assignment);
    int depth = 0;
    for (const char *c = assignment; c < equals; c++) depth += *c == '.';
    if (depth > deepest)
        return error_set(error, "--set %.40s...: %d levels; allowed: at most %d", assignment, depth, deepest);
    char *path = alloc_string(assignment), *rest = path, *key;
    path[equals - assignment] = '\0';

    json_t *at = run;
    while ((key = strsep(&rest, ".")) && rest && at) at = step_into(at, key, assignment, error);
    if (at && json_is_array(at)) {
        size_t index = list_index(at, key);
        if (index == json_array_size(at))
            refuse_index(assignment, at, key, error);
        else
            json_array_set_new(at, index, parse_value(equals + 1));
    } else if (at) {
        json_object_set_new(at, key, parse_value(equals + 1));
    }
    free(path);
    return !error_stands(error);
}
