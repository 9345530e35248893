"""The published theory of waiting for the slowest rank (Lober et al. 2026, section 2.2, eqs 2-12).

Assumes that the compute times c[m, s] of all ranks m and cycles s are independent draws from ONE normal
distribution (eq 2). Measured cycle times are serially correlated, correlated across ranks and unequal between
ranks, so the gain it predicts is too large; it is kept because it is the theory as published. `delay_ratio`
D: an exchange every D cycles (1: conventional).
"""

from .order_statistics import expected_maximum


def window(mean_s: float, sd_s: float, delay_ratio: int) -> tuple[float, float]:
    """Mean and standard deviation in s of the sum over D cycles (eq 6), whose ratio is the CV (eq 7)."""
    return delay_ratio * mean_s, delay_ratio**0.5 * sd_s


def predict(mean_s: float, sd_s: float, ranks: int, cycles: int, delay_ratio: int) -> dict[str, float]:
    """Seconds over all cycles: `compute_s`, mu S; `waiting_s`, what remains above it (eq 10), which is the
    mean waiting of a rank, too; `runtime_s`, their sum without exchange (eqs 8 and 9)."""
    mean, sd = window(mean_s, sd_s, delay_ratio)
    windows = cycles / delay_ratio
    compute, waiting = windows * mean, windows * sd * expected_maximum(ranks)
    return {"compute_s": compute, "waiting_s": waiting, "runtime_s": compute + waiting}


def waiting_ratio(delay_ratio: int) -> float:
    """Waiting of the structure-aware over that of the conventional schedule, 1 / sqrt(D) (eq 11)."""
    return delay_ratio**-0.5
