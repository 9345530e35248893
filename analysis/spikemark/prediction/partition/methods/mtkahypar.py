"""Mt-KaHyPar on expected traffic (`mtkahypar`): a hyperedge is a voxel with the voxels that need it.

A net is cut once for every further rank that it reaches (connectivity - 1), which is what a spike costs. Its
weight is the expected traffic of the voxel by the number of voxels that it reaches.
"""

import os

import numpy as np

from spikemark.prediction.partition import library
from spikemark.prediction.partition.problem import Method, Problem, in_sequence, once

IMBALANCE = 0.03


def place(problem: Problem) -> np.ndarray:
    """[Q] ranks. Raises BadInput where the library is absent."""
    mtkahypar = library.load("mtkahypar", "mtkahypar")
    flow = problem.flow
    _, loads = library.symmetric(problem)
    nets, weights = [], []
    for v in range(len(loads)):
        pins = flow.indices[flow.indptr[v] : flow.indptr[v + 1]]
        if len(pins):
            nets.append(sorted({v, *library.ints(pins)}))
            weights.append(problem.out[v] / len(pins))
    if not nets:  # nothing is sent, so only the loads count
        return in_sequence(problem.loads.max(axis=1), problem.ranks)
    most = max(weights) or 1.0
    weights = np.maximum(1, np.rint(np.array(weights) / most * library.MOST_WEIGHT)).astype(int)
    start = mtkahypar.initialize(os.cpu_count() or 1)
    context = start.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(problem.ranks, IMBALANCE, mtkahypar.Objective.KM1)
    mtkahypar.set_seed(problem.seed % 2**31)
    graph = start.create_hypergraph(
        context, len(loads), len(nets), nets, library.ints(loads), library.ints(weights)
    )
    divided = graph.partition(context)
    return np.array([divided.block_id(v) for v in range(len(loads))], np.int64)


METHOD = Method("mtkahypar", "Mt-KaHyPar on nets of voxels", once(place), library="mtkahypar")
