"""Expected traffic between ranks, exactly and without drawing a network.

T[s, r] = sum_u n[u, s] h[u, r], r != s, counts *routes*: pairs of a neuron on rank s and another rank r that
has a synapse of it. The mini-app sends one word along each route for every spike. h is the probability of
graph.py. The peak of a placement is the largest number of routes that begin on a rank (Du et al. 2022).
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.network import pools
from spikemark.network.placement_file import Placement

from .graph import Graph
from .routing import Grid, Hop

MOST_COUNTED = 5_000_000  # dealt (unit, rank) pairs up to which neurons are counted one by one


class Traffic:
    """What the ranks of a placed graph send each other, as expectations over all networks of the graph.

    Raises BadInput where a matrix of all pairs of ranks does not fit into memory.
    """

    def __init__(self, graph: Graph, placement: Placement) -> None:
        self.graph, self.placement, self.ranks = graph, placement, placement.ranks
        memory.check(4 * 8 * self.ranks**2, f"ranks={self.ranks}: a matrix of all pairs of ranks")
        alike, columns = (placement.over == self.ranks).all(), graph.misses.shape[1]
        if alike and len(graph.sizes) * self.ranks > MOST_COUNTED:
            self.there = sparse.csr_array((graph.sizes / self.ranks)[:, np.newaxis])  # [U, 1]
        else:
            self.there = placement.counts(graph.sizes)  # [U, ranks]
        self.unmet = (graph.misses @ (_members(graph.column, columns).T @ self.there)).tocsr()  # as `there`

    def onto(self, sets: np.ndarray | None = None, weight: np.ndarray | None = None) -> np.ndarray:
        """Expected neurons of each rank with a synapse in each set, [ranks, sets].

        `sets` [ranks] is the number of the set that a rank belongs to; None: each other rank is one. `weight`
        [U] multiplies the neurons.
        """
        unmet, there = self.unmet, self.there
        if sets is not None:
            alike, sizes = there.shape[1] < self.ranks, np.bincount(sets)
            unmet = unmet @ (sparse.csr_array(sizes[np.newaxis]) if alike else _members(sets, len(sizes)))
        if weight is not None:
            there = sparse.diags_array(weight) @ there
        found = pools.needed(there.tocsc(), unmet).toarray()
        found = np.array(np.broadcast_to(found, (self.ranks, self.ranks if sets is None else len(sizes))))
        if sets is None:
            np.fill_diagonal(found, 0)
        return found

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
        alike = np.ptp(self.per_cycle) == 0
        return self.pairs * self.per_cycle[0] if alike else self.onto(weight=self.per_cycle)

    @property
    def sent(self) -> np.ndarray:
        """[ranks] routes that begin on each rank: its traffic."""
        return self.pairs.sum(axis=1)

    @property
    def partners(self) -> np.ndarray:
        """[ranks] others to which a rank sends anything."""
        return (self.pairs > 0).sum(axis=1)

    def hops(self, grid: Grid, merged: bool = False, cycles: int | None = None) -> list[Hop]:
        """What ranks send in every hop: routes, or words in so many cycles."""
        pairs = self.pairs if cycles is None else cycles * self.words
        weight = None if cycles is None else cycles * self.per_cycle
        return grid.hops(pairs, (lambda sets: self.onto(sets, weight)) if merged else None)


def _members(number: np.ndarray, sets: int) -> sparse.csr_array:
    """[things, sets]: 1 for the set that each thing is in."""
    return sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)), (len(number), sets))
