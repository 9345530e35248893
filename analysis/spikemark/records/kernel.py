"""What the kernel counted beside the cycles of a run with record.kernel: kernel.npy and kernel.csv."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput

from . import run_files
from .arrays import map_array
from .csv_table import read_csv
from .record import Run
from .record_fields import Kernel

COLUMNS = {"node": int, "time_s": float, "core": int, "source": str, "name": str, "count": int}
READER = "reader"  # source of the rows that say when, and on which hardware thread, the counts were read


@dataclass(frozen=True)
class KernelCounts:
    """`about`: what record.json says; `cycles`: float32 [rank, cycle, field of `about.fields`].

    `counts`: the columns of COLUMNS, one row for every count of a hardware thread that rose since the reading
    before; `time_s` is that of the reading, from the begin of the measured part on.
    """

    about: Kernel
    cycles: np.ndarray
    counts: pd.DataFrame

    def field(self, name: str) -> np.ndarray:
        """A field of the cycles, [rank, cycle]."""
        return self.cycles[:, :, self.about.fields.index(name)]


def load(run: Run) -> KernelCounts | None:
    """The counts of a run; None where the run kept none. Raises BadInput for files that do not fit."""
    about = run.record.kernel
    if about is None or run.cycles is None:
        return None
    shape = (run.record.ranks, run.record.timing.cycles, len(about.fields))
    cycles = map_array(run.path / run_files.KERNEL_CYCLES, np.float32, shape)
    path = run.path / run_files.KERNEL
    table = read_csv(path, dtype=COLUMNS, keep_default_na=False)
    if list(table.columns) != [*COLUMNS]:
        raise BadInput(f"{path}: columns {', '.join(table.columns)}; needed are {', '.join(COLUMNS)}")
    if len(odd := np.argwhere(~((cycles >= 0) & np.isfinite(cycles)))):
        rank, cycle, field = odd[0]
        raise BadInput(
            f"{run.path / run_files.KERNEL_CYCLES}: {about.fields[field]} of rank {rank} in cycle {cycle} is"
            f" {cycles[rank, cycle, field]:g}; allowed: finite numbers, at least 0"
        )
    wrong = ~np.isfinite(table["time_s"].to_numpy()) | (table["count"].to_numpy() < 0)
    if wrong.any():
        line = int(wrong.argmax())
        raise BadInput(
            f"{path}: line {line + 2}: time_s={table['time_s'][line]:g}, count={table['count'][line]};"
            " allowed: a finite time, and a count of at least 0"
        )
    return KernelCounts(about, cycles, table)
