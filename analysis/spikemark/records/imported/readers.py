"""The formats that are read: one module each, with NAME, SUMMARY, `recognises` and `read`.

A new format is one module and one entry in READERS; the tests loop over them. The first one that recognises
a file reads it, unless a format is named.
"""

from dataclasses import replace
from pathlib import Path

from spikemark.core.errors import BadInput

from . import bennch, nest_log, stopwatches, structure_aware_log, tables, trace
from .found import Asked, Found
from .sums import Sums

READERS = {
    one.NAME: one for one in (nest_log, structure_aware_log, stopwatches, bennch, trace, tables)
}  # the table last: it takes any .npz and .csv


def reader_of(files: list[Path], name: str | None = None):
    """The module that reads these files. Raises BadInput where none does, and for an unknown name."""
    if name is not None and name not in READERS:
        raise BadInput(f"format={name!r}; allowed: {', '.join(READERS)}")
    if not files:
        raise BadInput("FILE: missing; allowed: one file, or one for every rank")
    if name is not None:
        return READERS[name]
    found = [next((one for one in READERS.values() if one.recognises(Path(path))), None) for path in files]
    if None in found:
        path = files[found.index(None)]
        raise BadInput(
            f"{path}: format {path.suffix or 'without a suffix'!r}; allowed: {', '.join(tables.FORMATS)},"
            f" or --format with one of {', '.join(READERS)}"
        )
    other = next((i for i, one in enumerate(found) if one is not found[0]), None)
    if other is not None:
        raise BadInput(
            f"{files[other]}: format {found[other].NAME}; {files[0]} has {found[0].NAME}; allowed: one format"
        )
    return found[0]


def read(
    files: list[Path],
    unit: str | None = None,
    called: dict[str, str] | None = None,
    skip: int = 0,
    keep: int | None = None,
    form: str | None = None,
) -> Found | Sums:
    """Reads files of another program: times of cycles, or sums.

    `unit`: of tables, needed there and nowhere else. `called`: name of a column here -> its name in the
    files. The first `skip` cycles are left out, and `keep` of the others are kept. Raises BadInput naming the
    file or option and what is wrong.
    """
    files = [Path(path) for path in files]
    reader = reader_of(files, form)
    if reader is not tables and unit not in (None, "s"):
        raise BadInput(f"unit={unit!r}: the format {reader.NAME} states its times in s; allowed: no --unit")
    if reader is tables and unit is None:
        raise BadInput(f"unit: missing; needed for tables: {', '.join(tables.UNITS)}")
    if called and reader not in (tables, trace):
        raise BadInput(f"--column: only for tables and traces; the format {reader.NAME} names its own")
    found = reader.read(files, Asked(unit or "s", called or {}))
    if isinstance(found, Sums):
        if skip or keep:
            raise BadInput(f"--{'skip' if skip else 'cycles'}: the format {reader.NAME} has sums, no cycles")
        return found
    cycles = next(iter(found.columns.values())).shape[1]
    if not 0 <= skip < cycles:
        raise BadInput(f"skip={skip}: there are {cycles} cycles; allowed: 0 to {cycles - 1}")
    if skip % found.meets_every:
        raise BadInput(
            f"skip={skip}: all ranks meet every {found.meets_every} cycles; allowed: a multiple of that"
        )
    if keep is not None and not 1 <= keep <= cycles - skip:
        raise BadInput(f"cycles={keep}: there are {cycles - skip}; allowed: 1 to {cycles - skip}")
    kept = slice(skip, None if keep is None else skip + keep)
    return replace(found, columns={name: values[:, kept] for name, values in found.columns.items()})
