/// \file
/// One line about what is wrong with the input.
///
/// A function that can meet bad input takes a `struct error *`, and returns false after error_set().
/// The first message stands, because later ones are its consequences. Nothing is printed here: main prints
/// the line once, from one rank, and ends with status 2.

#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

struct error {
    char text[1024]; ///< empty while there is none
};

/// Stores a message (printf style) unless there is one already. Write it as "field: value; allowed: what".
/// \return always false, so that a check can end with `return error_set(...)`.
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool error_stands(const struct error *error) {
    return error->text[0] != '\0';
}

#endif
