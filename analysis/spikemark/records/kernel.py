"""What the kernel counted beside the cycles of a run with record.kernel: kernel.npy and kernel.csv."""

import io
from dataclasses import dataclass

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text

from . import run_files
from .arrays import map_array
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
    try:
        table = pd.read_csv(io.StringIO(read_text(path)), dtype=COLUMNS, keep_default_na=False)
    except ValueError as error:
        raise BadInput(f"{path}: not a table: {' '.join(str(error).split())}") from None
    if list(table.columns) != [*COLUMNS]:
        raise BadInput(f"{path}: columns {', '.join(table.columns)}; needed are {', '.join(COLUMNS)}")
    return KernelCounts(about, cycles, table)
