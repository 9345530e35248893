/// \file
/// Variants by name. A registry is a table of pointers to structs whose first member is their name, ended by
/// NULL: `const struct thing *const things[] = {&one, &other, NULL}`. The name is the only identity.

#ifndef BASE_REGISTRY_H
#define BASE_REGISTRY_H

#include <stddef.h>

enum { name_list_bytes = 600, name_list_longest = 60 };

/// Names, listed for a message: "one, two, three". A list set to zero is empty.
struct name_list {
    char text[name_list_bytes];
    size_t length;
};

/// Appends a name, shortened to name_list_longest characters. Where the list has no room left it ends in
/// "..." and takes no more.
void name_list_add(struct name_list *list, const char *name);

/// Returns the member of a registry that has this name, or NULL.
const void *registry_find(const void *registry, const char *name);

/// Returns the names of all members of a registry.
struct name_list registry_names(const void *registry);

#endif
