"""How long a cycle of one run takes, by phase and by cause, and how precisely the run itself tells that.

Phases add up to the cycle, and so do causes: computing (mean over ranks), the parts of the waiting
(`waiting.budget`), and the exchange. Standard errors are those of means of serially correlated cycles
(`waiting.series`); they know nothing of what changes from run to run.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import student
from spikemark.records.phases import BARRIER, COMPUTE_PHASES, NOT_TIMED, OVERLAP, PHASES
from spikemark.records.record import Run
from spikemark.waiting import series
from spikemark.waiting.budget import PARTS as WAITING_PARTS
from spikemark.waiting.budget import budget
from spikemark.waiting.slowest import Slowest

CYCLE, COMPUTING, WAITING, EXCHANGE, REST = "cycle", "computing", "waiting", "exchange", "barrier"
#: Phases as tables show them; waiting for other ranks is one, wherever ranks wait.
SHOWN = tuple(dict.fromkeys(WAITING if name in (BARRIER, OVERLAP) else name for name in PHASES))
CAUSES = (COMPUTING, *WAITING_PARTS, REST, WAITING, EXCHANGE)
#: Parts whose time hangs on other ranks and on the network; they vary more from run to run than computing.
COMMUNICATING = (WAITING, EXCHANGE, *WAITING_PARTS, REST)
FEWEST = 20  # windows that have a standard error


@dataclass(frozen=True)
class Part:
    """A mean in s per cycle, over ranks and cycles; `error`: its standard error, None where unknown."""

    value: float
    error: float | None = None


@dataclass(frozen=True)
class Times:
    """One run. A phase or cause that is absent took no time there; one in `missing` was not timed alone."""

    cycle: Part
    phases: dict[str, Part]
    causes: dict[str, Part]
    missing: dict[str, str]  # phase or cause -> why
    slowest: Slowest | None = None

    @property
    def parts(self) -> dict[str, Part]:
        """Everything that is compared, by name: the cycle, `phase.NAME` and `cause.NAME`."""
        named = {f"phase.{name}": part for name, part in self.phases.items()}
        return {CYCLE: self.cycle, **named, **{f"cause.{name}": part for name, part in self.causes.items()}}


def times(run: Run) -> Times:
    """The times of a run, in s per cycle."""
    told, cycles = run.record.timing.phases, run.measured_cycles
    means = {name: phase.mean_s / cycles for name, phase in told.items() if phase.mean_s is not None}
    courses = _courses(run, [name for name in means if name in run.record.phases])
    missing = {
        _shown(name): phase.reason or NOT_TIMED for name, phase in told.items() if phase.mean_s is None
    }

    def part(names: list[str]) -> Part:
        known = None if courses is None else sum((courses[n] for n in names if n in courses), np.zeros(1))
        return Part(sum(means[name] for name in names), _error(run, known))

    phases = {}
    for shown in SHOWN:
        if (names := [name for name in means if _shown(name) == shown]) and shown not in missing:
            phases[shown] = part(names)
    computing = [name for name in means if name in COMPUTE_PHASES]
    causes = {COMPUTING: part(computing)}
    if EXCHANGE in phases:
        causes[EXCHANGE] = phases[EXCHANGE]
    found, slowest = _waiting(run, missing)
    if WAITING in phases:
        causes |= found or {WAITING: phases[WAITING]}
    return Times(part(list(means)), phases, causes, missing, slowest)


def _shown(name: str) -> str:
    return WAITING if name in (BARRIER, OVERLAP) else name


def _courses(run: Run, names: list[str]) -> dict[str, np.ndarray] | None:
    """Mean over ranks of each phase in s, [cycle]; None where the run did not record its cycles."""
    if run.cycles is None:
        return None
    total = np.zeros(run.cycles.shape[1:])
    for rank in run.cycles:  # rank by rank: the array may be larger than memory
        total += rank
    return {name: total[:, run.record.phases.index(name)] / run.record.ranks for name in names}


def _error(run: Run, course: np.ndarray | None) -> float | None:
    """The standard error of the mean of a course [cycle], from the windows between two meetings."""
    if course is None or len(course) // run.window < FEWEST:
        return None
    return series.mean(lump(course, run.window) / run.window).error


def _waiting(run: Run, missing: dict[str, str]) -> tuple[dict[str, Part] | None, Slowest | None]:
    """The parts of the waiting in s per cycle, and the slowest rank; None where it cannot be divided."""
    if run.cycles is None or run.record.ranks == 1 or WAITING in missing:
        return None, None
    try:
        found = budget(run)
    except BadInput as reason:
        missing["causes of waiting"] = str(reason).removeprefix(f"{run.path}: ")
        return None, None
    per_cycle = 1 / run.measured_cycles
    normal = student(np.inf)
    parts = {n: Part(p.value * per_cycle, p.half * per_cycle / normal) for n, p in found.parts.items() if p}
    return parts, found.slowest
