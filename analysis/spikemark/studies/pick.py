"""Frames -> quantities: what the functions of all studies need."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from spikemark import machines
from spikemark.quantities import quantity
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.frames import SWEPT, Frames
from spikemark.records.ratios import PAIR, ratio

NOT_RUN = "no such run is complete"
CROWDED = "more ranks than cores: counts are valid, times are not"
#: Pairs of runs on different numbers of ranks.
OVER_RANKS = tuple(name for name in PAIR if name != "ranks")


def pick(runs: pd.DataFrame | Frames, **fields: object) -> pd.DataFrame:
    """The runs with these values; a field is a column, or one of the grid, as `size_cv`."""
    runs = runs.runs if isinstance(runs, Frames) else runs
    for name, value in fields.items():
        column = runs[name] if name in runs else runs.get(SWEPT + name, pd.Series(pd.NA, index=runs.index))
        values = value if isinstance(value, list | tuple | set) else [value]
        runs = runs[column.isin(list(values)).fillna(False).astype(bool)]
    return runs


def timed(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs whose times count: not measured on more threads than cores."""
    return runs[~runs["oversubscribed"].fillna(False).astype(bool)]


def mean(runs: pd.DataFrame, column: str, unit: str = "") -> Quantity:
    """Mean of a column over seeds and repetitions; of times, those that count."""
    if runs.empty:
        return missing(NOT_RUN)
    kept = timed(runs)
    if kept.empty:
        return missing(CROWDED)
    values = kept[column].dropna()
    if values.empty:
        return missing(f"{column} was not timed")
    return quantity.mean(values.astype(float), unit, kept["kind"].iloc[0])


def share(runs: pd.DataFrame, column: str) -> Quantity:
    """Mean share of a part in the real-time factor, %."""
    return mean(runs.assign(share=100 * runs[column] / runs["real_time_factor"]), "share", "%")


def reduction(base: pd.DataFrame, other: pd.DataFrame, column: str, pair: tuple[str, ...] = PAIR) -> Quantity:
    """How many % less `other` has than `base`, over pairs of runs; below 0 if it has more."""
    if base.empty or other.empty:
        return missing(NOT_RUN)
    found = times(other, base, column, pair)
    if not found:
        return found
    values = [None if x is None else 100 * (1 - x) for x in (found.value, found.high, found.low)]
    return Quantity(*values, "%", found.kind)


def times(first: pd.DataFrame, second: pd.DataFrame, column: str, pair: tuple[str, ...] = PAIR) -> Quantity:
    """How many times as much `first` has as `second`, over pairs of runs."""
    if first.empty or second.empty:
        return missing(NOT_RUN)
    found = ratio(timed(first), timed(second), column, pair)
    return Quantity(found.value, found.low, found.high, "", first["kind"].iloc[0]) if found else found


def order(values: dict[str, Quantity]) -> list[str] | Quantity:
    """Names by value, the largest first; or the first value that is missing."""
    for value in values.values():
        if not value:
            return value
    return sorted(values, key=lambda name: -values[name].value)


def levels(runs: pd.DataFrame | Frames, name: str) -> list:
    """The values of a field in ascending order."""
    runs = runs.runs if isinstance(runs, Frames) else runs
    column = runs[name] if name in runs else runs[SWEPT + name]
    return sorted(column.dropna().unique())


def means(runs: pd.DataFrame, by: Iterable[str], columns: Iterable[str]) -> pd.DataFrame:
    """Means over seeds and repetitions of some columns, a row for each combination of `by` in order."""
    return timed(runs).groupby(list(by), sort=True, dropna=False)[list(columns)].mean().reset_index()


def with_cv(frames: Frames) -> pd.DataFrame:
    """Simulated runs with `cv`, the spread of compute times that they had: asked or the profile's."""
    own = {m: machines.filled(machines.load(m)).get("jitter.cv").value for m in levels(frames, "machine")}
    asked = frames.runs.get(f"{SWEPT}cv", pd.Series(np.nan, index=frames.runs.index)).astype("Float64")
    return frames.runs.assign(cv=asked.fillna(frames.runs["machine"].map(own)).astype(float))
