"""Statistics of acceptance: how often a good machine fails, how often a bad one passes, and what mends that.

A run of a machine with the middle m gives m (1 + c Z): c is the spread (coefficient of variation), Z standard
normal and independent from run to run. Smaller figures are better. A rule makes one number of n runs; the
machine passes if that is at most (1 + tolerance) times the committed figure. A machine that just meets its
commitment has m = the committed figure; one with a shortfall s has (1 + s) times as much.

Probabilities of order statistics are exact (David and Nagaraja 2003, eq. 2.1.3). The median of an even
number of runs, the mean of the middle two, follows Desu and Rodine (1969). A spread that was estimated from d
degrees of freedom is averaged over what it may be, which turns the normal distribution of the mean into
Student's t.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import integrate, special

from spikemark.core.errors import BadInput

MEDIAN, BEST, MEAN, WORST = "median", "best", "mean", "worst"
RULES = (MEDIAN, BEST, MEAN, WORST)
RUNS = (1, 3, 5, 10, 20)
TOLERANCES = (0.0, 0.01, 0.02, 0.05)
SHORTFALL, POWER, RISK = 0.05, 0.9, 0.05
MOST = 999  # runs that are tried
DRAWS, SEED = 20000, 1  # of resampling
NODES = 64  # of the quadrature over what the spread may be
FAR = 12.0  # standard deviations, beyond which nothing is


@dataclass(frozen=True)
class Spread:
    """The coefficient of variation of runs, and from how many degrees of freedom; infinitely many: given.

    Raises BadInput for a spread that no runs have.
    """

    value: float
    degrees: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= self.value < 1:
            raise BadInput(f"spread={self.value:g}; allowed: 0 or more, below 1 (0.02 is 2 %)")
        if not self.degrees >= 1:
            raise BadInput(f"degrees={self.degrees:g}; allowed: 1 or more")

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Limits of the spread by chi-square; None where it was given."""
        if math.isinf(self.degrees):
            return None
        tails = (1 - level) / 2
        ends = (special.chdtri(self.degrees, p) for p in (tails, 1 - tails))
        low, high = (self.value * math.sqrt(self.degrees / end) for end in ends)
        return low, high


def exceeds(z: float, runs: int, rule: str) -> float:
    """Probability that what a rule makes of `runs` standard normals is above z."""
    _check(runs, rule)
    return float(_exceeds(np.array([z], dtype=float), runs, rule)[0])


def _exceeds(z: np.ndarray, runs: int, rule: str) -> np.ndarray:
    if rule == MEAN:
        return special.ndtr(-z * math.sqrt(runs))
    if rule == MEDIAN and runs % 2 == 0:
        return np.array([_even_median(float(one), runs // 2) for one in z])
    return _order(special.ndtr(-z), runs, rule)


def _order(above: np.ndarray | float, runs: int, rule: str) -> np.ndarray:
    """The same for an order statistic of any runs, each of which is above with this probability."""
    least = {BEST: runs, WORST: 1, MEDIAN: runs // 2 + 1}[rule]  # so many of them must be above
    return special.betainc(least, runs - least + 1, above)


def _even_median(z: float, half: int) -> float:
    """Desu and Rodine (1969) for 2 `half` standard normals."""
    if abs(z) > FAR:
        return float(z < 0)

    def density(u: float) -> float:
        log = (half - 1) * special.log_ndtr(u) - u * u / 2
        other = math.exp(half * special.log_ndtr(-u)) - math.exp(half * special.log_ndtr(u - 2 * z))
        return math.exp(log) * other

    found, _ = integrate.quad(density, -FAR, z, epsabs=1e-12, limit=200)
    scale = 2 / special.beta(half, half) / math.sqrt(2 * math.pi)
    return float(min(max(1 - scale * found, 0.0), 1.0))


def fails(spread: Spread, runs: int, tolerance: float, rule: str, shortfall: float = 0.0) -> float:
    """Probability that a machine with this shortfall fails; with 0, one that just meets its commitment."""
    _check(runs, rule)
    room = (1 + tolerance) / (1 + shortfall) - 1
    if spread.value == 0:
        return float(room < 0)
    return _above(spread, room / spread.value, runs, rule)


def _above(spread: Spread, z: float, runs: int, rule: str) -> float:
    """`exceeds`, averaged over what an estimated spread may be."""
    at, weight = _scales(spread.degrees)
    return float(weight @ _exceeds(z * at, runs, rule))


@lru_cache(maxsize=64)
def _scales(degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimated over true spread, and how likely: the root of chi-square over its degrees, by quadrature."""
    if math.isinf(degrees):
        return np.ones(1), np.ones(1)
    at, weight = np.polynomial.legendre.leggauss(NODES)
    return np.sqrt(special.chdtri(degrees, (1 - at) / 2) / degrees), weight / 2


def runs_needed(
    spread: Spread, tolerance: float, rule: str, shortfall: float = SHORTFALL, power: float = POWER
) -> int | None:
    """The fewest runs that detect the shortfall with this probability; None where up to `MOST` do not.

    Of the median, only odd numbers are tried. More runs may detect less where the best of them counts.
    """
    return next((n for n in _tried(rule) if fails(spread, n, tolerance, rule, shortfall) >= power), None)


def _tried(rule: str) -> list[int]:
    """Numbers of runs: all to 99, then in steps of about 2 %, since hardly anybody runs so often."""
    found, n = [], 1
    while n <= MOST:
        found.append(n)
        n += max(1, n // 50)
    return [n for n in found if n % 2] if rule == MEDIAN else found


@dataclass(frozen=True)
class Remedy:
    """A number of runs that keeps both risks small with a tolerance between `least` and `most`."""

    runs: int
    least: float
    most: float


def remedy(
    spread: Spread, rule: str, shortfall: float = SHORTFALL, risk: float = RISK, most: int = MOST
) -> Remedy | None:
    """The fewest runs with which a good machine fails, and one with the shortfall passes, at most so often.

    A tolerance is not negative. None where no number of runs up to `most` suffices.
    """
    for n in (n for n in _tried(rule) if n <= most):
        low = max(spread.value * _quantile(spread, n, rule, risk), 0.0)
        high = (1 + shortfall) * (1 + spread.value * _quantile(spread, n, rule, 1 - risk)) - 1
        if low <= high:
            return Remedy(n, low, high)
    return None


def _quantile(spread: Spread, runs: int, rule: str, probability: float) -> float:
    """Where `_above` has this value, by bisection: it falls in z."""
    if spread.value == 0:
        return 0.0
    low, high = -FAR, FAR
    while not _above(spread, low, runs, rule) > probability > _above(spread, high, runs, rule):
        low, high = 2 * low, 2 * high
        if high > 1e6:
            return math.inf if probability < 0.5 else -math.inf
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _above(spread, middle, runs, rule) > probability else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class Groups:
    """Repetitions: runs of one network on one machine in one layout; [group][run], any unit.

    Raises BadInput where no group has two runs, or a figure is not above 0.
    """

    values: list[list[float]]

    def __post_init__(self) -> None:
        if not any(len(group) > 1 for group in self.values):
            raise BadInput("runs: no two repetitions of one run; needed: at least two, or --spread")
        if any(not 0 < x < math.inf for group in self.values for x in group):
            raise BadInput("runs: a figure is not above 0; allowed: finite numbers above 0")

    @property
    def spread(self) -> Spread:
        """Pooled over groups, with n - 1 degrees of freedom from each."""
        many = [np.asarray(group) for group in self.values if len(group) > 1]
        degrees = sum(len(group) - 1 for group in many)
        squares = sum(((group / group.mean() - 1) ** 2).sum() for group in many)
        return Spread(min(math.sqrt(squares / degrees), 0.999), degrees)

    def relative(self, rule: str) -> np.ndarray:
        """All runs over the middle of their group, which is the mean for the rule `mean`, else the median.

        Deviations are scaled by sqrt(n / (n - 1)), since a middle follows its own few runs.
        """
        middle: Callable = np.mean if rule == MEAN else np.median
        many = [np.asarray(group) for group in self.values if len(group) > 1]
        each = [1 + (g / middle(g) - 1) * math.sqrt(len(g) / (len(g) - 1)) for g in many]
        return np.concatenate(each)


def resampled(groups: Groups, runs: int, tolerance: float, rule: str, shortfall: float = 0.0) -> float:
    """`fails` with runs drawn from the measured ones, with replacement, instead of from a normal.

    Exact for order statistics; `DRAWS` draws for means, which have an error of at most 0.004.
    """
    _check(runs, rule)
    each, limit = groups.relative(rule) * (1 + shortfall), 1 + tolerance
    if rule != MEAN and not (rule == MEDIAN and runs % 2 == 0):
        return float(_order(float((each > limit).mean()), runs, rule))
    rng = np.random.default_rng(SEED)
    drawn = rng.choice(each, size=(DRAWS, runs))
    made = drawn.mean(axis=1) if rule == MEAN else np.median(drawn, axis=1)
    return float((made > limit).mean())


def _check(runs: int, rule: str) -> None:
    if rule not in RULES:
        raise BadInput(f"rule={rule!r}; allowed: {', '.join(RULES)}")
    if runs < 1 or runs != int(runs):
        raise BadInput(f"runs={runs}; allowed: a whole number of at least 1")
