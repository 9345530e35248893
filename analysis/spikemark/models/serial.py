"""Serial correlation of cycle times: why lumping D cycles gains less than 1 / sqrt(D).

Lags are in cycles, autocorrelations without unit, `compute` [rank, cycle] in s. Where no rank's
times vary there is no autocorrelation: the result is NaN.
"""

from collections.abc import Iterable

import numpy as np

from . import statistics

#: Sokal's window ends at the first lag that is at least so many integrated times.
SOKAL_FACTOR = 5.0
#: Lower limit of an integrated time in cycles, so that a sample size can be divided by it.
MIN_INTEGRATED_TIME = 0.01


def pooled_autocorrelation(compute: np.ndarray, max_lag: int | None = None) -> np.ndarray:
    """Autocorrelation rho_k of the compute times of all ranks together.

    Ranks weigh by their variance, and their means drop out. Computed by FFT; the sum over n - k
    pairs is divided by n, which keeps the estimate positive semi-definite.

    Args:
        compute: times in s, shape [rank, cycle].
        max_lag: largest lag k in cycles; all of them by default.

    Returns:
        Shape [lag], from lag 0 (which is 1) to `max_lag`.

    Example:
        >>> pooled_autocorrelation(np.array([[1.0, 2.0, 1.0, 2.0]]), max_lag=2).round(3)
        array([ 1.  , -0.75,  0.5 ])
    """
    return autocorrelation_of_ranks(statistics.times(compute), max_lag)


def autocorrelation_of_ranks(ranks: Iterable[np.ndarray], max_lag: int | None = None) -> np.ndarray:
    """As `pooled_autocorrelation`, from the times of one rank after the other.

    Args:
        ranks: times of each rank in s, float64 [cycle], equally many.
        max_lag: largest lag k in cycles; all of them by default.

    Example:
        >>> autocorrelation_of_ranks(iter([np.array([1.0, 2.0, 1.0, 2.0])]), max_lag=2).round(3)
        array([ 1.  , -0.75,  0.5 ])
    """
    power = np.zeros(1)
    number = 0
    largest = 0.0
    for times in ranks:
        n = len(times)
        last = n - 1 if max_lag is None else max_lag
        padded = 1 << (n + last - 1).bit_length()  # against wrap-around
        power = power + np.abs(np.fft.rfft(times - times.mean(), padded)) ** 2
        number += 1
        largest = max(largest, float(np.abs(times).max()))
    covariance = np.fft.irfft(power / number, padded)[: last + 1] / n
    # Below this the deviations are rounding errors of the mean, not variation.
    floor = (8 * np.finfo(np.float64).eps * largest) ** 2
    if covariance[0] <= floor:
        return np.full_like(covariance, np.nan)
    rho: np.ndarray = covariance / covariance[0]
    return rho


def integrated_time(rho: np.ndarray, c: float = SOKAL_FACTOR) -> float:
    """Integrated autocorrelation time tau = 1 + 2 sum_k rho_k, in cycles; 1 if independent.

    The sum stops at Sokal's window, the first lag W >= c tau(W), beyond which noise would dominate,
    or at the last lag (Sokal 1997, section 3). Never below MIN_INTEGRATED_TIME.

    Args:
        rho: autocorrelation, shape [lag], from lag 0.
        c: how many integrated times the window has to hold.

    Returns:
        Cycles; NaN if `rho` holds NaN.

    Example:
        >>> integrated_time(np.array([1.0, 0.5, 0.25]))
        2.5
    """
    rho = np.asarray(rho, dtype=np.float64)
    if np.isnan(rho).any():
        return float("nan")
    tau = 2 * np.cumsum(rho) - 1
    in_window = np.arange(len(tau)) >= c * tau
    last = int(np.argmax(in_window)) if in_window.any() else -1
    return max(float(tau[last]), MIN_INTEGRATED_TIME)


def lumped_cv_ratio(rho: np.ndarray, window: int) -> float:
    """Coefficient of variation of sums over D cycles over that of single cycles, CV(C) / CV(c).

    sqrt((1 + 2 sum_{k<D} (1 - k/D) rho_k) / D). Where all rho_k vanish for k > 0, this is
    1 / sqrt(D), L26, eq 7.

    Args:
        rho: autocorrelation, shape [lag], with lags up to `window` - 1 at least.
        window: cycles in a sum, D.

    Example:
        >>> lumped_cv_ratio(np.array([1.0, 0.0, 0.0, 0.0]), 4)
        0.5
        >>> lumped_cv_ratio(np.array([1.0, 1.0, 1.0, 1.0]), 4)
        1.0
    """
    k = np.arange(1, window)
    rho = np.asarray(rho, dtype=np.float64)
    variance = 1 + 2 * np.sum((1 - k / window) * rho[1:window])
    return float(np.sqrt(max(variance, 0.0) / window))
