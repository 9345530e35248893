"""What the text of Du et al. says: voxels join the rank with which they exchange most and that has room.

Voxels are placed in the order of their traffic, the largest first. A rank has room up to `ROOM` of the mean
load, in neurons and in outgoing traffic. A voxel that fits nowhere goes to the emptiest rank.
"""

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, once

ROOM = 1.05


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks."""
    loads, ranks = problem.loads, problem.ranks
    both = (problem.flow + problem.flow.T).tocsr()
    rank = np.full(len(loads), -1)
    sums = np.zeros((ranks, 2))
    for v in np.argsort(-loads.max(axis=1), kind="stable"):
        row = slice(both.indptr[v], both.indptr[v + 1])
        there = rank[both.indices[row]]
        pull = np.bincount(there[there >= 0], both.data[row][there >= 0], ranks)
        after = (sums + loads[v]).max(axis=1) / problem.capacity
        fits = after <= ROOM
        best = np.where(fits, pull, -1).argmax()
        if not fits[best] or pull[best] <= 0:  # a new seed, or the one with the most room
            best = after.argmin()
        rank[v] = best
        sums[best] += loads[v]
    return rank


METHOD = Method(
    "greedy_affinity",
    "each voxel to the rank that it exchanges most with (text of Du et al.)",
    once(place),
    weighted=True,
)
