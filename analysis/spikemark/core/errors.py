"""The one exception that means 'the input is wrong', as opposed to 'the program is wrong'."""

import errno
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

SHOWN = 80

#: Errors of the operating system that lie in the file that was named, so that naming another one mends them.
OF_THE_FILE = {
    errno.EACCES,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
    errno.EPERM,
    errno.EROFS,
}


class BadInput(ValueError):
    """One line that names the field, its value and what is allowed. The command line exits with status 2.

    It stays one line where a name in the input holds ends of lines.
    """

    def __init__(self, line: str):
        super().__init__(" ".join(line.splitlines()))


def is_bad_input(error: OSError) -> bool:
    """Says whether another command line would avoid `error`; a full disk, for example, stays full."""
    return error.filename is not None and error.errno in OF_THE_FILE


def plain(text: str) -> str:
    """Text that a terminal only shows: other control characters than ends of lines and tabs become escapes.

    Names from files may hold sequences that move the cursor, turn the direction of writing, or cannot be
    encoded.
    """
    if text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs":
        return letter
    return letter.encode("unicode_escape").decode()


def shown(value: Any) -> str:
    """`value` as it can stand in one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or endless nesting
        return f"a long {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def first_complaint(error: "ValidationError", whole: str) -> str:
    """One line from a pydantic error: field, value, what is allowed, and how many more there are.

    `whole` replaces the field if the complaint is about all fields together.
    """
    problems = error.errors(include_url=False)
    first = problems[0]
    field = ".".join(str(part) for part in first["loc"]) or whole
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        line = f"{field}: missing"
    elif isinstance(first["input"], dict | list):
        line = f"{field}: {message}"
    else:
        line = f"{field}={shown(first['input'])}: {message}"
    return line if len(problems) == 1 else f"{line} (and {len(problems) - 1} more)"


def option_complaint(option: str, error: "ValidationError") -> str:
    """One line from a pydantic error: an option of the command line, its value, and what is allowed."""
    first = error.errors(include_url=False)[0]
    value = shown(first["input"])
    words = first["msg"].removeprefix("Value error, ").removeprefix(f"{value} is not ").rstrip(".")
    words = words.removeprefix("Input should be ").split(", unable to ")[0]
    return f"{option}={value}; allowed: {words}"
