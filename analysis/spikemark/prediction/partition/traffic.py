"""Expected traffic between ranks, exactly, without a network: from probabilities of having a synapse.

T[s, r] = sum_u n[u, s] h[u, r] counts pairs of a neuron on rank s and another rank r that has a synapse of
it. That is the number of routes that the mini-app makes. Each pair costs one word for every spike.
Connections are pairs of ranks that any word can pass.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.network.placement_file import Placement

from .graph import Graph
from .placement import per_unit

WORD = 4  # bytes


class Hits:
    """Where the neurons of a placed graph have synapses, kept for many questions about sets of ranks."""

    def __init__(self, graph: Graph, placement: Placement) -> None:
        self.graph, self.ranks = graph, placement.ranks
        check_memory(placement.ranks)
        self.there, self.kind = per_unit(placement, graph)  # [U, classes], [ranks]
        columns = sparse.csr_array(
            (np.ones(len(graph.column)), (graph.column, np.arange(len(graph.column)))),
            shape=(graph.miss.shape[1], len(graph.column)),
        )
        self.miss = (graph.miss @ (columns @ self.there)).tocsr()  # [U, classes]

    @cached_property
    def members(self) -> sparse.csr_array:
        """[classes, ranks] the ranks of every class."""
        at = (self.kind, np.arange(self.ranks))
        return sparse.csr_array((np.ones(self.ranks), at), shape=(self.there.shape[1], self.ranks))

    def onto(self, sets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Expected neurons of each rank with a synapse in each set, [ranks, sets].

        `sets` [ranks] is the number of the set that a rank belongs to. `weight` [U] multiplies the neurons.
        """
        count = int(sets.max()) + 1
        at = (np.arange(self.ranks), sets)
        grouped = self.members @ sparse.csr_array((np.ones(self.ranks), at), shape=(self.ranks, count))
        return self._times(_hits(self.miss @ grouped), weight)[self.kind]

    def between(self, weight: np.ndarray | None = None) -> np.ndarray:
        """T [ranks, ranks] with zeros on the diagonal; `weight` as above."""
        found = self._times(_hits(self.miss), weight)
        if len(found) < self.ranks:
            found = found[self.kind][:, self.kind]
        np.fill_diagonal(found, 0)
        return found

    def links(self, weight: np.ndarray | None = None) -> sparse.csr_array:
        """The same as `between`, without its zeros: for many ranks that send to few others each."""
        if self.there.shape[1] < self.ranks:
            return sparse.csr_array(self.between(weight))
        found = self._product(_hits(self.miss), weight)
        found.setdiag(0)
        found.eliminate_zeros()
        return found

    def _times(self, hits: sparse.csr_array, weight: np.ndarray | None) -> np.ndarray:
        return self._product(hits, weight).toarray()

    def _product(self, hits: sparse.csr_array, weight: np.ndarray | None) -> sparse.csr_array:
        there = self.there if weight is None else sparse.diags_array(weight) @ self.there
        return (there.T.tocsr() @ hits).tocsr()


def _hits(miss: sparse.csr_array) -> sparse.csr_array:
    found = miss.tocsr(copy=True)
    np.expm1(np.negative(found.data), out=found.data)
    np.negative(found.data, out=found.data)
    return found


def check_memory(ranks: int) -> None:
    """Raises BadInput for so many ranks that a matrix of all their pairs does not fit into memory."""
    memory.check(4 * 8 * ranks**2, f"ranks={ranks}: a matrix of all pairs of ranks")


@dataclass(frozen=True)
class Traffic:
    """Traffic of a placed graph without levels; `pairs` counts routes, `words` are words per cycle."""

    pairs: np.ndarray  # [ranks, ranks] T
    words: np.ndarray  # [ranks, ranks]
    neurons: np.ndarray  # [ranks]
    cycle_ms: float

    @property
    def sent(self) -> np.ndarray:
        """[ranks] routes that start on each rank: what is called traffic."""
        return self.pairs.sum(axis=1)

    @property
    def received(self) -> np.ndarray:
        return self.pairs.sum(axis=0)

    def partners(self, least: float = 0.0, cycles: int = 1) -> np.ndarray:
        """[ranks] other ranks to which a rank sends anything, or at least `least` words in so many cycles."""
        found = self.pairs > 0 if least == 0 else self.words * cycles >= least
        return found.sum(axis=1)


def expected(graph: Graph, placement: Placement) -> Traffic:
    """The traffic of a placed graph. Raises BadInput where it does not fit into memory."""
    return of_hits(Hits(graph, placement), placement)


def of_hits(hits: Hits, placement: Placement) -> Traffic:
    """The same, of hits that were computed before."""
    graph = hits.graph
    per_cycle = 1e-3 * graph.cycle_ms * graph.rates_hz
    pairs = hits.between()
    even = np.ptp(per_cycle) == 0
    words = pairs * per_cycle[0] if even else hits.between(per_cycle)
    return Traffic(pairs, words, placement.per_rank, graph.cycle_ms)


def peak(loads: np.ndarray) -> float:
    """The largest load."""
    return float(loads.max())


def unevenness(loads: np.ndarray) -> float:
    """Largest over mean load; 1 where there is none."""
    mean = loads.mean()
    return float(loads.max() / mean) if mean > 0 else 1.0
