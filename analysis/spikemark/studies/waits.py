"""Waiting of ranks with injected skew: as observed, by the recursion, and from the known truth.

Times are in microseconds per cycle, mean over ranks. Means over blocks of cycles stand in for repetitions:
blocks are much longer than the correlation of the cycles, so their spread tells how certain the mean is.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from spikemark.models import recursion
from spikemark.models.injected import Truth
from spikemark.quantities import quantity
from spikemark.quantities.quantity import LEVEL, Quantity, missing, student
from spikemark.quantities.table import Cell, Column
from spikemark.quantities.words import counted
from spikemark.records.gather import Configuration, Measured

from .runs import NO_BARRIER, group, place

BLOCKS, SHORTEST_BLOCK = 10, 20  # per run; cycles
DRAWN_RUNS, DRAWN_SEED = 32, 1
Place = tuple[int, int]  # seed and repetition


@dataclass(frozen=True)
class Setup:
    """One setup: schedule and D, serial correlation and spread of the injected waits."""

    configuration: Configuration
    correlation: float
    sd_us: float

    @property
    def order(self) -> tuple:
        return self.sd_us > 0, self.correlation, self.configuration.order


@dataclass(frozen=True)
class Waits:
    """All runs of a setup that have their cycles recorded."""

    setup: Setup
    runs: list[Measured] = field(repr=False)

    @cached_property
    def measured_blocks(self) -> dict[Place, np.ndarray]:
        """Block means at barriers and at overlapping exchanges.

        Runs whose waiting was not timed are left out.
        """
        found = {}
        for m in self.runs:
            waiting = m.run.waiting()
            if waiting is not None:
                found[place(m)] = blocks(waiting)
        return found

    @cached_property
    def replayed_blocks(self) -> dict[Place, np.ndarray]:
        """The same by the recursion, from the compute times that these runs had."""
        return {place(m): blocks(_evaluate(m, m.run.compute())) for m in self.runs}

    @property
    def measured(self) -> Quantity:
        return _mean(self.measured_blocks) if self.measured_blocks else NO_BARRIER

    @property
    def replayed(self) -> Quantity:
        return _mean(self.replayed_blocks)

    @cached_property
    def drawn_runs(self) -> np.ndarray:
        """Waiting of runs as long as the first one, their compute times drawn from what it injects."""
        first = self.runs[0]
        rng = np.random.default_rng(DRAWN_SEED)  # equal draws for all schedules
        truth = Truth.of(first.description)
        ranks, cycles = first.run.compute().shape
        return 1e6 * _evaluate(first, truth.draw(rng, ranks, cycles, DRAWN_RUNS)).mean(axis=(1, 2))

    @property
    def drawn(self) -> Quantity:
        """Mean over drawn runs, and their 2.5 and 97.5 % quantiles."""
        tail = 100 * (1 - LEVEL) / 2
        low, high = np.percentile(self.drawn_runs, [tail, 100 - tail])
        return Quantity(float(self.drawn_runs.mean()), float(low), float(high))

    @property
    def lateness_us(self) -> Quantity:
        """How much longer a wait takes than requested, mean over ranks, cycles and runs."""
        if any("inject" not in m.run.record.phases for m in self.runs):
            return missing("records without the phase inject")
        asked = self.runs[0].description["inject"]["mean_us"]
        return quantity.mean(1e6 * m.run.phase("inject").astype(np.float64).mean() - asked for m in self.runs)

    def cells(self) -> dict[str, Cell]:
        """The cells of `columns` and of the schedule's own two."""
        return {
            "correlation": self.setup.correlation,
            "schedule": self.setup.configuration.label,
            "waiting_us": self.measured,
            "waiting_us_replayed": self.replayed,
            "waiting_us_drawn": self.drawn,
        }


def columns(name: str, head: str, kind: str) -> list[Column]:
    """A number from the runs, and what the recursion says about it; `kind` is that of the runs' times."""
    return [
        Column(name, head, kind),
        Column(f"{name}_replayed", "recursion, runs' times", "modelled"),
        Column(f"{name}_drawn", "recursion, drawn times", "modelled"),
    ]


def of_runs(runs: list[Measured]) -> tuple[list[Waits], list[str]]:
    """Runs of injected waits by setup, in order, and one line of text for those that cannot be used."""
    usable = [m for m in runs if m.run.cycles is not None and Truth.of(m.description).mean_s > 0]
    found = [Waits(setup, members) for setup, members in group(usable, _setup).items()]
    left_out = len(runs) - len(usable)
    lacking = [f"{counted(left_out, 'run')} without recorded cycles or injected waits."] if left_out else []
    return sorted(found, key=lambda w: w.setup.order), lacking


def _setup(m: Measured) -> Setup:
    truth = Truth.of(m.description)
    return Setup(m.configuration, float(truth.correlation), round(1e6 * truth.sd_s, 6))


def blocks(waiting: np.ndarray) -> np.ndarray:
    """Means of `waiting` [rank, cycle] in s over the ranks and over blocks of cycles, [block] in us."""
    per_cycle = 1e6 * waiting.mean(axis=0)
    number = max(1, min(BLOCKS, len(per_cycle) // SHORTEST_BLOCK))
    length = len(per_cycle) // number
    whole = per_cycle[: number * length].reshape(number, length).mean(axis=1)
    if number * length < len(per_cycle):  # the last block takes the rest, so that nothing is left out
        whole[-1] = per_cycle[(number - 1) * length :].mean()
    return whole


def factor(larger: dict[Place, np.ndarray], smaller: dict[Place, np.ndarray]) -> Quantity:
    """Waiting of one setup over that of another, with the interval of a jackknife over blocks.

    Blocks of one seed and place in the run have the same injected waits, so they are left out in pairs.
    """
    common = sorted(larger.keys() & smaller.keys())
    common = [place for place in common if len(larger[place]) == len(smaller[place])]
    if not common:
        return missing("no two runs of one seed are complete")
    a, b = (np.concatenate([side[place] for place in common]) for side in (larger, smaller))
    if not (a.sum() > 0 and b.sum() > 0):
        return missing("nobody waited")
    ratio = float(a.sum() / b.sum())
    n = len(a)
    rest_a, rest_b = a.sum() - a, b.sum() - b
    if n < 2 or not ((rest_a > 0).all() and (rest_b > 0).all()):
        return Quantity(ratio)
    logs = np.log(rest_a / rest_b)
    error = np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    half = student(n - 1) * float(error)
    return Quantity(ratio, ratio * float(np.exp(-half)), ratio * float(np.exp(half)))


def _mean(found: dict[Place, np.ndarray]) -> Quantity:
    return quantity.mean(np.concatenate(list(found.values())))


def _evaluate(m: Measured, compute: np.ndarray) -> np.ndarray:
    return recursion.evaluate(compute, recursion.lanes_of(m.run)).waiting_s
