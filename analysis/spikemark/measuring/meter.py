"""Power from a meter outside: a CSV of time and power, placed in the time of a run.

A file is placed by the clocks, if both tell the time since the Unix epoch, or by the step in power
at which the run begins, which Simula et al. 2019 found by eye (`--align knee`). What does not cover
the run, has gaps in it, or may be placed in several ways is refused.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from spikemark.core.errors import BadInput
from spikemark.models import power
from spikemark.models.power import GAP_INTERVALS, PowerTrace, Sampling
from spikemark.records.record import Run

from .meter_columns import Kind
from .meter_file import read_series
from .meter_series import Series
from .run_timeline import Timeline, timeline

#: Pause before the run if the record does not tell: that of Simula et al. 2019, section IV.
PAUSE_S = 5.0
#: Steps of Slurm, or devices, that a line lists.
MAX_LISTED = 4
#: A second step that stands out this much as well leaves the place of the run open.
RIVAL = 0.8
#: Times that a date can be of, s since the Unix epoch.
EARLIEST_DATE_S, LATEST_DATE_S = 1e8, 1e10
#: Mean power of a node, W, outside which a unit is probably wrong: a node with eight of the
#: hungriest accelerators draws a third of the upper limit, a board of one core twice the lower.
LIKELY_NODE_W = (0.5, 50e3)
#: Time zones, in quarters of an hour from UTC: from 12 h before it to 14 h after it.
ZONE_QUARTERS = range(-48, 57)


@dataclass(frozen=True)
class PowerReadings:
    """Readings of a run's power, and the run's timeline in the time of the traces."""

    name: str  #: of the file or the meter
    traces: dict[str, PowerTrace]  #: by channel and node
    timeline: Timeline
    #: accuracy, of a meter of the whole machine before power conversion
    at_wall_percent: float | None = None
    notes: list[str] = field(default_factory=list)  #: how the readings were placed
    remarks: list[str] = field(default_factory=list)  #: what a reader must know before using them

    @cached_property
    def trace(self) -> PowerTrace:
        """The power of all channels together."""
        return power.total(list(self.traces.values()))


def source(
    run: Run,
    path: Path,
    channels: list[str] | None = None,
    offset_s: float | None = None,
    align: str = "times",
    at_wall_percent: float | None = None,
) -> PowerReadings:
    """The channels of a CSV as the power of a run.

    Args:
        run: of which the energy is to be known.
        path: the CSV.
        channels: those that count; None: all, if their powers add up. Of several steps of Slurm,
            the one that covers the run counts.
        offset_s: is added to the times of the file.
        align: how the file is placed: `times`, or `knee`, by the step in power.
        at_wall_percent: accuracy, of a meter of the whole machine before power conversion.

    Raises BadInput where that does not work, or readings are missing during the run.

    Example:
        >>> from spikemark.records.record import load_run
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> readings_of_run = source(run, Path("tests/golden/analysis/inputs/power.csv"))
        >>> [*readings_of_run.traces]
        ['node1']
    """
    if at_wall_percent is not None and not 0 < at_wall_percent <= 100:
        expected = "the accuracy of the meter in percent, above 0 to 100"
        raise BadInput(
            field="at-wall",
            value=at_wall_percent,
            expected=expected,
        )
    if run.record.kind == "simulated":
        expected = "a measured run; no meter has seen a simulated one"
        raise BadInput(expected=expected, file=run.path, code="file")
    moved_s = offset_s or 0.0
    series, unused = read_series(path, channels)
    series = {name: replace(part, trace=part.trace.moved(moved_s)) for name, part in series.items()}
    series = _one_step(path, series, None if align == "knee" else timeline(run))
    remarks = _incomplete(run, series)
    if align == "knee":
        placed = _by_knee(run, path, series)
    else:
        placed = _by_clocks(run, path, series, check_zone=offset_s is None)
        remarks += _late(series, placed.timeline, moved_s, path)
    for name, trace in placed.traces.items():
        _check_gaps(path, name, trace, placed.timeline)
    traces = list(placed.traces.values())
    reason = power.energy_of_all(traces, *placed.timeline.measured).reason
    if reason:
        raise BadInput(
            f"the measured part has {reason}",
            file=path,
            code="file",
        )
    remarks += _unlikely(run, series, placed)
    notes = [placed.note]
    if unused:
        notes.append(f"not used: {', '.join(column.name for column in unused)}")
    return PowerReadings(path.name, placed.traces, placed.timeline, at_wall_percent, notes, remarks)


class PlacedTraces(NamedTuple):
    """Traces, and when the run was measured in their time."""

    traces: dict[str, PowerTrace]
    timeline: Timeline
    note: str  #: how they were placed


def _by_knee(run: Run, path: Path, series: dict[str, Series]) -> PlacedTraces:
    """Traces placed by the step in power at which the run began."""
    traces = {name: part.trace for name, part in series.items()}
    expected = Timeline((0.0, run.record.timing.simulate_s))
    with contextlib.suppress(BadInput):  # how long it paused and warmed up is known even so
        expected = timeline(run)
    placed = knee(power.total(list(traces.values())), expected, path)
    place_s = max(trace.interval_s for trace in traces.values()) / 2
    for name, trace in traces.items():
        resolution_s = max(trace.resolution_s, place_s)
        traces[name] = replace(trace, resolution_s=resolution_s)
    return PlacedTraces(traces, placed, f"placed by the step in power (± {place_s:.2g} s)")


def _by_clocks(
    run: Run,
    path: Path,
    series: dict[str, Series],
    check_zone: bool,
) -> PlacedTraces:
    """Traces placed by the clocks of the meter and of the node. Raises BadInput where they miss
    the run.
    """
    traces = {name: part.trace for name, part in series.items()}
    total = power.total(list(traces.values()))
    placed = timeline(run)
    if not total.covers(*placed.measured):
        covered = f"covers {_span(total.first, total.last)}"
        measured = f"{_span(*placed.measured)}, all of the measured part of {run.path}"
        advice = (
            "--offset S moves the file's times; --align knee finds the run by its step in power"
        )
        raise BadInput(
            f"{covered}; expected {measured}; {advice}",
            file=path,
            code="file",
        )
    if check_zone and any(part.zoneless for part in series.values()):
        _check_zone(path, total, placed)
    return PlacedTraces(traces, placed, "placed by the clocks")


def _one_step(path: Path, series: dict[str, Series], run: Timeline | None) -> dict[str, Series]:
    """The series of one step of Slurm: of the only one, or of the one that covers the run.

    Steps that overlap have read the same nodes, so their powers never add up. Raises BadInput where
    several steps cover the run, or none does, or where there are several and `run` is None.
    """
    steps: dict[str, dict[str, Series]] = {}
    for name, part in series.items():
        steps.setdefault(part.label(Kind.STEP), {})[name] = part
    if len(steps) == 1:
        return series
    if run is None:
        names = f"one of its {len(steps)} steps ({', '.join(steps)})"
        raise _bad_step(path, f"--channel with {names} for --align knee")
    covering = [step for step, parts in steps.items() if _cover(parts.values(), run)]
    if len(covering) == 1:
        return steps[covering[0]]
    if covering:
        names = ", ".join(covering)
        raise _bad_step(path, f"--channel with one of its steps that cover the run: {names}")
    spans = [f"{step} covers {_common_span(parts)}" for step, parts in steps.items()]
    listed = "; ".join(spans[:MAX_LISTED])
    if len(spans) > MAX_LISTED:
        listed = f"{listed}; …"
    measured = _span(*run.measured)
    raise _bad_step(
        path, f"a step that covers {measured}; {listed}; --offset S moves the file's times"
    )


def _bad_step(path: Path, expected: str) -> BadInput:
    return BadInput(
        f"expected {expected}",
        file=path,
        field="channel",
        code="missing",
    )


def _cover(series: Iterable[Series], run: Timeline) -> bool:
    """Whether all series have readings of the whole run."""
    return all(part.trace.covers(*run.measured) for part in series)


def _common_span(series: dict[str, Series]) -> str:
    """From when to when all series have readings."""
    first = max(part.trace.first for part in series.values())
    last = min(part.trace.last for part in series.values())
    return _span(first, last)


def _incomplete(run: Run, series: dict[str, Series]) -> list[str]:
    """Remarks where the power in a file is not that of all nodes of the run."""
    remarks = []
    nodes = {part.label(Kind.NODE) or part.column.name for part in series.values()}
    run_nodes = run.record.host.nodes
    if len(nodes) < run_nodes:
        counts = f"the run had {run_nodes} nodes, and the file has the power of {len(nodes)}"
        remarks.append(f"The energy is incomplete: {counts}.")
    devices = {part.label(Kind.DEVICE) for part in series.values()} - {""}
    if devices:
        names = ", ".join(sorted(devices)[:MAX_LISTED])
        remarks.append(
            f"The energy is that of devices ({names}), as the file numbers them, not of nodes."
        )
    return remarks


def _unlikely(run: Run, series: dict[str, Series], placed: PlacedTraces) -> list[str]:
    """Remarks on power that no node draws: the column is probably in another unit than it says.

    A series that is all that the file has may be the power of all nodes of the run.
    """
    least_w, most_w = LIKELY_NODE_W
    if len(series) == 1:
        most_w *= max(1, run.record.host.nodes)
    begin, end = placed.timeline.measured
    remarks = []
    for name, part in series.items():
        joules = power.energy_of_all([placed.traces[name]], begin, end).value
        if joules is None:
            continue
        mean_w = joules / (end - begin)
        whole_node = not (part.label(Kind.DEVICE) or part.label(Kind.PART))
        guess = None
        if mean_w > most_w:
            guess = "thousandths of it"
        elif whole_node and 0 < mean_w < least_w:
            guess = "thousands of it"
        if guess is not None:
            unit = f"is the unit of {part.column.name!r} really {guess}?"
            remarks.append(f"{name} drew {mean_w:.3g} W on average, which no node does: {unit}")
    return remarks


def _check_zone(path: Path, total: PowerTrace, run: Timeline) -> None:
    """Raises BadInput for times without a zone that cover the run in another zone than UTC, too."""
    for quarter in ZONE_QUARTERS:
        moved = run.moved(900.0 * quarter)
        if quarter and total.covers(*moved.measured):
            hours = f"{quarter / 4:+g} h"
            reason = f"its times have no zone and cover the run at {hours}, too"
            expected = "times with a zone, or --offset S (0: they are UTC)"
            raise BadInput(
                reason=reason,
                expected=expected,
                file=path,
                code="file",
            )


def _check_gaps(path: Path, name: str, trace: PowerTrace, run: Timeline) -> None:
    """Raises BadInput for a gap between readings during the run, and for a reading of 0 W in it."""
    longest_s = Sampling.from_traces([trace], *run.with_pause).longest_s
    if longest_s > GAP_INTERVALS * trace.interval_s:
        reason = f"{longest_s:.4g} s between two readings"
        usual = f"usual intervals of {trace.interval_s:.3g} s"
        expected = f"at most {GAP_INTERVALS:g} {usual} during the run"
        raise BadInput(
            field=name,
            reason=reason,
            expected=expected,
            file=path,
        )
    during = trace.inside(*run.with_pause)
    if trace.power_w is not None and (trace.power_w[during] == 0).any():
        reason, expected = "0 W during the run", "power above 0: the meter failed"
        raise BadInput(
            field=name,
            reason=reason,
            expected=expected,
            file=path,
        )


def _span(first: float, last: float) -> str:
    return f"{_date_or_seconds(first)} to {_date_or_seconds(last)}"


def _date_or_seconds(seconds: float) -> str:
    """A time, as a date if it can be one."""
    if EARLIEST_DATE_S < seconds < LATEST_DATE_S:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return f"{seconds:.6g} s"


def _late(
    series: dict[str, Series],
    run: Timeline,
    offset_s: float,
    path: Path,
) -> list[str]:
    """A remark where the step in power says another time than the clocks."""
    traces = [part.trace for part in series.values()]
    try:
        step = knee(power.total(traces), run, path)
    except BadInput:
        return []
    late_s = step.busy[0] - run.busy[0]
    interval_s = max(trace.interval_s for trace in traces)
    if abs(late_s) <= 2 * interval_s:
        return []
    side = "after" if late_s > 0 else "before"
    advice = f"--offset {offset_s - late_s:.4g} would place it there"
    return [f"The power in the file steps up {abs(late_s):.3g} s {side} the run began; {advice}."]


class PowerStep(NamedTuple):
    """A step up in power after which a run fits."""

    height_w: float  #: mean power of the run above that around it
    begin: float  #: time between the two readings, s


def knee(trace: PowerTrace, run: Timeline, path: Path) -> Timeline:
    """The timeline of the run, placed where power is higher while the run was busy than around it.

    The step lies between two readings, so the place is known to within half an interval. Raises
    BadInput, naming the file `path`, if no step fits, or several do.

    Example:
        >>> import numpy as np
        >>> seconds = np.arange(0.0, 20.0, 0.5)
        >>> busy = (seconds >= 5) & (seconds < 15)
        >>> trace = PowerTrace(seconds, power_w=np.where(busy, 90.0, 50.0))
        >>> run = Timeline(measured=(100.0, 110.0))  # by another clock
        >>> knee(trace, run, Path("power.csv")).measured
        (4.75, 14.75)
    """
    begin, end = run.busy
    busy_s = end - begin
    steps = _steps(trace, run)
    if not steps:
        reason = f"no step up in power with {busy_s:.3g} s after it"
        expected = "a trace from the pause before the run to its end"
        raise BadInput(
            reason=reason,
            expected=expected,
            file=path,
            code="file",
        )
    highest = max(steps)
    for step in steps:
        elsewhere = abs(step.begin - highest.begin) > trace.interval_s
        if elsewhere and step.height_w > RIVAL * highest.height_w:
            places = f"at {highest.begin:.6g} s or at {step.begin:.6g} s"
            reason = f"the run may begin {places}, where power steps up for {busy_s:.3g} s"
            expected = "one step (trim it, or --offset)"
            raise BadInput(
                reason=reason,
                expected=expected,
                file=path,
                code="file",
            )
    return run.moved(highest.begin - begin)


def _steps(trace: PowerTrace, run: Timeline) -> list[PowerStep]:
    """Steps up in power after which there is room for the run, and power is higher than around."""
    busy_s = run.busy[1] - run.busy[0]
    pause_s = PAUSE_S
    if run.idle_before:
        pause_s = run.idle_before[1] - run.idle_before[0]
    times, watts = trace.points()
    steps = []
    for before, after in pairwise(power.segments(watts)):
        begin = float(times[after.first - 1] + times[after.first]) / 2
        end = begin + busy_s
        if after.mean <= before.mean or not trace.covers(begin, end):
            continue
        around_w = trace.mean_w(max(trace.first, begin - pause_s), begin)
        later = min(trace.last, end + pause_s)
        if later > end + trace.interval_s:
            around_w = max(around_w, trace.mean_w(end, later))
        height_w = trace.mean_w(begin, end) - around_w
        if height_w > 0:
            steps.append(PowerStep(height_w, begin))
    return steps
