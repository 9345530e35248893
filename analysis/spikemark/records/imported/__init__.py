"""Cycle times that another program measured: read from its files, checked, kept with what is known of them.

`readers.py` lists the formats, one module each. `checks.py` examines what was read, and `cycle_times.py`
keeps and loads it. The models of waiting take these times as they take those of a run (waiting/source.py,
waiting/observed.py). Some formats have only sums over a run (`sums.py`), which answer fewer questions.
"""

from pathlib import Path

from spikemark.core.reading import read_json
from spikemark.records import dry_run, record
from spikemark.records.record import Run

from . import sums
from .cycle_times import ABOUT, PAGE, CycleTimes, load, save, save_sums
from .found import COMMUNICATE, WAIT, Found
from .of_dry_run import cycle_times
from .readers import READERS, read, reader_of
from .sums import Summed, Sums
from .tables import UNITS

__all__ = [
    "ABOUT",
    "COMMUNICATE",
    "PAGE",
    "READERS",
    "UNITS",
    "WAIT",
    "CycleTimes",
    "Found",
    "Summed",
    "Sums",
    "load",
    "read",
    "reader_of",
    "run_or_times",
    "save",
    "save_sums",
    "sums_in",
]


def run_or_times(folder: Path) -> Run | CycleTimes:
    """The run record in a folder, or cycle times: imported ones, or those of a dry run.

    Raises BadInput where it holds none of them.
    """
    if dry_run.is_dry_run(folder):
        return cycle_times(dry_run.load(folder))
    return load(folder) if (Path(folder) / ABOUT).is_file() else record.load(folder)


def sums_in(folder: Path) -> Sums | None:
    """The imported sums in a folder; None where it holds something else. Raises BadInput for damaged ones."""
    about = Path(folder) / ABOUT
    return sums.load(about) if about.is_file() and sums.is_sums(read_json(about)) else None
