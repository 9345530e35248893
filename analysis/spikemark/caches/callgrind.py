"""Valgrind's cache simulation: its options, and the counts it writes.

Cachegrind 3.19 cannot be told when to count. Callgrind has the same simulation (the same accesses, and misses
within 1 % of cachegrind's when both count a whole run) and can be told to count only in delivery and to
forget the warm-up. Adding a synapse to a cell of the ring is one access, which it counts as a write.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text

DELIVER = "synapse_table_deliver*"  # the function of the mini-app in which accesses are counted
MEASURED = "build_synchronise"  # what the mini-app calls once, between the warm-up and the measured part
LINE = 64
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")


@dataclass(frozen=True)
class Cache:
    """`size` and `line` in bytes; `ways`: lines of a set. Sets must be a power of two for Valgrind."""

    size: int
    ways: int
    line: int = LINE

    @property
    def option(self) -> str:
        return f"{self.size},{self.ways},{self.line}"


def cache(text: str, field: str) -> Cache:
    """`SIZE,WAYS,LINE` in bytes, lines and bytes. Raises BadInput for what Valgrind would refuse."""
    parts = text.split(",")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        raise BadInput(f"{field}: {text!r}; allowed: SIZE,WAYS,LINE such as 33554432,16,64, in bytes")
    size, ways, line = map(int, parts)
    if line < 16 or line & (line - 1) or ways < 1 or not _power_of_two(size, ways, line):
        raise BadInput(
            f"{field}: {text!r}; allowed: lines of 16 bytes or more, and SIZE / (WAYS x LINE) a power of two"
        )
    return Cache(size, ways, line)


def guessed(size: int, ways: int, line: int = LINE) -> Cache:
    """A cache of `size` bytes with `ways` lines in a set, or the next number that Valgrind accepts."""
    numbers = range(ways, size // line + 1)
    return next(Cache(size, n, line) for n in numbers if _power_of_two(size, n, line))


def _power_of_two(size: int, ways: int, line: int) -> bool:
    sets, rest = divmod(size, ways * line)
    return rest == 0 and sets > 0 and sets & (sets - 1) == 0


def command(first: Cache, last: Cache, out: str) -> list[str]:
    """The command that precedes the program.

    `out` is the file of counts; instructions get a cache like D1.
    """
    return [
        "valgrind",
        "--tool=callgrind",
        "--cache-sim=yes",
        f"--I1={first.option}",
        f"--D1={first.option}",
        f"--LL={last.option}",
        f"--toggle-collect={DELIVER}",
        f"--zero-before={MEASURED}",
        f"--callgrind-out-file={out}",
    ]


def counts(path: Path) -> dict[str, int]:
    """The totals of an output file, by event. Raises BadInput for another file or other events."""
    text = read_text(path, "Valgrind wrote no counts")
    events, totals = (re.search(rf"^{name}: (.*)$", text, re.MULTILINE) for name in ("events", "totals"))
    if not events or not totals or tuple(events[1].split()) != EVENTS:
        raise BadInput(f"{path}: not the output of callgrind with --cache-sim=yes")
    values = [int(value) for value in totals[1].split()]  # zeros at the end are left out
    return dict(zip(EVENTS, values + [0] * (len(EVENTS) - len(values)), strict=True))
