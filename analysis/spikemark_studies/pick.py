"""Frames -> quantities: what the functions of all studies need.

`pick` chooses runs, `mean`, `share`, `reduction` and `times` make a quantity with its interval of
them, and `means` a small frame for a figure or a table. Where no run is left, a quantity is missing
and says why.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from spikemark.quantities import quantity
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.frames import Frames
from spikemark.records.ratios import PAIR, ratio
from spikemark.records.runs_table import SWEPT

from .profiles import profile_value

NOT_RUN = "no such run is complete"
CROWDED = "more ranks than cores: counts are valid, times are not"
#: What runs on different numbers of ranks share, see `records.ratios`.
OVER_RANKS = tuple(name for name in PAIR if name != "ranks")


def _column(runs: pd.DataFrame, name: str) -> pd.Series:
    """A column, or a field of the grid, as `size_cv`; nothing where no run has it."""
    if name in runs:
        return runs[name]
    return runs.get(SWEPT + name, pd.Series(pd.NA, index=runs.index))


def _runs_of(runs: pd.DataFrame | Frames) -> pd.DataFrame:
    return runs.runs if isinstance(runs, Frames) else runs


def pick(runs: pd.DataFrame | Frames, **fields: object) -> pd.DataFrame:
    """The runs with these values.

    Args:
        runs: a row per run.
        fields: a value, or a list of them, by column or field of the grid.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> pick(runs, D=1)["real_time_factor"].tolist()
        [2.0]
    """
    chosen = _runs_of(runs)
    for name, value in fields.items():
        values = value if isinstance(value, list | tuple | set) else [value]
        has_value = _column(chosen, name).isin(list(values)).fillna(False)
        chosen = chosen[has_value.astype(bool)]
    return chosen


def timed(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs whose times count: not measured on more threads than cores.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> len(timed(runs.assign(oversubscribed=[True, False])))
        1
    """
    is_crowded = runs["oversubscribed"].fillna(False).astype(bool)
    return runs[~is_crowded]


def mean(runs: pd.DataFrame, column: str, unit: str = "") -> Quantity:
    """Mean of a column over seeds and repetitions; of times, those that count.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> mean(runs, "real_time_factor").value
        1.5
    """
    if runs.empty:
        return missing(NOT_RUN)
    counting = timed(runs)
    if counting.empty:
        return missing(CROWDED)
    values = counting[column].dropna()
    if values.empty:
        return missing(f"{column} was not timed")
    return quantity.mean(values.astype(float), unit, counting["kind"].iloc[0])


def share(runs: pd.DataFrame, column: str) -> Quantity:
    """Mean share of a part in the real-time factor, %.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> share(runs.assign(waiting=[0.5, 0.25]), "waiting").value
        25.0
    """
    percent = 100 * runs[column] / runs["real_time_factor"]
    return mean(runs.assign(share=percent), "share", "%")


def reduction(
    base: pd.DataFrame,
    other: pd.DataFrame,
    column: str,
    pair: tuple[str, ...] = PAIR,
) -> Quantity:
    """How many % less `other` has than `base`, over pairs of runs; below 0 if it has more.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> base, other = pick(runs, D=1), pick(runs, D=10)
        >>> reduction(base, other, "real_time_factor", ("ranks",)).value  # %
        50.0
    """
    factor = times(other, base, column, pair)
    if not factor:
        return factor
    # The larger the factor, the smaller the reduction.
    value, low, high = map(_percent_less, (factor.value, factor.high, factor.low))
    return Quantity(value, low, high, "%", factor.kind)


def _percent_less(factor: float | None) -> float | None:
    return None if factor is None else 100 * (1 - factor)


def times(
    first: pd.DataFrame,
    second: pd.DataFrame,
    column: str,
    pair: tuple[str, ...] = PAIR,
) -> Quantity:
    """How many times as much `first` has as `second`, over pairs of runs.

    Args:
        first: a row per run.
        second: runs to compare with.
        column: what is compared.
        pair: columns that both runs of a pair share.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> slow, fast = pick(runs, D=1), pick(runs, D=10)
        >>> times(slow, fast, "real_time_factor", ("ranks",)).value
        2.0
    """
    if first.empty or second.empty:
        return missing(NOT_RUN)
    factor = ratio(timed(first), timed(second), column, pair)
    if not factor:
        return factor
    return Quantity(factor.value, factor.low, factor.high, "", first["kind"].iloc[0])


def order(values: dict[str, Quantity]) -> list[str] | Quantity:
    """Names by value, the largest first; or the first value that is missing.

    Example:
        >>> order({"deliver": Quantity(1.0), "waiting": Quantity(3.0)})
        ['waiting', 'deliver']
    """
    numbers = {}
    for name, value in values.items():
        if value.value is None:
            return value
        numbers[name] = value.value
    return sorted(numbers, key=lambda name: -numbers[name])


def levels(runs: pd.DataFrame | Frames, name: str) -> list[Any]:
    """The values of a column or a field of the grid, in ascending order.

    Example:
        >>> levels(pd.DataFrame({"schedule": ["overlapped", "conventional"]}), "schedule")
        ['conventional', 'overlapped']
    """
    frame = _runs_of(runs)
    column = frame[name] if name in frame else frame[SWEPT + name]
    return sorted(column.dropna().unique())


def groups(runs: pd.DataFrame, *fields: str) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Runs by the values of a column, in ascending order; of several columns, by tuples.

    Example:
        >>> [ranks for ranks, _ in groups(pd.DataFrame({"ranks": [8, 4, 8]}), "ranks")]
        [4, 8]
    """
    yield from runs.groupby(fields[0] if len(fields) == 1 else list(fields))


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame for a table, with Python's own numbers; None for what is missing.

    Example:
        >>> rows_of(pd.DataFrame({"ranks": [8, 4], "waiting_us": [1.5, np.nan]}))
        [{'ranks': 8, 'waiting_us': 1.5}, {'ranks': 4, 'waiting_us': None}]
    """
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def means(runs: pd.DataFrame, by: Iterable[str], columns: Iterable[str]) -> pd.DataFrame:
    """Means over seeds and repetitions of some columns.

    A row for each combination of `by`, in order.

    Example:
        >>> runs = pd.DataFrame({"D": [1, 10], "real_time_factor": [2.0, 1.0], "ranks": 8})
        >>> runs = runs.assign(kind="measured", oversubscribed=False)
        >>> means(runs, ["ranks"], ["real_time_factor"]).to_dict("list")
        {'ranks': [8], 'real_time_factor': [1.5]}
    """
    groups = timed(runs).groupby(list(by), sort=True, dropna=False)
    return groups[list(columns)].mean().reset_index()


def with_cv(frames: Frames) -> pd.DataFrame:
    """Simulated runs with `cv`, the spread of their compute times: as asked, or the profile's.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> with_cv(frames)["cv"].unique()
        array([0.035])
    """
    of_profile = {}
    for machine in levels(frames, "machine"):
        of_profile[machine] = profile_value(machine, "jitter.cv")
    nothing = pd.Series(np.nan, index=frames.runs.index)
    asked = frames.runs.get(f"{SWEPT}cv", nothing).astype("Float64")
    usual = frames.runs["machine"].map(of_profile)
    return frames.runs.assign(cv=asked.fillna(usual).astype(float))
