"""Largest first: each piece, in descending order, to the rank with the least load (LPT).

Atoms are cut into parts of at most a quarter of a rank's mean load. A load is the larger of two shares of
the mean: neurons, and outgoing traffic.
"""

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, fine, once

SHARE = 0.25


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks."""
    loads = problem.loads
    sums = np.zeros((problem.ranks, 2))
    rank = np.empty(len(loads), np.int64)
    for v in np.argsort(-loads.max(axis=1), kind="stable"):
        rank[v] = ((sums + loads[v]).max(axis=1) / problem.capacity).argmin()
        sums[rank[v]] += loads[v]
    return rank


METHOD = Method(
    "largest_first",
    "largest first to the emptiest rank; large voxels are split",
    once(place),
    fine(SHARE),
    weighted=True,
)
