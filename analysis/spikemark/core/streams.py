"""Standard output and standard error: of any encoding, closed, or on a full disk.

Screens have characters such as µ and ≥. Where a terminal or a pipe cannot show one, it is replaced
by what a reader takes for it: `u`, `>=`.
"""

import codecs
import io
import os
import signal
import sys
from typing import NoReturn

READABLE = "spikemark.readable"
#: Letters of our screens, and what stands for each where it cannot be shown.
REPLACEMENTS = {
    "µ": "u",
    "μ": "u",
    "×": "x",
    "·": "*",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "∞": "inf",
    "≥": ">=",
    "≤": "<=",
    "≈": "~",
    "→": "->",
    "°": " degrees",
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "ß": "ss",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
}
SUPERSCRIPTS = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))


def _readable(error: UnicodeError) -> tuple[str, int]:
    """What stands for the characters that an encoding lacks.

    An error handler of the module `codecs`: returns a text, and where encoding goes on.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = ""
    for position in range(error.start, error.end):
        letter = error.object[position]
        before = error.object[position - 1 : position]
        if letter in SUPERSCRIPTS:
            power = "" if before and before in SUPERSCRIPTS else "^"
            text += power + SUPERSCRIPTS[letter]
        else:
            text += REPLACEMENTS.get(letter) or letter.encode("ascii", "backslashreplace").decode()
    return text, error.end


codecs.register_error(READABLE, _readable)


def prepare() -> None:
    """Makes standard output and standard error take any text.

    Where standard output is closed, ends the program with a line and status 1: the next file that
    is opened would take its place.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("spikemark: standard output is closed", file=sys.stderr)
        sys.exit(1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=READABLE)


def drop_output() -> None:
    """Keeps the interpreter from trying again at its end what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def end_by_pipe() -> NoReturn:
    """Ends this program as usual ones end where nobody reads on, such as `head`: by SIGPIPE."""
    drop_output()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(128 + signal.SIGPIPE)
