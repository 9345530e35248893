"""The published theory of waiting for the slowest rank (Lober et al. 2026, section 2.2, eqs 2-12).

Assumes that the compute times c[m, s] of all ranks m and cycles s are independent draws from ONE normal
distribution (eq 2). Measured cycle times are serially correlated, correlated across ranks and unequal between
ranks, so the gain it predicts is too large; it is kept because it is the theory as published.
"""

from dataclasses import dataclass

from spikemark.core.fields import check_whole

from .order_statistics import expected_maximum


@dataclass(frozen=True)
class IidWaiting:
    """Cycle times N(mean_s, sd_s^2) of eq 2, in s, on `ranks` ranks for `cycles` cycles.

    Methods raise BadInput for a `delay_ratio` D, an exchange every D cycles (1: conventional), below 1.
    """

    mean_s: float
    sd_s: float
    ranks: int
    cycles: int

    def window(self, delay_ratio: int) -> tuple[float, float]:
        """Mean and standard deviation in s of the sum over `delay_ratio` cycles (eq 6)."""
        check_whole("delay_ratio", delay_ratio)
        return delay_ratio * self.mean_s, delay_ratio**0.5 * self.sd_s

    def cv(self, delay_ratio: int = 1) -> float:
        """Coefficient of variation of the sum over `delay_ratio` cycles (eq 7)."""
        mean, sd = self.window(delay_ratio)
        return sd / mean

    def predict(self, delay_ratio: int) -> dict[str, float]:
        """Seconds over all cycles: `compute_s`, mu S; `waiting_s`, what remains above it (eq 10), which is
        the mean waiting of a rank, too; `runtime_s`, their sum without exchange (eqs 8 and 9)."""
        mean, sd = self.window(delay_ratio)
        windows = self.cycles / delay_ratio
        compute, waiting = windows * mean, windows * sd * expected_maximum(self.ranks)
        return {"compute_s": compute, "waiting_s": waiting, "runtime_s": compute + waiting}


def waiting_ratio(delay_ratio: int) -> float:
    """Waiting of the structure-aware over that of the conventional schedule, 1 / sqrt(D) (eq 11)."""
    check_whole("delay_ratio", delay_ratio)
    return delay_ratio**-0.5
