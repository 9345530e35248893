#include "description/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fields_refuse(const struct fields *fields, const char *name, const char *allowed, struct error *error) {
    char *text = json_dumps(json_object_get(fields->object, name),
                            JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    bool cut = text && strlen(text) > 60;
    error_set(error, "%s%s: %.60s%s; expected %s", fields->path, name, text ? text : "nothing",
              cut ? "..." : "", allowed);
    free(text);
    return false;
}

/// Returns a field. Where it is absent, it becomes `fallback`, a new value, or is missed if that is NULL.
static json_t *get(const struct fields *fields, const char *name, json_t *fallback, const char *allowed,
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
    json_t *object = get(parent, name, required ? NULL : json_object(), "an object", error);
    if (!object) return false;
    if (!json_is_object(object)) return fields_refuse(parent, name, "an object", error);
    return placed(inner, object, error, "%s%s.", parent->path, name, 0);
}

bool fields_list(const struct fields *fields, const char *name, bool required, json_t **list,
                 struct error *error) {
    *list = get(fields, name, required ? NULL : json_array(), "a list", error);
    return *list && (json_is_array(*list) || fields_refuse(fields, name, "a list", error));
}

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

static bool read_number(const struct fields *fields, const char *name, bool whole, double fallback,
                        double low, double high, double *value, struct error *error) {
    char allowed[120];
    snprintf(allowed, sizeof allowed, high < 1e300 ? "%s from %.10g to %.16g" : "%s >= %.10g",
             whole ? "an integer" : "a number", low, high);
    json_t *made = isnan(fallback) ? NULL : whole ? json_integer((json_int_t)fallback) : json_real(fallback);
    json_t *field = get(fields, name, made, allowed, error);
    if (!field) return false;
    *value = json_number_value(field);
    const bool exact = !whole || !json_is_integer(field) || json_integer_value(field) <= (json_int_t)1 << 53;
    if (!json_is_number(field) || !exact || (whole && *value != floor(*value)) ||
        !(*value >= low && *value <= high))
        return fields_refuse(fields, name, allowed, error);
    if (whole) json_object_set_new(fields->object, name, json_integer((json_int_t)*value));
    return true;
}

bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error) {
    return read_number(fields, name, false, fallback, low, high, value, error);
}

bool fields_integer(const struct fields *fields, const char *name, double fallback, double low, double high,
                    double *value, struct error *error) {
    return read_number(fields, name, true, fallback, low, high, value, error);
}

bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error) {
    json_t *field = get(fields, name, fallback ? json_string(fallback) : NULL, "a string", error);
    *value = json_string_value(field);
    return field && ((*value && **value) || fields_refuse(fields, name, "a string that is not empty", error));
}

bool fields_table(const struct fields *fields, const struct field *table, size_t n, void *into,
                  struct error *error) {
    enum { most = 32 };
    const char *names[most] = {NULL};
    for (size_t i = 0; i < n; i++) names[i] = table[i].name;
    bool good = fields_only(fields, names, n, error);
    for (size_t i = 0; good && i < n; i++) {
        const struct field *f = &table[i];
        void *at = (char *)into + f->at;
        if (f->kind == field_number || f->kind == field_integer)
            good = read_number(fields, f->name, f->kind == field_integer, f->fallback, f->low, f->high, at,
                               error);
        if (f->kind == field_text) good = fields_string(fields, f->name, f->text, at, error);
        if (f->kind != field_boolean) continue;
        const json_t *field = get(fields, f->name, json_boolean(f->fallback != 0), "", error);
        *(double *)at = json_is_true(field);
        good = json_is_boolean(field) || fields_refuse(fields, f->name, "true or false", error);
    }
    return good;
}
