/// \file
/// The fields of an object as a table: name, types, limits, default, and where the value goes.
///
/// fields_read() checks an object against its table, fills in defaults, and writes the values into a struct.
/// `miniapp --list` prints the same tables, so a field is declared in one place. Most lines are made by the
/// macros below: NUMBER, INTEGER, BOOLEAN, TEXT, WORD, OBJECT, LIST.
///
/// Example: `NUMBER("rate_hz", offsetof(struct given, rate_hz), 2.5, 0, 1e6)` is a number from 0 to 1e6, 2.5
/// where it is absent, that goes into the member rate_hz.

#pragma once

#include "description/fields.h"
#include <math.h>
#include <stdint.h>

/// What the value of a field may be; several can be combined. An integer may be written as 40, 40.0 or 4e1.
enum field_type {
    type_number = 1,
    type_integer = 2,
    type_boolean = 4,
    type_text = 8,
    type_object = 16,
    type_list = 32
};

/// A field of an object: what it may be, and where its value goes: a double or, of a text, a borrowed string.
/// A field with FIELD_APART is only checked, and gets its fallback; the caller reads it. Lines of tables that
/// no macro makes have these nine columns, in this order.
struct field {
    const char *name;  ///< as in the description
    unsigned types;    ///< enum field_type, combined
    size_t at;         ///< in the struct that is read, or FIELD_APART
    double fallback;   ///< of a number, an integer or a boolean; REQUIRED; ABSENT
    double low, high;  ///< of a number or an integer, also as an item of a list
    const char *text;  ///< fallback of a text
    const char *words; ///< the texts that are allowed, "one, two"; NULL: all but the empty one
    unsigned items;    ///< enum field_type, combined: what items of a list may be
};

#define REQUIRED    NAN      ///< in place of the fallback, of a field that has to be there
#define ABSENT      INFINITY ///< of a field that may be left out and then stays so
#define FIELD_APART SIZE_MAX
// clang-format off
#define NUMBER(name, at, fallback, low, high) {name, type_number, at, fallback, low, high, NULL, NULL, 0}
#define INTEGER(name, at, fallback, low, high) {name, type_integer, at, fallback, low, high, NULL, NULL, 0}
#define BOOLEAN(name, at, fallback) {name, type_boolean, at, fallback, 0, 1, NULL, NULL, 0}
#define TEXT(name, at) {name, type_text, at, REQUIRED, 0, 0, NULL, NULL, 0}
#define WORD(name, at, fallback, words) {name, type_text, at, 0, 0, 0, fallback, words, 0}
#define OBJECT(name, fallback) {name, type_object, FIELD_APART, fallback, 0, 0, NULL, NULL, 0}
#define LIST(name, fallback, items) {name, type_list, FIELD_APART, fallback, 0, 0, NULL, NULL, items}
// clang-format on

/// The fields of one object of a run description. --list prints them.
struct field_table {
    const char *path; ///< of the object, "" at the top, else with the trailing dot; "*" is any item of a list
    const struct field *fields; ///< [n]
    size_t n;                   ///< fields, at most 32
};
#define FIELD_TABLE(path, fields)                                                                            \
    { path, fields, sizeof(fields) / sizeof *(fields) }

/// Refuses fields that are not in the table, and those that are not what it says. Reads the others.
bool fields_read(const struct fields *fields, const struct field_table *table, void *into,
                 struct error *error);

/// Returns the fallback of a field as a new value; NULL where it has none.
json_t *field_fallback(const struct field *field);

/// Returns the number of a field that a table has checked. Where it is absent, it becomes the fallback.
double fields_fill(const struct fields *fields, const char *name, double fallback);

/// Reads one number or one text, with fallbacks as in a table; a text without a fallback is required.
bool fields_number(const struct fields *fields, const char *name, double fallback, double low, double high,
                   double *value, struct error *error);
bool fields_string(const struct fields *fields, const char *name, const char *fallback, const char **value,
                   struct error *error);

/// A parameter of a neuron model: a number with its default and its limits.
struct parameter {
    const char *name; ///< ends in the unit
    double fallback;  ///< where the description says nothing
    double low, high; ///< limits, both allowed
};
