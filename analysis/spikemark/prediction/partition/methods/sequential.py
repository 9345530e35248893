"""Atoms in the order of their numbers, cut so that ranks have nearly equal numbers of neurons."""

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, in_sequence, once


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks, ascending."""
    return in_sequence(problem.sizes, problem.ranks, problem.given)


METHOD = Method(
    "sequential", "voxels or areas in the order of their numbers, cut by neurons", once(place), weighted=True
)
