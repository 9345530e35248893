"""Noise of ranks that drift."""

import numpy as np
from scipy.signal import lfilter


def noise(random, ranks, cycles, correlation, white) -> np.ndarray:
    """Noise [rank, cycle] of variance 1: drift, of which a share is independent."""
    drift = random.standard_normal((ranks, cycles))
    drift[:, 1:] *= (1 - correlation**2) ** 0.5
    drift = lfilter([1], [1, -correlation], drift, axis=1)  # each cycle from the one before
    return (1 - white) ** 0.5 * drift + white**0.5 * random.standard_normal((ranks, cycles))
