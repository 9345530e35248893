"""The idle power: the plateau of the pause before a run."""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import Quantity, missing

from .changes import segments
from .sampling import level
from .timeline import Span, Timeline
from .trace import Trace

LEAST_READINGS = 3


@dataclass(frozen=True)
class Plateau:
    """A level of power in W; its `span` is in the time of the trace, None where there is no level."""

    watts: Quantity
    span: Span | None
    where: str


def before(trace: Trace, timeline: Timeline) -> Plateau:
    """The longest level in the pause before the run; without a pause, the longest one below the run's power.

    Power that has not settled at the beginning of the pause is a level of its own and is left out.
    """
    if timeline.idle_before is not None:
        return _within(trace, timeline.idle_before, "idle pause before the run")
    if trace.first > timeline.measured[0] - LEAST_READINGS * trace.interval_s:
        reason = "no idle pause: run with record.idle_pause_s of 5 or more, or start the meter before the run"
        return Plateau(missing(reason, "W"), None, "")
    return _within(trace, (trace.first, timeline.busy[0]), "before the run", trace.mean_w(*timeline.measured))


def after(trace: Trace, timeline: Timeline) -> Plateau:
    """The longest level in the pause after the run, to compare with."""
    if timeline.idle_after is None:
        return Plateau(missing("no idle pause after the run", "W"), None, "")
    return _within(trace, timeline.idle_after, "idle pause after the run")


def _within(trace: Trace, span: Span, where: str, below: float = np.inf) -> Plateau:
    times, watts = trace.points()
    margin = trace.interval_s / 2  # a mean between two readings must not include a part of the run
    chosen = (times >= span[0] + margin) & (times <= span[1] - margin)
    times, watts = times[chosen], watts[chosen]
    if len(watts) < LEAST_READINGS:
        reason = f"{where}: {len(watts)} readings; {LEAST_READINGS} are needed"
        return Plateau(missing(reason, "W"), None, "")
    levels = [s for s in segments(watts) if s.mean < below and s.readings >= LEAST_READINGS]
    if not levels:
        return Plateau(missing(f"{where}: no level below the power of the run", "W"), None, "")
    longest = max(levels, key=lambda s: times[s.last - 1] - times[s.first])
    part = slice(longest.first, longest.last)
    return Plateau(level(watts[part], trace.step_w), (float(times[part][0]), float(times[part][-1])), where)
