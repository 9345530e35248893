"""KaHIP on expected traffic (`kahip`): least traffic between ranks, with balanced loads."""

import numpy as np

from spikemark.prediction.partition import library
from spikemark.prediction.partition.problem import Method, Problem, once

IMBALANCE = 0.03


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks. Raises BadInput where the library is absent."""
    kahip = library.load("kahip", "kahip")
    edges, loads = library.symmetric(problem)
    given = (library.ints(part) for part in (loads, edges.indptr, edges.data, edges.indices))
    quietly, fast = True, 0
    _, rank = kahip.kaffpa(*given, problem.ranks, IMBALANCE, quietly, problem.seed % 2**31, fast)
    return np.array(rank, np.int64)


METHOD = Method("kahip", "KaHIP on expected traffic", once(place), library="kahip")
