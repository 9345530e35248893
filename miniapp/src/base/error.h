/// \file
/// One line about what is wrong with the input.
///
/// A function that can meet bad input takes a `struct error *`, and returns false after error_set().
/// The first message stands, because later ones are its consequences. Nothing is printed here: main prints
/// the line once, from one rank, and ends with status 2.

#pragma once

#include <stdbool.h>

/// The first thing that is wrong. Set it to {""} before use.
struct error {
    char text[1024]; ///< empty while there is none; longer messages are cut
};

/// Stores a message (printf style, then error_plain()) unless there is one already. Write it as "field:
/// value; expected what". \return always false, so that a check can end with `return error_set(...)`.
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Makes text from a file or a command line fit for a terminal: a question mark takes the place of each
/// character that a terminal would obey, such as an end of line or a direction of writing, and of bytes that
/// are no UTF-8.
void error_plain(char *text);

/// Says whether there is a message.
static inline bool error_stands(const struct error *error) {
    return error->text[0] != '\0';
}
