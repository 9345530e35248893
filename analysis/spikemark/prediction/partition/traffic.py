"""Expected traffic between ranks, exactly and without drawing a network.

T[s, r] = sum_u n[u, s] h[u, r], r != s, counts *routes*: pairs of a neuron on rank s and another
rank r that has a synapse of it. The mini-app sends one word along each route for every spike. h is
the probability of graph.py. The peak of a placement is the largest number of routes that begin on a
rank (Du et al. 2022).

A matrix of all pairs of ranks takes 8 bytes for each pair.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.network import pools
from spikemark.network.placement_file import Placement

from .graph import Graph
from .routing import Grid, Hop

MAX_COUNTED = 5_000_000  #: dealt (unit, rank) pairs up to which neurons are counted one by one


class ExpectedTraffic:
    """What the ranks of a placed graph send each other, as expectations over all networks of the
    graph.

    Raises BadInput where a matrix of all pairs of ranks does not fit into memory.

    Attributes:
        graph: the graph.
        placement: which rank holds which of its neurons.
        ranks: number of ranks.
        ranks_alike: whether neurons are dealt so that all ranks have expectations alike, and one
            column stands for all of them.
        there: [unit, rank], neurons of each unit; [unit, 1] where ranks are alike.
        unmet: as `there`: log of the probability that a neuron of the unit has no synapse there.
    """

    def __init__(self, graph: Graph, placement: Placement) -> None:
        self.graph = graph
        self.placement = placement
        self.ranks = placement.ranks
        memory.check(4 * 8 * self.ranks**2, f"ranks={self.ranks}: a matrix of all pairs of ranks")
        dealt_to_all = bool((placement.over == self.ranks).all())
        self.ranks_alike = dealt_to_all and len(graph.sizes) * self.ranks > MAX_COUNTED
        if self.ranks_alike:
            self.there = sparse.csr_array((graph.sizes / self.ranks)[:, np.newaxis])
        else:
            self.there = placement.counts(graph.sizes)
        columns = graph.misses.shape[1]
        in_column = _members(graph.column, columns).T @ self.there
        self.unmet = (graph.misses @ in_column).tocsr()

    def onto(self, sets: np.ndarray | None = None, weight: np.ndarray | None = None) -> np.ndarray:
        """Expected neurons of each rank with a synapse in each set, [ranks, sets].

        Args:
            sets: [rank], the number of the set that a rank belongs to; None: each other rank is
                one.
            weight: [unit], multiplies the neurons.
        """
        unmet = self.unmet
        number = self.ranks
        if sets is not None:
            sizes = np.bincount(sets)
            number = len(sizes)
            if self.ranks_alike:
                unmet = unmet @ sparse.csr_array(sizes[np.newaxis])
            else:
                unmet = unmet @ _members(sets, number)
        there = self.there
        if weight is not None:
            there = (sparse.diags_array(weight) @ there).tocsr()
        needed = pools.neurons_with_targets(there.tocsc(), unmet).toarray()
        onto = np.array(np.broadcast_to(needed, (self.ranks, number)))
        if sets is None:
            np.fill_diagonal(onto, 0)
        return onto

    @cached_property
    def pairs(self) -> np.ndarray:
        """T, routes from rank to rank, [ranks, ranks]."""
        return self.onto()

    @cached_property
    def per_cycle(self) -> np.ndarray:
        """[U] spikes of a neuron in a cycle."""
        return 1e-3 * self.graph.cycle_ms * self.graph.rates_hz

    @cached_property
    def words(self) -> np.ndarray:
        """Words per cycle from rank to rank, [ranks, ranks]."""
        if np.ptp(self.per_cycle) == 0:
            words: np.ndarray = self.pairs * self.per_cycle[0]
            return words
        return self.onto(weight=self.per_cycle)

    @property
    def sent(self) -> np.ndarray:
        """[ranks] routes that begin on each rank: its traffic."""
        routes: np.ndarray = self.pairs.sum(axis=1)
        return routes

    @property
    def partners(self) -> np.ndarray:
        """[ranks] others to which a rank sends anything."""
        partners: np.ndarray = (self.pairs > 0).sum(axis=1)
        return partners

    def hops(self, grid: Grid, merged: bool = False, cycles: int | None = None) -> list[Hop]:
        """What ranks send in every hop: routes, or words in so many cycles."""
        if cycles is None:
            pairs, weight = self.pairs, None
        else:
            pairs, weight = cycles * self.words, cycles * self.per_cycle

        def onto_sets(sets: np.ndarray) -> np.ndarray:
            return self.onto(sets, weight)

        return grid.hops(pairs, onto_sets if merged else None)


def _members(number: np.ndarray, sets: int) -> sparse.csr_array:
    """[things, sets]: 1 for the set that each thing is in."""
    count = len(number)
    return sparse.csr_array((np.ones(count), (np.arange(count), number)), (count, sets))
