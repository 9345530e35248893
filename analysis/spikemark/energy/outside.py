"""Matches externally measured power to the run, by the clocks or by the step in power."""

import math
from datetime import UTC, datetime
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.records.record import Run

from . import knee
from .power_csv import read_power
from .power_times import check_gaps
from .sampling import energy
from .source import Source
from .timeline import Timeline, of_run
from .trace import Trace, total

ALIGNMENTS = ("times", "knee")
LARGEST_STEP_S = 0.01  # of the system clock during a run whose power another clock places
ADVICE = "--offset S moves the file's times; --align knee finds the run by its step in power"


def source(
    run: Run,
    path: Path,
    channels: list[str] | None = None,
    offset_s: float = 0.0,
    align: str = "times",
    at_wall_percent: float | None = None,
) -> Source:
    """The channels of a CSV as the power of a run.

    `offset_s` is added to the times of the file; `align`: `times` (both clocks tell the time since the Unix
    epoch) or `knee`. Raises BadInput where that does not work, or readings are missing during the run.
    """
    if align not in ALIGNMENTS:
        raise BadInput(f"align={align!r}; allowed: {', '.join(ALIGNMENTS)}")
    if not math.isfinite(offset_s):
        raise BadInput(f"offset={offset_s}; allowed: a number of seconds")
    if at_wall_percent is not None and not 0 < at_wall_percent <= 100:
        raise BadInput(
            f"at-wall={at_wall_percent:g}; allowed: the accuracy of the meter in per cent, 0 to 100"
        )
    if run.record.kind == "simulated":
        raise BadInput(f"{run.path} was simulated, and no meter has seen it; allowed: a measured run")
    file = read_power(path, channels)
    traces = {name: trace.moved(offset_s) for name, trace in file.channels.items()}
    whole = total(list(traces.values()))
    timeline = _timeline(run, align)
    if align == "times":
        if timeline is None:
            raise BadInput(
                f"{run.path / 'record.json'}: timing.simulate_started_s: missing, so that the clock cannot"
                " place the run; allowed: --align knee"
            )
        _check_covered(path, whole, timeline, run)
        notes = ["placed by the clocks" + (f", the file's moved by {offset_s:g} s" if offset_s else "")]
        notes += _doubts(whole, timeline, offset_s)
    else:
        timeline = timeline or Timeline((0.0, run.record.timing.simulate_s))
        try:
            placed = knee.align(whole, timeline)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
        shift = offset_s + timeline.busy[0] - placed.busy[0]
        notes = [f"placed by the step in power (± {whole.interval_s / 2:.2g} s): an offset of {shift:.3f} s"]
        timeline = placed
    span = timeline.idle_before[0] if timeline.idle_before else timeline.measured[0], timeline.measured[1]
    for name, trace in traces.items():
        check_gaps(trace.time_s, file.lines[name], span, str(path))
    if why := energy(whole, *timeline.measured).reason:
        raise BadInput(f"{path}: the measured part has {why}")
    if len(traces) < run.record.host.nodes:
        notes.append(
            f"the run had {run.record.host.nodes} nodes, but the file has the power of {len(traces)}: the "
            "power of the others is missing"
        )
    return Source(path.name, traces, timeline, at_wall_percent, [*notes, *file.notes])


def _timeline(run: Run, align: str) -> Timeline | None:
    """The timeline of a run; None where the record has none. Its clocks count for `times` only."""
    try:
        timeline = of_run(run)
        if abs(step := run.record.timing.clock_step_s or 0.0) > LARGEST_STEP_S:
            raise BadInput(
                f"{run.path / 'record.json'}: timing.clock_step_s={step:.3f}: the system clock was set during"
                " the run"
            )
    except BadInput as reason:
        if align == "times":
            raise BadInput(f"{reason}, so that it cannot place the run; allowed: --align knee") from None
        return None
    return timeline


def _doubts(trace: Trace, timeline: Timeline, offset_s: float) -> list[str]:
    """Checks that the power steps up when the clocks say that the run began."""
    try:
        late = knee.align(trace, timeline).busy[0] - timeline.busy[0]
    except BadInput:
        return []
    if abs(late) <= 2 * trace.interval_s:
        return []
    word = "after" if late > 0 else "before"
    return [
        f"power steps up {abs(late):.3g} s {word} the run began according to the clocks;"
        f" --offset {offset_s - late:.4g} would place it there"
    ]


def _check_covered(path: Path, trace: Trace, timeline: Timeline, run: Run) -> None:
    if trace.covers(*timeline.measured):
        return
    start, end = timeline.measured
    held = max(0.0, min(end, trace.last) - max(start, trace.first))
    if held == 0:
        raise BadInput(
            f"{path}: covers {_when(trace.first)} to {_when(trace.last)}, the measured part of {run.path}"
            f" {_when(start)} to {_when(end)}: they do not overlap; {ADVICE}"
        )
    raise BadInput(
        f"{path}: covers {held:.4g} s of the {end - start:.4g} s of the measured part of {run.path}; all of"
        f" it is needed; {ADVICE}"
    )


def _when(seconds: float) -> str:
    """A time as a date if it can be one, else in seconds."""
    if 1e8 < seconds < 1e10:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").replace("000Z", "Z")
    return f"{seconds:.6g} s"
