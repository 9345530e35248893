"""Files of a run: objects, arrays and tables, refused unless they are of the right version, type
and shape.

`read_object` reads JSON, `map_array` maps an array without reading it, `read_table` reads CSV.
`check_times` looks at every time of a phase once, O(ranks x cycles), and compares its sums with
those of the record.
"""

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy
from spikemark.core.reading import read_json, read_text

from . import run_files
from .schema import PhaseTime

if TYPE_CHECKING:
    import pandas as pd

#: How much sums of times may differ from those of the record: times are in single precision, and
#: the mini-app rounds its sums when it writes them.
RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE_S = 1e-12
LARGEST_NUMBER = 1e15  # of a time in s, and of any other number with a fraction
LARGEST_INTEGER = 2.0**63 - 1024  # of 64 bits, as a double
#: Lines of cells such as 12, 0.5, 1e-06 and checksums, after the head of a table.
PLAIN_CELLS = re.compile(r"[\n,0-9a-f.+-]+")
CHECKSUM = re.compile(r"[0-9a-f]{16}")
MAX_PLAIN_DIGITS = 18  # of a whole number, any of which has 64 bits
MAX_CELL_CHARACTERS = 40  # of a cell that a complaint shows

#: Types of columns of numbers; `int64` allows no missing values.
NumberType = Literal["int64", "Int64", "float64"]


def map_array(
    path: Path,
    dtype: type,
    shape: tuple[int, ...],
    by: str = run_files.RECORD,
) -> np.ndarray:
    """A memory map of the array in `path`.

    Raises BadInput if it is missing, or not of the type and shape that the file `by` asks for.

    Example:
        >>> run = Path("tests/golden/analysis/records/aware-4")
        >>> map_array(run / "cycles.npy", np.float32, (4, 1000, 8)).shape
        (4, 1000, 8)
        >>> map_array(run / "cycles.npy", np.float64, (4, 1000, 8))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: tests/golden/analysis/records/aware-4/cycles.npy: ...
    """
    array = read_npy(path, "the run says it recorded it")
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        contents = f"holds {array.dtype} {list(array.shape)}"
        expected = f"{by} asks for {np.dtype(dtype)} {list(shape)}"
        raise BadInput(
            f"{contents}; {expected}",
            file=path,
            code="file",
        )
    return array


def read_object(path: Path, advice: str = "", versions: tuple[int, ...] = ()) -> dict[str, Any]:
    """The JSON object in `path`, of one of these versions of its format where any are given.

    Raises BadInput, with `advice` where the file is missing. The version comes before all other
    fields: with another one, complaints about these would mislead.

    Example:
        >>> read_object(Path("tests/golden/analysis/records/aware-4/record.json"))["kind"]
        'measured'
    """
    content = read_json(path, advice)
    if not isinstance(content, dict):
        reason = f"holds {type(content).__name__}"
        raise BadInput(
            reason=reason,
            expected="one JSON object",
            file=path,
            code="file",
        )
    version = content.get("format_version")
    if versions and (version not in versions or isinstance(version, bool)):
        expected = " or ".join(map(str, versions))
        raise BadInput(
            field="format_version",
            value=version,
            expected=expected,
            file=path,
        )
    return content


def check_possible(times: np.ndarray, name: str, file: Path | None = None) -> None:
    """Raises BadInput for times [rank, cycle] in s that are no numbers from 0 to LARGEST_NUMBER.

    Args:
        times: times in s, [rank, cycle].
        name: of the column or phase that they are of.
        file: which holds them, for the complaint.

    Example:
        >>> check_possible(np.array([[1e-3, 2e-3]]), "deliver")
    """
    for rank, times_of_rank in enumerate(times):
        wrong = ~((times_of_rank >= 0) & (times_of_rank <= LARGEST_NUMBER))  # also true for NaN
        if wrong.any():
            cycle = int(wrong.argmax())
            raise BadInput(
                f"{name} time {times_of_rank[cycle]} s of rank {rank} in cycle {cycle}; expected a"
                f" number from 0 to {LARGEST_NUMBER:g}",
                field=name,
                file=file,
                code="range",
            )


def check_times(
    path: Path,
    name: str,
    times: np.ndarray,
    summary: PhaseTime,
) -> None:
    """Raises BadInput for times of a phase that cannot be, or are not those of `timing.phases`.

    A phase that was not timed is NaN throughout; the sums of others are those of the record.

    Args:
        path: the file of the times.
        name: the phase.
        times: times in s, [rank, cycle].
        summary: the phase in `timing.phases` of the record.

    Example:
        >>> summary = PhaseTime(mean_s=0.2, max_s=0.3)
        >>> times = np.array([[0.04, 0.06], [0.1, 0.2]])  # s, [rank, cycle]
        >>> check_times(Path("cycles.npy"), "deliver", times, summary)
        >>> check_times(Path("cycles.npy"), "deliver", times / 2, summary)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: cycles.npy: deliver: the mean time of a rank is 0.1 ...
    """
    if summary.mean_s is None or summary.max_s is None:
        if not np.isnan(times).all():
            reason = "has times; timing.phases says that it was not timed"
            raise BadInput(field=name, reason=reason, file=path)
        return
    check_possible(times, name, path)
    seconds_of_rank = times.sum(axis=1, dtype=np.float64)
    _check_sum(path, name, "mean", seconds_of_rank.mean(), summary.mean_s)
    _check_sum(path, name, "largest", seconds_of_rank.max(), summary.max_s)


def _check_sum(
    path: Path,
    phase: str,
    which: str,
    sum_s: float,
    recorded_s: float,
) -> None:
    """Raises BadInput where the mean or largest time of a rank is not that of the record."""
    if abs(sum_s - recorded_s) > ABSOLUTE_TOLERANCE_S + RELATIVE_TOLERANCE * recorded_s:
        reason = (
            f"the {which} time of a rank is {sum_s:.6g} s; timing.phases has {recorded_s:.6g} s"
        )
        raise BadInput(field=phase, reason=reason, file=path)


def read_table(
    path: Path,
    dtypes: Mapping[str, NumberType],
    needed: Iterable[str],
    advice: str = "",
) -> "pd.DataFrame":
    """The CSV table in `path`: columns of text, and those of `dtypes` as numbers.

    Raises BadInput, with `advice` where the file is missing; for a column of `needed` that is
    missing; for lines of unequal length, such as a truncated one, which pandas would fill; and as
    `numbers`.

    Example:
        >>> ranks = Path("tests/golden/analysis/records/aware-4/ranks.csv")
        >>> read_table(ranks, {"rank": "int64"}, ["rank"])["rank"].tolist()
        [0, 1, 2, 3]
    """
    import pandas as pd

    text = read_text(path, advice)
    lengths = {line.count(",") for line in text.splitlines()}
    if len(lengths) != 1:
        reason = "truncated: it is empty or its lines differ in their number of fields"
        raise BadInput(reason=reason, file=path, code="file")
    plain = _plain_table(text, dtypes)
    if plain is not None and all(name in plain for name in needed):
        return plain
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str)
    except ValueError as error:
        reason = f"not a table: {' '.join(str(error).split())}"
        raise BadInput(
            reason=reason,
            file=path,
            code="file",
        ) from None
    missing = [name for name in needed if name not in table]
    if missing:
        reason = f"missing column {', '.join(missing)}"
        raise BadInput(
            reason,
            field=missing[0],
            file=path,
            code="missing",
        )
    for name in table.columns:
        if name in dtypes:
            table[name] = numbers(table[name], dtypes[name], path)
    return table


def _plain_table(text: str, dtypes: Mapping[str, NumberType]) -> "pd.DataFrame | None":
    """The table of `read_table` if it has plain numbers in columns of `dtypes`, and else checksums.

    None for any other, which pandas reads: for a small table, that takes five times as long.
    """
    import pandas as pd

    head, *lines = text.splitlines()
    names = head.split(",")
    if len(set(names)) < len(names) or not lines or not PLAIN_CELLS.fullmatch(text, len(head)):
        return None
    columns: dict[str, Any] = {}
    for name, *cells in zip(names, *(line.split(",") for line in lines), strict=True):
        column = _plain_column(cells, dtypes.get(name))
        if column is None:
            return None
        columns[name] = column
    return pd.DataFrame(columns, copy=False)


def _plain_column(cells: list[str], dtype: NumberType | None) -> Any:
    """The column of these cells, as `numbers`; None where pandas has to read it."""
    import pandas as pd

    if dtype is None:
        is_text = all(CHECKSUM.fullmatch(cell) for cell in cells)
        return pd.array(cells, dtype="str") if is_text else None
    if dtype == "float64":
        try:
            reals = np.array(cells, dtype=np.float64)
        except ValueError:
            return None
        return reals if 0 <= reals.min() <= reals.max() <= LARGEST_NUMBER else None
    if not all(cell.isdecimal() and len(cell) <= MAX_PLAIN_DIGITS for cell in cells):
        return None
    integers = np.array([int(cell) for cell in cells], dtype=np.int64)
    if dtype == "int64":
        return integers
    return pd.arrays.IntegerArray(integers, np.zeros(len(cells), dtype=bool))


def numbers(column: "pd.Series", dtype: NumberType, path: Path) -> "pd.Series":
    """The column as numbers >= 0; NA where the file has nothing and the dtype allows it.

    Args:
        column: of a table, named; text, numbers or anything else.
        dtype: of the numbers.
        path: the file of the table.

    Raises BadInput naming the first cell that is no such number.

    Example:
        >>> import pandas as pd
        >>> spikes = pd.Series(["12", ""], name="spikes")
        >>> numbers(spikes.replace("", None), "Int64", Path("ranks.csv")).tolist()
        [12, <NA>]
    """
    import pandas as pd

    if column.dtype.kind in "bcmM":  # truths and dates are no numbers, but would become some
        column_of_text = column.astype(str)
        values = pd.to_numeric(column_of_text, errors="coerce")
    else:
        values = pd.to_numeric(column, errors="coerce")
    reals = values.to_numpy(dtype=np.float64, na_value=np.nan)
    unreadable = np.isnan(reals)
    if dtype != "int64":
        unreadable &= column.notna().to_numpy()
    wrong = unreadable | (reals < 0)
    if dtype == "float64":
        wrong |= reals > LARGEST_NUMBER
        expected = f"a number from 0 to {LARGEST_NUMBER:g}"
    else:
        wrong |= (reals > LARGEST_INTEGER) | (np.isfinite(reals) & (reals != np.floor(reals)))
        expected = "a whole number >= 0"
    if wrong.any():
        cell = str(column[wrong].iloc[0])[:MAX_CELL_CHARACTERS]
        name = str(column.name)
        raise BadInput(
            f"{name}={cell}: expected {expected}",
            field=name,
            file=path,
        )
    if dtype == "float64":
        return pd.Series(reals, index=column.index, name=column.name, copy=False)
    return values.astype(dtype)
