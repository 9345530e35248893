"""Finds a run in a trace by the step of its power, as Simula et al. did by eye."""

from dataclasses import dataclass
from itertools import pairwise

from spikemark.core.errors import BadInput

from .changes import Segment, segments
from .timeline import Timeline
from .trace import Trace

#: Pause before the run if the record does not tell its length: that of Simula et al. 2019, section IV.
PAUSE_S = 5.0
#: A second step that stands out this much as well leaves the place of the run open.
RIVAL = 0.8


@dataclass(frozen=True)
class Step:
    """A place where the run may begin; `stands_out` is its power there above the power around it, in W."""

    at: float
    stands_out: float


def align(trace: Trace, timeline: Timeline) -> Timeline:
    """The timeline of the run, placed where power is higher while the run was busy than around it.

    The step lies between two readings, so the place is known to within half an interval. Raises BadInput if
    no step fits, or several do.
    """
    busy_s = timeline.busy[1] - timeline.busy[0]
    steps = _steps(trace, segments(trace.points()[1]), busy_s, _length(timeline.idle_before) or PAUSE_S)
    if not steps:
        raise BadInput(
            f"no step up in power with {busy_s:.3g} s of the run after it; allowed: a trace from the pause"
            " before the run to its end"
        )
    best = max(steps, key=lambda step: step.stands_out)
    for step in steps:
        if abs(step.at - best.at) > trace.interval_s and step.stands_out > RIVAL * best.stands_out:
            raise BadInput(
                f"the run may begin at {best.at:.6g} s or at {step.at:.6g} s: power steps up at both for its"
                f" {busy_s:.3g} s; allowed: one such step (trim the file, or give --offset)"
            )
    return timeline.moved(best.at - timeline.busy[0])


def _length(span: tuple[float, float] | None) -> float | None:
    return span and span[1] - span[0]


def _steps(trace: Trace, found: list[Segment], busy_s: float, pause_s: float) -> list[Step]:
    times = trace.points()[0]
    steps = []
    for before, after in pairwise(found):
        at = float(times[after.first - 1] + times[after.first]) / 2
        if after.mean <= before.mean or not trace.covers(at, at + busy_s):
            continue
        around = trace.mean_w(max(trace.first, at - pause_s), at)
        end, later = at + busy_s, min(trace.last, at + busy_s + pause_s)
        if later > end + trace.interval_s:
            around = max(around, trace.mean_w(end, later))
        steps.append(Step(at, trace.mean_w(at, end) - around))
    return [step for step in steps if step.stands_out > 0]
