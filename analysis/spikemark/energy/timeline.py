"""When a run paused, warmed up and was measured, in seconds since the Unix epoch."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.records.record import Run

#: How far the span of the measured part on the first rank may be from the time of the slowest rank: a share
#: of this time, seconds, and what is wrong beyond both. A busy host may hold the first rank up at a barrier.
UNWATCHED = 0.02, 0.05, "the system clock was set in between"
WATCHED = 0.5, 5.0, "one of them is wrong, since the record watched the system clock"

Span = tuple[float, float]


@dataclass(frozen=True)
class Timeline:
    """`measured` is the simulation phase; a pause is None where the run made none."""

    measured: Span
    idle_before: Span | None = None
    idle_after: Span | None = None

    @property
    def duration_s(self) -> float:
        return self.measured[1] - self.measured[0]

    @property
    def busy(self) -> Span:
        """The time between the pauses: warm-up and measured part."""
        start = self.idle_before[1] if self.idle_before else self.measured[0]
        return start, self.idle_after[0] if self.idle_after else self.measured[1]

    @property
    def known(self) -> Span:
        """The time from the first pause to the last."""
        start = self.idle_before[0] if self.idle_before else self.measured[0]
        return start, self.idle_after[1] if self.idle_after else self.measured[1]

    def moved(self, seconds: float) -> "Timeline":
        """The timeline moved to so many seconds later."""

        def move(span: Span | None) -> Span | None:
            return span and (span[0] + seconds, span[1] + seconds)

        return Timeline(move(self.measured), move(self.idle_before), move(self.idle_after))


def of_run(run: Run) -> Timeline | None:
    """The timeline of a run; None for a record from before these times were written.

    Raises BadInput where the span of the measured part is not the time that it took: then the system clock
    was set in between. Where the record says how far it was set, the span is by a clock that nobody sets, and
    may differ by what a busy host holds a rank up.
    """
    timing = run.record.timing
    if timing.simulate_started_s is None or timing.simulate_ended_s is None:
        return None
    span = timing.simulate_ended_s - timing.simulate_started_s
    watched = timing.clock_step_s is not None
    share, least_s, why = WATCHED if watched else UNWATCHED
    if not abs(span - timing.simulate_s) <= least_s + share * timing.simulate_s:
        raise BadInput(
            f"{run.path / 'record.json'}: timing.simulate_started_s and simulate_ended_s are {span:.3f} s"
            f" apart, and simulate_s is {timing.simulate_s:.3f} s: {why}"
        )
    pauses = [span and tuple(span) for span in (timing.idle_before_s, timing.idle_after_s)]
    return Timeline((timing.simulate_started_s, timing.simulate_ended_s), *pauses)
