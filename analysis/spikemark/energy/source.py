"""The readings of energy or power that belong to a run."""

from dataclasses import dataclass, field
from functools import cached_property

from .timeline import Timeline
from .trace import Trace, total


@dataclass(frozen=True)
class Source:
    """Readings of a run: a trace per channel and node, and the run's timeline in the time of the traces."""

    name: str
    traces: dict[str, Trace]
    timeline: Timeline
    at_wall_percent: float | None = None  #: accuracy, of a meter of the whole machine before power conversion
    notes: list[str] = field(default_factory=list)

    @cached_property
    def trace(self) -> Trace:
        """All channels together."""
        return total(list(self.traces.values()))
