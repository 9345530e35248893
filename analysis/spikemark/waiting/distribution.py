"""The measured distribution of a time, including heavy tails and several modes, and of the slowest of many.

It is the empirical distribution in fine bins, not smoothed: the product of the empirical distributions of
independent ranks is the distribution of their maximum without bias, whatever their serial correlation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PER_SD, FEWEST_BINS, MOST_BINS = 100, 512, 1 << 16
MARGIN_SD = 1.0
CHUNK = 1 << 16  # values at a time, so that they stay in a cache


@dataclass(frozen=True)
class Distribution:
    """Cumulated probabilities at evenly spaced times."""

    times: np.ndarray  # [point], s
    below: np.ndarray  # [point]

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        sd: float,
        lowest: float,
        highest: float,
        weights: np.ndarray | None = None,
    ) -> "Distribution":
        """The distribution of `values` [any], all of them between `lowest` and `highest`.

        Bins are a hundredth of `sd` > 0 wide if that is possible; mean and variance are those of the values.
        `weights` of the values have mean 1.
        """
        low, high = lowest - MARGIN_SD * sd, highest + MARGIN_SD * sd
        bins = int(np.clip(PER_SD * (high - low) / sd, FEWEST_BINS, MOST_BINS))
        width = (high - low) / bins
        shares = np.zeros(bins)
        for first in range(0, len(values), CHUNK):
            some = slice(first, first + CHUNK)
            places = ((values[some] - low) / width).astype(np.int64)
            weight = None if weights is None else weights[some]
            shares += np.bincount(places, weight, minlength=bins)[:bins]
        shares /= len(values)
        edges, centres = low + width * np.arange(bins + 1), low + width * (np.arange(bins) + 0.5)
        mean = float(shares @ centres)
        binned = float(shares @ (centres - mean) ** 2)
        true = float(np.average(values, weights=weights))
        spread = float(np.average(np.square(values - true), weights=weights))
        scale = np.sqrt(spread / binned) if binned > 0 else 1.0
        return cls(true + (edges - mean) * scale, np.concatenate([[0.0], np.minimum(np.cumsum(shares), 1.0)]))

    def cdf(self, times: np.ndarray) -> np.ndarray:
        """Probability of a time up to `times`, any shape."""
        return np.interp(times, self.times, self.below)

    def stretched(self, about: float, factor: float) -> "Distribution":
        """The distribution with all distances from `about` multiplied by `factor`."""
        return Distribution(about + (self.times - about) * factor, self.below)


@dataclass(frozen=True)
class Slowest:
    """The maximum of independent times a_m + e_m by quadrature."""

    grid: np.ndarray  # [point], s, evenly spaced
    below: np.ndarray  # [rank, point], P(a_m + e_m <= grid)
    all_below: np.ndarray  # [point], P(max <= grid)
    ranks: int

    @classmethod
    def of(cls, own: Sequence[Distribution], effects: np.ndarray, ranks: int) -> "Slowest":
        """Ranks with the distributions of e_m and effects a_m [rank] in s, or `ranks` of them at random."""
        step = min(one.times[1] - one.times[0] for one in own)
        first = min(one.times[0] + a for one, a in zip(own, effects, strict=True))
        last = max(one.times[-1] + a for one, a in zip(own, effects, strict=True))
        grid = np.linspace(first, last, int(np.clip((last - first) / step, 2, 4 * MOST_BINS)) + 1)
        below = np.stack([one.cdf(grid - a) for one, a in zip(own, effects, strict=True)])
        all_below = below.prod(axis=0) if ranks == len(effects) else _of_choices(below, ranks)
        return cls(grid, below, all_below, ranks)

    def expected(self) -> float:
        """E[max] in s: the end of the grid minus the integral of P(max <= x)."""
        return float(self.grid[-1] - np.trapezoid(self.all_below, self.grid))

    def given(self, rank: int) -> np.ndarray:
        """E[max given that the rank takes x] in s, [point x]; an approximation for a choice of ranks."""
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
