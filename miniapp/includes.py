#!/usr/bin/env python3
"""Checks that src and variants include nothing of which a file uses no name.

A header of the mini-app is used where a file has a name that it declares; one of the C library,
where it has one of `LIBRARY`. Prints one line per include that is not, and exits with 1 if there is
one. Only text is looked at, which takes a second; compilers would not say it, since most names also
arrive by way of other headers.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: Names for which a header of the C library is included. Other headers are not looked at.
LIBRARY = {
    "ctype.h": "is[a-z]+|to(?:lower|upper)",
    "errno.h": "errno|E[A-Z]{3,}",
    "float.h": "(?:DBL|FLT)_[A-Z_]+",
    "limits.h": "(?:U?(?:INT|LONG|LLONG)|PATH|CHAR)_(?:MAX|MIN|BIT)",
    "math.h": (
        "NAN|INFINITY|is(?:nan|inf|finite)|nearbyint|sqrt|exp|expm1|log|log1p|log2|sin|cos|pow"
        "|f(?:max|min|abs|mod)|floor|ceil|round|ldexp|lgamma|erfc?|hypot"
    ),
    "stdarg.h": "va_[a-z]+",
    "stdbool.h": "bool|true|false",
    "stddef.h": "size_t|NULL|offsetof|ptrdiff_t",
    "stdint.h": r"u?int\d+_t|U?INT\d+_(?:MAX|MIN|C)|INT64_C|SIZE_MAX|uintptr_t",
    "stdio.h": r"\w*printf|FILE|f[a-z]+|std(?:in|out|err)|rename|getline|sscanf|puts|EOF",
    "stdlib.h": (
        r"[a-z]*alloc|free|abort|exit|\w*getenv|setenv|qsort|bsearch|strto\w+|mk\w+temp|realpath"
        "|posix_memalign|abs|EXIT_[A-Z]+"
    ),
    "string.h": "mem[a-z]+|str[a-z]+",
    "sys/mman.h": "m(?:map|unmap|advise)|M(?:AP|ADV)_[A-Z]+",
    "sys/resource.h": "getrusage|rusage|RUSAGE_[A-Z]+|getrlimit",
    "time.h": r"time|time_t|clock_\w+|nanosleep|timespec|strftime|CLOCK_[A-Z_]+|gmtime\w*",
}
BLOCK = re.compile(r"\{[^{}]*\}")


def code(text: str) -> str:
    """The text without comments, strings, and includes."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return re.sub(r'#\s*include.*|"(?:[^"\\\n]|\\.)*"', "", text)


def declared(header: str) -> set[str]:
    """Names of macros, types, enumeration constants, functions and variables of a header.

    Fields and parameters are among them where that cannot be told from the text: so an include may
    pass that nobody needs, but none is reported that somebody does.
    """
    text = code(header)
    names = set(re.findall(r"#\s*define\s+(\w+)", text))
    if "PHASE_NUMBER" in names:  # enum phase is made by a macro
        names |= set(re.findall(r"phase_\w+", text)) | {
            f"phase_{n}" for n in re.findall(r"PHASE\((\w+)\)", text)
        }
    text = re.sub(r"#(?:[^\n]*\\\n)*[^\n]*", "", text)
    names |= set(re.findall(r"\b(?:struct|enum|union)\s+(\w+)\s*\{", text))
    for body in re.findall(r"\benum\b\s*\w*\s*\{([^}]*)\}", text):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    while BLOCK.search(text):
        text = BLOCK.sub("", text)
    names |= set(re.findall(r"\b(\w+)\s*(?:\(|\[|=|;)", text))
    return names


def unused(folders: list[Path]) -> Iterator[str]:
    """Yields one line of text for every include of which a file uses no name."""
    files = [(folder, file) for folder in folders for file in sorted(folder.rglob("*.[ch]"))]
    names = {
        file.relative_to(folder).as_posix(): declared(file.read_text())
        for folder, file in files
        if file.suffix == ".h"
    }
    for folder, file in files:
        path = file.relative_to(folder)
        words = set(re.findall(r"\w+", code(file.read_text())))
        for header in re.findall(r'#\s*include ["<]([^">]+)[">]', file.read_text()):
            if header == path.with_suffix(".h").as_posix():
                continue  # a file's own header
            if header in LIBRARY:
                used = any(re.fullmatch(LIBRARY[header], word) for word in words)
            else:
                used = header not in names or bool(names[header] & words)
            if not used:
                yield f"{folder.name}/{path.as_posix()}: uses no name of {header}"


def main() -> int:
    """Checks the folders on the command line, or the core and the variants."""
    here = Path(__file__).parent
    folders = [Path(argument) for argument in sys.argv[1:]] or [here / "src", here / "variants"]
    lines = list(unused(folders))
    print("\n".join(lines) or "includes: all used")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
