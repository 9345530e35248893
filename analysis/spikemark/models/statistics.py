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


def describe(compute: np.ndarray, window: int = 1) -> CycleStatistics:
    """The distribution of the (lumped) times; spreads divide by n - 1 and are NaN for one value."""
    lumped = lump(times(compute), window)
    mean, sd = float(lumped.mean()), float(lumped.std(ddof=1)) if lumped.size > 1 else float("nan")
    return CycleStatistics(
        window=window,
        count=lumped.size,
        mean_s=mean,
        sd_s=sd,
        cv=sd / mean if mean > 0 else float("nan"),
        percentiles_s=dict(zip(PERCENTILES, np.percentile(lumped, PERCENTILES).tolist(), strict=True)),
    )


def share_inside(values: np.ndarray, interval: tuple[float, float]) -> float:
    """Share of `values` within the closed `interval` (low, high)."""
    low, high = interval
    return float(((values >= low) & (values <= high)).mean())
