"""Reads a CSV of time and power from a meter outside the run: a multimeter, IPMI, a PDU, Slurm."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.core.reading import read_text

from .power_header import Column, Header, base, read_header, row_label
from .power_times import check_increasing, parse
from .resolution import step_w
from .trace import Trace

MOST = 1e15  # in any unit of power
Rows = list[tuple[int, list[str]]]  # line of the file, cells


@dataclass(frozen=True)
class PowerFile:
    """A file of power: `channels` are in W by column name, or by what a column such as `node` says, or both.

    `lines`: by channel, the line of the file of each reading.
    """

    path: Path
    channels: dict[str, Trace]
    lines: dict[str, list[int]]
    notes: list[str]


def read_power(path: Path, channels: list[str] | None = None) -> PowerFile:
    """Reads all channels, or only `channels`. Empty lines and lines that begin with # are skipped.

    Raises BadInput naming the file, the line, the value and what is allowed.
    """
    rows = _rows(path)
    line, names = rows[0] if rows else (1, [])
    label = row_label(names)
    meters = _meters(rows[1:], label)
    columns = [name for name in channels or [] if name not in meters]
    header = read_header(names, f"{path}: line {line}", columns, [] if label is None else list(meters))
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise BadInput(f"{path}: line {line}: {len(row)} fields; the first line has {len(names)}")
    chosen = [name for name in channels or [] if name in meters]
    found: dict[str, Trace] = {}
    lines: dict[str, list[int]] = {}
    open_ = False
    for meter, own in meters.items():
        if chosen and meter not in chosen:
            continue
        if len(own) < 2:
            of = f" of {meter}" if meter else ""
            raise BadInput(f"{path}: {len(own)} readings{of}; at least two are needed")
        times, unknown = _times(own, header, path)
        open_ |= unknown
        for name, column in _named(header, meter).items():
            watts = np.array([_watts(row[column.index], column, f"{path}: line {line}") for line, row in own])
            found[name] = Trace(times, power_w=watts, step_w=step_w(watts))
            lines[name] = [line for line, _ in own]
    if not found:
        raise BadInput(f"{path}: 0 readings; at least two are needed")
    notes = ["times without a time zone are taken as UTC; --offset corrects them"] if open_ else []
    notes += [f"columns not used: {', '.join(header.ignored)}"] if header.ignored else []
    return PowerFile(path, found, lines, notes)


def _rows(path: Path) -> Rows:
    reader = csv.reader(read_text(path).removeprefix("\ufeff").splitlines())
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise BadInput(f"{path}: line {reader.line_num}: not CSV: {error}") from None
    return [(n, row) for n, row in rows if any(cell.strip() for cell in row) and not row[0].startswith("#")]


def _meters(rows: Rows, label: int | None) -> dict[str, Rows]:
    """Rows grouped by the column `label`; all of them without a name if there is no such column."""
    if label is None:
        return {"": rows}
    found: dict[str, Rows] = {}
    for line, row in rows:
        if len(row) > label:
            found.setdefault(row[label].strip(), []).append((line, row))
    return found


def _times(rows: Rows, header: Header, path: Path) -> tuple[np.ndarray, bool]:
    """Seconds [n], increasing, and whether some left their time zone open."""
    texts = [row[header.time.index] for _, row in rows]
    lines = [line for line, _ in rows]
    parsed = [
        parse(text, header.time.factor, f"{path}: line {line}")
        for text, line in zip(texts, lines, strict=True)
    ]
    times = np.array([time for time, _ in parsed])
    check_increasing(times, texts, lines, str(path))
    return times, any(open_ for _, open_ in parsed)


def _named(header: Header, meter: str) -> dict[str, Column]:
    """The columns of power by the name of the channel."""
    names = [base(column.name) or column.name for column in header.power]
    if len({*names}) < len(names):
        names = [column.name for column in header.power]
    if meter:
        names = [meter] if len(names) == 1 else [f"{meter} {name}" for name in names]
    return dict(zip(names, header.power, strict=True))


def _watts(text: str, column: Column, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST:  # also true for NaN
        raise BadInput(f"{where}: {column.name} {shown(text)}; allowed: a number >= 0 and <= {MOST:g}")
    return value * column.factor
