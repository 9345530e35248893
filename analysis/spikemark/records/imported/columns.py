"""Columns of cycle times on their way from a file to [rank, cycle] in s.

`FileContent` is what a file holds, by its own names; `FileTimes` the same in s and by our names;
`ReadTimes` what all files hold together.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.csv_file import CsvTable
from spikemark.records.arrays import LARGEST_NUMBER, numbers

#: Columns by our names: arrays [rank, cycle] or, of one rank or with a column of ranks, [line].
Columns = dict[str, np.ndarray]


def _are_possible(column: object) -> bool:
    """Whether a column holds numbers from 0 to the largest, and nothing else; without a copy."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "fiu" or not column.size:
        return False
    least, most = float(column.min()), float(column.max())  # NaN if any number is
    return least >= 0 and most <= LARGEST_NUMBER


@dataclass(frozen=True)
class FileContent:
    """The columns of a file by their names there."""

    columns: CsvTable | dict[str, Any]
    #: About what was left out.
    remarks: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        if isinstance(self.columns, CsvTable):
            return [*self.columns.names]
        return [*self.columns]

    def values(self, name: str, path: Path) -> np.ndarray:
        """A column as numbers >= 0, of its shape, NaN where there is none.

        In double precision, but for arrays [rank, cycle] in single precision. What is so already is
        no copy.

        Raises BadInput, naming the file `path`, for others.
        """
        if isinstance(self.columns, CsvTable):
            values = self.columns.numbers(name)
            wrong = (values < 0) | (values > LARGEST_NUMBER)
            if wrong.any():
                expected = f"a number from 0 to {LARGEST_NUMBER:g}"
                raise self.columns.bad_cell(int(wrong.argmax()), name, expected)
            return values
        column = self.columns[name]
        if _are_possible(column):
            is_single = column.ndim == 2 and column.dtype == np.float32
            return np.asarray(column, dtype=np.float32 if is_single else np.float64)
        series = numbers(pd.Series(np.ravel(column), name=name, copy=False), "float64", path)
        return series.to_numpy().reshape(np.shape(column))

    def texts(self, name: str) -> np.ndarray:
        """A column as text, [line]."""
        if isinstance(self.columns, CsvTable):
            column = self.columns.cells[name]
        else:
            column = pd.Series(np.ravel(self.columns[name]))
        return column.astype(str).to_numpy(object)


@dataclass(frozen=True)
class FileColumns:
    """The columns of one file by our names."""

    columns: Columns
    #: Columns [line] of numbers or text that have no meaning, of files without a column of cycles.
    unused: Columns = field(default_factory=dict)


@dataclass(frozen=True)
class FileTimes:
    """What one file holds."""

    #: By our names, times in s.
    columns: FileColumns
    #: Numbers of the whole run, by our names.
    facts: dict[str, float] = field(default_factory=dict)
    #: Names of columns that are not used.
    unused: tuple[str, ...] = ()
    #: Of the times, before they became seconds.
    units: tuple[str, ...] = ("s",)
    #: About what was left out.
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadTimes:
    """What all files hold together."""

    #: [rank, cycle] in s, by our names.
    columns: Columns
    #: What was left out or is odd.
    remarks: tuple[str, ...] = ()
    #: Simulated time of a cycle; None where nobody said.
    cycle_ms: float | None = None
    #: All ranks meet in every cycle of this number.
    meets_every: int = 1
    #: The number of the first rank in the files, 0 or 1.
    first_rank: int = 0
    #: Of the times in the files.
    unit: str = "s"
