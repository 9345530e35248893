"""The published theory of waiting for the slowest rank (Lober et al. 2026, section 2.2, eqs 2-12).

It assumes that the compute times c[m, s] of all ranks m and cycles s are independent draws from ONE
normal distribution (eq 2). Measured cycle times are serially correlated, correlated across ranks
and unequal between ranks, so the gain that it predicts is too large; it is kept because it is the
theory as published. `delay_ratio` D: an exchange every D cycles (1: conventional).
"""

from .order_statistics import expected_maximum


def window(mean_s: float, sd_s: float, delay_ratio: int) -> tuple[float, float]:
    """Mean and standard deviation of the compute time of a window of D cycles (L26, eq 6).

    D mu and sqrt(D) sigma; their ratio is the coefficient of variation of eq 7.

    Args:
        mean_s: mean compute time of a cycle, mu, in s.
        sd_s: its standard deviation, sigma, in s.
        delay_ratio: cycles in a window, D.

    Returns:
        Mean and standard deviation of the sum, in s.

    Example:
        >>> window(0.5, 0.1, 4)
        (2.0, 0.2)
    """
    return delay_ratio * mean_s, delay_ratio**0.5 * sd_s


def predict(
    mean_s: float, sd_s: float, ranks: int, cycles: int, delay_ratio: int
) -> dict[str, float]:
    """Compute, waiting and run time over all cycles, without the exchange (L26, eqs 8-10).

    Args:
        mean_s: mean compute time of a cycle in s, mu.
        sd_s: its standard deviation in s, sigma.
        ranks: number of ranks, M.
        cycles: number of cycles, S.
        delay_ratio: cycles between two exchanges, D.

    Returns:
        `compute_s`, mu S; `waiting_s`, what the slowest rank needs above it (eq 10), which is the
        mean waiting time of a rank; `runtime_s`, their sum (eqs 8 and 9).

    Example:
        Of two ranks, the slower one needs sd / sqrt(pi) more than the mean.

        >>> {name: round(s, 2) for name, s in predict(1.0, 0.1, 2, 100, 1).items()}
        {'compute_s': 100.0, 'waiting_s': 5.64, 'runtime_s': 105.64}
    """
    window_mean_s, window_sd_s = window(mean_s, sd_s, delay_ratio)
    windows = cycles / delay_ratio
    compute_s = windows * window_mean_s
    waiting_s = windows * window_sd_s * expected_maximum(ranks)
    return {"compute_s": compute_s, "waiting_s": waiting_s, "runtime_s": compute_s + waiting_s}


def waiting_ratio(delay_ratio: int) -> float:
    """Waiting of the structure-aware over that of the conventional schedule: 1 / sqrt(D).

    L26, eq 11.

    Example:
        >>> waiting_ratio(4)
        0.5
    """
    return float(delay_ratio**-0.5)
