"""How long a cycle of one run takes, by phase and by cause, and how precisely the run itself tells that.

Phases add up to the cycle, and so do causes: computing (mean over ranks), the parts of the waiting
(`waiting.ladder`), and the exchange. Standard errors are those of means of serially correlated cycles
(`waiting.bootstrap`); they know nothing of what changes from run to run.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import student
from spikemark.records.phases import (
    BARRIER,
    COMPUTE_PHASES,
    HOLD_THREADS,
    NOT_TIMED,
    OVERLAP,
    PHASES,
    THREADS,
)
from spikemark.records.record import Run
from spikemark.waiting.bootstrap import means
from spikemark.waiting.ladder import PARTS as WAITING_PARTS
from spikemark.waiting.ladder import ladder
from spikemark.waiting.trace import trace

CYCLE, MEDIAN = "cycle", "median"
COMPUTING, WAITING, EXCHANGE = "computing", "waiting", "exchange"
PHASE, CAUSE = "phase.", "cause."
#: Phase -> as tables show it; waiting for other ranks is one, wherever ranks wait.
SHOWN = {name: WAITING if name in (BARRIER, OVERLAP) else name for name in PHASES}
#: Parts whose time hangs on other ranks and on the network; they vary more from run to run than computing.
COMMUNICATING = (WAITING, EXCHANGE, *WAITING_PARTS)
#: What some runs did not time alone, what holds it there, and what both are called together.
JOINED = {
    WAITING: ((EXCHANGE,), "exchange, with waiting"),
    THREADS: (HOLD_THREADS, "deliver and update, with thread_wait"),
}
FEWEST = 20  # windows that have a standard error


@dataclass(frozen=True)
class Part:
    """A mean in s per cycle, over ranks and cycles; `error`: its standard error, None where unknown."""

    value: float
    error: float | None = None


@dataclass(frozen=True)
class Times:
    """One run. `parts`: the cycle, `phase.NAME` and `cause.NAME`; one that is absent took no time there.

    MEDIAN is the median of the cycles, which few long ones do not move, where cycles were recorded.
    `missing`: phase or cause -> why it was not timed alone.
    """

    parts: dict[str, Part]
    missing: dict[str, str]

    @property
    def cycle(self) -> Part:
        return self.parts[CYCLE]

    @property
    def divided(self) -> bool:
        """True if the waiting is divided into its causes."""
        return f"{CAUSE}barrier" in self.parts


def times(run: Run) -> Times:
    """The times of a run, in s per cycle."""
    told, window = run.record.timing.phases, run.window
    missing = {SHOWN.get(n, n): one.reason or NOT_TIMED for n, one in told.items() if one.mean_s is None}
    names = [name for name, one in told.items() if one.mean_s is not None]
    courses = None
    if run.cycles is not None and run.cycles.shape[1] // window >= FEWEST:
        courses = sum(rank.astype(np.float64) for rank in run.cycles) / run.record.ranks  # one rank in memory

    def part(some: list[str]) -> Part:
        value = sum(told[name].mean_s for name in some) / run.measured_cycles
        if courses is None:
            return Part(value)
        at = [run.record.phases.index(name) for name in some if name in run.record.phases]
        windows = lump(courses[:, at].sum(axis=1), window) / window
        return Part(value, float(means(windows[:, None]).draws.std()))

    own = {}
    for name in names:
        own.setdefault(SHOWN.get(name, name), []).append(name)
    phases = {name: part(own[name]) for name in dict.fromkeys(SHOWN.values()) if name in own.keys() - missing}
    causes = {COMPUTING: part([name for name in names if name in COMPUTE_PHASES])}
    causes |= {name: phases[name] for name in (EXCHANGE, WAITING) if name in phases}
    if WAITING in phases and run.cycles is not None and run.record.ranks > 1:
        try:
            found = ladder(trace(run)).parts
            del causes[WAITING]
            causes |= {n: Part(q.value, q.half / student(np.inf)) for n, q in found.items() if q}
        except BadInput as reason:
            missing["causes of waiting"] = str(reason).removeprefix(f"{run.path}: ")
    middle = {}
    if courses is not None:
        middle = {MEDIAN: Part(float(np.median(lump(np.nansum(courses, axis=1), window) / window)))}
    return Times({CYCLE: part(names)} | middle | _named(phases, causes), missing)


def _named(phases: dict[str, Part], causes: dict[str, Part]) -> dict[str, Part]:
    sides = {PHASE: phases, CAUSE: causes}
    return {prefix + name: one for prefix, parts in sides.items() for name, one in parts.items()}


def alike(one: Times, untold: set[str], divided: bool) -> dict[str, Part]:
    """The parts that all runs can tell apart.

    `untold`: what some run did not time alone; it is joined with what it is a part of. `divided`: the waiting
    of all runs is divided into its causes.
    """
    phases, causes = (
        {name.removeprefix(prefix): part for name, part in one.parts.items() if name.startswith(prefix)}
        for prefix in (PHASE, CAUSE)
    )
    if not divided:
        causes = {name: part for name, part in causes.items() if name not in WAITING_PARTS}
        causes |= {WAITING: phases[WAITING]} if WAITING in phases else {}
    for name, (others, into) in JOINED.items():
        for parts in (phases, causes) if name in untold else ():
            some = [parts.pop(n) for n in (name, *others) if n in parts]
            errors = [part.error for part in some]  # added, as if they always erred alike
            if some:
                error = None if None in errors else sum(errors)
                parts[into] = Part(sum(part.value for part in some), error)
    return {name: one.parts[name] for name in (CYCLE, MEDIAN) if name in one.parts} | _named(phases, causes)
