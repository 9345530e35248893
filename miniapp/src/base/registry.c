/// \file
/// Finds items of registries and lists their names. Items of any type are read through their first member,
/// the name, so that one search serves all registries. Cost: one comparison of names for each item.

#include "base/registry.h"

#include <stdio.h>
#include <string.h>

void name_list_add(struct name_list *list, const char *name) {
    static const char more[] = ", ...";
    // A name is shortened rather than left out.
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

/// Returns item `i` of a registry, or NULL at its end. The pointer is copied byte by byte, since pointers to
/// different structs may not be read through one type.
static const void *item_of(const void *registry, size_t i) {
    const void *item;
    memcpy(&item, (const char *)registry + i * sizeof item, sizeof item);
    return item;
}

/// Returns the name of an item, which is its first member.
static const char *name_of(const void *item) {
    return *(const char *const *)item;
}

const void *registry_find(const void *registry, const char *name) {
    const void *item;
    for (size_t i = 0; (item = item_of(registry, i)); i++)
        if (strcmp(name_of(item), name) == 0) return item;
    return NULL;
}

const char *registry_name(const void *registry, size_t i) {
    const void *item = item_of(registry, i);
    return item ? name_of(item) : NULL;
}

struct name_list registry_names(const void *registry) {
    struct name_list list = {"", 0};
    const void *item;
    for (size_t i = 0; (item = item_of(registry, i)); i++) name_list_add(&list, name_of(item));
    return list;
}
