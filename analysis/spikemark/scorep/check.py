"""Region times of Score-P beside the cycle log of the same run."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.quantities.words import counted
from spikemark.records import record
from spikemark.records.phases import HELD, NOT_TIMED

from . import files, profile, trace
from .seen import BARRIER, COUNTS, Flushes, Seen

#: A region may differ from its phase by a share, and by what lies between its ends and the readings of the
#: clock. With Score-P 8.4, the latter was measured as 0.2 to 0.3 us for each visit.
SHARE = 0.05
PER_VISIT_S = 0.4e-6
#: Of a phase, what the visits may make out at most if a comparison is to tell anything.
TELLING = 0.5
AGREES, DIFFERS, SHORT = "agrees", "DIFFERS", "too short to check"
UNTIMED, UNSEEN = "not timed by the run", "not recorded by Score-P"
#: Warnings of a record, by how they begin, of hosts on which times differ for other reasons.
BUSY = ("oversubscribed", "bound too tightly", "shared cores", "foreign load", "stolen time")


@dataclass(frozen=True)
class Time:
    """The time of a phase on one rank over the measured cycles, s.

    `log_s` is None where it was not timed, for the `reason`; the other two where Score-P recorded none.
    `visits` are those of the profile, or else of the trace; `trace_visits` is None without a trace.
    """

    log_s: float | None
    profile_s: float | None
    trace_s: float | None
    visits: int
    trace_visits: int | None
    reason: str | None = None

    @property
    def seen_s(self) -> float | None:
        """The time by the profile, or else by the trace."""
        return self.trace_s if self.profile_s is None else self.profile_s

    @property
    def allowed_s(self) -> float:
        """How much the profile and the trace may differ from the log."""
        return SHARE * (self.log_s or 0.0) + PER_VISIT_S * self.visits

    @property
    def difference_s(self) -> float:
        """The larger one of the two differences from the log, with its sign; 0 where there is no log."""
        if self.log_s is None:
            return 0.0
        return max((s - self.log_s for s in (self.profile_s, self.trace_s) if s is not None), key=abs)

    @property
    def verdict(self) -> str:
        """AGREES, or why not."""
        if self.log_s is None:
            return UNTIMED
        if not self.visits and self.log_s > 0:
            return UNSEEN
        if abs(self.difference_s) > self.allowed_s:
            return DIFFERS
        return SHORT if PER_VISIT_S * self.visits > TELLING * self.log_s else AGREES


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
    """One rank. `barrier` is its time in MPI_Barrier, `waited_s` the part until the last rank arrived.

    `waited_s` and `flushes` are None without a trace, `waited_s` also where it has no barriers.
    """

    rank: int
    phases: dict[str, Time]
    barrier: Time
    waited_s: float | None
    flushes: Flushes | None
    counts: dict[str, Count]


@dataclass(frozen=True)
class Check:
    """What Score-P says about a run, beside what the run says itself."""

    path: Path
    ranks: list[Rank]
    about: str  # which run it is
    found: tuple[str, ...]  # the files of Score-P, of files.NAMES
    warnings: list[str]
    summed: bool  # SHA256SUMS says that no byte of the files has changed since the run ended

    @property
    def complaints(self) -> list[str]:
        """One line for each time and count that does not agree."""
        lines = []
        for one in self.ranks:
            for name, time in {**one.phases, BARRIER: one.barrier}.items():
                if time.trace_visits not in (time.visits, None):
                    lines.append(
                        f"rank {one.rank}, {name}: {counted(time.visits, 'visit')} by the profile,"
                        f" {time.trace_visits} by the trace"
                    )
            for name, time in one.phases.items():
                if time.verdict == DIFFERS:
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

    Raises BadInput naming a file that is missing, truncated, of another number of ranks than the run, or that
    has changed since Spikemark made it. One of profile and trace is enough, unless Score-P was told to write
    both.
    """
    sha256.check(directory, files.read_later(directory))
    inside = directory / "record"
    run = record.load(inside if inside.is_dir() else directory)
    if run.cycles is None:
        raise BadInput(f"{run.path}: no cycles.npy to compare with; run again with record.cycles=true")
    number, found = run.record.ranks, files.found(directory)
    profiled = profile.read(directory / files.PROFILE, number) if files.PROFILE in found else [None] * number
    traced = trace.read(directory / files.TRACE, number) if files.TRACE in found else [None] * number
    ranks = [_rank(run, *each) for each in zip(range(number), profiled, traced, strict=True)]
    busy = [text for text in run.record.warnings if text.startswith(BUSY)]
    return Check(directory, ranks, _about(run), found, busy, sha256.there(directory))


def _about(run: record.Run) -> str:
    """What tells a run from others of a plan."""
    layout = f"{counted(run.record.ranks, 'rank')} with {counted(run.record.threads, 'thread')}"
    ratio, seed = run.delay_ratio, run.record.description.get("seed")
    return f"{run.schedule}, placement {run.placement}, D = {ratio}, {layout}, seed {seed}"


def _rank(run: record.Run, rank: int, profiled: Seen | None, traced: Seen | None) -> Rank:
    first = profiled or traced

    def time(name: str, log_s: float | None = None, reason: str | None = None) -> Time:
        seconds = [seen and seen.time(name) for seen in (profiled, traced)]
        return Time(log_s, *seconds, first.visits[name], traced and traced.visits[name], reason)

    phases = {}
    for name in run.record.phases:
        log_s = float(np.sum(run.phase(name)[rank], dtype=np.float64))
        held = name in run.record.mixed
        untimed = held or math.isnan(log_s)
        reason = (HELD if held else NOT_TIMED) if untimed else None
        phases[name] = time(name, None if untimed else log_s, reason)
    counts = {
        name: Count(
            int(run.ranks[name][rank]),
            *(None if seen is None else seen.counts.get(name) for seen in (profiled, traced)),
        )
        for name in COUNTS
    }
    waited = None if traced is None or traced.time(BARRIER) is None else traced.waited_s
    return Rank(rank, phases, time(BARRIER), waited, traced and traced.flushes, counts)
