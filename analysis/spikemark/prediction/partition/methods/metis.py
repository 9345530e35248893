"""METIS on expected traffic (`pymetis`): least traffic between ranks, with balanced loads."""

import numpy as np

from spikemark.prediction.partition import library
from spikemark.prediction.partition.problem import Method, Problem, once


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks. Raises BadInput where the library is absent."""
    pymetis = library.load("pymetis", "metis")
    edges, loads = library.symmetric(problem)
    options = pymetis.Options(seed=problem.seed % 2**31)
    _, rank = pymetis.part_graph(
        problem.ranks,
        xadj=edges.indptr.astype(np.int32),
        adjncy=edges.indices,
        vweights=library.ints(loads),
        eweights=library.ints(edges.data),
        options=options,
    )
    return np.array(rank, np.int64)


METHOD = Method("metis", "METIS on expected traffic", once(place), library="pymetis")
