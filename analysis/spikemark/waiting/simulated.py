"""Waiting that has no formula: the fitted process, drawn and run through the plan."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spikemark.waiting.meeting import waits
from spikemark.waiting.plan import Plan

SEED = 1
MOST_VALUES, FEWEST_RUNS, MOST_RUNS = 1_000_000, 2, 32

Draw = Callable[
    [np.random.Generator, int, int, int], np.ndarray
]  # of runs, steps, ranks -> [run, step, rank]


@dataclass(frozen=True)
class Drawn:
    """Waiting over `steps` steps, one value per drawn run, and the series [run, window] behind it."""

    totals: np.ndarray
    series: np.ndarray

    @property
    def value(self) -> float:
        return float(self.totals.mean())

    @property
    def error(self) -> float:
        """Standard error of `value`: that of drawing, not of the fit."""
        return float(self.totals.std(ddof=1) / np.sqrt(len(self.totals)))


def drawn(draw: Draw, plan: Plan, windows: int, exchange_s: float = 0.0) -> Drawn:
    """Draw runs of `windows` windows and let them wait; the same random numbers for equal plans."""
    steps = windows * (plan.window // plan.step)
    runs = int(np.clip(MOST_VALUES // (steps * plan.ranks), FEWEST_RUNS, MOST_RUNS))
    found = waits(draw(np.random.default_rng(SEED), runs, steps, plan.ranks), plan, exchange_s)
    return Drawn(found.series.sum(axis=-1) + found.drain, found.series)
