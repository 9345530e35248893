"""Modes of a distribution of times: how many, where, and what share of the times belongs to each.

A mode is a peak of the kernel density that noise does not explain. Long times spread widely, so the
density is taken over the logarithm of time if the times span more than a factor of LOG_FROM_SPAN.

Cost: sorting the times, and five histograms of GRID cells, whatever the number of times.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import ndimage

#: Largest over smallest time from which the density is one of logarithms.
LOG_FROM_SPAN = 2.0
#: Cells of the grid on which the density is evaluated.
GRID = 2048
#: Standard errors of the density by which a peak stands out.
MIN_PROMINENCE_ERRORS = 5.0
#: Share of its own height by which a peak stands out.
MIN_PROMINENCE_SHARE = 0.2
#: Share of the times that a mode holds at least.
MIN_MODE_SHARE = 0.002
#: Relative range of the times below which they do not vary.
MAX_EQUAL_RANGE = 1e-9
#: Bandwidths that are tried, in Silverman's bandwidths.
BANDWIDTH_FACTORS = (1, 2, 4, 8, 16)
#: Integral of the squared normal kernel.
SQUARED_KERNEL = 1 / (2 * np.sqrt(np.pi))


@dataclass(frozen=True)
class Mode:
    """A peak of the density of times, in the unit of the times."""

    at: float  #: time of the peak
    share: float  #: of all times that lie between its valleys
    low: float = -np.inf  #: valley before the peak
    high: float = np.inf  #: valley behind the peak

    def holds(self, times: np.ndarray) -> np.ndarray:
        """Tell which of the times, of any shape, belong to this mode.

        Example:
            >>> Mode(at=1.0, share=0.5, low=0.5, high=2.0).holds(np.array([0.9, 2.0]))
            array([ True, False])
        """
        return (times >= self.low) & (times < self.high)


class _Density(NamedTuple):
    """A kernel density on a grid."""

    grid: np.ndarray  #: [cell] middle of each cell
    density: np.ndarray  #: [cell]
    peaks: np.ndarray  #: [peak] numbers of the cells with peaks that noise does not explain


def modes(times: np.ndarray) -> list[Mode]:
    """Find the modes of times of any shape, the largest share first.

    Kernel density with Silverman's bandwidth, 0.9 min(SD, IQR / 1.34) n^(-1/5) (Silverman 1986, eq
    3.31), and with wider ones: that bandwidth follows a narrow main peak, in which a few per cent
    of scattered longer times are noise. The bandwidth that tells most modes apart counts, of equals
    the narrowest.

    Args:
        times: in any unit and shape.

    Returns:
        The modes, none where the times do not vary.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> short, long = rng.normal(1.0, 0.01, 900), rng.normal(1.5, 0.01, 100)
        >>> [(round(mode.at, 1), mode.share) for mode in modes(np.append(short, long))]
        [(1.0, 0.9), (1.5, 0.1)]
    """
    values = np.sort(np.asarray(times, dtype=np.float64), axis=None)
    low, high = np.quantile(values, (0.001, 0.999))
    if not high - low > MAX_EQUAL_RANGE * abs(high):
        return []
    logarithmic = low > 0 and high / low > LOG_FROM_SPAN
    if logarithmic:
        values = np.log(np.maximum(values, low / LOG_FROM_SPAN))
        low, high = np.log(low), np.log(high)
    silverman = _bandwidth(values, low, high)
    densities = [_density(values, silverman * factor, low, high) for factor in BANDWIDTH_FACTORS]
    best = max(densities, key=lambda density: len(density.peaks))
    peaks, valleys, shares = _divided(values, best)
    places = best.grid[peaks]
    limits = np.array([-np.inf, *valleys, np.inf])
    if logarithmic:
        places, limits = np.exp(places), np.exp(limits)
    found_modes = [
        Mode(float(at), float(share), float(before), float(behind))
        for at, share, before, behind in zip(places, shares, limits[:-1], limits[1:], strict=True)
    ]
    return sorted(found_modes, key=lambda mode: -mode.share)


def _bandwidth(values: np.ndarray, low: float, high: float) -> float:
    """Silverman's bandwidth, at least a cell of the grid between `low` and `high`."""
    lower_quartile, upper_quartile = np.quantile(values, (0.25, 0.75))
    spread = min(values.std(), (upper_quartile - lower_quartile) / 1.34) or values.std()
    return max(float(0.9 * spread * values.size**-0.2), (high - low) / GRID)


def _divided(values: np.ndarray, density: _Density) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide times at the lowest points between peaks: cells of peaks, valleys, shares.

    Peaks that hold fewer than MIN_MODE_SHARE of the times are joined with their neighbours, the
    smallest first.
    """
    peaks = density.peaks
    while True:
        cells = [a + np.argmin(density.density[a:b]) for a, b in pairwise(peaks)]
        valleys = density.grid[np.array(cells, dtype=int)]
        counts = np.diff([0, *np.searchsorted(values, valleys), values.size])
        shares = counts / values.size
        if len(peaks) == 1 or shares.min() >= MIN_MODE_SHARE:
            return peaks, valleys, shares
        peaks = np.delete(peaks, np.argmin(shares))


def _density(values: np.ndarray, width: float, low: float, high: float) -> _Density:
    """Density of the values with normal kernels of that width, and its peaks."""
    from scipy.signal import find_peaks

    edges = np.linspace(low - 4 * width, high + 4 * width, GRID + 1)
    cell = edges[1] - edges[0]
    counts, _ = np.histogram(values, edges)
    density = ndimage.gaussian_filter1d(
        counts / (values.size * cell), width / cell, mode="constant"
    )
    peaks, properties = find_peaks(np.pad(density, 1), prominence=0)
    peaks = peaks - 1  # without the padding
    heights = density[peaks]
    noise = np.sqrt(heights * SQUARED_KERNEL / (values.size * width))
    required = np.maximum(MIN_PROMINENCE_SHARE * heights, MIN_PROMINENCE_ERRORS * noise)
    stands_out = properties["prominences"] > required
    stands_out[np.argmax(heights)] = True  # even with few times
    middles = (edges[1:] + edges[:-1]) / 2
    return _Density(middles, density, peaks[stands_out])
