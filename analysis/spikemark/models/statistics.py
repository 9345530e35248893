"""Statistics of cycles: what the compute times of a run look like, and what waiting they cause.

Arrays `compute` are c[m, s] of Lober et al. 2026 (L26), section 2.2: seconds, shape [rank, cycle], as
`Run.compute()` returns them. Every function raises BadInput for an array of another shape or a window that
does not fit into it.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput

PERCENTILES = (0.5, 5.0, 25.0, 50.0, 75.0, 95.0, 99.5)


@dataclass(frozen=True)
class CycleStatistics:
    """The distribution of the times [rank, window], pooled over ranks and windows. Times in seconds."""

    window: int  # cycles lumped into one value; 1 is the cycle itself
    count: int
    mean_s: float
    sd_s: float
    cv: float  # sd_s / mean_s; NaN where the mean is 0
    percentiles_s: dict[float, float]
    rank_means_s: np.ndarray  # [rank]
    rank_sds_s: np.ndarray  # [rank], spread within one rank


def times(compute: np.ndarray) -> np.ndarray:
    """`compute` as a float64 array [rank, cycle] with at least one element."""
    array = np.asarray(compute, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise BadInput(
            f"cycle times of shape {list(array.shape)}: expected [rank, cycle], neither of them empty"
        )
    return array


def lump(compute: np.ndarray, window: int) -> np.ndarray:
    """C[m, w] of L26, eqs 4-5: sums over `window` consecutive cycles, [..., window] from [..., cycle].

    Cycles after the last whole window are left out. The precision of the times stays.
    """
    array = np.asarray(compute)
    cycles = array.shape[-1]
    if not 1 <= window <= cycles:
        raise BadInput(f"window={window}: allowed are 1 to {cycles}, the number of cycles")
    if window == 1:
        return array
    windows = cycles // window
    return array[..., : windows * window].reshape(*array.shape[:-1], windows, window).sum(axis=-1)


def maxima(compute: np.ndarray, window: int = 1) -> np.ndarray:
    """Time of the slowest rank in each window, [windows]."""
    return lump(times(compute), window).max(axis=0)


def runtime_s(compute: np.ndarray, window: int = 1) -> float:
    """Sum of the maxima over ranks: L26 eq 3 for `window` 1 (T_conv), eq 4 for `window` D (T_struct)."""
    return float(maxima(compute, window).sum())


def waiting_s(compute: np.ndarray, window: int = 1) -> np.ndarray:
    """Time each rank waits for the slowest one, summed over all windows, [rank] (its mean is L26 eq 10)."""
    lumped = lump(times(compute), window)
    return (lumped.max(axis=0) - lumped).sum(axis=1)


def waiting_per_cycle_s(compute: np.ndarray, window: int = 1) -> float:
    """Waiting that the compute times imply if ranks meet every `window` cycles; rank mean, per cycle."""
    lumped = lump(times(compute), window)
    return float((lumped.max(axis=0) - lumped).mean() / window)


def coefficient_of_variation(compute: np.ndarray, window: int = 1) -> float:
    """CV of the (lumped) times of all ranks and windows; NaN for fewer than two values or a mean of 0."""
    lumped = lump(times(compute), window)
    mean = lumped.mean()
    return float(lumped.std(ddof=1) / mean) if lumped.size > 1 and mean > 0 else float("nan")


def percentiles(values: np.ndarray, levels: tuple[float, ...] = PERCENTILES) -> dict[float, float]:
    """Percentiles (levels in percent) of all elements of `values`."""
    return dict(zip(levels, np.percentile(values, levels).tolist(), strict=True))


def describe(compute: np.ndarray, window: int = 1) -> CycleStatistics:
    """The distribution of the (lumped) times; spreads divide by n - 1 and are NaN for one value."""
    lumped = lump(times(compute), window)
    ranks, windows = lumped.shape
    nan = float("nan")
    return CycleStatistics(
        window=window,
        count=lumped.size,
        mean_s=float(lumped.mean()),
        sd_s=float(lumped.std(ddof=1)) if lumped.size > 1 else nan,
        cv=coefficient_of_variation(compute, window),
        percentiles_s=percentiles(lumped),
        rank_means_s=lumped.mean(axis=1),
        rank_sds_s=lumped.std(axis=1, ddof=1) if windows > 1 else np.full(ranks, nan),
    )


def share_of_maxima_above(compute: np.ndarray, p: float, window: int = 1) -> float:
    """Measured counterpart of L26 eq 12: share of the maxima in the upper fraction p of all times."""
    if not 0 < p < 1:
        raise BadInput(f"p={p}: a fraction between 0 and 1")
    lumped = lump(times(compute), window)
    return float((lumped.max(axis=0) > np.quantile(lumped, 1 - p)).mean())


def share_inside(values: np.ndarray, interval: tuple[float, float]) -> float:
    """Share of `values` within the closed `interval` (low, high)."""
    low, high = interval
    return float(((values >= low) & (values <= high)).mean())
