"""How long a cycle of one run takes, by phase and by cause, and how precisely the run itself tells that.

Phases add up to the cycle, and so do causes: computing (mean over ranks), the parts of the waiting
(`waiting.ladder`), and the exchange. Standard errors are those of means of serially correlated cycles
(`waiting.bootstrap`); they know nothing of what changes from run to run.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import student
from spikemark.records.phases import BARRIER, COMPUTE_PHASES, NOT_TIMED, OVERLAP, PHASES
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


def times(run: Run) -> Times:
    """The times of a run, in s per cycle."""
    phases, window, courses = run.record.timing.phases, run.window, None
    missing = {SHOWN[n]: one.reason or NOT_TIMED for n, one in phases.items() if one.mean_s is None}
    timed = [name for name, one in phases.items() if one.mean_s is not None]
    if run.cycles is not None and run.cycles.shape[1] // window >= FEWEST:
        courses = sum(rank.astype(np.float64) for rank in run.cycles) / run.record.ranks  # one rank in memory

    def part(names: list[str]) -> Part:
        value = sum(phases[name].mean_s for name in names) / run.record.timing.cycles
        if courses is None:
            return Part(value)
        at = [run.record.phases.index(name) for name in names if name in run.record.phases]
        windows = lump(courses[:, at].sum(axis=1), window) / window
        return Part(value, float(means(windows[:, None]).draws.std()))

    parts, own = {CYCLE: part(timed)}, defaultdict(list)
    if courses is not None:
        parts[MEDIAN] = Part(float(np.median(lump(np.nansum(courses, axis=1), window) / window)))
    for name in sorted(timed, key=PHASES.index):
        own[SHOWN[name]].append(name)
    parts |= {PHASE + name: part(names) for name, names in own.items() if name not in missing}
    parts[CAUSE + COMPUTING] = part([name for name in timed if name in COMPUTE_PHASES])
    causes = {name: parts[PHASE + name] for name in (EXCHANGE, WAITING) if PHASE + name in parts}
    if WAITING in causes and run.cycles is not None and run.record.ranks > 1:
        try:
            found = ladder(trace(run)).parts
            del causes[WAITING]
            causes |= {
                n: Part(round(q.value, 15) + 0.0, q.half / student(np.inf)) for n, q in found.items() if q
            }
        except BadInput as reason:
            missing["causes of waiting"] = str(reason).removeprefix(f"{run.path}: ")
    return Times(parts | {CAUSE + name: one for name, one in causes.items()}, missing)


def alike(runs: list[Times]) -> list[dict[str, Part]]:
    """The parts of these runs; waiting has its causes only where all runs have them."""
    if all(f"{CAUSE}barrier" in one.parts for one in runs):
        return [one.parts for one in runs]
    found = []
    for one in runs:
        parts = {n: part for n, part in one.parts.items() if n.removeprefix(CAUSE) not in WAITING_PARTS}
        found.append(parts | {CAUSE + n: parts[PHASE + n] for n in (WAITING,) if PHASE + n in parts})
    return found
