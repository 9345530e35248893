"""The slowest of M ranks: maxima of M independent normal variables (Lober et al. 2026, eqs 8-12).

Plain numbers, no units, except where a mean and a standard deviation are passed: results then have their
unit.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from spikemark.core.fields import check_whole


@lru_cache(maxsize=1024)
def expected_maximum(m: int) -> float:
    """x_M, expected maximum of `m` standard normals, to 1e-9 (L26, eqs 8-9).

    By the trapezoidal rule around the median, which for such a density is as good as exact. Raises BadInput
    for a number below 1.
    """
    check_whole("m", m)
    middle = special.ndtri(0.5 ** (1 / m))
    x, step = np.linspace(middle - 12, middle + 12, 4801, retstep=True)
    density = m * np.exp((m - 1) * special.log_ndtr(x) - x**2 / 2) / math.sqrt(2 * math.pi)
    return float(step * x @ density) if m > 1 else 0.0


def interval_of_maxima(mean: float, sd: float, m: int, level: float = 0.99) -> tuple[float, float]:
    """Central interval that contains the maximum of `m` independent N(mean, sd^2) with probability `level`.

    By eq 12 the maximum is below the quantile q of one value with probability q^m; (1 - level) / 2 lies on
    each side.
    """
    tail = (1 - level) / 2
    low, high = (float(special.ndtri_exp(p / m)) for p in (math.log(tail), math.log1p(-tail)))
    return mean + sd * low, mean + sd * high
