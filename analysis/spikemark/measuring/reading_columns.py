"""Readings of power or energy from two columns of a table: their times, and their values.

Times are numbers or dates; values are numbers. What is neither, does not rise, or cannot be, is
refused with the line and what is expected.
"""

import re
from collections.abc import Hashable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.models import power
from spikemark.models.power import PowerTrace

#: Largest energy in any unit, and largest time in s.
MAX_NUMBER = 1e15
#: Largest power of a channel, W; larger numbers stand for readings that failed, such as 2^32 - 1.
MAX_CHANNEL_W = 1e6
YEAR_FIRST = re.compile(r"^(\d{4})/(\d\d)/(\d\d)")  # as nvidia-smi writes dates
#: What is expected of a time.
A_TIME = "a number or a time such as 2026-01-31T12:00:00.5+01:00, later than the one before"


class ReadingTimes(NamedTuple):
    """Times of readings."""

    seconds: np.ndarray  #: [reading], since the Unix epoch or the zero of the file; NaN: no time
    zoneless: bool  #: whether one of them is a date without a zone, which counts as UTC


def times_of(column: "pd.Series[Any]", factor: float = 1.0) -> ReadingTimes:
    """The times in a column; `factor`: s per unit of numbers.

    Example:
        >>> times = times_of(pd.Series(["1970-01-01T00:00:10", "11.5"]))
        >>> times.seconds.tolist(), times.zoneless
        ([10.0, 11.5], True)
    """
    seconds = pd.to_numeric(column, errors="coerce").to_numpy(float) * factor
    zoneless = False
    for place in np.flatnonzero(np.isnan(seconds)):
        text = YEAR_FIRST.sub(r"\1-\2-\3", column.iloc[place])
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            continue
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
            zoneless = True
        seconds[place] = date.timestamp()
    return ReadingTimes(seconds, zoneless)


def trace(
    path: Path,
    times: "pd.Series[Any]",
    values: "pd.Series[Any]",
    time_factor: float = 1.0,
    value_factor: float = 1.0,
    counter: bool = False,
) -> PowerTrace:
    """Readings in two columns of a table, in the order of time.

    Args:
        path: the file, for messages.
        times: the column of time, indexed by the lines of the file.
        values: the column of power or, with `counter`, of energy.
        time_factor: s per unit of the numbers among the times.
        value_factor: W or J per unit of the values.
        counter: whether the values are those of a counter of energy.

    Raises BadInput naming the line, the value and what is expected.

    Example:
        >>> times, watts = pd.Series(["0", "100"]), pd.Series(["50", "60"])
        >>> power_trace = trace(Path("power.csv"), times, watts, time_factor=1e-3)
        >>> power_trace.time_s.tolist(), power_trace.power_w.tolist()
        ([0.0, 0.1], [50.0, 60.0])
    """
    if len(times) < 2:
        where = "".join(f"line {line}: " for line in times.index)
        readings = f"{where}{len(times)} readings; expected two or more"
        raise BadInput(readings, file=path, code="file")
    time_s = times_of(times, time_factor).seconds
    good = np.abs(time_s) <= MAX_NUMBER
    good[1:] &= time_s[1:] > time_s[:-1]
    check_lines(path, times, good, A_TIME)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(float)
    largest = MAX_NUMBER if counter else MAX_CHANNEL_W / value_factor
    good = (numbers >= 0) & (numbers <= largest)
    expected = f"a number from 0 to {largest:g}"
    if counter:
        good[1:] &= numbers[1:] >= numbers[:-1]
        expected = f"{expected}, not falling"
    check_lines(path, values, good, expected)
    if counter:
        return PowerTrace(time_s, counter_j=numbers * value_factor)
    watts = numbers * value_factor
    # 0.16 kW may be 155 W
    step_w = max(power.rounding_w(watts), power.rounding_w(numbers) * value_factor)
    return PowerTrace(
        time_s,
        power_w=watts,
        step_w=step_w,
        resolution_s=power.resolution_s(time_s),
    )


def check_lines(
    path: Path,
    column: "pd.Series[Any]",
    good: np.ndarray,
    expected: str,
) -> None:
    """Raises BadInput for the first value of a column that is not good.

    Example:
        >>> watts = pd.Series(["50", "many"], name="power", index=[2, 3])
        >>> check_lines(Path("power.csv"), watts, np.array([True, False]), "a number")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: power.csv: line 3: power='many'; expected a number
    """
    for line, text in column[~good].head(1).items():
        raise bad_line(path, column.name, line, text, expected)


def bad_line(
    path: Path,
    name: Hashable,
    line: Hashable,
    text: str,
    expected: str,
) -> BadInput:
    """What is wrong with a value of a column in a line of a file.

    Example:
        >>> str(bad_line(Path("power.csv"), "power", 3, "many", "a number"))
        "power.csv: line 3: power='many'; expected a number"
    """
    return BadInput(
        field=str(name),
        value=text,
        expected=expected,
        file=f"{path}: line {line}",
    )
