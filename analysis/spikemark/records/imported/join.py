"""Joins what several files say of one rank each, and finds which ranks are missing.

The ranks stand in the order of the numbers in the names of the files. All need as many cycles. What does not
fit is refused, and never cut off silently.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput, shown

from .found import Columns

MOST_RANKS = 10_000_000
SMALLEST, LARGEST = 1e-9, 1e15  # of numbers that a program states


def in_order(files: list[Path]) -> list[Path]:
    """Files sorted by the numbers in their names, so that rank 10 comes after rank 2.

    Raises BadInput for a file that is given twice.
    """
    twice = next((path for i, path in enumerate(files) if path in files[:i]), None)
    if twice is not None:
        raise BadInput(f"{twice}: given twice; one file for each rank")
    return sorted(files, key=_numbers)


def _numbers(path: Path) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", path.name)]


def ranks_of(files: list[Path]) -> list[int] | None:
    """The rank that the name of each file ends with, `log_3.csv`; None where names do not number files."""
    numbers = [_numbers(path)[-1:] for path in files]
    found = [each[0] for each in numbers if each]
    return found if len(set(found)) == len(files) else None


def missing(ranks: Iterable[int] | None, processes: int | None = None) -> tuple[int, ...]:
    """Missing ranks among those of the program: `processes`, or else up to the highest one present.

    Numbers that do not begin with 0 or 1, or go beyond MOST_RANKS, are not taken for ranks.
    """
    present = set(ranks or ())
    if not present or ((min(present) > 1 or max(present) > MOST_RANKS) and processes is None):
        return ()
    if processes is None:
        return tuple(sorted(set(range(min(present), max(present) + 1)) - present))
    if max(present) >= processes:
        raise BadInput(
            f"rank {max(present)}: the program ran with {processes} ranks; allowed: 0 to {processes - 1}"
        )
    return tuple(sorted(set(range(processes)) - present))


def stated(where: Path, name: str, value: object) -> float:
    """A number that a file states, such as the length of a cycle. Raises BadInput for what cannot be one."""
    given = np.asarray(value)
    number = float(given) if given.shape == () and given.dtype.kind in "fiu" else np.nan
    if not (number == 0 or SMALLEST <= number <= LARGEST):
        raise BadInput(
            f"{where}: {name}={shown(given.tolist())}; allowed: 0, or a number from {SMALLEST:g} to"
            f" {LARGEST:g}"
        )
    return number


def processes_of(where: Path, number: float | None) -> int | None:
    """The ranks that a program states; None where it states none. Raises BadInput for other numbers."""
    if number is not None and not (1 <= number <= MOST_RANKS and number == int(number)):
        raise BadInput(f"{where}: num_processes={number:g}; allowed: a whole number from 1 to {MOST_RANKS}")
    return None if number is None else int(number)


def joined(parts: list[tuple[Path, Columns]]) -> Columns:
    """Columns [rank, cycle] from files that hold one rank each. Raises BadInput where they differ."""
    first = parts[0][1]
    for path, columns in parts:
        if columns.keys() != first.keys():
            raise BadInput(f"{path}: columns {', '.join(columns)}; the first file has {', '.join(first)}")
        for name, values in columns.items():
            if values.ndim == 2 and len(values) > 1:
                raise BadInput(
                    f"{path}: {name}: {len(values)} ranks; with several files, each holds one rank. Arrays"
                    " [rank, cycle] belong into one file: numpy.savez('times.npz', compute=…, communicate=…)"
                )
    equal(parts[0][0].parent, {path.name: next(iter(columns.values())).size for path, columns in parts})
    return {name: np.stack([columns[name].reshape(-1) for _, columns in parts]) for name in first}


def equal(where: Path, cycles: dict) -> None:
    """Raises BadInput unless all ranks have as many cycles."""
    least, most = min(cycles, key=cycles.get), max(cycles, key=cycles.get)
    if cycles[least] != cycles[most]:
        raise BadInput(
            f"{where}: rank or file {least} has {cycles[least]} cycles, {most} has {cycles[most]};"
            " needed: the same cycles of all ranks. A column `cycle` of numbers tells which are missing"
        )
