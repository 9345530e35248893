"""What benchmarks leave in the folder of a machine: raw repetitions, and a table of the latest times."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
from pandera.errors import SchemaError
from pyarrow import ArrowException

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.reading import read_json


class BenchFailed(RuntimeError):
    """A benchmark gave no times; the message is the reason, in one line."""


@dataclass(frozen=True)
class Kept:
    """The table `name`.parquet, which the command `measured_by` writes.

    `keys`: what tells its measurements apart; a later one replaces all rows of an earlier one. `contract`
    makes the pandera contract of the table, `in_order` sorts it.
    """

    name: str
    measured_by: str
    keys: list[str]
    contract: Callable[[], pa.DataFrameSchema]
    in_order: Callable[[pd.DataFrame], pd.DataFrame]

    def read(self, path: Path) -> pd.DataFrame:
        """The table. Raises BadInput if it is missing, not one, or does not keep the contract."""
        if not path.is_file():
            raise BadInput(f"{path}: not found: run `{self.measured_by}`")
        try:
            return self.contract().validate(pd.read_parquet(path))
        except SchemaError as error:
            raise BadInput(f"{path}: not a table of {self.name}: {' '.join(str(error).split())}") from None
        except (OSError, ValueError, ArrowException) as error:  # few of pyarrow's errors are no ValueErrors
            raise BadInput(f"{path}: not a Parquet file: {' '.join(str(error).split())}") from None

    def update(self, old: pd.DataFrame | None, new: pd.DataFrame) -> pd.DataFrame:
        """`new`, completed with the measurements of `old` that it lacks."""
        if old is None:
            return new
        again, measured = (pd.MultiIndex.from_frame(table[self.keys]) for table in (old, new))
        both = pd.concat([new, old[~again.isin(measured)]], ignore_index=True)
        return self.contract().validate(self.in_order(both))

    def save(self, folder: Path, table: pd.DataFrame) -> list[str]:
        """Update the table in `folder`; says in a line if one that cannot be read was replaced."""
        path, old, notes = folder / f"{self.name}.parquet", None, []
        try:
            old = self.read(path) if path.is_file() else None
        except BadInput as error:
            notes.append(f"replaced: {error}")
        write_atomically(path, self.update(old, table).to_parquet(index=False))
        return notes


def keep_raw(file: Path, raw: Path, program: str, read: Callable[[Any], tuple]) -> tuple:
    """Copy the JSON that a program wrote to `raw`, and return what `read` makes of it.

    Raises BenchFailed, and keeps nothing, if `read` cannot make anything of it.
    """
    try:
        made = read(read_json(file))
    except BadInput as error:  # the user did not write this file
        raise BenchFailed(f"{program}: exit status 0, but no valid JSON: {error}") from None
    write_atomically(raw, file.read_text())
    return made


def stamp(time: datetime) -> str:
    """A time to the millisecond, for names of files."""
    return f"{time:%Y%m%dT%H%M%S}.{time.microsecond // 1000:03d}Z"
