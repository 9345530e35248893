/// \file
/// Variants by name: schedules, placements, exchanges, wire formats, neuron models.
///
/// A registry is a table of pointers to structs whose first member is their name, ended by NULL:
///
///     const struct thing *const things[] = {&one, &other, NULL};
///
/// The name is the only identity: a description names a thing, registry_find() finds it, and a message lists
/// what could have been named. To add a thing, write it and add it to its table. What else an
/// exchange or a schedule needs, in Python, is said in CONTRIBUTING.md.

#pragma once

#include <stddef.h>

/// Makes an entry of a registry in its place.
#define ENTRY(type, ...)                                                                                     \
    &(const struct type) {                                                                                   \
        __VA_ARGS__                                                                                          \
    }

/// Bytes of a list of names, and the characters of a name that are shown: both leave room in a message of
/// 1024 bytes (struct error) for the field and its value.
enum { name_list_bytes = 600, name_list_longest = 60 };

/// Names, listed for a message: "one, two, three". A list set to zero is empty.
struct name_list {
    char text[name_list_bytes]; ///< the names so far
    size_t length;              ///< of the text; name_list_bytes once it has ended in "..."
};

/// Appends a name, shortened to name_list_longest characters. Where the list has no room left it ends in
/// "..." and takes no more.
void name_list_add(struct name_list *list, const char *name);

/// Returns the item of that name; NULL where there is none.
const void *registry_find(const void *registry, const char *name);

/// Returns the name of item `i`; NULL at the end.
const char *registry_name(const void *registry, size_t i);

/// Returns all names, for a message.
struct name_list registry_names(const void *registry);
