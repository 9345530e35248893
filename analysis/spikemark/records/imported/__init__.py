"""Cycle times that another program measured: read from its files, checked, kept with what is known of them.

A format is an entry of READERS; the first that recognises a file reads it. Some formats have only sums over a
run (`sums`), which answer fewer questions.
"""

from dataclasses import replace
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.records import dry_run, record
from spikemark.records.record import Run

from . import formats, sums
from .formats import COMMUNICATE, COMPUTE, FORMATS, UNITS, WAIT, Found, Reader, of_name
from .sums import Sums
from .times import ABOUT, DRY_RUN, PAGE, CycleTimes, cycle_times, load, of_dry_run, save, save_sums, sums_in

__all__ = [
    "ABOUT", "COMMUNICATE", "COMPUTE", "DRY_RUN", "FORMATS", "PAGE", "READERS", "UNITS", "WAIT", "CycleTimes",
    "Found", "Sums", "cycle_times", "load", "read", "reader_of", "run_or_times", "save", "save_sums",
    "sums_in",
]  # fmt: skip

#: Tables come last: they take any .npz and .csv.
READERS = {one.name: one for one in (*formats.READERS[:2], *sums.READERS, *formats.READERS[2:])}


def reader_of(files: list[Path], name: str | None = None) -> Reader:
    """The format of these files. Raises BadInput for none, an unknown name, and several."""
    if name is not None and name not in READERS:
        raise BadInput(f"format={name!r}: expected one of {', '.join(READERS)}")
    if not files:
        raise BadInput("FILE: missing; expected one file, or one for every rank")
    if name is not None:
        return READERS[name]
    found = [next((one for one in READERS.values() if one.recognises(Path(path))), None) for path in files]
    for path, one in zip(files, found, strict=True):
        if one is None:
            raise BadInput(
                f"{path}: format {Path(path).suffix or 'without a suffix'!r}; expected {', '.join(FORMATS)},"
                f" or --format with one of {', '.join(READERS)}"
            )
        if one is not found[0]:
            raise BadInput(f"{path}: format {one.name}; expected {found[0].name}, as {files[0]}")
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
    if "unit" in reader.takes and unit is None:
        raise BadInput(f"unit: missing; expected one of {', '.join(UNITS)}, as in --unit ms")
    if "unit" not in reader.takes and unit not in (None, "s"):
        raise BadInput(f"unit={unit!r}: expected no unit, since the format {reader.name} has seconds")
    if called and "column" not in reader.takes:
        raise BadInput(f"column: expected none, since the format {reader.name} names its own")
    if twice := [path for number, path in enumerate(files) if path in files[:number]]:
        raise BadInput(f"{twice[0]}: given twice; expected one file for each rank")
    found = reader.read(sorted(files, key=of_name), unit or "s", called or {})
    if isinstance(found, Sums):
        if skip or keep:
            raise BadInput(f"{'skip' if skip else 'cycles'}: expected none, since {reader.name} has sums")
        return found
    cycles = found.columns[COMPUTE].shape[1]
    if not 0 <= skip < cycles or skip % found.meets_every:
        raise BadInput(f"skip={skip}: expected 0 to {cycles - 1}, and a multiple of {found.meets_every}")
    if keep is not None and not 1 <= keep <= cycles - skip:
        raise BadInput(f"cycles={keep}: expected 1 to {cycles - skip}")
    kept = slice(skip, None if keep is None else skip + keep)
    return replace(found, columns={name: values[:, kept] for name, values in found.columns.items()})


def run_or_times(folder: Path) -> Run | CycleTimes:
    """The run record in a folder, or cycle times: imported ones, or those of a dry run.

    Raises BadInput where it holds none of them.
    """
    if dry_run.is_dry_run(folder):
        return of_dry_run(dry_run.load(folder))
    return load(folder) if (Path(folder) / ABOUT).is_file() else record.load(folder)
