"""Cycle times that another program measured: read from its files, checked and kept."""

from pathlib import Path

from spikemark.records import dry_run, record
from spikemark.records.record import Run

from . import sums
from .formats import FORMATS, READERS, UNITS, Found, read, reader_of
from .sums import Sums
from .times import ABOUT, DRY_RUN, PAGE, CycleTimes, cycle_times, load, of_dry_run, save, sums_in

__all__ = [
    "ABOUT", "DRY_RUN", "FORMATS", "PAGE", "READERS", "UNITS", "CycleTimes", "Found", "Sums", "cycle_times",
    "load", "read", "reader_of", "run_or_times", "save", "sums", "sums_in",
]  # fmt: skip


def run_or_times(folder: Path) -> Run | CycleTimes:
    """The run record in a folder, or cycle times: imported ones, or those of a dry run.

    Raises BadInput where it holds none of them.
    """
    if dry_run.is_dry_run(folder):
        return of_dry_run(dry_run.load(folder))
    return load(folder) if (Path(folder) / ABOUT).is_file() else record.load(folder)
