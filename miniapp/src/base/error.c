#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/// Returns how many bytes the printable character at `c` has in UTF-8; 0 where there is none, as at the end
/// of a name that was cut.
static size_t character(const char *c) {
    const unsigned char first = (unsigned char)*c;
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0x80) return first >= ' ' && first != 127;
    if (first < 0xc2 || first > 0xf4) return 0;
    const unsigned char second =
        (unsigned char)c[1]; // of too long forms, halves of pairs, and beyond Unicode
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
        return 0;
    for (size_t i = 1; i <= more; i++)
        if (((unsigned char)c[i] & 0xc0) != 0x80) return 0;
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
