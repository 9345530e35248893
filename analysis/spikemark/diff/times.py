"""How long a cycle of one run takes, by phase and by cause, and how precisely the run tells that.

Phases add up to the cycle, and so do causes: computing (mean over ranks), the parts of the waiting
(`waiting.ladder`), and the exchange. Standard errors are those of means of serially correlated
cycles (`waiting.bootstrap`); they know nothing of what changes from run to run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import student
from spikemark.records.phases import BARRIER, COMPUTE_PHASES, NOT_TIMED, OVERLAP, PHASES
from spikemark.records.record import Run
from spikemark.waiting.bootstrap import means
from spikemark.waiting.ladder import PARTS_OF_TIME as WAITING_PARTS
from spikemark.waiting.ladder import ladder
from spikemark.waiting.trace import trace

#: Names of parts: the cycle, the median cycle, and what a cycle consists of.
CYCLE = "cycle"
MEDIAN = "median"
COMPUTING = "computing"
WAITING = "waiting"
EXCHANGE = "exchange"
#: Prefixes of names of parts.
PHASE = "phase."
CAUSE = "cause."
#: Phase -> as tables show it; waiting for other ranks is one, wherever ranks wait.
SHOWN_AS = {name: WAITING if name in (BARRIER, OVERLAP) else name for name in PHASES}
#: Parts whose time hangs on other ranks and on the network; they vary more from run to run than
#: computing.
COMMUNICATING = (WAITING, EXCHANGE, *WAITING_PARTS)
#: Windows that have a standard error.
MIN_WINDOWS = 20


@dataclass(frozen=True)
class MeanTime:
    """A mean over ranks and cycles."""

    #: s per cycle.
    value: float
    #: Its standard error; None where unknown.
    error: float | None = None


@dataclass(frozen=True)
class RunTimes:
    """How long a cycle of one run takes.

    MEDIAN is the median of the cycles, which few long ones do not move, where cycles were recorded.
    """

    #: The cycle, `phase.NAME` and `cause.NAME`; one that is absent took no time there.
    parts: dict[str, MeanTime]
    #: Phase or cause -> why it was not timed alone.
    missing: dict[str, str]


def times(run: Run) -> RunTimes:
    """The times of a run, in s per cycle.

    Example:
        >>> from spikemark.records.record import load_run
        >>> of_run = times(load_run("tests/golden/analysis/records/aware-4"))
        >>> round(of_run.parts[CYCLE].value, 7), [*of_run.parts][:3]
        (0.0004329, ['cycle', 'median', 'phase.deliver'])
    """
    phases = run.record.timing.phases
    seconds = {name: time.mean_s for name, time in phases.items() if time.mean_s is not None}
    missing = {
        SHOWN_AS[name]: time.reason or NOT_TIMED
        for name, time in phases.items()
        if time.mean_s is None
    }
    of_phases = _PhaseTimes(run, seconds)
    parts = {CYCLE: of_phases.part([*seconds])}
    if of_phases.course is not None:
        whole_cycles = np.nansum(of_phases.course, axis=1)
        windows = lump(whole_cycles, run.window) / run.window
        parts[MEDIAN] = MeanTime(float(np.median(windows)))
    phases_of_part: dict[str, list[str]] = {}
    for name in sorted(seconds, key=PHASES.index):
        phases_of_part.setdefault(SHOWN_AS[name], []).append(name)
    for part, names in phases_of_part.items():
        if part not in missing:
            parts[PHASE + part] = of_phases.part(names)
    computing = [name for name in seconds if name in COMPUTE_PHASES]
    parts[CAUSE + COMPUTING] = of_phases.part(computing)
    for cause in (EXCHANGE, WAITING):
        if PHASE + cause in parts:
            parts[CAUSE + cause] = parts[PHASE + cause]
    if CAUSE + WAITING in parts and run.cycles is not None and run.record.ranks > 1:
        try:
            causes = _causes_of_waiting(run)
        except BadInput as reason:
            missing["causes of waiting"] = str(reason).removeprefix(f"{run.path}: ")
        else:
            del parts[CAUSE + WAITING]
            parts |= causes
    return RunTimes(parts, missing)


class _PhaseTimes:
    """Times of phases of a run: sums over it, and the course of cycles where there is one."""

    def __init__(self, run: Run, seconds: Mapping[str, float]):
        self.run = run
        #: Of the phases that were timed, mean over ranks, over the whole run.
        self.seconds = seconds
        #: float64 [cycle, phase] in s, mean over ranks; None where cycles are not recorded, or few.
        self.course: np.ndarray | None = None
        if run.cycles is not None and run.cycles.shape[1] // run.window >= MIN_WINDOWS:
            total = np.zeros(run.cycles.shape[1:])
            for cycles_of_rank in run.cycles:  # one rank in memory
                total += cycles_of_rank
            self.course = total / run.record.ranks

    def part(self, names: list[str]) -> MeanTime:
        """The time of several phases together."""
        value = sum(self.seconds[name] for name in names) / self.run.record.timing.cycles
        if self.course is None:
            return MeanTime(value)
        recorded = self.run.record.phases
        columns = [recorded.index(name) for name in names if name in recorded]
        window = self.run.window
        windows = lump(self.course[:, columns].sum(axis=1), window) / window
        return MeanTime(value, float(means(windows[:, None]).draws.std()))


def _causes_of_waiting(run: Run) -> dict[str, MeanTime]:
    """The parts of waiting, by name. Raises BadInput where waiting cannot be divided."""
    causes = {}
    for name, seconds in ladder(trace(run)).parts.items():
        if seconds.value is not None and seconds.half is not None:
            error = seconds.half / student(np.inf)
            without_noise = round(seconds.value, 15) + 0.0  # nor a negative zero
            causes[CAUSE + name] = MeanTime(without_noise, error)
    return causes


def alike(runs: list[RunTimes]) -> list[dict[str, MeanTime]]:
    """The parts of these runs; waiting has its causes only where all runs have them.

    Example:
        >>> waiting = MeanTime(2e-4)
        >>> with_causes = RunTimes({"phase.waiting": waiting, "cause.barrier": waiting}, missing={})
        >>> without = RunTimes({"phase.waiting": waiting}, missing={})
        >>> [sorted(parts) for parts in alike([with_causes, without])]
        [['cause.waiting', 'phase.waiting'], ['cause.waiting', 'phase.waiting']]
    """
    if all(f"{CAUSE}barrier" in run.parts for run in runs):
        return [run.parts for run in runs]
    parts_of_runs = []
    for run in runs:
        parts = {}
        for name, time in run.parts.items():
            if name.removeprefix(CAUSE) not in WAITING_PARTS:
                parts[name] = time
        if PHASE + WAITING in parts:
            parts[CAUSE + WAITING] = parts[PHASE + WAITING]
        parts_of_runs.append(parts)
    return parts_of_runs
