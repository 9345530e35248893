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
    median: Part | None = None  # of the cycles, which few long ones do not move; None if not recorded

    @property
    def parts(self) -> dict[str, Part]:
        """Everything that is compared, by name: the cycle, `phase.NAME` and `cause.NAME`."""
        named = {f"phase.{name}": part for name, part in self.phases.items()}
        return {CYCLE: self.cycle, **named, **{f"cause.{name}": part for name, part in self.causes.items()}}


def times(run: Run) -> Times:
    """The times of a run, in s per cycle."""
    told = run.record.timing.phases
    untold = {name: phase for name, phase in told.items() if phase.mean_s is None}
    missing = {_shown(name): phase.reason or NOT_TIMED for name, phase in untold.items()}
    names = [name for name in told if name not in untold]
    courses = _courses(run)
    phases = {}
    for shown in SHOWN:
        if (own := [name for name in names if _shown(name) == shown]) and shown not in missing:
            phases[shown] = _part(run, courses, own)
    causes = {COMPUTING: _part(run, courses, [name for name in names if name in COMPUTE_PHASES])}
    if EXCHANGE in phases:
        causes[EXCHANGE] = phases[EXCHANGE]
    found, slowest = _waiting(run, missing)
    if WAITING in phases:
        causes |= found or {WAITING: phases[WAITING]}
    return Times(_part(run, courses, names), phases, causes, missing, slowest, _median(run, courses))


def median(run: Run) -> Part | None:
    """The median cycle of a run, as in `times`."""
    return _median(run, _courses(run))


def _median(run: Run, courses: np.ndarray | None) -> Part | None:
    """The median of windows in s per cycle; its error within a run is not known."""
    if courses is None or len(courses) // run.window < FEWEST:
        return None
    windows = lump(np.nansum(courses, axis=1), run.window) / run.window
    return Part(float(np.median(windows)))


def cycle(run: Run) -> Part:
    """The time of a cycle of a run, as in `times`."""
    names = [name for name, phase in run.record.timing.phases.items() if phase.mean_s is not None]
    return _part(run, _courses(run), names)


def _part(run: Run, courses: np.ndarray | None, names: list[str]) -> Part:
    """The sum of phases, whose means over ranks in s are `courses` [cycle, phase]."""
    told = run.record.timing.phases
    value = sum(told[name].mean_s for name in names) / run.measured_cycles
    if courses is None or len(courses) // run.window < FEWEST:
        return Part(value)
    at = [run.record.phases.index(name) for name in names if name in run.record.phases]
    return Part(value, series.mean(lump(courses[:, at].sum(axis=1), run.window) / run.window).error)


def _shown(name: str) -> str:
    return WAITING if name in (BARRIER, OVERLAP) else name


def _courses(run: Run) -> np.ndarray | None:
    """Mean over ranks of all phases in s, [cycle, phase]; None where the run did not record its cycles."""
    if run.cycles is None:
        return None
    total = np.zeros(run.cycles.shape[1:])
    for rank in run.cycles:  # rank by rank: the array may be larger than memory
        total += rank
    return total / run.record.ranks


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
