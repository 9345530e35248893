"""Calibrated values as leaves of a profile, and how far the repetitions of a value are apart.

The reference of such a leaf says only what is special about it; `profile_text` puts before it what holds for
all: the command, the date and the commit.
"""

from typing import Any

import numpy as np

from spikemark.machines.profile import Value
from spikemark.quantities.quantity import student

LEAST = 0.1  # share of the least measured value, since times and bandwidths are not expected to be 0
FEWEST = 3  # repetitions that give an interval


def measured(
    value: Any, unit: str | None, interval: tuple[float, float] | None = None, detail: str = ""
) -> Value:
    """A leaf of the profile: number, text (without a unit), or the rows of a table (ranks, bytes, us)."""
    return Value(value, unit, "measured", detail, interval)


def repeated(values: list[float], unit: str, detail: str = "") -> Value:
    """Median of `values`, at least one, and the interval in which 95 % of further repetitions fall.

    mean +- t sd sqrt(1 + 1/n), Student's t with n - 1 degrees of freedom (prediction interval of normal
    values), widened to contain all measured values, and not below a tenth of the smallest. It does not cover
    what these repetitions have in common but a second session would not, such as the place of memory.
    """
    x = np.asarray(values, dtype=float)
    median, n = float(np.median(x)), len(x)
    if n < FEWEST:
        return measured(median, unit, None, detail)
    half = student(n - 1) * float(x.std(ddof=1) * np.sqrt(1 + 1 / n))
    low, high = min(float(x.mean()) - half, float(x.min())), max(float(x.mean()) + half, float(x.max()))
    return measured(median, unit, (max(low, LEAST * float(x.min())), high), detail)
