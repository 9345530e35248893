"""How many independent ranks the slowest of M ranks behaves like (Lober et al. 2026, eq 12, turned round).

Eq 12 rests on P(max <= x) = F(x)^M for M independent ranks. Ranks that are slow together have a maximum like
that of fewer ranks. The number that fits is the extremal coefficient of the ranks (Schlather and Tawn 2003,
doi 10.1093/biomet/90.1.139): every time is replaced by the share V of its own rank's times that are not
longer, which removes lasting differences between ranks and the shape of their distributions. The largest V
of a window then has the distribution v^M for M independent ranks, so -ln V has the mean 1 / M.
"""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models import statistics
from spikemark.quantities.quantity import Quantity, student

from . import series

FEWEST_WINDOWS = 20
MOST_VALUES = 5000  # of the series whose mean is taken


def independent_ranks(times: np.ndarray) -> Quantity:
    """How many independent ranks have maxima like those of `times` [rank, window], any unit.

    1 means that the ranks vary as one. The interval is that of the mean of -ln V, a series in time, and is
    also valid for correlated windows. Raises BadInput for one rank, for fewer than FEWEST_WINDOWS windows and
    for a rank whose times do not vary.
    """
    array = statistics.times(times)
    ranks, windows = array.shape
    if ranks < 2 or windows < FEWEST_WINDOWS:
        raise BadInput(
            f"{ranks} ranks, {windows} windows: needs at least 2 ranks and {FEWEST_WINDOWS} windows"
        )
    if (np.ptp(array, axis=1) == 0).any():
        raise BadInput("the times of a rank do not vary, so they depend on no other rank's")
    largest = np.zeros(windows)
    for own in array:
        np.maximum(largest, _ranks(own) - 0.5, out=largest)
    batch = max(1, windows // MOST_VALUES)  # means of neighbours: as good for the mean, and faster
    mean = series.mean(statistics.lump(-np.log(largest / windows), batch) / batch)
    half = student(mean.degrees) * mean.error / mean.value  # of the logarithm, which is steadier
    value = 1 / mean.value
    low, high = (float(value * np.exp(end)) for end in (-half, half))
    return Quantity(value, low, high, kind="modelled")


def _ranks(values: np.ndarray) -> np.ndarray:
    """The rank of every value among all, from 1; equal ones have the mean of theirs. The shape is [value]."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return (ends[0] + ends[1] + 1) / 2
