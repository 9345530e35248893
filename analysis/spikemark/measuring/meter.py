"""Power from a meter outside: a CSV of time and power, placed in the time of a run.

A file is placed by the clocks, if both tell the time since the Unix epoch, or by the step in power at which
the run begins, which Simula et al. 2019 found by eye (`--align knee`).
"""

import contextlib
import csv
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput, shown
from spikemark.core.reading import read_text
from spikemark.models import power
from spikemark.models.power import GAP, Sampling, Trace
from spikemark.records.record import Run

LARGEST_STEP_S = 0.01  # of the system clock during a run that the times of readings place

Span = tuple[float, float]


class Timeline(NamedTuple):
    """When a run was measured, s since the Unix epoch, and paused before (None where it did not)."""

    measured: Span
    idle_before: Span | None = None

    @property
    def duration_s(self) -> float:
        return self.measured[1] - self.measured[0]

    @property
    def busy(self) -> Span:
        """From the end of the pause to the end of the measured part."""
        return (self.idle_before[1] if self.idle_before else self.measured[0]), self.measured[1]

    @property
    def known(self) -> Span:
        """From the pause to the end of the measured part."""
        return (self.idle_before or self.measured)[0], self.measured[1]

    def moved(self, seconds: float) -> "Timeline":
        return Timeline(*(span and (span[0] + seconds, span[1] + seconds) for span in self))


def timeline(run: Run) -> Timeline:
    """When a run was measured. Raises BadInput if the record has no times, or the clock was set during it."""
    timing, where = run.record.timing, run.path / "record.json"
    if timing.simulate_started_s is None or timing.simulate_ended_s is None:
        raise BadInput(f"{where}: timing.simulate_started_s: missing; expected --align knee")
    if abs(timing.clock_step_s or 0.0) > LARGEST_STEP_S:
        expected = "0: the system clock was set during the run; --align knee finds it by its step in power"
        raise BadInput.of("timing.clock_step_s", timing.clock_step_s, expected, file=where)
    idle = timing.idle_before_s and tuple(timing.idle_before_s)
    return Timeline((timing.simulate_started_s, timing.simulate_ended_s), idle)


@dataclass(frozen=True)
class Source:
    """Readings of a run: a trace per channel and node, and the run's timeline in the time of the traces.

    `at_wall_percent`: accuracy, of a meter of the whole machine before power conversion.
    """

    name: str
    traces: dict[str, Trace]
    timeline: Timeline
    at_wall_percent: float | None = None
    notes: list[str] = field(default_factory=list)

    @cached_property
    def trace(self) -> Trace:
        return power.total(list(self.traces.values()))


# ---------------------------------------------------------------- tables of readings

MOST = 1e15  # in any unit of power or energy, and of times in s
A_TIME = "a number or a time such as 2026-01-31T12:00:00.5+01:00, later than the one before"


def table(path: Path, advice: str = "") -> pd.DataFrame:
    """The cells of a CSV by line, without empty lines and comments; the columns are named after their line.

    Raises BadInput, with `advice` for a file that is not there.
    """
    reader = csv.reader(read_text(path, advice).removeprefix("\ufeff").splitlines())
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise BadInput(f"{path}: line {reader.line_num}: not CSV: {error}") from None
    rows = [(n, row) for n, row in rows if any(row) and not row[0].startswith("#")] or [(1, [])]
    (first, names), *rows = rows
    if len({*names}) < len(names):
        expected = "a name of its own for each column"
        raise BadInput(f"{path}: line {first}: {shown(', '.join(names))}; expected {expected}")
    for line, row in rows:
        if len(row) != len(names):
            expected = f"expected {len(names)}, as in the first line"
            raise BadInput(f"{path}: line {line}: {len(row)} fields; {expected}")
    return pd.DataFrame(
        [row for _, row in rows], [line for line, _ in rows], pd.Index(names, name=first), str
    )


def trace(path: Path, times: pd.Series, values: pd.Series, factors: tuple[float, float] = (1.0, 1.0),
          counter: bool = False) -> Trace:  # fmt: skip
    """Readings of power or, with `counter`, of energy in two columns of a table.

    `factors`: s per unit of the numbers among the times, and W or J per unit of the values. Times without a
    zone are UTC. Raises BadInput naming the line, the value and what is expected.
    """
    if len(times) < 2:
        where = "".join(f"line {line}: " for line in times.index)
        raise BadInput(f"{path}: {where}{len(times)} readings; expected two or more")
    time_s, found = (pd.to_numeric(of, errors="coerce").to_numpy(float) for of in (times, values))
    time_s = time_s * factors[0]
    for i in np.flatnonzero(np.isnan(time_s)):
        with contextlib.suppress(ValueError, OverflowError):
            when = datetime.fromisoformat(times.iloc[i])
            time_s[i] = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    good = np.abs(time_s) <= MOST
    good[1:] &= time_s[1:] > time_s[:-1]
    _check(path, times, good, A_TIME)
    good = (found >= 0) & (found <= MOST)
    if counter:
        good[1:] &= found[1:] >= found[:-1]
    _check(path, values, good, f"a number from 0 to {MOST:g}" + ", not falling" * counter)
    found = found * factors[1]
    return Trace(time_s, found) if counter else Trace(time_s, None, found, power.rounding_w(found))


def _check(path: Path, column: pd.Series, good: np.ndarray, expected: str) -> None:
    for line, text in column[~good].head(1).items():
        raise BadInput.of(column.name, text, expected, file=f"{path}: line {line}")


# ---------------------------------------------------------------- the CSV of a meter

#: Units as people write them; not MW, which is no power of anything measured here.
WATTS = {"mW": 1e-3, "W": 1.0, "kW": 1e3, "mw": 1e-3, "w": 1.0, "kw": 1e3,
         **dict.fromkeys(("watt", "watts", "Watt", "Watts"), 1.0)}  # fmt: skip
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
TIMES = ("time", "timestamp", "datetime", "date_time", "date", "epoch", "epochtime", "elapsed", "t")
LABELS = ("node", "host", "outlet", "sensor", "channel")  # columns that tell the rows of several meters apart
UNIT = re.compile(r"(?P<base>.*?)(?:\s*[\[(]\s*(?P<bracket>\w+)\s*[\])]|[_\s](?P<bare>\w+))?\s*")


class Header(NamedTuple):
    """Columns by place: of time (with s per unit), of power (with W per unit), of the meter's name."""

    time: tuple[int, float]
    power: dict[int, float]
    label: int | None


def _parted(name: str) -> tuple[str, str]:
    """A column's name without its unit, and the unit, which may be empty."""
    found = UNIT.fullmatch(name)
    return found["base"].strip(), found["bracket"] or found["bare"] or ""


def read_header(names: list[str], where: str) -> Header:
    """What the columns hold, by their names. Raises BadInput without a column of time or one of power."""
    time, watts = None, {}
    for place, name in enumerate(names):
        base, unit = _parted(name)
        factor = 1.0 if name.lower() in TIMES else SECONDS.get(unit) if base.lower() in TIMES else None
        if time is None and factor is not None:
            time = place, factor
        elif (factor := WATTS.get(unit if base and unit else name)) is not None:
            watts[place] = factor
    if time is None:
        expected = f"{', '.join(TIMES)}, also with a unit ({', '.join(SECONDS)}), commas between columns"
        raise BadInput(f"{where}: no column of time in {shown(', '.join(names))}; expected {expected}")
    if not watts:
        expected = "mW, W or kW, as in 'power [W]'"
        raise BadInput(f"{where}: no unit of power in {shown(', '.join(names))}; expected {expected}")
    return Header(time, watts, next((at for at, name in enumerate(names) if name.lower() in LABELS), None))


def read(path: Path, channels: list[str] | None = None) -> dict[str, Trace]:
    """Traces by channel; all channels, or only `channels`.

    A channel is a column of power, or what a column such as `node` says, or both. Raises BadInput naming the
    file, the line, the value and what is expected.
    """
    rows = table(path)
    names = list(rows)
    (time, second), watts, label = read_header(names, f"{path}: line {rows.columns.name}")
    meters = rows.groupby(rows.iloc[:, label] if label is not None else np.full(len(rows), ""), sort=False)
    traces, known = {}, []
    for meter, own in meters:
        for place, watt in watts.items():
            ways = {meter, names[place], base := _parted(names[place])[0]} - {""}
            channel = meter if meter and len(watts) == 1 else f"{meter} {base or names[place]}".strip()
            known.append(channel)
            if not channels or {channel, *ways} & {*channels}:
                traces[channel] = trace(path, own.iloc[:, time], own.iloc[:, place], (second, watt))
    if not traces:
        expected = f"one of {', '.join(known)}" if known else "two readings or more"
        raise BadInput.of("channel", ", ".join(channels or []), expected, file=path)
    return traces


# ---------------------------------------------------------------- its place in the time of the run

PAUSE_S = 5.0  # before the run if the record does not tell: that of Simula et al. 2019, section IV
RIVAL = 0.8  # a second step that stands out this much as well leaves the place of the run open


def source(
    run: Run, path: Path, channels: list[str] | None = None, offset_s: float = 0.0, align: str = "times",
    at_wall_percent: float | None = None,
) -> Source:  # fmt: skip
    """The channels of a CSV as the power of a run.

    `offset_s` is added to the times of the file; `align`: `times`, or `knee`, the step in power. Raises
    BadInput where that does not work, or readings are missing during the run.
    """
    if at_wall_percent is not None and not 0 < at_wall_percent <= 100:
        raise BadInput.of("at-wall", at_wall_percent, "the accuracy of the meter in percent, above 0 to 100")
    if run.record.kind == "simulated":
        raise BadInput(f"{run.path}: expected a measured run; no meter has seen a simulated one")
    traces = {name: trace.moved(offset_s) for name, trace in read(path, channels).items()}
    whole = power.total(list(traces.values()))
    if align == "knee":
        at = Timeline((0.0, run.record.timing.simulate_s))
        with contextlib.suppress(BadInput):  # how long it paused and warmed up is known even so
            at = timeline(run)
        at = knee(whole, at, path)
        notes = [f"placed by the step in power (± {whole.interval_s / 2:.2g} s)"]
    else:
        at = timeline(run)
        if not whole.covers(*at.measured):
            there, wanted = (f"{_when(a)} to {_when(b)}" for a, b in ((whole.first, whole.last), at.measured))
            advice = "--offset S moves the file's times; --align knee finds the run by its step in power"
            part = f"all of the measured part of {run.path}"
            raise BadInput(f"{path}: covers {there}; expected {wanted}, {part}; {advice}")
        notes = ["placed by the clocks", *_late(whole, at, offset_s, path)]
    for name, trace in traces.items():
        apart = Sampling.of([trace], *at.known).longest_s
        if apart > GAP * trace.interval_s:
            expected = f"at most {GAP:g} usual intervals of {trace.interval_s:.3g} s during the run"
            raise BadInput(f"{path}: {name}: {apart:.4g} s between two readings; expected {expected}")
    if why := power.energy(whole, *at.measured).reason:
        raise BadInput(f"{path}: the measured part has {why}")
    if len(traces) < (nodes := run.record.host.nodes):
        notes.append(f"the run had {nodes} nodes, and the file has the power of {len(traces)}")
    return Source(path.name, traces, at, at_wall_percent, notes)


def _when(seconds: float) -> str:
    """A time, as a date if it can be one."""
    dated = 1e8 < seconds < 1e10
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if dated else f"{seconds:.6g} s"


def _late(trace: Trace, at: Timeline, offset_s: float, path: Path) -> list[str]:
    """A note where the step in power says another time than the clocks."""
    try:
        late = knee(trace, at, path).busy[0] - at.busy[0]
    except BadInput:
        return []
    there = f"--offset {offset_s - late:.4g} would place it there"
    words = f"power steps up {abs(late):.3g} s {'after' if late > 0 else 'before'} the run began; {there}"
    return [words] if abs(late) > 2 * trace.interval_s else []


def knee(trace: Trace, at: Timeline, path: Path) -> Timeline:
    """The timeline of the run, placed where power is higher while the run was busy than around it.

    The step lies between two readings, so the place is known to within half an interval. Raises BadInput if
    no step fits, or several do.
    """
    busy_s, pause_s = at.busy[1] - at.busy[0], PAUSE_S
    if at.idle_before:
        pause_s = at.idle_before[1] - at.idle_before[0]
    times, steps = trace.points()[0], []
    for before, after in pairwise(power.segments(trace.points()[1])):
        begin = float(times[after.first - 1] + times[after.first]) / 2
        if after.mean <= before.mean or not trace.covers(begin, begin + busy_s):
            continue
        around = trace.mean_w(max(trace.first, begin - pause_s), begin)
        end, later = begin + busy_s, min(trace.last, begin + busy_s + pause_s)
        if later > end + trace.interval_s:
            around = max(around, trace.mean_w(end, later))
        if (stands_out := trace.mean_w(begin, end) - around) > 0:
            steps.append((stands_out, begin))
    if not steps:
        expected = "a trace from the pause before the run to its end"
        raise BadInput(f"{path}: no step up in power with {busy_s:.3g} s after it; expected {expected}")
    most, best = max(steps)
    for stands_out, begin in steps:
        if abs(begin - best) > trace.interval_s and stands_out > RIVAL * most:
            places = f"{best:.6g} s or at {begin:.6g} s, where power steps up for {busy_s:.3g} s"
            raise BadInput(f"{path}: the run may begin at {places}; expected one step (trim it, or --offset)")
    return at.moved(best - at.busy[0])
