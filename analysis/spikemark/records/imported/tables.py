"""The documented layout of any program: .npy, .npz, .csv and .parquet, of all ranks or one rank each.

- One file holds all ranks: arrays [rank, cycle], or a table with the columns `rank` and, if its lines are not
  in order, `cycle`.
- Several files hold one rank each, in the order of the numbers in their names: arrays [cycle], or tables with
  one line per cycle.

An .npy file holds compute times. In the others, columns are named as in COLUMNS, or `cycle_time` instead of
`compute`: the time of the whole cycle, from which communication is taken away.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import parquet

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy
from spikemark.core.npz import read_npz

from .found import COLUMNS, COMMUNICATE, COMPUTE, SPIKES, Asked, Columns, Found
from .join import in_order, joined, missing, ranks_of
from .numbered import CYCLE, RANK, aligned

NAME, SUMMARY = "table", "documented layout of .npy, .npz, .csv and .parquet, of any program"
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
WHOLE = "cycle_time"
NAMES = (*COLUMNS, WHOLE)
BYTES = 8  # of a number
FORMATS = (".npy", ".npz", ".csv", ".parquet")


def recognises(path: Path) -> bool:
    """True if the name of the file ends like one of this layout."""
    return path.suffix in FORMATS


def read(files: list[Path], asked: Asked) -> Found:
    """Columns [rank, cycle] in s from files whose times are in `asked.unit`.

    Raises BadInput naming the file and what is wrong: unknown formats, units and columns, ranks with
    different numbers of cycles.
    """
    if asked.unit not in UNITS:
        raise BadInput(f"unit={asked.unit!r}; allowed: {', '.join(UNITS)}")
    for name in asked.called:
        if name not in (*NAMES, RANK, CYCLE):
            raise BadInput(f"column {name!r}; allowed: {', '.join((*NAMES, RANK, CYCLE))}")
    files = in_order(files)
    parts = [(path, _file(path, asked.called)) for path in files]
    ranks, remarks = ranks_of(files), ()
    if len(parts) > 1:
        parts, remarks = _numbered(parts)
        found = joined(parts)
    else:
        found, ranks = parts[0][1], None
        if RANK in found:
            found, ranks, remarks = aligned(files[0], found)
        found.pop(CYCLE, None)
    found = {name: np.atleast_2d(np.asarray(values, dtype=np.float64)) for name, values in found.items()}
    found = {name: values * (1 if name == SPIKES else UNITS[asked.unit]) for name, values in found.items()}
    return Found(compute_of(found, files[0]), remarks, missing(ranks))


def _numbered(parts: list[tuple[Path, Columns]]) -> tuple[list[tuple[Path, Columns]], tuple[str, ...]]:
    """Files of one rank each whose cycles are numbered, aligned by these numbers."""
    parts = [(path, {name: values for name, values in part.items() if name != RANK}) for path, part in parts]
    if not all(CYCLE in part for _, part in parts):
        return [(path, _without(part, CYCLE)) for path, part in parts], ()
    first = parts[0][1]
    if any(part.keys() != first.keys() or part[CYCLE].ndim != 1 for _, part in parts):
        return parts, ()  # `joined` says what is wrong
    table = {name: np.concatenate([part[name] for _, part in parts]) for name in first}
    table[RANK] = np.repeat(np.arange(len(parts)), [part[CYCLE].size for _, part in parts])
    found, _, remarks = aligned(parts[0][0].parent, table)
    return [
        (path, {name: values[i] for name, values in found.items()}) for i, (path, _) in enumerate(parts)
    ], remarks


def _without(columns: Columns, name: str) -> Columns:
    return {key: values for key, values in columns.items() if key != name}


def contents(path: Path, load: Callable[[Path], dict]) -> dict:
    """What a file holds. Raises BadInput where it is missing or damaged."""
    if not path.is_file():
        raise BadInput(f"{path}: not found")
    try:
        return load(path)
    except BadInput:
        raise
    except Exception as error:  # whatever readers make of damaged bytes
        what = f"{path.suffix} file" if path.suffix in FORMATS else "file"
        raise BadInput(f"{path}: not a whole {what}: {' '.join(str(error).split())}") from None


def _parquet(path: Path) -> pd.DataFrame:
    """Raises BadInput for a table that needs more memory than there is; its file may be short."""
    about = parquet.ParquetFile(path).metadata
    memory.check(BYTES * about.num_rows * about.num_columns, f"{path}: its table")
    return pd.read_parquet(path)


def _file(path: Path, called: dict[str, str]) -> Columns:
    def load(path: Path) -> dict:
        if path.suffix == ".npy":
            return {called.get(COMPUTE, COMPUTE): read_npy(path)}
        if path.suffix == ".npz":
            return read_npz(path)
        table = pd.read_csv(path, compression=None) if path.suffix == ".csv" else _parquet(path)
        return {str(name).strip(): table[name].to_numpy() for name in table}

    return _named(path, contents(path, load), called)


def _named(path: Path, columns: Columns, called: dict[str, str]) -> Columns:
    """The columns by our names, in one shape."""
    found = {}
    for name in (*NAMES, RANK, CYCLE):
        theirs = called.get(name, name)
        if name in called and theirs not in columns:
            raise BadInput(f"{path}: no column {theirs!r}; there are {', '.join(columns)}")
        if theirs in columns:
            found[name] = columns[theirs]
    if columns and all(_is_number(name) for name in columns):
        raise BadInput(
            f"{path}: the first line holds numbers, {next(iter(columns))} first; needed: the names of the"
            f" columns, such as {COMPUTE}, or {RANK},{CYCLE},{COMPUTE}"
        )
    if not (COMPUTE in found) ^ (WHOLE in found):
        raise BadInput(
            f"{path}: columns {', '.join(columns)}; needed: {COMPUTE}, or {WHOLE} with {COMMUNICATE}, but not"
            " both"
        )
    for name, values in found.items():
        if values.dtype.kind not in "fiu" or values.ndim not in (1, 2) or not values.size:
            raise BadInput(
                f"{path}: {name}: {values.dtype} of shape {list(values.shape)}; needed: numbers [rank, cycle]"
                " or [cycle]"
            )
        if values.shape != next(iter(found.values())).shape:
            raise BadInput(f"{path}: {name}: shape {list(values.shape)}; needed: that of all columns")
    return found


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def compute_of(found: Columns, path: Path) -> Columns:
    """Replaces times of whole cycles by compute times; columns in the order of COLUMNS."""
    if WHOLE in found:
        if COMMUNICATE not in found:
            raise BadInput(f"{path}: {WHOLE} without {COMMUNICATE}; needed to know the time of computing")
        compute = found[WHOLE] - found[COMMUNICATE]
        if (compute < 0).any():
            rank, cycle = np.argwhere(compute < 0)[0]
            raise BadInput(
                f"{path}: {COMMUNICATE}={found[COMMUNICATE][rank, cycle]:.3g} s of rank {rank} in cycle"
                f" {cycle}, more than the whole cycle, {found[WHOLE][rank, cycle]:.3g} s"
            )
        found = found | {COMPUTE: compute}
    return {name: found[name] for name in COLUMNS if name in found}
