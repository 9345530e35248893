"""Modes of a distribution of times: how many, where, and what share of the times belongs to each.

A mode is a peak of the kernel density that noise does not explain. Long times spread widely, so the density
is taken over the logarithm of time if the times span more than a factor of SPAN.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import ndimage

SPAN = 2.0
GRID = 2048
CERTAINTY = 5.0  # standard errors of the density by which a peak stands out
DEPTH = 0.2  # of its height, by which it stands out
LEAST_SHARE = 0.002
ROUNDING = 1e-9  # relative range below which times do not vary
WIDER = (1, 2, 4, 8, 16)  # times Silverman's bandwidth
KERNEL = 1 / (2 * np.sqrt(np.pi))  # integral of the squared normal kernel


@dataclass(frozen=True)
class Mode:
    """A peak of the density at `at`, unit of the times; `share` of all times lie between its valleys."""

    at: float
    share: float
    low: float = -np.inf  # its valleys
    high: float = np.inf

    def holds(self, times: np.ndarray) -> np.ndarray:
        """Tells which of the times, of any shape, belong to this mode."""
        return (times >= self.low) & (times < self.high)


def modes(times: np.ndarray) -> list[Mode]:
    """Modes of all elements of `times`, the largest share first; none where the times do not vary.

    Kernel density with Silverman's bandwidth, 0.9 min(SD, IQR / 1.34) n^(-1/5) (Silverman 1986, eq 3.31), and
    with wider ones: that bandwidth follows a narrow main peak, in which a few per cent of scattered longer
    times are noise. The bandwidth that tells most modes apart counts.
    """
    values = np.sort(np.asarray(times, dtype=np.float64), axis=None)
    low, high = np.quantile(values, (0.001, 0.999))
    if not high - low > ROUNDING * abs(high):
        return []
    logarithmic = low > 0 and high / low > SPAN
    if logarithmic:
        values, low, high = np.log(np.maximum(values, low / SPAN)), np.log(low), np.log(high)
    quartiles = np.quantile(values, (0.25, 0.75))
    spread = min(values.std(), (quartiles[1] - quartiles[0]) / 1.34) or values.std()
    width = max(0.9 * spread * values.size**-0.2, (high - low) / GRID)
    grid, density, peaks = max((_peaks(values, width * factor, low, high) for factor in WIDER),
                               key=lambda found: len(found[2]))  # the narrowest of equals  # fmt: skip
    while True:  # divide the times at the lowest points between peaks; too few go with the next ones
        valleys = grid[np.array([a + np.argmin(density[a:b]) for a, b in pairwise(peaks)], dtype=int)]
        shares = np.diff([0, *np.searchsorted(values, valleys), values.size]) / values.size
        if len(peaks) == 1 or shares.min() >= LEAST_SHARE:
            break
        peaks = np.delete(peaks, np.argmin(shares))
    at, ends = grid[peaks], np.array([-np.inf, *valleys, np.inf])
    at, ends = (np.exp(at), np.exp(ends)) if logarithmic else (at, ends)
    found = [Mode(float(a), float(s), *pair) for a, s, pair in zip(at, shares, pairwise(ends), strict=True)]
    return sorted(found, key=lambda mode: -mode.share)


def _peaks(
    values: np.ndarray, width: float, low: float, high: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grid, density with kernels of that width, and the numbers of the peaks that noise does not explain."""
    from scipy.signal import find_peaks

    edges = np.linspace(low - 4 * width, high + 4 * width, GRID + 1)
    step = edges[1] - edges[0]
    counts, _ = np.histogram(values, edges)
    density = ndimage.gaussian_filter1d(counts / (values.size * step), width / step, mode="constant")
    peaks, found = find_peaks(np.pad(density, 1), prominence=0)
    noise = np.sqrt(density[peaks - 1] * KERNEL / (values.size * width))
    stands_out = found["prominences"] > np.maximum(DEPTH * density[peaks - 1], CERTAINTY * noise)
    stands_out[np.argmax(density[peaks - 1])] = True  # even with few times
    return (edges[1:] + edges[:-1]) / 2, density, peaks[stands_out] - 1
