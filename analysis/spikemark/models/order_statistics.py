"""The slowest of M ranks: maxima of M independent normal variables (Lober et al. 2026, eqs 8-12).

Plain numbers, no units, except where a mean and a standard deviation are passed: results then have their
unit. Every function raises BadInput for a number of ranks below 1 or a probability outside 0 to 1.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from spikemark.core.errors import BadInput


@lru_cache(maxsize=1024)
def expected_maximum(m: int) -> float:
    """x_M, expected maximum of `m` standard normals, by quadrature to 1e-9 (L26, eqs 8-9)."""
    _check_ranks(m)
    if m == 1:
        return 0.0
    # Around the median: in a wide interval the quadrature would miss the step.
    middle = float(special.ndtri(0.5 ** (1 / m)))
    distance, weight = _quadrature()
    below = np.exp(m * special.log_ndtr(middle - distance))
    above = -np.expm1(m * special.log_ndtr(middle + distance))
    return middle + float(weight @ (above - below))


@lru_cache(maxsize=1)
def _quadrature(reach: float = 12.0, panels: int = 48, order: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss and Legendre, from 0 to `reach`."""
    x, w = np.polynomial.legendre.leggauss(order)
    width = reach / panels
    points = width * (np.arange(panels)[:, None] + (x + 1) / 2)
    return points.ravel(), np.tile(w * width / 2, panels)


def interval_of_maxima(mean: float, sd: float, m: int, level: float = 0.99) -> tuple[float, float]:
    """Central interval that contains the maximum of `m` independent N(mean, sd^2) with probability `level`.

    By eq 12 the maximum is below the quantile q of one value with probability q^m; (1 - level) / 2 lies on
    each side.
    """
    _check_ranks(m)
    _check_level(level)
    if sd < 0:
        raise BadInput(f"sd={sd}: a standard deviation is not negative")
    tail = (1 - level) / 2
    low = float(special.ndtri_exp(math.log(tail) / m))
    high = float(special.ndtri_exp(math.log1p(-tail) / m))
    return mean + sd * low, mean + sd * high


def _check_ranks(m: int) -> None:
    if m < 1 or m != int(m):
        raise BadInput(f"m={m}: the number of ranks is an integer of at least 1")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise BadInput(f"level={level}: a probability between 0 and 1")
