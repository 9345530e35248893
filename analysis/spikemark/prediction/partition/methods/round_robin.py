"""Neurons dealt one by one to all ranks, as the mini-app's placement of that name does."""

from collections.abc import Iterator

from spikemark.network.placement_file import Placement
from spikemark.prediction.partition.problem import Method, Problem, State


def _no_pieces(problem: Problem, earlier: State | None) -> Iterator[State]:
    raise NotImplementedError("round_robin deals neurons, not pieces")


def deal(problem: Problem) -> Placement:
    """Neuron k on rank k mod ranks."""
    return Placement.of(problem.ranks, [problem.graph.neurons], [0], [problem.ranks], [0], "round_robin")


METHOD = Method("round_robin", "neurons dealt one by one to all ranks", _no_pieces, direct=deal)
