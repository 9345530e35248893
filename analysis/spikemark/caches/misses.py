"""Counted cache misses per synaptic event over the share of first accesses (Lober et al. 2026, 2.3)."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import student

FEWEST = 3  # different shares, so that a line can fail to fit


@dataclass(frozen=True)
class Line:
    """Misses per event = `following` + `first` x share, each with the half width of its 95 % interval.

    `first`: misses that a first access has more than any synapse; `following`: of a synapse as such.
    """

    first: float
    first_half: float
    following: float
    following_half: float
    correlation: float


def fit(shares: np.ndarray, misses: np.ndarray) -> Line:
    """Least squares; `shares` and `misses` per synaptic event, one of each per run.

    Raises BadInput for fewer than three different shares.
    """
    from scipy.stats import linregress

    shares, misses = np.asarray(shares, dtype=float), np.asarray(misses, dtype=float)
    different = len(np.unique(np.round(shares, 12)))
    if different < FEWEST:
        raise BadInput(
            f"share of first accesses: {different} different values; a line needs {FEWEST} or more"
        )
    found = linregress(shares, misses)
    t = student(len(shares) - 2)
    values = (found.slope, t * found.stderr, found.intercept, t * found.intercept_stderr, found.rvalue)
    return Line(*map(float, values))
