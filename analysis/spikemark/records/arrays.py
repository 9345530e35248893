"""Files of a run: objects, arrays and tables of the version, type and shape that they should have."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput, shown
from spikemark.core.npy import read_npy
from spikemark.core.reading import read_json, read_text

from . import run_files
from .record_fields import PhaseTime

#: Single precision of a time, and of the sums of the mini-app, which are rounded when they are written.
RELATIVE, ABSOLUTE_S = 1e-5, 1e-12
LARGEST, MOST = 1e15, 2.0**63 - 1024  # of a time, and of an integer that has 64 bits
LONGEST = 40  # characters of a cell in a line


def map_array(path: Path, dtype: type, shape: tuple[int, ...], by: str = run_files.RECORD) -> np.ndarray:
    """A memory map of the array in `path`.

    Raises BadInput if it is missing or not of the type and shape that the file `by` asks for.
    """
    try:
        array = read_npy(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: not found, although the run says it recorded it") from None
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        raise BadInput(
            f"{path}: holds {array.dtype} {list(array.shape)}; {by} asks for {np.dtype(dtype)} {list(shape)}"
        )
    return array


def read_object(path: Path, advice: str = "", versions: tuple[int, ...] = ()) -> dict[str, Any]:
    """The JSON object in `path`, of one of these versions of its format where any are given.

    Raises BadInput, with `advice` where the file is missing. The version comes before all other fields: with
    another one, complaints about these would mislead.
    """
    content = read_json(path, advice)
    if not isinstance(content, dict):
        raise BadInput(f"{path}: holds {type(content).__name__}; expected one JSON object")
    version = content.get("format_version")
    if versions and (version not in versions or isinstance(version, bool)):
        expected = " or ".join(map(str, versions))
        raise BadInput(f"{path}: format_version={shown(version)}; expected {expected}")
    return content


def check_possible(times: np.ndarray, name: str, where: str = "") -> None:
    """Refuse times [rank, cycle] in s that are no numbers from 0 to LARGEST; the line begins with `where`."""
    for rank, row in enumerate(times):
        wrong = ~((row >= 0) & (row <= LARGEST))  # also true for NaN
        if wrong.any():
            cycle = int(wrong.argmax())
            raise BadInput(
                f"{where}{name} time {row[cycle]} s of rank {rank} in cycle {cycle}; expected a number from"
                f" 0 to {LARGEST:g}"
            )


def check_times(path: Path, name: str, times: np.ndarray, summary: PhaseTime) -> None:
    """Refuse times of a phase, s, [rank, cycle], that cannot be, or are not those of `timing.phases`.

    A phase that was not timed is NaN throughout; the sums of others are those of the record.
    """
    if summary.mean_s is None or summary.max_s is None:
        if not np.isnan(times).all():
            raise BadInput(f"{path}: {name}: has times; timing.phases says that it was not timed")
        return
    check_possible(times, name, f"{path}: ")
    sums = times.sum(axis=1, dtype=np.float64)
    both = ("mean", sums.mean(), summary.mean_s), ("largest", sums.max(), summary.max_s)
    for what, sum_s, wanted_s in both:
        if abs(sum_s - wanted_s) > ABSOLUTE_S + RELATIVE * wanted_s:
            raise BadInput(
                f"{path}: {name}: the {what} time of a rank is {sum_s:.6g} s; timing.phases has"
                f" {wanted_s:.6g} s"
            )


def read_table(path: Path, dtypes: dict[str, str], needed: Iterable[str], advice: str = "") -> pd.DataFrame:
    """The CSV table in `path`: text, and numbers of these dtypes, which are converted here only.

    Raises BadInput, with `advice` where the file is missing; for a column of `needed` that is missing; for
    lines of unequal length, such as a truncated one, which pandas would fill; and as `numbers`.
    """
    text = read_text(path, advice)
    if len({line.count(",") for line in text.splitlines()}) != 1:
        raise BadInput(f"{path}: truncated: it is empty or its lines differ in their number of fields")
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str)
    except ValueError as error:
        raise BadInput(f"{path}: not a table: {' '.join(str(error).split())}") from None
    if missing := [name for name in needed if name not in table]:
        raise BadInput(f"{path}: missing column {', '.join(missing)}")
    known = {name: numbers(table[name], dtypes[name], path) for name in table if name in dtypes}
    return table.assign(**known)


def numbers(column: pd.Series, dtype: str, path: Path) -> pd.Series:
    """The column as numbers >= 0 of a dtype; NA where the file has nothing and the dtype allows it.

    Raises BadInput naming the first cell that is no such number.
    """
    plain = column.astype(str) if column.dtype.kind in "bcmM" else column  # truths and dates are no numbers
    found = pd.to_numeric(plain, errors="coerce")
    real, whole = found.astype("float64"), dtype != "float64"
    wrong = (real.isna() & (column.notna() | (dtype == "int64"))) | (real < 0)
    wrong |= (real % 1 != 0) & real.notna() & whole | (real > (MOST if whole else LARGEST))
    if wrong.any():
        cell = str(column[wrong].iloc[0])
        kind = "a whole number >= 0" if whole else f"a number from 0 to {LARGEST:g}"
        raise BadInput(f"{path}: {column.name}={cell[:LONGEST]}: expected {kind}")
    return found.astype(dtype)
