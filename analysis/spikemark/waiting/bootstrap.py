"""Intervals of means of serially correlated series: the stationary block bootstrap.

Politis, Romano 1994; the length of blocks follows from the data (blocks.py). A draw is a mean of
resampled columns, so anything that follows from means (a ratio, a maximum over ranks, a difference
of two schedules) has an interval, and everything from one call of `means` shares its draws.

Cost: MAX_ELEMENTS x DRAWS additions for each column, whatever the length of the series.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spikemark.models import serial
from spikemark.quantities.quantity import LEVEL, Quantity, student

from . import blocks

DRAWS = 500
BOOTSTRAP_SEED = 1
MAX_ELEMENTS = 2048  # of a series that is resampled; longer ones are averaged over neighbours first
MAX_INDICES = 1 << 15  # that are drawn at once, so that they stay in the cache
MAX_AT_ONCE = 1 << 23  # elements of columns that are resampled at once, if these are long
MIN_COLUMNS = 64  # that are resampled at once, so that few copies of long series are held
MIN_BLOCK_TIMES = 4.0  # blocks are at least so many integrated autocorrelation times long
FEWEST_BLOCKS = 8  # of a series
MIN_DEGREES = 3.0  # of freedom of Student's t
MAX_LOSS = 0.25  # of the variance, as subtracting a mean costs at most


@dataclass(frozen=True)
class Draws:
    """Means of columns, and how they scatter."""

    value: np.ndarray  #: [column]
    draws: np.ndarray  #: [draw, column], which scatter as such means do

    def __call__(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        unit: str = "",
        kind: str = "modelled",
        least: float = 0.0,
    ) -> Quantity:
        """A quantity that follows from the means, with its 95 % interval.

        Args:
            function: maps means [..., column] to values [...].
            unit: of the quantity.
            kind: of the quantity, see quantity.KINDS.
            least: the value and its limits are not below.
        """
        value = float(function(self.value))
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(function(self.draws), (tail, 1 - tail))
        value = max(value, least)
        low = min(max(float(low), least), value)
        high = max(float(high), value)
        return Quantity(value, low, high, unit, kind)


def means(columns: np.ndarray) -> Draws:
    """Means of columns over elements that follow each other in time.

    Long series are first averaged over neighbours, which changes neither means nor their errors.
    Draws of positive means scatter as factors.

    Args:
        columns: shape [element, column], at least two elements.

    Example:
        >>> columns = np.random.default_rng(1).normal(2.0, 1.0, (400, 1))
        >>> mean = means(columns)(lambda x: x[..., 0], "s")
        >>> print(f"{mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f})")
        1.92 (1.85 to 2.00)
    """
    parts_of_long = min(columns.size // MAX_AT_ONCE, columns.shape[1])
    number = max(columns.shape[1] // MIN_COLUMNS, parts_of_long, 1)
    parts = np.array_split(columns, number, axis=1)
    block = max(_block_length(_neighbours_averaged(part)) for part in parts)
    counts = _resampled_counts(len(_neighbours_averaged(columns[:, :1])), block)
    of_parts = [_means_of(part, counts, block) for part in parts]
    value = np.concatenate([part.value for part in of_parts])
    return Draws(value, np.concatenate([part.draws for part in of_parts], axis=1))


def _neighbours_averaged(columns: np.ndarray) -> np.ndarray:
    """Columns [element, column] as they are resampled, in double precision."""
    x = np.asarray(columns, dtype=np.float64)
    neighbours = -(-len(x) // MAX_ELEMENTS)
    if neighbours > 1:
        elements = len(x) // neighbours
        x = x[: elements * neighbours].reshape(-1, neighbours, x.shape[1]).mean(axis=1)
    return x


def _means_of(columns: np.ndarray, counts: np.ndarray, block: float) -> Draws:
    """Means of columns, by draws that all columns share.

    Args:
        columns: shape [element, column].
        counts: how often each element is in each draw, [draw, element].
        block: mean length of the blocks of a draw, in elements.
    """
    columns = np.asarray(columns, dtype=np.float64)
    value = columns.mean(axis=0)
    x = _neighbours_averaged(columns)
    resampled = counts @ x / len(x)
    mean = x.mean(axis=0)
    spread = _spread(x, block)
    draws = value + spread * (resampled - mean)
    positive = (resampled > 0).all(axis=0) & (mean > 0)
    factors = (resampled / np.where(mean > 0, mean, 1))[:, positive]
    draws[:, positive] = value[positive] * factors ** spread[positive]
    return Draws(value, draws)


def _resampled_counts(n: int, block: float) -> np.ndarray:
    """How often each element is in each draw, [draw, element]."""
    places, chances = blocks.random_numbers(n, DRAWS, BOOTSTRAP_SEED)
    counts = np.empty((DRAWS, n))
    at_once = max(MAX_INDICES // n, 1)
    for first in range(0, DRAWS, at_once):
        draws = slice(first, first + at_once)
        counts[draws] = blocks.drawn(block, places[draws], chances[draws]).counts(n)
    return counts


def _spread(x: np.ndarray, block: float) -> np.ndarray:
    """How much wider than plain draws intervals are, [column].

    Student's t with n / (2 b + kurtosis - 3) degrees of freedom: few long blocks, and rare large
    values, tell little of the error. A mean is subtracted, which costs a share 2 b / n.
    """
    n = len(x)
    deviation = x - x.mean(axis=0)
    variance = np.maximum((deviation**2).mean(axis=0), 1e-100)
    excess = np.maximum((deviation**4).mean(axis=0) / variance**2 - 3, 0.0)
    degrees = np.maximum(n / (2 * block + excess), MIN_DEGREES)
    wider = np.array([student(d) for d in degrees]) / student(np.inf)
    spread: np.ndarray = wider / max(1 - 2 * block / n, MAX_LOSS) ** 0.5
    return spread


def _block_length(x: np.ndarray) -> float:
    """The mean length of blocks, in elements: the longest that a column needs."""
    varies = x[:, x.std(axis=0) > 1e-9 * np.abs(x).max(axis=0)]
    if len(x) < 2 * FEWEST_BLOCKS or not varies.shape[1]:
        return 1.0
    optimal = np.array([blocks.optimal_length(column) for column in varies.T])
    optimal = optimal[np.isfinite(optimal)]
    longest_correlation = max(_correlation_time(column) for column in varies.T) - 1
    block = max(optimal.max(initial=1.0), MIN_BLOCK_TIMES * longest_correlation)
    return float(np.clip(block, 1.0, len(x) / FEWEST_BLOCKS))


def _correlation_time(series: np.ndarray) -> float:
    """The integrated autocorrelation time of a series [element], in elements."""
    rho = serial.pooled_autocorrelation(series[None], len(series) // 2 - 1)
    return serial.integrated_time(rho)
