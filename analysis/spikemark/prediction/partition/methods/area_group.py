"""Areas or voxels on ranks in proportion to their size, small ones together, as the mini-app's `area_group`.

Where ranks have different weights, areas keep their order, and an area on several ranks is cut between them.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.network import placement_weights
from spikemark.network.placement import grouped
from spikemark.network.placement_file import Placement
from spikemark.prediction.partition.problem import Method, Problem, State


def _no_pieces(problem: Problem, earlier: State | None) -> Iterator[State]:
    raise NotImplementedError("area_group deals neurons, not pieces")


def deal(problem: Problem) -> Placement:
    """Each area on its ranks, as many as its size needs."""
    graph, sizes = problem.graph, problem.graph.atom_sizes
    if problem.given is None:
        spans = grouped(tuple(sizes.tolist()), problem.ranks)
    else:
        spans = placement_weights.area_group(sizes, problem.capacity)
    of_unit = np.array(spans)[graph.atom]
    made = placement_weights.spread(graph.sizes, of_unit, problem.capacity, METHOD.name)
    return made.sharing(problem.given)


METHOD = Method(
    "area_group",
    "areas on ranks in proportion to their size, small ones together",
    _no_pieces,
    direct=deal,
    weighted=True,
)
