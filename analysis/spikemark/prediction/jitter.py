"""Waiting of ranks on a machine, from what its profile says of cycle times.

Rank m computes for c[m, s] = mu_m (1 + b_m + e[m, s]): mu_m from the loads, b_m normal with the spread
between nodes, e normal with the CV of one cycle and an autoregressive correlation of first order whose
integrated time is the profile's, (1 + rho) / (1 - rho); with the share of the minor mode a cycle is so much
longer. Ranks are independent. Where all ranks meet at the end of a window and leave it together, waiting is
the expected maximum of unequal ranks, by quadrature of the product of their distribution functions (L26, eqs
2-9, carried on to unequal ranks, correlation and a second mode). Else the times are drawn and go through the
lanes (models/recursion.py).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from spikemark.models import recursion
from spikemark.models.recursion import Lane as Meeting
from spikemark.models.serial import lumped_cv_ratio

from .inputs import Inputs

POINTS = 2000  # of the quadrature
BEYOND = 8.0  # standard deviations
RARE = 1e-10  # numbers of minor cycles in a window that are left out
CYCLES, RUNS, SETTLED, SEED = 1000, 2, 0.3, 1
WHY = "waiting for the slowest rank"


@dataclass(frozen=True)
class Jitter:
    """`cv` of one cycle, `rho` from one to the next, minor mode, `spread` between ranks over their mean."""

    cv: float
    rho: float
    share: float
    factor: float
    spread: float

    @classmethod
    def of(cls, inputs: Inputs, ranks: int) -> "Jitter":
        """Of the profile. One rank waits for nobody, so that nothing is asked for it."""
        if ranks == 1:
            return cls(0.0, 0.0, 0.0, 1.0, 0.0)
        time = max(1.0, inputs.need("jitter.correlation_time", WHY))
        return cls(
            inputs.need("jitter.cv", WHY),
            (time - 1) / (time + 1),
            min(1.0, inputs.get("jitter.minor_share", 0.0)),
            inputs.get("jitter.minor_factor", 1.0),
            inputs.get("jitter.node_spread", 0.0),
        )

    @property
    def longer(self) -> float:
        """By what factor the minor mode makes the mean cycle longer."""
        return 1 + self.share * (self.factor - 1)

    def lumped(self, window: int) -> float:
        """CV of the sum over a window of cycles."""
        return self.cv * lumped_cv_ratio(self.rho ** np.arange(window), window)


def lockstep(mean_s: np.ndarray, jitter: Jitter, window: int) -> float:
    """Mean waiting per cycle, s, of ranks with mean compute times [rank] that meet every `window` cycles."""
    if len(mean_s) == 1:
        return 0.0
    minors = np.arange(window + 1)
    weight = _binomial(minors, window, jitter.share)
    kept = weight > RARE
    minors, weight = minors[kept], weight[kept] / weight[kept].sum()
    sd = np.hypot(jitter.lumped(window), jitter.spread)  # of the mean cycle of a window, over its mean
    centre = 1 + minors * (jitter.factor - 1) / window
    mean = float(weight @ centre)
    top, bottom = mean_s.max(), mean_s.min()
    low = min(centre.min(), mean) - BEYOND * sd
    high = centre.max() + BEYOND * sd
    grid = np.linspace(bottom * low, top * high, POINTS)
    below = np.ones(POINTS)
    for own, count in zip(*np.unique(mean_s, return_counts=True), strict=True):
        below *= _below(grid / own, centre, weight, sd) ** count
    expected = grid[-1] - np.trapezoid(below, grid)
    return max(0.0, float(expected - mean * mean_s.mean()))


def _below(x: np.ndarray, centre: np.ndarray, weight: np.ndarray, sd: float) -> np.ndarray:
    if sd == 0:
        return (x[:, None] >= centre) @ weight
    return special.ndtr((x[:, None] - centre) / sd) @ weight


def _binomial(k: np.ndarray, n: int, p: float) -> np.ndarray:
    if p == 0:
        return (k == 0).astype(float)
    if p == 1:
        return (k == n).astype(float)
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.exp(logs + k * np.log(p) + (n - k) * np.log1p(-p))


def through_lanes(mean_s: np.ndarray, jitter: Jitter, lanes: list[Meeting]) -> float:
    """Mean waiting per cycle, s, of times that are drawn; with a lag it holds what an exchange is late."""
    if len(mean_s) == 1:
        return 0.0
    periods = [lane.period for lane in lanes] or [1]
    cycles = -(-CYCLES // max(periods)) * max(periods)
    course = recursion.evaluate(_relative(jitter, len(mean_s), cycles) * mean_s[:, None], lanes)
    last = cycles - max(lane.period * (lane.lag + 1) for lane in lanes)  # then nothing may stay on its way
    return float(course.waiting_s[..., int(SETTLED * cycles) : last].mean())


@lru_cache(maxsize=4)
def _relative(jitter: Jitter, ranks: int, cycles: int) -> np.ndarray:
    """Drawn cycle times over the rank's mean, [run, rank, cycle]; the same draws for every jitter."""
    rng = np.random.default_rng(SEED)
    shape = (RUNS, ranks, cycles)
    relative = 1 + jitter.cv * recursion.ar1(jitter.rho, shape, rng)
    relative *= np.where(rng.random(shape) < jitter.share, jitter.factor, 1.0)
    relative += jitter.spread * rng.standard_normal((*shape[:2], 1))
    return np.maximum(relative, 0.0)
