"""The longest stretch of cycles in which no rank was interrupted: the cycles that are worth comparing."""

import numpy as np

LONG = 3.0  # times the median of a rank's compute times; a rank that loses its core is away for much longer


def quiet(compute: np.ndarray) -> tuple[int, int]:
    """First cycle and number of cycles of the longest stretch without a long cycle of any rank.

    `compute` [rank, cycle]; of two equally long stretches, the first. (0, 0) if every cycle has a long one.
    """
    usual = LONG * np.median(compute, axis=1, keepdims=True)
    long = np.flatnonzero((compute > usual).any(axis=0))
    first = np.concatenate([[0], long + 1])
    lengths = np.concatenate([long, [compute.shape[1]]]) - first
    best = int(lengths.argmax())
    return (int(first[best]), int(lengths[best])) if lengths[best] > 0 else (0, 0)
