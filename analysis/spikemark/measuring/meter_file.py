"""Reads the CSV of a meter outside: which columns are power, and whose.

Rows belong to series: one for each column of power of each node, device, part and step of Slurm, in
the order of time (meter_series.py says which of them add up). A file whose rows seem to be of
several meters that no column tells apart is refused.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from spikemark.core.csv_file import read_csv
from spikemark.core.errors import BadInput
from spikemark.models.power import PowerTrace

from . import meter_columns
from .meter_columns import Kind, MeterColumn
from .meter_series import Series, chosen_series, label_text
from .reading_columns import A_TIME, MAX_NUMBER, bad_line, check_lines, times_of, trace

DAY = r"\d{4}[-/]\d\d[-/]\d\d|\d\d?[./-]\d\d?[./-]\d{4}"  # a date without a time of day
SUMMER_TIME_S = 1800.0  # by which a clock is set back at least
#: Rows that show a pattern, and that show it without doubt.
MIN_ROWS, MANY_ROWS = 8, 24
#: Least ratio between the quartiles of the times between the readings of one meter.
IRREGULAR = 0.3
#: Least ratio between differences over a cycle of devices and those of neighbours.
REPEATING = 0.3
#: Devices in a cycle.
MAX_DEVICES = 64
TELLING_APART = "node, index, sensor, …"


class Readings(NamedTuple):
    """What a file has: its series, by name, and the columns that were not read."""

    series: dict[str, Series]
    unused: list[MeterColumn]


def read_power(path: Path, channels: list[str] | None = None) -> dict[str, PowerTrace]:
    """Traces by channel, as `read_series` chooses them.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "power.csv")
        ...     _ = path.write_text("time_s,power_w\\n0,100\\n1,110\\n2,120\\n")
        ...     traces = read_power(path)
        >>> {name: trace.time_s.tolist() for name, trace in traces.items()}
        {'power': [0.0, 1.0, 2.0]}
    """
    series = read_series(path, channels).series
    return {name: part.trace for name, part in series.items()}


def read_series(path: Path, channels: list[str] | None = None) -> Readings:
    """The series of a CSV whose powers add up; those of `channels` only, if given.

    A channel is a column of power, or what a column such as `node` says, or both. Rows are sorted
    by time. Raises BadInput naming the file, the line, the value and what is expected; where powers
    may not add up, as those of a board and of a card on it, it names the channels.

    Example:
        >>> series, unused = read_series(Path("tests/golden/analysis/inputs/power.csv"))
        >>> [*series], unused
        (['node1'], [])
    """
    table = read_csv(path)
    rows = table.cells.astype(object)
    columns = meter_columns.columns(list(table.names), str(path))
    _check_one_time(path, rows, columns)
    labels = _labels(rows, columns)
    watts = [column for column in columns if column.kind is Kind.POWER]
    for column in watts:
        rows[column.name] = [_plain(cell, column) for cell in rows[column.name]]
    series = []
    for texts, part in _parts(rows, labels):
        series += _series(path, part, columns, texts)
    if not series:
        raise BadInput(
            field="channel",
            value=", ".join(channels or []),
            expected="two readings or more",
            file=path,
        )
    by_name = {part.name(len(watts)): part for part in series}
    refused = [column for column in columns if column.kind in (Kind.LIMIT, Kind.STATISTIC)]
    read_columns = [meter_columns.time_column(columns), *watts, *labels]
    unused = [column for column in columns if column not in read_columns]
    return Readings(chosen_series(path, by_name, channels or [], refused), unused)


def _parts(
    rows: pd.DataFrame, labels: list[MeterColumn]
) -> list[tuple[dict[MeterColumn, str], pd.DataFrame]]:
    """The rows of each node, device, part and step, with their labels."""
    if not labels:
        return [({}, rows)]
    parts = []
    for key, part in rows.groupby([column.name for column in labels], sort=False):
        texts = [str(text) for text in key]
        parts.append((dict(zip(labels, texts, strict=True)), part))
    return parts


def _series(
    path: Path,
    rows: pd.DataFrame,
    columns: list[MeterColumn],
    texts: dict[MeterColumn, str],
) -> list[Series]:
    """The series of the rows that have the same labels. Raises BadInput as `read_series`."""
    time = meter_columns.time_column(columns)
    where = " ".join(label_text(column, text) for column, text in texts.items())
    rows, zoneless = _sorted(path, rows, time, where)
    for column in columns:
        if column.kind in (Kind.OTHER, Kind.TIME):
            _check_apart(path, rows, column, where)
    series = []
    for column in columns:
        if column.kind is Kind.POWER:
            power = trace(path, rows[time.name], rows[column.name], time.factor, column.factor)
            _check_regular(path, power, f"{where} {column.name}".strip())
            series.append(Series(column, texts, power, zoneless))
    return series


def _check_one_time(path: Path, rows: pd.DataFrame, columns: list[MeterColumn]) -> None:
    """Raises BadInput for days in one column of time and hours in another."""
    times = [column.name for column in columns if column.kind is Kind.TIME]
    if rows.empty or len(times) < 2:
        return
    for name in times:
        if rows[name].str.fullmatch(DAY).all():
            reason = f"{', '.join(times)}: {name} has days only"
            expected = "both in one column, as 2026-01-31T12:00:00.5+01:00"
            raise BadInput(
                f"{reason}; expected {expected}",
                file=path,
                field=name,
            )


def _labels(rows: pd.DataFrame, columns: list[MeterColumn]) -> list[MeterColumn]:
    """The columns that tell rows apart: steps, nodes, devices, parts, in this order.

    The first column of a kind is one even where it holds one value. Another counts only if it
    divides the rows further. One with another value in every row numbers the rows.
    """
    labels: list[MeterColumn] = []
    groups = 1
    for kind in (Kind.NODE, Kind.STEP, Kind.DEVICE, Kind.PART):
        for column in columns:
            numbers_rows = len(rows) > 2 and rows[column.name].is_unique
            if column.kind is not kind or numbers_rows:
                continue
            names = [label.name for label in labels]
            divided = rows.groupby([*names, column.name], sort=False).ngroups
            first = kind is not Kind.PART and all(label.kind is not kind for label in labels)
            if divided > groups or first:
                labels.append(column)
            groups = divided
    return labels


def _plain(cell: str, column: MeterColumn) -> str:
    """A cell of power without its unit, if that is the unit of the column, as in `90.00 W`."""
    number, _, unit = cell.partition(" ")
    return number if meter_columns.WATTS.get(unit.strip()) == column.factor else cell


def _sorted(
    path: Path,
    rows: pd.DataFrame,
    time: MeterColumn,
    where: str,
) -> tuple[pd.DataFrame, bool]:
    """The rows of one series in the order of time, and whether their times have no zone.

    Raises BadInput for times without a zone that fall by half an hour or more, since the clock may
    have been set back for the end of summer time.
    """
    times = rows[time.name]
    time_s, zoneless = times_of(times, time.factor)
    good = np.isfinite(time_s) & (np.abs(time_s) <= MAX_NUMBER)
    check_lines(path, times, good, A_TIME)
    falls = np.flatnonzero(np.diff(time_s) <= -SUMMER_TIME_S) + 1
    if zoneless and len(falls):
        line, text = times.index[falls[0]], times.iloc[falls[0]]
        expected = "times with a zone: the clock was set back here, or rows are not in order"
        raise bad_line(path, time.name, line, text, expected)
    order = np.argsort(time_s, kind="stable")
    repeated = np.flatnonzero(np.diff(time_s[order]) == 0)
    if len(repeated):
        place = order[repeated[0] + 1]
        whose = f" of {where}" if where else ""
        reading = f"one reading{whose} at a time"
        expected = f"{reading}, or a column that tells meters apart ({TELLING_APART})"
        raise bad_line(path, time.name, times.index[place], times.iloc[place], expected)
    return rows.iloc[order], zoneless


def _check_apart(
    path: Path,
    rows: pd.DataFrame,
    column: MeterColumn,
    where: str,
) -> None:
    """Raises BadInput for an unknown column that seems to tell the rows of several meters apart.

    Its few values, text or whole numbers, are equally frequent and change from row to row.
    """
    cells = rows[column.name]
    counts = cells.value_counts()
    if len(rows) < MIN_ROWS or not 2 <= len(counts) <= len(rows) / 3:
        return
    equally_frequent = counts.max() <= counts.min() + 1
    changes = (cells != cells.shift())[1:].mean()
    if equally_frequent and changes >= 0.5 and not cells.str.contains(r"\d\.\d").any():
        raise BadInput(
            field="column",
            value=column.name,
            expected=f"a name of {TELLING_APART}: its values alternate from row to row",
            file=f"{path}: {where}".rstrip(": "),
        )


def _check_regular(path: Path, readings: PowerTrace, name: str) -> None:
    """Raises BadInput for readings that seem to be of several devices that no column tells apart.

    They come in groups, or the times or powers repeat every few readings, though neighbours differ.
    """
    watts = readings.power_w
    if watts is None or len(watts) < MIN_ROWS:
        return
    intervals = np.diff(readings.time_s)
    short, long = np.quantile(intervals, [0.25, 0.75])
    if short < IRREGULAR * long:
        reason = "readings come in groups"
    elif _repeats(watts, readings.step_w):
        reason = "power alternates between levels"
    elif _repeats(intervals, readings.resolution_s):
        reason = "times between readings alternate"
    elif _only_rises(watts):
        reason = f"never falls over {len(watts)} readings"
        expected = "power at each moment, not a counter of energy"
        raise BadInput(
            f"{name}: {reason}; expected {expected}",
            file=path,
            field=name,
        )
    else:
        return
    expected = f"one meter, or a column that tells meters apart ({TELLING_APART})"
    raise BadInput(
        f"{name}: {reason}; expected {expected}",
        file=path,
        field=name,
    )


def _only_rises(watts: np.ndarray) -> bool:
    """Whether readings [n] rise often and never fall, as those of a counter do."""
    changes = np.diff(watts)
    return bool((changes > 0).sum() >= MANY_ROWS and not (changes < 0).any())


def _repeats(values: np.ndarray, step: float) -> bool:
    """Whether values [n] repeat every few places.

    Neighbours must differ by more than rounding to `step`.
    """
    difference = float(np.median(np.abs(np.diff(values))))
    if difference <= max(1.5 * step, 0.02 * float(np.mean(values))):
        return False
    share = REPEATING if len(values) >= MANY_ROWS else REPEATING / 3
    for lag in range(2, min(MAX_DEVICES, len(values) // 3) + 1):
        if float(np.median(np.abs(values[lag:] - values[:-lag]))) < share * difference:
            return True
    return False
