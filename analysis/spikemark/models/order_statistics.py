"""The slowest of M ranks: maxima of M independent normal variables (Lober et al. 2026, eqs 8-12).

Plain numbers without units, except where a mean and a standard deviation are passed: results then
have their unit.
"""

import math
from functools import lru_cache

import numpy as np

from spikemark.core.fields import check_whole


@lru_cache(maxsize=1024)
def expected_maximum(m: int) -> float:
    """Expected maximum x_M of M standard normal variables (L26, eqs 8-9), to 1e-9.

    x_M is the integral of x M Phi(x)^(M-1) phi(x) over x. The trapezoidal rule around the median is
    as good as exact for such a density.

    Args:
        m: number of variables, M.

    Raises:
        BadInput: for a number below 1.

    Example:
        The larger of two has the mean 1 / sqrt(pi).

        >>> round(expected_maximum(2), 6) == round(1 / math.sqrt(math.pi), 6)
        True
    """
    from scipy import special

    check_whole("m", m)
    if m == 1:
        return 0.0
    median = special.ndtri(0.5 ** (1 / m))
    x, step = np.linspace(median - 12, median + 12, 4801, retstep=True)
    density = m * np.exp((m - 1) * special.log_ndtr(x) - x**2 / 2) / math.sqrt(2 * math.pi)
    return float(step * x @ density)


def interval_of_maxima(mean: float, sd: float, m: int, level: float = 0.99) -> tuple[float, float]:
    """Central interval that holds the maximum of M normal variables with a probability.

    By L26, eq 12 the maximum is below the quantile q of one variable with probability q^M;
    (1 - level) / 2 lies on each side.

    Args:
        mean: mean of each variable.
        sd: standard deviation of each variable, in the unit of the mean.
        m: number of variables, M.
        level: probability of the interval.

    Returns:
        Lower and upper limit, in the unit of the mean.

    Example:
        >>> low, high = interval_of_maxima(mean=0.0, sd=1.0, m=1, level=0.95)
        >>> round(low, 2), round(high, 2)
        (-1.96, 1.96)
    """
    from scipy import special

    tail = (1 - level) / 2
    low = float(special.ndtri_exp(math.log(tail) / m))
    high = float(special.ndtri_exp(math.log1p(-tail) / m))
    return mean + sd * low, mean + sd * high
