"""Reads a CSV of time and power from a meter outside the run: a multimeter, IPMI, a PDU, Slurm."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.errors import BadInput, shown
from spikemark.reading import read_text

from .power_header import Column, base, read_header
from .power_times import check_increasing, parse
from .trace import Trace


@dataclass(frozen=True)
class PowerFile:
    """`channels`: power in W by column name. `lines`: the line of the file of each reading."""

    path: Path
    channels: dict[str, Trace]
    lines: list[int]
    notes: list[str]

    @property
    def times(self) -> np.ndarray:
        return next(iter(self.channels.values())).time_s


def read_power(path: Path, channels: list[str] | None = None) -> PowerFile:
    """All columns of power, or only `channels`. Empty lines and lines that begin with # are skipped.

    Raises BadInput naming the file, the line, the value and what is allowed.
    """
    rows = _rows(path)
    line, names = rows[0] if rows else (1, [])
    header = read_header(names, f"{path}: line {line}", channels)
    if len(rows) < 3:
        raise BadInput(f"{path}: {len(rows) - 1} readings; at least two are needed")
    times, watts, open_ = [], [], False
    for line, row in rows[1:]:
        where = f"{path}: line {line}"
        if len(row) != len(names):
            raise BadInput(f"{where}: {len(row)} fields; the first line has {len(names)}")
        time, unknown = parse(row[header.time.index], header.time.factor, where)
        open_ |= unknown
        times.append(time)
        watts.append([_watts(row[column.index], column, where) for column in header.power])
    lines = [line for line, _ in rows[1:]]
    texts = [row[header.time.index] for _, row in rows[1:]]
    check_increasing(np.array(times), texts, lines, str(path))
    columns = np.array(watts).T
    found = {
        base(column.name) or column.name: Trace(np.array(times), power_w=power)
        for column, power in zip(header.power, columns, strict=True)
    }
    if len(found) < len(header.power):
        found = {
            c.name: Trace(np.array(times), power_w=p) for c, p in zip(header.power, columns, strict=True)
        }
    notes = ["times without a time zone are taken as UTC; --offset corrects them"] if open_ else []
    notes += [f"columns not used: {', '.join(header.ignored)}"] if header.ignored else []
    return PowerFile(path, found, lines, notes)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    reader = csv.reader(read_text(path).removeprefix("\ufeff").splitlines())
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise BadInput(f"{path}: line {reader.line_num}: not CSV: {error}") from None
    return [(n, row) for n, row in rows if any(cell.strip() for cell in row) and not row[0].startswith("#")]


def _watts(text: str, column: Column, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise BadInput(f"{where}: {column.name} {shown(text)}; allowed: a number >= 0")
    return value * column.factor
