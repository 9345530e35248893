"""When a run paused, was busy and was measured, in the time of the readings of its power."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.records.record import Run

#: Largest step of the system clock during a run that the times of readings place, s.
MAX_CLOCK_STEP_S = 0.01

Span = tuple[float, float]


@dataclass(frozen=True)
class Timeline:
    """When a run was measured, s since the Unix epoch or another zero."""

    measured: Span
    idle_before: Span | None = None  #: the pause before the run; None where there was none

    @property
    def duration_s(self) -> float:
        start, end = self.measured
        return end - start

    @property
    def busy(self) -> Span:
        """From the end of the pause to the end of the measured part."""
        start, end = self.measured
        if self.idle_before:
            start = self.idle_before[1]
        return start, end

    @property
    def with_pause(self) -> Span:
        """From the pause to the end of the measured part."""
        start, end = self.measured
        if self.idle_before:
            start = self.idle_before[0]
        return start, end

    def moved(self, seconds: float) -> "Timeline":
        """The same run so many seconds later."""

        def later(span: Span) -> Span:
            return span[0] + seconds, span[1] + seconds

        idle_before = later(self.idle_before) if self.idle_before else None
        return Timeline(later(self.measured), idle_before)


def timeline(run: Run) -> Timeline:
    """When a run was measured.

    Raises BadInput if the record has no times, or the clock was set during the run.

    Example:
        >>> from spikemark.records.record import load_run
        >>> when = timeline(load_run("tests/golden/analysis/records/aware-4"))
        >>> round(when.duration_s, 2), when.idle_before
        (0.43, None)
    """
    timing, path = run.record.timing, run.path / "record.json"
    if timing.simulate_started_s is None or timing.simulate_ended_s is None:
        raise BadInput(
            "timing.simulate_started_s: missing; expected --align knee",
            file=path,
            field="timing.simulate_started_s",
            code="missing",
        )
    if abs(timing.clock_step_s or 0.0) > MAX_CLOCK_STEP_S:
        advice = "--align knee finds it by its step in power"
        raise BadInput(
            field="timing.clock_step_s",
            value=timing.clock_step_s,
            expected=f"0: the system clock was set during the run; {advice}",
            file=path,
        )
    idle_before = None
    if timing.idle_before_s:
        start, end = timing.idle_before_s
        idle_before = (start, end)
    return Timeline((timing.simulate_started_s, timing.simulate_ended_s), idle_before)
