"""The components of cycle times: y[m, w] = mean + a_m + g_w + e[m, w].

a_m is the persistent effect of a rank, g_w what all ranks share (it makes nobody wait), e stationary with an
autocorrelation and independent between ranks. y are sums over the steps of a plan; times in s.

- V, the spread that makes ranks wait: the variance across ranks within a step, mean over steps. g drops out,
  and drift is not lost to the estimated means, so V is unbiased whatever the serial correlation.
- a_m: deviations of the rank means, shrunk by the positive-part James-Stein factor 1 - (M-3)/(M-1) SE^2 / var
  (1 - SE^2 / var for up to 3 ranks), SE^2 being the long-run variance over n: ranks that differ no more than
  drifting equal ranks would are treated as equal.
- g: the variance of the mean over ranks is Var g + V_e / M; g_w is that mean's deviation, shrunk accordingly.
  If Var g is not certainly above 0, g_w is 0 except in single long steps in which all ranks are late
  together, where it is the whole deviation: otherwise one stall of the machine would pass for a long tail of
  every rank.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import fft

from spikemark.models import serial

from . import series

SURE = 3.0  # standard errors
CHANCE = 0.01  # that independent ranks are ever late together
FAR = 6.0  # standard deviations of the mean of independent ranks


@dataclass(frozen=True)
class Components:
    """The parts of `times` [rank, step]."""

    times: np.ndarray

    @property
    def ranks(self) -> int:
        return self.times.shape[0]

    @property
    def steps(self) -> int:
        return self.times.shape[1]

    @cached_property
    def rank_means(self) -> np.ndarray:
        """Mean time of each rank, [rank]."""
        return self.times.mean(axis=1, dtype=np.float64)

    @cached_property
    def mean(self) -> float:
        return float(self.rank_means.mean())

    @cached_property
    def step_means(self) -> np.ndarray:
        """Mean over ranks of each step, [step]."""
        return self.times.mean(axis=0, dtype=np.float64)

    @cached_property
    def step_variances(self) -> np.ndarray:
        """Variance across ranks within each step, [step]; their mean is V."""
        total = np.zeros(self.steps)
        for rank in self.times:
            total += (rank - self.step_means) ** 2
        return total / (self.ranks - 1)

    @cached_property
    def across(self) -> float:
        """V in s^2, the spread that makes ranks wait."""
        return float(self.step_variances.mean())

    @cached_property
    def spectrum(self) -> np.ndarray:
        """Mean over ranks of |FFT|^2 of what differs between ranks, padded with as many zeros; s^2."""
        power = np.zeros(self._padded // 2 + 1)
        for rank, mean in zip(self.times, self.rank_means, strict=True):
            own = rank - self.step_means - (mean - self.mean)
            power += np.abs(fft.rfft(own.astype(self.times.dtype), self._padded)) ** 2
        return power / (self.steps * (self.ranks - 1))

    @property
    def _padded(self) -> int:
        return 2 * fft.next_fast_len(self.steps, real=True)

    @cached_property
    def autocovariance(self) -> np.ndarray:
        """Autocovariance of e about the own mean of each rank, [lag] for all lags, in s^2."""
        return fft.irfft(self.spectrum, self._padded)[: self.steps]

    @cached_property
    def correlation_time(self) -> float:
        """The integrated autocorrelation time of e in steps, at least 1."""
        if not self.fluctuates:
            return 1.0
        return max(serial.integrated_time(self.autocovariance / self.autocovariance[0]), 1.0)

    @property
    def varies(self) -> bool:
        """Tells whether there is any spread across ranks."""
        return self.across > self._rounding

    @property
    def fluctuates(self) -> bool:
        """Tells whether the differences between ranks change from step to step."""
        return self.autocovariance[0] > self._rounding

    @property
    def _rounding(self) -> float:
        return (8 * float(np.finfo(self.times.dtype).eps) * self.mean) ** 2

    @cached_property
    def rank_mean_known(self) -> tuple[float, float]:
        """Standard error of a rank mean in s, and its degrees of freedom."""
        if not self.fluctuates:
            return 0.0, float(self.steps)
        error, block = series.error(self.autocovariance)
        return error, self.steps / (2 * block)

    @cached_property
    def shrinkage(self) -> float:
        """The share of the deviations of the rank means that counts as persistent."""
        ranks, found = self.ranks, float(self.rank_means.var(ddof=1))
        if not found > 0:
            return 0.0
        part = (ranks - 3) / (ranks - 1) if ranks > 3 else 1.0
        return max(0.0, 1 - part * self.rank_mean_known[0] ** 2 / found)

    @cached_property
    def rank_effects(self) -> np.ndarray:
        """The persistent effects a_m, [rank]; they add up to 0."""
        return self.shrinkage * (self.rank_means - self.mean)

    @cached_property
    def own(self) -> float:
        """V_e, the variance of e: V without the spread of the rank effects."""
        return max(self.across - float(self.rank_effects.var(ddof=1)), 0.0)

    @cached_property
    def shared(self) -> series.Mean:
        """Variance of g in s^2; it is below 0 by chance where there is none."""
        excess = (self.step_means - self.mean) ** 2 - self.step_variances / self.ranks
        return series.mean(excess + float(self.rank_effects.var(ddof=1)) / self.ranks)

    @property
    def stalls(self) -> np.ndarray:
        """The steps, boolean [step], that are far too long because all ranks are late together.

        Every rank is then within its own longest share u of all steps. u is chosen so that independent ranks,
        whatever their distributions and serial correlations, would rarely all be so in even one step: steps
        u^M = CHANCE.
        """
        late = self.step_means - np.median(self.step_means)
        found = late > FAR * (self.across / self.ranks) ** 0.5
        if found.any():
            share = (CHANCE / self.steps) ** (1 / self.ranks)
            for rank in self.times:
                found &= rank > np.quantile(rank, 1 - share)
        return found

    @property
    def common(self) -> float:
        """Variance of g in s^2; 0 if it is no larger than chance gives for independent ranks."""
        return self.shared.value if self.shared.value > SURE * self.shared.error else 0.0

    @cached_property
    def common_course(self) -> np.ndarray:
        """The part that all ranks share, g_w, [step]."""
        deviation = self.step_means - self.mean
        if self.common > 0:
            return self.common / float(self.step_means.var()) * deviation
        found = np.where(self.stalls, deviation, 0.0)
        return found - found.mean()

    def residual(self, rank: int) -> np.ndarray:
        """The fluctuation e of a rank, [step], scaled so that independent ranks with effects have variance V.

        It includes the part of the deviation of the rank's mean that does not count as persistent.
        """
        rest = (1 - self.shrinkage) * (self.rank_means[rank] - self.mean)
        return rest + self.scale * self.own_course(rank)

    @cached_property
    def residual_range(self) -> tuple[float, float]:
        """The lowest and the highest residual of any rank in s."""
        ends = [(float(x.min()), float(x.max())) for x in map(self.residual, range(self.ranks))]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def own_course(self, rank: int) -> np.ndarray:
        """The times of a rank about their own mean, without g, [step]."""
        return self.times[rank] - self.common_course - self.rank_means[rank]

    @cached_property
    def _squares(self) -> np.ndarray:
        """Mean over ranks of the squares of their times about their own means, [step]."""
        total = np.zeros(self.steps)
        for rank, mean in zip(self.times, self.rank_means, strict=True):
            total += np.square(rank - mean)
        return total / self.ranks

    @property
    def own_squares(self) -> np.ndarray:
        """Mean over ranks of the squares of their own courses, that is without g, [step]."""
        shared = self.common_course
        return self._squares - shared * (2 * (self.step_means - self.mean) - shared)

    @cached_property
    def own_variances(self) -> np.ndarray:
        """Variance across ranks of their times about their own means, [step]."""
        return (self._squares - np.square(self.step_means - self.mean)) * self.ranks / (self.ranks - 1)

    @cached_property
    def scale(self) -> float:
        """The factor that makes own courses vary across ranks as much as the times about their means do."""
        found = float(self.own_squares.mean())
        return float(np.sqrt(self.own_variances.mean() / found)) if found > 0 else 1.0
