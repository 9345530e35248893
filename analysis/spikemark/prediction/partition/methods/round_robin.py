"""Neurons dealt one by one to all ranks, as the mini-app's placement of that name does.

Where ranks have different weights, a population is cut between runs of equal ranks; each run deals its part.
"""

from collections.abc import Iterator

from spikemark.network.placement_file import Placement
from spikemark.network.placement_weights import dealt
from spikemark.prediction.partition.problem import Method, Problem, State


def _no_pieces(problem: Problem, earlier: State | None) -> Iterator[State]:
    raise NotImplementedError("round_robin deals neurons, not pieces")


def deal(problem: Problem) -> Placement:
    """Neuron k on rank k mod ranks; with weights, the same within each run of equal ranks."""
    if problem.given is None:
        return Placement.of(problem.ranks, [problem.graph.neurons], [0], [problem.ranks], [0], METHOD.name)
    columns = dealt(problem.graph.first, problem.graph.sizes, problem.capacity)
    return Placement.of(problem.ranks, *columns, METHOD.name).sharing(problem.given)


METHOD = Method(
    "round_robin", "neurons dealt one by one to all ranks", _no_pieces, direct=deal, weighted=True
)
