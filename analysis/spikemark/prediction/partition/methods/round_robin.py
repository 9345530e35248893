"""Neurons dealt one by one to all ranks, as the mini-app's placement of that name does.

Where ranks have different weights, a population is cut between runs of equal ranks; each run deals its part.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.network.placement_file import Placement
from spikemark.prediction.partition.problem import Method, Problem, State


def _no_pieces(problem: Problem, earlier: State | None) -> Iterator[State]:
    raise NotImplementedError("round_robin deals neurons, not pieces")


def deal(problem: Problem) -> Placement:
    """Neuron k on rank k mod ranks; with weights, the same within each run of equal ranks."""
    if problem.given is None:
        return Placement.of(problem.ranks, [problem.graph.neurons], [0], [problem.ranks], [0], METHOD.name)
    g, run = problem.graph, np.flatnonzero(np.diff(problem.capacity, prepend=np.nan) != 0)  # first ranks
    shares = np.add.reduceat(problem.capacity, run).cumsum() / problem.ranks
    # neurons of a unit on the runs so far, [U, runs]: rounded so that errors of many units do not add up
    before, after = (np.rint(np.multiply.outer(at, shares)) for at in (g.first, g.first + g.sizes))
    dealt = np.maximum.accumulate(after - before, axis=1).astype(np.int64).clip(0, g.sizes[:, None])
    end = g.first[:, None] + dealt
    end[:, -1] = g.first + g.sizes
    starts = np.c_[g.first, end[:, :-1]]
    turn = np.cumsum(end - starts, axis=0) - (end - starts)  # neurons of earlier units on the run
    over = np.broadcast_to(np.diff(run, append=problem.ranks), end.shape)
    columns = np.broadcast_to(run, end.shape), over, starts - turn % over
    ends, *others = (column.ravel() for column in (end, *columns))
    return Placement.of(problem.ranks, ends, *others, METHOD.name).sharing(problem.given)


METHOD = Method(
    "round_robin", "neurons dealt one by one to all ranks", _no_pieces, direct=deal, weighted=True
)
