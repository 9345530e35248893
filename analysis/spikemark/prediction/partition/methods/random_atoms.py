"""Atoms in random order, as many on every rank as possible: what Du et al. must mean by a random partition.

Random neurons could not fluctuate: a rank has millions of them.
"""

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, once


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks; numbers of pieces differ by one at most."""
    count = len(problem.sizes)
    rank = np.empty(count, np.int64)
    rank[problem.rng().permutation(count)] = np.arange(count) * problem.ranks // count
    return rank


METHOD = Method("random", "voxels or areas in random order, equally many on each rank", once(place))
