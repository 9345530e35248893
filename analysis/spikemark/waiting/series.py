"""How precisely the mean of ONE stationary, serially correlated series is known.

The variance of the mean is that of the stationary bootstrap (Politis, Romano 1994), which has a closed form
in the autocovariances R_k (their lemma 1), so nothing is drawn: with blocks of mean length b, p = 1 / b,

    n var = R_0 + 2 sum_k ((1 - k/n) (1 - p)^k + k/n (1 - p)^(n-k)) R_k.

b is the length of Politis and White (2004, corrected 2009), but not below `TIMES` decay times T of the
autocorrelation, so that strong correlation is not mistaken for independence, and not above n / `FEWEST`, so
that there are blocks to compare. Three corrections make up for finite blocks and their number; `spikemark
coverage` shows their effect. Blocks cut correlations: what decays with T loses a share T / (b + T). The mean
is taken from the same data, which costs a share 2 b / n. And the variance is itself estimated: intervals use
Student's t with n / (2 b + kurtosis - 3) degrees of freedom: long blocks count more than short ones, and rare
large values make few of them matter.

Last, the error may depend on the mean: where most elements are near the largest one, a series that happens
to have a large mean happens to vary little, and an interval of that error misses a lower truth. `slope`
measures it: elements are given weights 1 + epsilon z, z being the deviation about them (its mean over `NEAR`
decay times), as if what makes the mean large had happened more often, and less often; the change of the error
over that of the mean is the slope of the error. That is a least favourable family (Efron 1987). An error
linear in the truth T makes log(1 + slope (x - T) / error) / slope normal; in that, `interval` is symmetric.
With more than `MANY` degrees of freedom the slope is next to nothing and taken as 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from spikemark.models import serial
from spikemark.quantities.quantity import LEVEL, student

TIMES = 10.0
FEWEST, FEWEST_DEGREES = 8, 3.0
NEGLIGIBLE = 40.0
NEAR, TILT, STEEPEST, MANY = 4.0, 0.5, 1.0, 400.0
LEAST = 0.01  # of the variance of single elements, where noise makes the long-run variance less


@dataclass(frozen=True)
class Mean:
    """The mean of a series, its standard error, and the degrees of freedom of that; unit of the series."""

    value: float
    error: float
    degrees: float
    block: float  # mean length of a block, in elements of the series
    slope: float = 0.0  # change of the error with the mean

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Two-sided interval of the mean."""
        return tuple(self.value + self.error * end for end in ends(self.degrees, self.slope, level))


def ends(degrees: float, slope: float, level: float = LEVEL) -> tuple[float, float]:
    """The ends of a two-sided interval, in standard errors from the estimate."""
    half = student(degrees, level)
    if abs(slope) < 1e-6:
        return -half, half
    return tuple(float(np.expm1(slope * (z + slope / 2)) / slope) for z in (-half, half))


Weighted = Callable[[np.ndarray], tuple[float, np.ndarray]]


def mean(series: np.ndarray, weighted: Weighted | None = None) -> Mean:
    """Mean of `series` [element], at least two elements in the order of time.

    If the series says how elements move an estimate, `weighted` takes weights of the elements, of mean 1, and
    gives that estimate and that series, of mean 0.
    """
    x = np.asarray(series, dtype=np.float64)
    n = len(x)
    covariance = autocovariance(x)
    if not covariance[0] > (8 * np.finfo(float).eps * np.abs(x).max()) ** 2:  # rounding, not variation
        return Mean(float(x.mean()), 0.0, float(n), 1.0)
    found, block = error(covariance)
    squares = np.square(x - x.mean())
    excess = float(np.square(squares).mean()) / covariance[0] ** 2 - 3
    degrees = max(n / (2 * block + max(excess, 0.0)), FEWEST_DEGREES)
    inclined = slope(x, block, weighted) if degrees < MANY else 0.0
    return Mean(float(x.mean()), found, degrees, block, inclined)


def slope(x: np.ndarray, block: float, weighted: Weighted | None) -> float:
    """How much the error changes when the mean of `x` [element] changes by 1."""
    covariance = autocovariance(x)
    width = int(np.clip(NEAR * decay_time(covariance / covariance[0]), 1, max(len(x) // FEWEST, 1)))
    about = ndimage.uniform_filter1d(x - x.mean(), width, mode="nearest")
    about -= about.mean()
    if not about.any():  # what varies, varies within the width
        return 0.0
    found = []
    for sign in (-1, 1):
        weights = 1 + sign * TILT * about / np.abs(about).max()
        value, influence = weighted(weights) if weighted else _weighted_mean(x, weights)
        found.append((value, bootstrapped(autocovariance(np.sqrt(weights) * influence), block)))
    (low, low_error), (high, high_error) = found
    if not high > low:
        return 0.0
    return float(np.clip((high_error - low_error) / (high - low), -STEEPEST, STEEPEST))


def _weighted_mean(x: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    value = float(weights @ x / weights.sum())
    return value, x - value


def autocovariance(x: np.ndarray) -> np.ndarray:
    """The autocovariances R_k of `x` [element] about its mean for all lags k, divided by n."""
    return serial.autocovariance(x[None])[0]


def error(covariance: np.ndarray) -> tuple[float, float]:
    """Standard error of the mean, and the mean length of a block in elements, from R_k [lag] of all lags."""
    n = len(covariance)
    rho = covariance / covariance[0]
    decay = decay_time(rho)
    most = n / FEWEST
    block = max(min(max(_politis_white(rho), 1 + TIMES * decay), most), 1.0)
    lost = decay  # at most: nothing is known about shorter blocks in series too short for longer ones
    if block > 1:
        lost = min(decay / (block - 1), max(decay, 1 / TIMES))
    return bootstrapped(covariance, block) * ((1 + lost) / (1 - 2 * min(block, most) / n)) ** 0.5, block


def bootstrapped(covariance: np.ndarray, block: float) -> float:
    """Standard deviation of the means of resamples of blocks of mean length `block`, without corrections."""
    n = len(covariance)
    near = int(min(n - 1, NEGLIGIBLE * block + 1))  # beyond, (1 - p)^k is less than rounding
    k = np.arange(1, near + 1)
    decay = (1 - 1 / block) ** k
    both_ends = covariance[1 : near + 1] + covariance[: -near - 1 : -1]
    long_run = covariance[0] + 2 * float(((1 - k / n) * decay * both_ends).sum())
    return float(np.sqrt(max(long_run, LEAST * covariance[0]) / n))


def decay_time(rho: np.ndarray) -> float:
    """Mean lag of the autocorrelation [lag], times its share of the long-run variance; 0 without any.

    About T where it decays as exp(-k / T). Lags count up to the one at which their sum is largest, within
    serial.sokal_window: beyond, what the mean took from the series is negative, and would
    hide T.
    """
    tau, within = serial.sokal_window(rho)
    last = int(np.argmax(tau[: within + 1]))
    if last == 0:
        return 0.0
    part = rho[1 : last + 1]
    return float(np.clip(np.arange(1, last + 1) @ part / part.sum(), 0.0, last) * (1 - 1 / tau[last]))


def _politis_white(rho: np.ndarray) -> float:
    """Length that makes the variance of the mean best known, at least 1 (Politis, White 2004; Patton et al.
    2009).

    rho_k counts up to twice the lag after which a number of them are insignificant in a row.
    """
    n = len(rho)
    row = max(5, int(np.log10(n)))
    most = min(int(np.ceil(np.sqrt(n))) + row, n - 1)
    quiet = np.abs(rho[1 : most + 1]) < 2 * np.sqrt(np.log10(n) / n)
    runs = np.convolve(quiet, np.ones(row), "valid") == row
    last = min(2 * max(int(np.argmax(runs)), 1), most) if runs.any() else most
    k = np.arange(1, last + 1)
    weighted = np.minimum(1.0, 2 * (1 - k / last)) * rho[1 : last + 1]
    long_run, slope = 1 + 2 * weighted.sum(), 2 * (k * weighted).sum()
    longest = min(3 * np.sqrt(n), n / 3)
    return float(np.clip((slope**2 / long_run**2 * n) ** (1 / 3), 1.0, longest)) if long_run else longest
