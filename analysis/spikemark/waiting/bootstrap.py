"""Intervals of means of serially correlated series: stationary block bootstrap, by the package `arch`.

Politis, Romano 1994; block length from the data by Politis, White 2004, corrected 2009. A draw is a mean of
resampled columns, so anything that follows from means (a ratio, a maximum over ranks, a difference of two
schedules) has an interval, and everything from one call shares its draws.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from arch.bootstrap import StationaryBootstrap, optimal_block_length

from spikemark.models import serial
from spikemark.quantities.quantity import LEVEL, Quantity, student

DRAWS, UNITS, SEED = 500, 2048, 1
SHORTEST = 4.0  # blocks are at least so many integrated autocorrelation times long
FEWEST_BLOCKS, FEWEST_DEGREES = 8, 3.0  # of a series


@dataclass(frozen=True)
class Draws:
    """Means of columns: `value` [column], and `draws` [draw, column] that scatter as such means do."""

    value: np.ndarray
    draws: np.ndarray

    def __call__(
        self, of: Callable[[np.ndarray], np.ndarray], unit: str = "", kind: str = "modelled", least=0.0
    ) -> Quantity:
        """What follows from the means by `of`, which maps [..., column] to [...]; not below `least`."""
        value, found = float(of(self.value)), of(self.draws)
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(found, (tail, 1 - tail))
        value = max(value, least)
        return Quantity(value, min(max(float(low), least), value), max(float(high), value), unit, kind)


def means(columns: np.ndarray) -> Draws:
    """Means of `columns` [element, column] over elements that follow each other in time, at least two.

    Long series are first averaged over neighbours, which changes neither means nor their errors. Draws of
    positive means scatter as factors.
    """
    x = np.asarray(columns, dtype=np.float64)
    value, every = x.mean(axis=0), -(-len(x) // UNITS)
    if every > 1:
        x = x[: len(x) // every * every].reshape(-1, every, x.shape[1]).mean(axis=1)
    n = len(x)
    block = _block(x)
    counts = np.empty((DRAWS, n))
    drawn = StationaryBootstrap(block, np.arange(n), seed=SEED).bootstrap(DRAWS)
    for draw, ((index,), _) in enumerate(drawn):
        counts[draw] = np.bincount(index, minlength=n)
    spread = _spread(x, block)
    found, mean = counts @ x / n, x.mean(axis=0)
    draws = value + spread * (found - mean)
    positive = (found > 0).all(axis=0) & (mean > 0)
    draws[:, positive] = (
        value[positive] * (found / np.where(mean > 0, mean, 1))[:, positive] ** spread[positive]
    )
    return Draws(value, draws)


def _spread(x: np.ndarray, block: float) -> np.ndarray:
    """How much wider than plain draws intervals are, [column].

    Student's t with n / (2 b + kurtosis - 3) degrees of freedom: few long blocks, and rare large values, tell
    little of the error. A mean is subtracted, which costs a share 2 b / n.
    """
    n, deviation = len(x), x - x.mean(axis=0)
    variance = np.maximum((deviation**2).mean(axis=0), 1e-100)
    excess = np.maximum((deviation**4).mean(axis=0) / variance**2 - 3, 0.0)
    degrees = np.maximum(n / (2 * block + excess), FEWEST_DEGREES)
    return np.array([student(d) for d in degrees]) / student(np.inf) / max(1 - 2 * block / n, 0.25) ** 0.5


def _block(x: np.ndarray) -> float:
    """The mean length of blocks, in elements: the longest that a column needs."""
    varies = x[:, x.std(axis=0) > 1e-9 * np.abs(x).max(axis=0)]
    if len(x) < 2 * FEWEST_BLOCKS or not varies.shape[1]:
        return 1.0
    found = optimal_block_length(varies)["stationary"].to_numpy()
    found = found[np.isfinite(found)]
    rho = (serial.pooled_autocorrelation(column[None], len(x) // 2 - 1) for column in varies.T)
    longest = max(serial.integrated_time(one) for one in rho) - 1
    needed = max(found.max(initial=1.0), SHORTEST * longest)
    return float(np.clip(needed, 1.0, len(x) / FEWEST_BLOCKS))
