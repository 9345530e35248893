"""Cycle times that another program measured: read from its files, checked and kept."""

from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.records import dry_run, record, run_files
from spikemark.records.record import Run

from . import sums
from .columns import ReadTimes
from .formats import READERS, reader_of
from .names import UNITS
from .reader import TABLE_ENDINGS
from .reading import read_times
from .sums import Sums
from .times import (
    DRY_RUN,
    IMPORT_FILE,
    PAGE,
    CycleTimes,
    cycle_times,
    load_cycle_times,
    of_dry_run,
    save,
    sums_in,
)

__all__ = [
    "DRY_RUN",
    "IMPORT_FILE",
    "PAGE",
    "READERS",
    "TABLE_ENDINGS",
    "UNITS",
    "CycleTimes",
    "ReadTimes",
    "Sums",
    "cycle_times",
    "load_cycle_times",
    "read_times",
    "reader_of",
    "run_or_times",
    "save",
    "sums",
    "sums_in",
]


def run_or_times(folder: Path) -> Run | CycleTimes:
    """The run record in a folder, or cycle times: imported ones, or those of a dry run.

    Raises BadInput where it holds none of them.

    Example:
        >>> run_or_times(Path("tests/golden/analysis/records/aware-4")).record.ranks
        4
    """
    if dry_run.is_dry_run(folder):
        return of_dry_run(dry_run.load_dry_run(folder))
    if (folder / IMPORT_FILE).is_file():
        return load_cycle_times(folder)
    run_files.refuse_several(folder)
    if folder.is_dir() and not (folder / run_files.RECORD).exists():
        reason = f"holds no {run_files.RECORD}, {IMPORT_FILE} or {dry_run.DRY_RUN_FILE}"
        expected = "the folder of a run, of imported times or of a dry run"
        raise BadInput(
            reason=reason,
            expected=expected,
            file=folder,
            code="file",
        )
    return record.load_run(folder)
