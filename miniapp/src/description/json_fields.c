#include "description/json_fields.h"

#include "base/registry.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error) {
    char *text = json_dumps(json_object_get(fields->object, name),
                            JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    bool cut = text && strlen(text) > 60;
    error_set(error, "%s%s: %.60s%s; allowed: %s", fields->path, name, text ? text : "nothing",
              cut ? "..." : "", allowed);
    free(text);
    return false;
}

static bool missing(const struct fields *fields, const char *name, const char *allowed, struct error *error) {
    return error_set(error, "%s%s: missing; allowed: %s", fields->path, name, allowed);
}

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
    json_t *object = json_object_get(parent->object, name);
    if (!object && required) return missing(parent, name, "an object", error);
    if (!object) {
        object = json_object();
        json_object_set_new(parent->object, name, object);
    }
    if (!json_is_object(object)) return fields_refuse(parent, name, "an object", error);
    return placed(inner, object, error, "%s%s.", parent->path, name, 0);
}

bool fields_list(const struct fields *fields, const char *name, bool required, json_t **list,
                 struct error *error) {
    *list = json_object_get(fields->object, name);
    if (!*list && required) return missing(fields, name, "a list", error);
    if (!*list) {
        *list = json_array();
        json_object_set_new(fields->object, name, *list);
    }
    return json_is_array(*list) || fields_refuse(fields, name, "a list", error);
}

bool fields_item(const struct fields *fields, const char *name, size_t index, struct fields *item,
                 struct error *error) {
    json_t *object = json_array_get(json_object_get(fields->object, name), index);
    if (!json_is_object(object))
        return error_set(error, "%s%s.%zu: not an object; allowed: an object", fields->path, name, index);
    return placed(item, object, error, "%s%s.%zu.", fields->path, name, index);
}

bool fields_only(const struct fields *fields, const char *const *names, size_t count, struct error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(fields->object, key, value) {
        bool known = false;
        for (size_t i = 0; i < count; i++) known = known || strcmp(key, names[i]) == 0;
        if (known) continue;
        struct name_list allowed = {"", 0};
        for (size_t i = 0; i < count; i++) name_list_add(&allowed, names[i]);
        return error_set(error, "%s%.80s: unknown field; allowed: %s", fields->path, key, allowed.text);
    }
    return true;
}

static void range_text(char *text, size_t bytes, const char *what, double low, double high) {
    if (high >= 1e300)
        snprintf(text, bytes, "%s >= %.10g", what, low);
    else
        snprintf(text, bytes, "%s from %.10g to %.16g", what, low, high);
}

bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error) {
    char allowed[120];
    range_text(allowed, sizeof allowed, "a number", low, high);
    json_t *field = json_object_get(fields->object, name);
    if (!field && isnan(fallback)) return missing(fields, name, allowed, error);
    if (!field) {
        field = json_real(fallback);
        json_object_set_new(fields->object, name, field);
    }
    *value = json_number_value(field);
    if (!json_is_number(field) || !(*value >= low && *value <= high))
        return fields_refuse(fields, name, allowed, error);
    return true;
}

bool fields_integer(const struct fields *fields, const char *name, double fallback, double low, double high,
                    double *value, struct error *error) {
    char allowed[120];
    range_text(allowed, sizeof allowed, "an integer", low, high);
    json_t *field = json_object_get(fields->object, name);
    if (!field && isnan(fallback)) return missing(fields, name, allowed, error);
    if (!field) {
        field = json_integer((json_int_t)fallback);
        json_object_set_new(fields->object, name, field);
    }
    *value = json_number_value(field);
    const bool exact = !json_is_integer(field) || json_integer_value(field) <= (json_int_t)1 << 53;
    if (!json_is_number(field) || !exact || *value != floor(*value) || !(*value >= low && *value <= high))
        return fields_refuse(fields, name, allowed, error);
    json_object_set_new(fields->object, name, json_integer((json_int_t)*value));
    return true;
}

bool fields_boolean(const struct fields *fields, const char *name, double fallback, double *value,
                    struct error *error) {
    json_t *field = json_object_get(fields->object, name);
    if (!field && isnan(fallback)) return missing(fields, name, "true or false", error);
    if (!field) {
        field = json_boolean(fallback != 0);
        json_object_set_new(fields->object, name, field);
    }
    *value = json_is_true(field);
    return json_is_boolean(field) || fields_refuse(fields, name, "true or false", error);
}

bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error) {
    json_t *field = json_object_get(fields->object, name);
    if (!field && !fallback) return missing(fields, name, "a string", error);
    if (!field) {
        field = json_string(fallback);
        json_object_set_new(fields->object, name, field);
    }
    *value = json_string_value(field);
    if (*value && **value) return true;
    return fields_refuse(fields, name, "a string that is not empty", error);
}
