"""The distribution of a time as measured, heavy tails and several modes included, and the slowest of many.

A histogram of fine bins, smoothed by a normal kernel of Silverman's width h and shrunk so that the variance
stays: with many values it is the empirical distribution, with few it has tails.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

PER_SD, FEWEST_BINS, MOST_BINS = 100, 512, 1 << 16
MARGIN_SD = 1.0


@dataclass(frozen=True)
class Distribution:
    """Cumulated probabilities at evenly spaced times; the mean is 0."""

    times: np.ndarray  # [point], s
    below: np.ndarray  # [point]

    @classmethod
    def of(cls, parts: Iterable[np.ndarray], sd: float, lowest: float, highest: float) -> "Distribution":
        """From values in `parts`, all between `lowest` and `highest`, of standard deviation `sd` > 0."""
        low, high = lowest - MARGIN_SD * sd, highest + MARGIN_SD * sd
        bins = int(np.clip(PER_SD * (high - low) / sd, FEWEST_BINS, MOST_BINS))
        width = (high - low) / bins
        counts, values = np.zeros(bins), 0
        for part in parts:
            counts += np.bincount(((part - low) / width).astype(np.int64), minlength=bins)[:bins]
            values += len(part)
        centres = low + width * (np.arange(bins) + 0.5)
        kernel = _kernel(counts / values, centres, sd, values)
        smooth = ndimage.gaussian_filter1d(counts / values, kernel / width, mode="constant", truncate=5)
        smooth /= smooth.sum()
        mean = float(smooth @ centres)
        shrunk = sd / np.sqrt(max(float(smooth @ (centres - mean) ** 2), 1e-300))
        edges = low + width * np.arange(bins + 1)
        return cls((edges - mean) * shrunk, np.concatenate([[0.0], np.minimum(np.cumsum(smooth), 1.0)]))

    def cdf(self, times: np.ndarray) -> np.ndarray:
        """Probability of a time up to `times`, any shape."""
        return np.interp(times, self.times, self.below)


def _kernel(shares: np.ndarray, centres: np.ndarray, sd: float, values: int) -> float:
    cumulated = np.cumsum(shares)
    low, high = np.interp([0.25, 0.75], cumulated, centres)
    narrow = min(sd, (high - low) / 1.349) if high > low else sd
    return 0.9 * narrow * values**-0.2


@dataclass(frozen=True)
class Slowest:
    """The maximum of independent times a_m + e_m, e of one distribution, by quadrature."""

    grid: np.ndarray  # [point], s, evenly spaced
    below: np.ndarray  # [rank, point], P(a_m + e_m <= grid)
    all_below: np.ndarray  # [point], P(max <= grid)
    ranks: int

    @classmethod
    def of(cls, own: Distribution, effects: np.ndarray, ranks: int) -> "Slowest":
        """Ranks with the effects a_m [rank] in s, or `ranks` of them chosen at random."""
        step = own.times[1] - own.times[0]
        first, last = own.times[0] + effects.min(), own.times[-1] + effects.max()
        grid = np.linspace(first, last, int(np.clip((last - first) / step, 2, 4 * MOST_BINS)) + 1)
        below = np.stack([own.cdf(grid - a) for a in effects])
        all_below = below.prod(axis=0) if ranks == len(effects) else _of_choices(below, ranks)
        return cls(grid, below, all_below, ranks)

    def expected(self) -> float:
        """E[max], s: the end of the grid minus the integral of P(max <= x)."""
        return float(self.grid[-1] - np.trapezoid(self.all_below, self.grid))

    def given(self, rank: int) -> np.ndarray:
        """E[max given that the rank takes x], [point x], s; for a choice of ranks, nearly."""
        if self.ranks < len(self.below):
            others = self.all_below ** (1 - 1 / self.ranks)
        else:
            others = np.divide(
                self.all_below, self.below[rank], out=np.zeros_like(self.grid), where=self.below[rank] > 0
            )
        pieces = (2 - others[1:] - others[:-1]) / 2 * np.diff(self.grid)
        return self.grid + np.concatenate([np.cumsum(pieces[::-1])[::-1], [0.0]])


def _of_choices(below: np.ndarray, ranks: int) -> np.ndarray:
    """Mean over all sets of `ranks` of the product of their rows of `below` [rank, point]: [point].

    The elementary symmetric polynomial over their number: sets of j among the first m, m one by one.
    """
    sets = np.zeros((ranks + 1, below.shape[1]))
    sets[0] = 1.0
    for m, row in enumerate(below, 1):
        j = np.arange(1, ranks + 1)[:, None]
        share = np.minimum(j / m, 1.0)  # of the sets of j among m, those with the m-th in them
        sets[1:] = share * row * sets[:-1] + (1 - share) * sets[1:]
    return sets[ranks]
