"""Noise of ranks that drift."""

import numpy as np
from scipy.signal import lfilter

#: What may befall ranks, for `befallen`.
EVENTS = ("none", "one", "spell", "many")


def noise(random, ranks, cycles, correlation, white) -> np.ndarray:
    """Noise [rank, cycle] of variance 1: drift, of which a share is independent."""
    drift = random.standard_normal((ranks, cycles))
    drift[:, 1:] *= (1 - correlation**2) ** 0.5
    drift = lfilter([1], [1, -correlation], drift, axis=1)  # each cycle from the one before
    return (1 - white) ** 0.5 * drift + white**0.5 * random.standard_normal((ranks, cycles))


def befallen(random, times, rank, event) -> None:
    """An event of one rank, or interruptions of all."""
    cycles = times.shape[1]
    if event == "one":
        times[rank, int(random.integers(cycles))] += 0.3
    elif event == "spell":
        first = int(cycles * random.uniform(0.1, 0.7))
        times[rank, first : first + cycles // 8] *= 1.5
    elif event == "many":
        lost = random.random(times.shape) < 0.01
        times[lost] += random.uniform(2e-3, 12e-3, int(lost.sum()))
