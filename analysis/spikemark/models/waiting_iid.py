"""The published theory of waiting for the slowest rank (Lober et al. 2026, section 2.2, eqs 2-12).

Assumes that the compute times c[m, s] of all ranks m and cycles s are independent draws from ONE normal
distribution (eq 2). Measured cycle times are serially correlated, correlated across ranks and unequal between
ranks, so the gain it predicts is too large; it is kept because it is the theory as published.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole

from . import order_statistics, statistics


@dataclass(frozen=True)
class IidPrediction:
    """Expected times in seconds over all cycles, for ranks that meet every `delay_ratio` cycles."""

    ranks: int
    cycles: int
    delay_ratio: int
    compute_s: float  # mu S
    waiting_s: float  # what remains above mu S, eq 10; also the mean over ranks of the time spent waiting
    runtime_s: float  # eq 8 for delay_ratio 1, eq 9 else; without exchange

    @property
    def waiting_per_cycle_s(self) -> float:
        return self.waiting_s / self.cycles


@dataclass(frozen=True)
class IidWaiting:
    """Cycle times N(mean_s, sd_s^2) of eq 2, and the number of ranks and cycles of the run they come from."""

    mean_s: float
    sd_s: float
    ranks: int
    cycles: int

    @classmethod
    def fit(cls, run_or_compute) -> "IidWaiting":
        """Mean and standard deviation pooled over all ranks and cycles, from a `Run` or an array [rank,
        cycle] in s.

        Raises BadInput for a run without cycles.npy, or with fewer than two values.
        """
        compute = run_or_compute.compute() if hasattr(run_or_compute, "compute") else run_or_compute
        array = statistics.times(np.asarray(compute))
        if array.size < 2:
            raise BadInput("a spread needs at least two cycle times")
        return cls(float(array.mean()), float(array.std(ddof=1)), *array.shape)

    def predict(self, delay_ratio: int, ranks: int | None = None, cycles: int | None = None) -> IidPrediction:
        """Run time and waiting with an exchange every `delay_ratio` cycles (1: conventional), eqs 8-10.

        `ranks` and `cycles` default to those of the fitted run. Raises BadInput for values below 1.
        """
        ranks = self.ranks if ranks is None else ranks
        cycles = self.cycles if cycles is None else cycles
        check_whole("delay_ratio", delay_ratio)
        check_whole("cycles", cycles)
        mean, sd = self.window(delay_ratio)
        windows = cycles / delay_ratio
        waiting = windows * sd * order_statistics.expected_maximum(ranks)
        return IidPrediction(ranks, cycles, delay_ratio, windows * mean, waiting, windows * mean + waiting)

    def window(self, delay_ratio: int) -> tuple[float, float]:
        """Mean and standard deviation in s of the sum over `delay_ratio` cycles (eq 6)."""
        check_whole("delay_ratio", delay_ratio)
        return delay_ratio * self.mean_s, delay_ratio**0.5 * self.sd_s

    def cv(self, delay_ratio: int = 1) -> float:
        """Coefficient of variation of the sum over `delay_ratio` cycles (eq 7)."""
        mean, sd = self.window(delay_ratio)
        return sd / mean

    def interval_of_maxima(
        self, delay_ratio: int = 1, ranks: int | None = None, level: float = 0.99
    ) -> tuple[float, float]:
        """Interval in s that contains the slowest rank's window time with probability `level` (eq 12)."""
        ranks = self.ranks if ranks is None else ranks
        return order_statistics.interval_of_maxima(*self.window(delay_ratio), ranks, level)


def waiting_ratio(delay_ratio: int) -> float:
    """Waiting of the structure-aware over that of the conventional schedule, 1 / sqrt(D) (eq 11)."""
    check_whole("delay_ratio", delay_ratio)
    return delay_ratio**-0.5
