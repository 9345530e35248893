#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Returns how many bytes the printable character at `c` has in UTF-8; 0 where there is none, as at the end
/// of a name that was cut.
static size_t character(const char *c) {
    const unsigned char first = (unsigned char)*c;
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0x80) return first >= ' ' && first != 127;
    for (size_t i = 1; i <= more; i++)
        if (first < 0xc2 || ((unsigned char)c[i] & 0xc0) != 0x80) return 0;
    return more + 1;
}

bool error_set(struct error *error, const char *format, ...) {
    if (error_stands(error)) return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    for (char *c = error->text; *c;) { // the message stays one line, and UTF-8
        const size_t bytes = character(c);
        if (bytes == 0) *c = '?';
        c += bytes > 0 ? bytes : 1;
    }
    return false;
}

// -------------------- registry

void name_list_add(struct name_list *list, const char *name) {
    static const char more[] = ", ...";
    char item[name_list_longest + sizeof ", "];
    const int length =
        snprintf(item, sizeof item, "%s%.*s", list->length ? ", " : "", name_list_longest, name);
    if (list->length == sizeof list->text) return; // the list has ended in "..." before
    if (list->length + (size_t)length + sizeof more <= sizeof list->text) {
        memcpy(list->text + list->length, item, (size_t)length + 1);
        list->length += (size_t)length;
    } else {
        memcpy(list->text + list->length, more, sizeof more);
        list->length = sizeof list->text;
    }
}

/// Returns item `i` of a registry, or NULL at its end.
static const void *item_of(const void *registry, size_t i) {
    const void *item;
    memcpy(&item, (const char *)registry + i * sizeof item, sizeof item);
    return item;
}

static const char *name_of(const void *item) {
    return *(const char *const *)item;
}

const void *registry_find(const void *registry, const char *name) {
    const void *item;
    for (size_t i = 0; (item = item_of(registry, i)); i++)
        if (strcmp(name_of(item), name) == 0) return item;
    return NULL;
}

struct name_list registry_names(const void *registry) {
    struct name_list list = {"", 0};
    const void *item;
    for (size_t i = 0; (item = item_of(registry, i)); i++) name_list_add(&list, name_of(item));
    return list;
}
