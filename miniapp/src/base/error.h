/// \file
/// One line about what is wrong with the input.
///
/// A function that can meet bad input takes a `struct error *`, and returns false after error_set().
/// The first message stands, because later ones are its consequences. Nothing is printed here: main prints
/// the line once, from one rank, and ends with status 2.

#pragma once

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[1024]; ///< empty while there is none
};

/// Stores a message (printf style) unless there is one already. Write it as "field: value; expected what".
/// \return always false, so that a check can end with `return error_set(...)`.
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool error_stands(const struct error *error) {
    return error->text[0] != '\0';
}

// -------------------- registry
// Variants by name. A registry is a table of pointers to structs whose first member is their name, ended by
// NULL: `const struct thing *const things[] = {&one, &other, NULL}`. The name is the only identity.

/// Makes an entry of a registry in its place.
#define ENTRY(type, ...)                                                                                     \
    &(const struct type) {                                                                                   \
        __VA_ARGS__                                                                                          \
    }

enum { name_list_bytes = 600, name_list_longest = 60 };

/// Names, listed for a message: "one, two, three". A list set to zero is empty.
struct name_list {
    char text[name_list_bytes];
    size_t length;
};

/// Appends a name, shortened to name_list_longest characters. Where the list has no room left it ends in
/// "..." and takes no more.
void name_list_add(struct name_list *list, const char *name);

const void *registry_find(const void *registry, const char *name);

struct name_list registry_names(const void *registry);
