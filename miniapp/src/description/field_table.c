/// \file
/// Checks the fields of an object against its table, fills in what is absent, and complains in one line.
///
/// fields_read() does it for a whole table: unknown names first, then each field by its line (read_field()).
/// A field may have one of several types (is_one_of()); what would be right is told by expect(), from the
/// same line, so that a message cannot differ from the check. Defaults are written into the object, which
/// ends in the record: a record says what was run, not only what was asked for.

#include "description/field_table.h"

#include <stdio.h>
#include <string.h>

/// Says whether `word` is one of "one, two, three".
static bool lists_word(const char *words, const char *word) {
    // Words are separated by a comma and a space.
    const size_t length = strlen(word);
    for (const char *at = words; at; at = strchr(at, ',')) {
        at += *at == ',' ? 2 : 0;
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

/// Bytes of what is expected of a field: all ways together, which leaves room in a message for the value.
enum { expected_bytes = 240 };

/// Appends a way in which a field may be given.
static void add_way(char text[expected_bytes], const char *way) {
    const size_t length = strlen(text);
    snprintf(text + length, expected_bytes - length, "%s%s", length ? ", or " : "", way);
}

/// Writes what is expected of a value of one of the types.
static void expect(char text[expected_bytes], const struct field *field, unsigned types) {
    char way[expected_bytes];
    text[0] = '\0';
    if (types & (type_number | type_integer)) {
        snprintf(way, sizeof way, field->high < 1e300 ? "%s from %.10g to %.16g" : "%s >= %.10g",
                 types & type_integer ? "an integer" : "a number", field->low, field->high);
        add_way(text, way);
    }
    if (types & type_boolean) add_way(text, "true or false");
    if (types & type_text) add_way(text, field->words ? field->words : "a string that is not empty");
    if (types & type_object) add_way(text, "an object");
    if (!(types & type_list)) return;
    char items[expected_bytes];
    expect(items, field, field->items);
    snprintf(way, sizeof way, "a list%s%.200s", field->items & type_object ? "" : ", each item ",
             field->items & type_object ? "" : items);
    add_way(text, way);
}

/// Says whether a value is one of the types, and within the limits of the field.
static bool is_one_of(const json_t *value, const struct field *field, unsigned types) {
    if (json_is_boolean(value)) return types & type_boolean;
    if (json_is_object(value)) return types & type_object;
    if (json_is_array(value)) return types & type_list;
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        return (types & type_text) && *text && (!field->words || lists_word(field->words, text));
    }
    if (!json_is_number(value) || !(types & (type_number | type_integer))) return false;
    // Integers beyond 2^53 would not be exact as doubles.
    const double number = json_number_value(value);
    const bool exact = !json_is_integer(value) || json_integer_value(value) <= (json_int_t)1 << 53;
    return number >= field->low && number <= field->high &&
           (types & type_number || (exact && number == floor(number)));
}

/// Returns an integer that is written as 40.0 or 4e1 as 40; NULL for all that need not change.
static json_t *as_integer(const json_t *value, unsigned types) {
    const bool changes = json_is_real(value) && types & type_integer;
    return changes ? json_integer((json_int_t)json_real_value(value)) : NULL;
}

/// Refuses an item of a list.
static bool check_items(const struct fields *fields, const struct field *field, json_t *list,
                        struct error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i), *integer;
        if (!is_one_of(item, field, field->items)) {
            // The message names the item by its number, as if it were a field.
            char key[120], allowed[expected_bytes];
            snprintf(key, sizeof key, "%.80s.%zu", field->name, i);
            expect(allowed, field, field->items);
            json_t *holder = json_object();
            json_object_set(holder, key, item);
            struct fields outer = *fields;
            outer.object = holder;
            fields_refuse(&outer, key, allowed, error);
            json_decref(holder);
            return false;
        }
        if ((integer = as_integer(item, field->items))) json_array_set_new(list, i, integer);
    }
    return true;
}

/// Refuses a field that is not what its table says.
static bool check_field(const struct fields *fields, const struct field *field, json_t *value,
                        struct error *error) {
    char allowed[expected_bytes];
    if (!is_one_of(value, field, field->types)) {
        expect(allowed, field, field->types);
        return fields_refuse(fields, field->name, allowed, error);
    }
    if (json_is_array(value)) return check_items(fields, field, value, error);
    json_t *integer = as_integer(value, field->types);
    if (integer) json_object_set_new(fields->object, field->name, integer); // `value` is gone now
    return true;
}

json_t *field_fallback(const struct field *field) {
    if (!isfinite(field->fallback)) return NULL;
    if (field->text) return json_string(field->text);
    if (field->types & type_boolean) return json_boolean(field->fallback != 0);
    if (field->types & type_integer) return json_integer((json_int_t)field->fallback);
    return json_real(field->fallback);
}

/// Checks one field and writes its value into the struct that is read, at the place that the table says.
static bool read_field(const struct fields *fields, const struct field *field, void *into,
                       struct error *error) {
    const bool given = json_object_get(fields->object, field->name);
    if (!given && isinf(field->fallback)) return true;
    char allowed[expected_bytes] = "";
    if (!given && isnan(field->fallback)) expect(allowed, field, field->types); // the slowest part
    json_t *value = fields_get(fields, field->name, field_fallback(field), allowed, error);
    if (!value || !check_field(fields, field, value, error)) return false;
    // The caller reads it.
    if (field->at == FIELD_APART) return true;
    value = json_object_get(fields->object, field->name);
    void *at = (char *)into + field->at;
    if (field->types == type_text)
        *(const char **)at = json_string_value(value);
    else
        *(double *)at = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
    return true;
}

bool fields_read(const struct fields *fields, const struct field_table *table, void *into,
                 struct error *error) {
    enum { most = 32 }; // fields of an object; the largest table has 13
    const char *names[most] = {NULL};
    for (size_t i = 0; i < table->n; i++) names[i] = table->fields[i].name;
    // Unknown names first, since a mistyped name would otherwise be missed silently.
    bool good = fields_only(fields, names, table->n, error);
    for (size_t i = 0; good && i < table->n; i++) good = read_field(fields, &table->fields[i], into, error);
    return good;
}

double fields_fill(const struct fields *fields, const char *name, double fallback) {
    if (!json_object_get(fields->object, name))
        json_object_set_new(fields->object, name, json_real(fallback));
    return json_number_value(json_object_get(fields->object, name));
}

bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error) {
    const struct field field = NUMBER(name, 0, fallback, low, high);
    return read_field(fields, &field, value, error);
}

bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error) {
    const struct field field = {name, type_text, 0, fallback ? 0 : REQUIRED, 0, 0, fallback, NULL, 0};
    return read_field(fields, &field, value, error);
}
