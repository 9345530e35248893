"""Cycle times split into lasting differences, jitter, drift, rare long cycles and what all ranks share.

Rare long cycles of a rank are those above its median by more than RARE times the distance from the median to
the quantile 0.84 (one SD of a normal), not counting what all ranks are above theirs. `rare` is that excess;
otherwise it would count as a lasting difference. The rest is

    c[m, s] - rare[m, s] = shared[s] + a_m + e[m, s]:

shared is the mean over ranks, a_m the persistent effect of a rank (`components`), e its own fluctuation. With
windows of D cycles and V(k) the variance across ranks of means of e over k cycles,

    V(1) = V_jitter + V_drift,    V(D) = V_jitter / D + V_drift:

jitter is what D-fold lumping averages away as 1/sqrt(D), drift what it does not. These are the variance
components of a one-way layout with random effects of windows (Searle, Casella, McCulloch 1992). So jitter and
drift depend on D: drift that changes within a window partly counts as jitter.

A counterfactual keeps the traces and scales their deviations from the window means by h_jitter and the window
means by sqrt(h_drift^2 r + h_jitter^2 (1 - r)), r = V_drift / V(D). Both variances are then as required, at
one cycle and at D cycles, long phases stay, and nothing changes for h = 1. Without the effects, the window
means are scaled up by the variance that went into the estimates of the effects.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spikemark.core.errors import BadInput

from . import series
from .components import Components

RARE = 8.0


@dataclass(frozen=True)
class Split:
    """`compute` [rank, cycle] in s, at least two ranks and two windows; `window` is D in cycles, above 1.

    Raises BadInput for less than two windows.
    """

    compute: np.ndarray
    window: int

    def __post_init__(self) -> None:
        cycles = self.compute.shape[1]
        if 2 * self.window > cycles:
            raise BadInput(
                f"delay_ratio={self.window}: {cycles} cycles are less than two windows; allowed are 2 to"
                f" {cycles // 2}"
            )

    @cached_property
    def rare(self) -> np.ndarray:
        """The time of rare long cycles beyond what is usual for their rank, [rank, cycle]."""
        median, upper = np.quantile(self.compute, [0.5, 0.84], axis=1, keepdims=True)
        beyond = self.compute - median
        beyond -= np.maximum(beyond.min(axis=0), 0)  # all ranks were slow
        long = (beyond > RARE * (upper - median)) & (upper > median)  # equal times have no spread
        return np.where(long, beyond, 0).astype(self.compute.dtype)

    @cached_property
    def regular(self) -> np.ndarray:
        """The times without rare long cycles, [rank, cycle]."""
        return self.compute - self.rare

    @cached_property
    def components(self) -> Components:
        """The components of the regular times."""
        return Components(self.regular)

    @cached_property
    def shared(self) -> np.ndarray:
        """Mean over ranks of the regular times, [cycle]."""
        return self.components.step_means

    @cached_property
    def effects(self) -> np.ndarray:
        """The persistent effects a_m, [rank]; they add up to 0."""
        return self.components.rank_effects

    @cached_property
    def _starts(self) -> np.ndarray:
        """First cycles of the windows; the last window takes the cycles that are left."""
        return np.arange(self.compute.shape[1] // self.window) * self.window

    @cached_property
    def _lengths(self) -> np.ndarray:
        return np.diff(self._starts, append=self.compute.shape[1])

    @cached_property
    def _own(self) -> np.ndarray:
        """The fluctuations e, [rank, cycle], in the precision of `compute`; they add up to 0 over ranks."""
        return (self.regular - self.shared - self.effects[:, None]).astype(self.compute.dtype)

    @cached_property
    def _slow(self) -> np.ndarray:
        """Means of e over windows, [rank, window]."""
        return self.window_means(self._own)

    def window_means(self, of: np.ndarray) -> np.ndarray:
        """Means over windows of [..., cycle]."""
        return (np.add.reduceat(of, self._starts, axis=-1) / self._lengths).astype(of.dtype)

    @cached_property
    def drift_share(self) -> series.Mean:
        """r, the share of the variance of window means that is drift; not clipped to 0 to 1."""
        ranks, d = len(self.compute), self.window
        fast = np.zeros(self.compute.shape[1])
        for own in self._own:
            fast += own.astype(np.float64) ** 2
        fast, slow = self.window_means(fast) / (ranks - 1), np.square(self._slow).sum(axis=0) / (ranks - 1)
        if not self.components.varies or not slow.mean() > 0:
            return series.Mean(0.0, 0.0, float(len(slow)), 1.0)
        ratio = np.average(fast, weights=self._lengths) / np.average(slow, weights=self._lengths)
        influence = (fast - ratio * slow) / slow.mean()
        return series.mean((d - ratio - influence) / (d - 1))

    def shares(self) -> tuple[float, float, float]:
        """The drift share r and the ends of its interval, all within 0 to 1."""
        found = self.drift_share
        low, high = found.interval()
        return tuple(float(np.clip(x, 0.0, 1.0)) for x in (found.value, low, high))

    @cached_property
    def _slow_variance(self) -> float:
        """V(D) in s^2."""
        variances = np.square(self._slow).sum(axis=0, dtype=np.float64) / (len(self.compute) - 1)
        return float(np.average(variances, weights=self._lengths))

    def slow_factor(self, persistent: float, jitter: float, drift: float, share: float) -> float:
        """The factor by which the window means are scaled."""
        if not self._slow_variance > 0:
            return drift
        missing = self.components.shrinkage * self.components.rank_mean_known[0] ** 2 / self._slow_variance
        whole = 1 + max(1 - persistent**2, 0.0) * missing
        return float(np.sqrt((drift**2 * share + jitter**2 * (1 - share)) * whole))

    @cached_property
    def pieces(self) -> tuple[np.ndarray, ...]:
        """The pieces that `weights` apply to: e, its window means, and rare long cycles.

        Each is [rank, cycle] and adds up to 0 over ranks.
        """
        rare = (self.rare - self.rare.mean(axis=0)).astype(self._own.dtype)
        return self._own, np.repeat(self._slow, self._lengths, axis=1), rare

    def weights(
        self, persistent: float, jitter: float, drift: float, rare: float, share: float
    ) -> tuple[float, ...]:
        """Weights of the pieces that scale each part of the times."""
        return jitter, self.slow_factor(persistent, jitter, drift, share) - jitter, rare

    def scaled(self, persistent: float, jitter: float, drift: float, rare: float, share: float) -> np.ndarray:
        """Times without what is shared, [rank, cycle] in s, each part scaled; they add up to 0 over ranks."""
        weights = self.weights(persistent, jitter, drift, rare, share)
        return added_up(persistent * self.effects, weights, self.pieces)


def added_up(levels: np.ndarray, weights: tuple[float, ...], pieces: tuple[np.ndarray, ...]) -> np.ndarray:
    """The sum of `levels` [rank] and weighted pieces [rank, step], in the precision of the pieces."""
    times = np.repeat(levels.astype(pieces[0].dtype)[:, None], pieces[0].shape[1], axis=1)
    for weight, piece in zip(weights, pieces, strict=True):
        if weight:
            times += weight * piece
    return times
