"""A calibrated value and how far repetitions of it lie apart."""

from dataclasses import dataclass

import numpy as np
from scipy import special

LEVEL = 0.95
LEAST = 0.1  # of the least that was measured: times and bandwidths above 0 are not expected to be 0
FEWEST = 3  # repetitions of which an interval can be told


@dataclass(frozen=True)
class Value:
    """One leaf of the profile. `interval`: where one more repetition is expected; None where not repeated.

    `value` is the median of the repetitions, a text or a count; `detail` says more than the reference does.
    """

    value: float | int | str
    unit: str | None  # None: of a text
    interval: tuple[float, float] | None = None
    detail: str = ""


@dataclass(frozen=True)
class Table:
    """Rows (ranks, bytes, us) of an exchange; `detail` as in Value."""

    rows: list[tuple[int, int, float]]
    detail: str


def repeated(values: list[float], unit: str, detail: str = "") -> Value:
    """Median of `values`, at least one, and the interval in which 95 % of further repetitions fall.

    mean +- t sd sqrt(1 + 1/n), Student's t with n - 1 degrees of freedom (prediction interval of normal
    values), widened to hold all that were measured, and not below a tenth of the least. What a second session
    has in common with none of these repetitions, such as the place of memory, is not in it.
    """
    x = np.asarray(values, dtype=float)
    median, n = float(np.median(x)), len(x)
    if n < FEWEST:
        return Value(median, unit, None, detail)
    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2) * x.std(ddof=1) * np.sqrt(1 + 1 / n))
    low, high = min(float(x.mean()) - half, float(x.min())), max(float(x.mean()) + half, float(x.max()))
    return Value(median, unit, (max(low, LEAST * float(x.min())), high), detail)
