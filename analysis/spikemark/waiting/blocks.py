"""Blocks of the stationary bootstrap: how long they are, and which elements they draw.

A bootstrap of a serially correlated series resamples blocks of neighbours, not single elements. In
the stationary one, a block goes on with the next element with probability 1 - 1 / length and begins
anew at a random place otherwise (Politis, Romano, JASA 89, 1994, 1303-1313). The mean length that
gives the smallest error of the variance of a mean follows from the autocovariance (Politis, White,
Econometric Reviews 23, 2004, 53-70; corrected by Patton, Politis, White, ibid. 28, 2009, 372-375).

Functions of our own, since the package that has them, `arch`, needs statsmodels: 74 MB, and a
second at the first interval. Tests hold them against numbers of `arch` 8.0.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

#: Neighbouring lags whose correlations have to be insignificant, at least; more in a series that
#: has more digits in its length.
LEAST_INSIGNIFICANT_LAGS = 5
#: A correlation is insignificant below so many times sqrt(log10(n) / n).
SIGNIFICANT = 2.0
#: No block is longer than so many times sqrt(n), or than this share of the series.
LONGEST_IN_ROOTS = 3.0
LONGEST_SHARE = 1 / 3
KEPT_LENGTHS = 4  #: lengths of series whose random numbers are kept, 5 kB for each element


def optimal_length(series: np.ndarray) -> float:
    """The mean length of blocks for a series, in elements; it is not rounded.

    Politis, White 2004, equations 6 to 9 with the corrected D of 2009: (2 G^2 / D n)^(1/3), where
    G sums k R(k) and D is 2 (sum of R(k))^2 over the lags within a flat-top window.

    Args:
        series: shape [element], not constant.

    Example:
        >>> noise = np.random.default_rng(1).normal(size=1000)
        >>> walk = np.convolve(noise, np.ones(20), "valid")
        >>> print(f"{optimal_length(noise):.1f} {optimal_length(walk):.1f}")
        1.1 40.4
    """
    n = len(series)
    covariance, correlation = _autocovariance(series)
    window = _window(correlation, n)
    lags = np.arange(1, window + 1)
    flat_top = np.minimum(1.0, 2 * (1 - lags / window))
    weighted = 2 * flat_top * covariance[1 : window + 1]
    g = float((lags * weighted).sum())
    long_run_variance = float(covariance[0] + weighted.sum())
    d = 2 * long_run_variance**2
    length = (2 * g**2 / d * n) ** (1 / 3)
    longest = np.ceil(min(LONGEST_IN_ROOTS * np.sqrt(n), LONGEST_SHARE * n))
    return float(min(length, longest))


def _insignificant_lags(n: int) -> int:
    """How many neighbouring correlations have to be insignificant: K_N of the paper."""
    return max(LEAST_INSIGNIFICANT_LAGS, int(np.log10(n)))


def _autocovariance(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Autocovariance and size of the autocorrelation at lags from 0, both [lag]."""
    n = len(series)
    lags = int(np.ceil(np.sqrt(n))) + _insignificant_lags(n) + 1
    deviation = series - series.mean()
    products = np.array([deviation[lag:] @ deviation[: n - lag] for lag in range(lags)])
    squares = np.cumsum(deviation**2)
    first = np.arange(1, lags + 1)  # elements that a lag leaves out, and one more
    norm = np.sqrt((squares[-1] - squares[first - 1]) * squares[n - 1 - first])
    return products / n, np.abs(products) / norm


def _window(correlation: np.ndarray, n: int) -> int:
    """The last lag that counts: twice the first after which correlations are insignificant."""
    limit = SIGNIFICANT * np.sqrt(np.log10(n) / n)
    needed = _insignificant_lags(n)
    last = len(correlation) - 1
    for lag in range(last - needed + 1):
        if np.all(correlation[lag : lag + needed] < limit):
            return min(2 * max(lag, 1), last)
    return last


@lru_cache(maxsize=KEPT_LENGTHS)
def random_numbers(n: int, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The random numbers of draws from series of n elements: places where a block may begin, from 0
    to n - 1, and numbers from 0 to 1 that decide whether one does; both [draw, element].

    They are kept, since drawing them takes most of the time of an interval, and series of equal
    length share them.

    Example:
        >>> places, chances = random_numbers(1000, draws=20, seed=3)
        >>> places.shape, bool(places.max() < 1000)
        ((20, 1000), True)
    """
    random = np.random.default_rng(seed)
    places = np.empty((draws, n), dtype=np.min_scalar_type(n))
    chances = np.empty((draws, n))
    for draw in range(draws):
        places[draw] = random.integers(n, size=n)
        chances[draw] = random.random(n)
    return places, chances


@dataclass(frozen=True)
class DrawnBlocks:
    """The blocks of draws of the stationary bootstrap, one after the other; all [block].

    The series is taken as a ring: a block that reaches its end goes on at its beginning.
    """

    draw: np.ndarray  #: the draw of a block, from 0
    first: np.ndarray  #: the element of the series with which it begins
    elements: np.ndarray  #: how many it has

    def counts(self, n: int) -> np.ndarray:
        """How often each of the n elements of a series is in each draw, int64 [draw, element].

        Sums over the elements of how many blocks begin at each, less how many have ended there.

        Example:
            >>> random = random_numbers(8, draws=2, seed=3)
            >>> drawn(4.0, *random).counts(8)
            array([[2, 1, 1, 0, 0, 0, 2, 2],
                   [0, 1, 1, 2, 2, 1, 1, 0]])
        """
        draws = int(self.draw[-1]) + 1
        row = self.draw * n
        end = self.first + self.elements
        goes_on = end >= n
        end[goes_on] -= n
        change = np.bincount(row + self.first, minlength=draws * n)
        change -= np.bincount(row + end, minlength=draws * n)
        change[::n] += np.bincount(self.draw[goes_on], minlength=draws)
        counts: np.ndarray = change.reshape(draws, n).cumsum(axis=1)
        return counts


def drawn(length: float, places: np.ndarray, chances: np.ndarray) -> DrawnBlocks:
    """The blocks of draws of the stationary bootstrap.

    Args:
        length: mean length of a block, in elements, at least 1.
        places, chances: of `random_numbers`.

    Example:
        >>> blocks = drawn(4.0, *random_numbers(8, draws=1, seed=3))
        >>> blocks.first, blocks.elements
        (array([6, 1, 6]), array([3, 2, 3]))
    """
    n = places.shape[1]
    is_beginning = chances <= 1 / length
    is_beginning[:, 0] = True
    place = np.flatnonzero(is_beginning)
    end = np.append(place[1:], places.size)
    first = places.ravel()[place].astype(np.int64)
    return DrawnBlocks(draw=place // n, first=first, elements=end - place)
