"""What a profile or a trace says about one rank."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from spikemark.core.errors import BadInput

#: The region around the measured cycles; nothing outside it counts.
MEASURED = "simulate"
BARRIER, SYNCHRONISE = "MPI_Barrier", "synchronise"  # the call, and the region that makes it
#: User metrics, each also a column of ranks.csv.
COUNTS = ("spikes", "synaptic_events")


@dataclass
class Flushes:
    """How often a trace buffer was full and written out in the measured part, on any thread, and how long."""

    number: int = 0
    seconds: float = 0.0


@dataclass
class Seen:
    """What Score-P saw on one rank during the measured part. `waited_s` and `flushes` are of traces."""

    seconds: Counter = field(default_factory=Counter)  # of the first thread, by region with what it calls
    visits: Counter = field(default_factory=Counter)  # of the first thread, by region
    counts: Counter = field(default_factory=Counter)  # of all threads, by user metric
    waited_s: float = 0.0  # at barriers for the last rank
    flushes: Flushes = field(default_factory=Flushes)

    def time(self, name: str) -> float | None:
        """Seconds in a region; None for barriers where the ranks met at some and none was recorded."""
        if name == BARRIER and self.visits[SYNCHRONISE] and not self.visits[BARRIER]:
            return None
        return self.seconds[name]


def check_ranks(path: Path, found: list[int], ranks: int) -> None:
    """Raises BadInput unless `found` are the ranks of the run, each once."""
    if sorted(found) != list(range(ranks)):
        said = f"ranks {', '.join(map(str, sorted(found)))}" if len(found) == ranks else f"{len(found)} ranks"
        raise BadInput(f"{path}: contains {said}; the run had ranks 0 to {ranks - 1}")


def check_measured(path: Path, seen: list[Seen]) -> None:
    """Raises BadInput if a rank never entered MEASURED."""
    for rank, one in enumerate(seen):
        if not one.visits[MEASURED]:
            raise BadInput(
                f"{path}: rank {rank} has no region {MEASURED!r}: the program was not built with"
                " SPIKEMARK_SCOREP, or a filter (SCOREP_FILTERING_FILE) excludes the region"
            )
