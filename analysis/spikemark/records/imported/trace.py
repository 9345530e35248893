"""Event traces of any MPI program, OTF2 as Score-P writes it: one collective call per cycle.

A cycle of a rank ends when its first thread leaves the region that `communicate` names. All other time since
the cycle before is computing. Durations are those of the clock of a rank, so that clocks need not agree.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.records.otf2_trace import Follower, Thread, follow

from .found import COMMUNICATE, COMPUTE, WAIT, Asked, Found
from .join import equal, missing

NAME, SUMMARY = (
    "otf2",
    "event traces of Score-P, .otf2: --column communicate=MPI_Alltoall names the call of a cycle",
)
WITHIN = "within"
ALLOWED = (COMMUNICATE, WAIT, WITHIN)
MOST = 8  # regions named in a complaint


def recognises(path: Path) -> bool:
    """True if the name of the file ends with .otf2."""
    return path.suffix == ".otf2"


def read(files: list[Path], asked: Asked) -> Found:
    """What the trace says. Raises BadInput naming the file and what is wrong.

    `asked.called`: `communicate` is the region of the collective call, or several with commas; `wait` those
    whose time is waiting, within it or before it; only cycles in the region `within` count.
    """
    if len(files) > 1:
        raise BadInput(f"{files[1]}: a second file; allowed: one trace, which holds all ranks")
    wrong = next((name for name in asked.called if name not in ALLOWED), None)
    if wrong:
        raise BadInput(f"column {wrong!r}; allowed for a trace: {', '.join(ALLOWED)}")
    regions = {name: set(asked.called.get(name, "").split(",")) - {""} for name in ALLOWED}
    reading = _Reading(regions)
    tick_s = follow(files[0], reading)
    if not regions[COMMUNICATE] or not any(reading.cycles.values()):
        named = ", ".join(f"{name} ({count})" for name, count in reading.most())
        wanted = ", ".join(sorted(regions[COMMUNICATE])) or "missing"
        raise BadInput(f"{files[0]}: --column communicate={wanted}; the trace has the regions {named}")
    ranks = sorted(reading.cycles)
    equal(files[0], {rank: len(reading.cycles[rank]) for rank in ranks})
    times = np.array([reading.cycles[rank] for rank in ranks], dtype=np.float64) * tick_s
    columns = {COMPUTE: times[:, :, 0], COMMUNICATE: times[:, :, 1], WAIT: times[:, :, 2]}
    if not regions[WAIT]:
        del columns[WAIT]
    return Found(columns, reading.remarks(), missing(ranks))


class _Reading(Follower):
    """Ticks by rank and cycle: computing, communication with waiting, waiting."""

    def __init__(self, regions: dict[str, set[str]]):
        self.regions, self.visits, self.cycles = regions, Counter(), {}
        self.begun, self.inside, self.spent, self.waited = {}, {}, {}, {}

    def begin(self, path: Path, ranks: list[int]) -> None:
        for rank in ranks:
            self.cycles[rank], self.inside[rank] = [], 0
            self._next(rank, None)

    def _next(self, rank: int, time: int | None) -> None:
        self.begun[rank], self.spent[rank], self.waited[rank] = time, 0, 0

    def enter(self, thread: Thread, name: str, time: int) -> None:
        if thread.first and name in self.regions[WITHIN]:
            self.inside[thread.rank] += 1
            self._next(thread.rank, time)

    def leave(self, thread: Thread, name: str, since: int, time: int) -> None:
        if not thread.first:
            return
        rank, waits, talks = thread.rank, name in self.regions[WAIT], name in self.regions[COMMUNICATE]
        self.visits[name] += rank == min(self.cycles)
        outer = {region for region, _ in thread.stack}
        if waits and not outer & self.regions[WAIT]:
            self.waited[rank] += time - since
        if (waits or talks) and not outer & (self.regions[WAIT] | self.regions[COMMUNICATE]):
            self.spent[rank] += time - since
        if (
            talks
            and not outer & self.regions[COMMUNICATE]
            and (self.inside[rank] or not self.regions[WITHIN])
        ):
            if self.begun[rank] is not None:
                took = time - self.begun[rank]
                self.cycles[rank].append((took - self.spent[rank], self.spent[rank], self.waited[rank]))
            self._next(rank, time)
        if name in self.regions[WITHIN]:
            self.inside[rank] -= 1
            self._next(rank, None)

    def most(self) -> list[tuple[str, int]]:
        """Regions of the first rank and how often it visited them, those of MPI first."""
        return sorted(self.visits.items(), key=lambda one: (not one[0].startswith("MPI_"), -one[1]))[:MOST]

    def remarks(self) -> tuple[str, ...]:
        """What was not taken for a cycle."""
        last = "what a rank does after its last collective call is no cycle"
        if self.regions[WITHIN]:
            return (last,)
        return (
            "what a rank does until the end of its first collective call, and after its last, is no cycle",
        )
