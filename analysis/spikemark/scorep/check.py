"""Region times of Score-P beside the cycle log of the same run."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.records import record

from . import profile, trace
from .seen import BARRIER, COUNTS, Seen

#: A region may differ from its phase by a share, and by what Score-P takes to note its begin and end.
SHARE = 0.05
PER_VISIT_S = 1e-6


@dataclass(frozen=True)
class Time:
    """The time of a phase on one rank over the measured cycles, s; `log_s` is None where it was not timed."""

    log_s: float | None
    profile_s: float
    trace_s: float
    visits: int

    @property
    def allowed_s(self) -> float:
        """How much the profile and the trace may differ from the log."""
        return SHARE * (self.log_s or 0.0) + PER_VISIT_S * self.visits

    @property
    def difference_s(self) -> float:
        """The larger one of the two differences from the log, with its sign; 0 where there is no log."""
        if self.log_s is None:
            return 0.0
        return max(self.profile_s - self.log_s, self.trace_s - self.log_s, key=abs)

    @property
    def agrees(self) -> bool:
        return abs(self.difference_s) <= self.allowed_s


@dataclass(frozen=True)
class Count:
    """A count on one rank; None where Score-P has none, as in a profile without user metrics."""

    record: int
    profile: int | None
    trace: int | None

    @property
    def agrees(self) -> bool:
        return {self.profile, self.trace} <= {self.record, None}


@dataclass(frozen=True)
class Rank:
    """One rank. `barrier` is its time in MPI_Barrier, `waited_s` the part until the last rank arrived."""

    rank: int
    phases: dict[str, Time]
    barrier: Time
    waited_s: float
    counts: dict[str, Count]


@dataclass(frozen=True)
class Check:
    """What Score-P says about a run, beside what the run says itself."""

    path: Path
    ranks: list[Rank]

    @property
    def complaints(self) -> list[str]:
        """One line for each time and count that does not agree."""
        lines = []
        for one in self.ranks:
            for name, time in one.phases.items():
                if not time.agrees:
                    lines.append(
                        f"rank {one.rank}, {name}: Score-P differs from the cycle log by"
                        f" {time.difference_s:.3g} s of {time.log_s:.3g} s; allowed {time.allowed_s:.3g} s"
                    )
            for name, count in one.counts.items():
                if not count.agrees:
                    lines.append(
                        f"rank {one.rank}, {name}: the record has {count.record},"
                        f" the profile {count.profile}, the trace {count.trace}"
                    )
        return lines


def check(directory: Path) -> Check:
    """Compare the measurement of Score-P in `directory` with the record in `directory`/record, or beside it.

    Raises BadInput naming a file that is missing, truncated, or of another number of ranks than the run.
    """
    inside = directory / "record"
    run = record.load(inside if inside.is_dir() else directory)
    if run.cycles is None:
        raise BadInput(f"{run.path}: no cycles.npy to compare with; run again with record.cycles=true")
    profiled = profile.read(directory / "profile.cubex", run.record.ranks)
    traced, waited = trace.read(directory / "traces.otf2", run.record.ranks)
    ranks = [
        _rank(run, rank, profiled[rank], traced[rank], float(waited[rank]))
        for rank in range(run.record.ranks)
    ]
    return Check(directory, ranks)


def _rank(run: record.Run, rank: int, profiled: Seen, traced: Seen, waited_s: float) -> Rank:
    def time(name: str, log_s: float | None) -> Time:
        return Time(log_s, profiled.seconds[name], traced.seconds[name], profiled.visits[name])

    phases = {}
    for name in run.record.phases:
        log_s = float(np.sum(run.phase(name)[rank], dtype=np.float64))
        phases[name] = time(name, None if math.isnan(log_s) else log_s)
    counts = {
        name: Count(int(run.ranks[name][rank]), profiled.counts.get(name), traced.counts.get(name))
        for name in COUNTS
    }
    return Rank(rank, phases, time(BARRIER, None), waited_s, counts)
