"""A space-filling curve (Morton order) through the places of the atoms, cut by traffic."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction.partition.problem import Method, Problem, in_sequence, once

BITS = 16  # of each coordinate


def morton(places: np.ndarray) -> np.ndarray:
    """[A] position on the curve: the bits of the three coordinates in turn."""
    low, high = places.min(axis=0), places.max(axis=0)
    cells = ((places - low) / np.where(high > low, high - low, 1) * (2**BITS - 1)).astype(np.uint64)
    found = np.zeros(len(places), np.uint64)
    for bit in range(BITS):
        for axis in range(3):
            found |= (cells[:, axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return found


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks. Raises BadInput for a graph that does not say where its atoms lie."""
    if problem.graph.places is None:
        raise BadInput("method='space_filling': the graph does not say where its areas lie; take sequential")
    order = np.argsort(morton(problem.graph.places)[problem.pieces.atom], kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = in_sequence(problem.loads.max(axis=1)[order], problem.ranks, problem.given)
    return rank


METHOD = Method(
    "space_filling", "along a space-filling curve through the voxels, cut by load", once(place), weighted=True
)
