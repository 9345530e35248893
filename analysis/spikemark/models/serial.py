"""Serial correlation of cycle times: why lumping D cycles gains less than 1 / sqrt(D).

Lags are in cycles, autocorrelations without unit, `compute` [rank, cycle] in s. A rank whose times do not
vary has no autocorrelation, the result is NaN.
"""

import numpy as np

from . import statistics


def pooled_autocorrelation(compute: np.ndarray, max_lag: int | None = None) -> np.ndarray:
    """Autocorrelation of all ranks together, [lag 0 ... max_lag]: ranks weigh by variance, means drop out.

    By FFT; the sum over n - k pairs is divided by n, which keeps the estimate positive semi-definite.
    """
    array = statistics.times(compute)
    n = array.shape[-1]
    max_lag = n - 1 if max_lag is None else max_lag
    deviation = array - array.mean(axis=-1, keepdims=True)
    size = 1 << (n + max_lag - 1).bit_length()  # padding against wrap-around
    spectrum = (np.abs(np.fft.rfft(deviation, size)) ** 2).mean(axis=0)
    covariance = np.fft.irfft(spectrum, size)[: max_lag + 1] / n
    # below this the deviations are rounding errors of the mean, not variation
    floor = (8 * np.finfo(np.float64).eps * np.abs(array).max()) ** 2
    return covariance / covariance[0] if covariance[0] > floor else np.full_like(covariance, np.nan)


def integrated_time(rho: np.ndarray, c: float = 5.0) -> float:
    """Integrated autocorrelation time 1 + 2 sum_k rho_k in cycles, from `rho` [lag]; 1 if independent.

    The sum stops at Sokal's window, the first lag W >= c tau(W), beyond which noise would dominate, or at the
    last lag. Never below a hundredth of a cycle, so that a sample size can be divided by it.
    """
    rho = np.asarray(rho, dtype=np.float64)
    if np.isnan(rho).any():
        return float("nan")
    tau = 2 * np.cumsum(rho) - 1
    window = next((lag for lag, time in enumerate(tau) if lag >= c * time), -1)
    return max(float(tau[window]), 0.01)


def lumped_cv_ratio(rho: np.ndarray, window: int) -> float:
    """CV(C) / CV(c) for sums over `window` cycles, from the autocorrelation `rho` [lag] with more lags than
    that.

    sqrt((1 + 2 sum_{k<D} (1 - k/D) rho_k) / D): L26 eq 7, 1 / sqrt(D), where all rho_k vanish for k > 0.
    """
    k = np.arange(1, window)
    variance = 1 + 2 * np.sum((1 - k / window) * np.asarray(rho, dtype=np.float64)[1:window])
    return float(np.sqrt(max(variance, 0.0) / window))
