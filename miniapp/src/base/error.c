/// \file
/// Keeps the first message, and makes it fit for a terminal.
///
/// A message may quote text from a file or a command line. error_plain() replaces all characters in it that a
/// terminal would obey instead of showing, so that the message stays one line and cannot pretend to be
/// another.

#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/// Characters beyond ASCII that a terminal obeys instead of showing them: control characters, ends of lines,
/// directions of writing, marks without width, halves of pairs, and what lies beyond all characters.
static const uint32_t obeyed[][2] = {{0x80, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
                                     {0x180e, 0x180e}, {0x200b, 0x200f},   {0x2028, 0x202e},
                                     {0x2060, 0x206f}, {0xd800, 0xdfff},   {0xfeff, 0xfeff},
                                     {0xfff9, 0xfffb}, {0xe0000, 0xe007f}, {0x110000, UINT32_MAX}};

/// Returns how many bytes the character at `c` has in UTF-8, and whether a terminal only shows it. What is no
/// character, as at the end of a name that was cut, is one byte that is not shown.
static size_t character(const char *c, bool *shown) {
    const unsigned char first = (unsigned char)*c;
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    *shown = first >= ' ' && first < 127;
    // ASCII, or a byte that begins no character.
    if (first < 0xc2) return 1;
    uint32_t code = first & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char)c[i] & 0xc0) != 0x80) return 1;
        code = code << 6 | ((unsigned char)c[i] & 0x3fu);
    }
    // A character that is written with more bytes than it needs is none.
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    *shown = code >= least[more];
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++)
        if (code >= obeyed[i][0] && code <= obeyed[i][1]) *shown = false;
    return more + 1;
}

void error_plain(char *text) {
    char *to = text;
    for (const char *c = text; *c;) {
        bool shown;
        const size_t bytes = character(c, &shown);
        if (!shown)
            *to++ = '?';
        else
            for (size_t i = 0; i < bytes; i++) *to++ = c[i];
        c += bytes;
    }
    *to = '\0';
}

bool error_set(struct error *error, const char *format, ...) {
    // The first message stays.
    if (error_stands(error)) return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error_plain(error->text); // the message stays one line, and UTF-8
    return false;
}
