"""What a partition method is given, and what it gives back.

A method places *pieces*: whole atoms, or equal parts of an atom that is too large for one rank.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from spikemark.network.placement_file import Placement

from .graph import Graph

State = dict[str, np.ndarray]  # has "rank" [pieces], the best so far; a method may keep more to go on from


@dataclass(frozen=True)
class Pieces:
    """Parts of atoms: part `part` of `of` equal ones of atom `atom`; all [Q], atoms ascending."""

    atom: np.ndarray
    part: np.ndarray
    of: np.ndarray

    @classmethod
    def cut(cls, of: np.ndarray) -> "Pieces":
        """Cuts atom a into of[a] parts."""
        atom = np.repeat(np.arange(len(of)), of)
        part = np.arange(len(atom)) - np.repeat(np.cumsum(of) - of, of)
        return cls(atom, part, of[atom])


@dataclass(frozen=True)
class Problem:
    """A graph whose pieces are to be placed on `ranks` ranks.

    `capacity` [ranks], of mean 1, says how much each rank shall have, in shares of the mean load of a rank.
    """

    graph: Graph
    ranks: int
    pieces: Pieces
    seed: int
    given: np.ndarray | None = None  # capacities; None: all ranks are equal

    @cached_property
    def capacity(self) -> np.ndarray:
        return np.ones(self.ranks) if self.given is None else self.given

    def rng(self, *more: int) -> np.random.Generator:
        """Random numbers that depend on the seed and on what else is given."""
        return np.random.default_rng([self.seed, *more])

    @cached_property
    def sizes(self) -> np.ndarray:
        """[Q] neurons."""
        p = self.pieces
        return self.ends(p.part + 1) - self.ends(p.part)

    def ends(self, part: np.ndarray) -> np.ndarray:
        """[Q] neurons of all units of the atom before that part."""
        g, p = self.graph, self.pieces
        unit_ends = np.zeros(len(part), np.int64)
        for row in _by_number(g.atom):  # first, second, … unit of every atom
            size = np.zeros(g.atoms, np.int64)
            size[g.atom[row]] = g.sizes[row]
            unit_ends += size[p.atom] * part // p.of
        return unit_ends

    def placement(self, rank: np.ndarray, method: str) -> Placement:
        """The placement of neurons when the pieces are on these ranks."""
        g, p = self.graph, self.pieces
        first_piece = np.searchsorted(p.atom, np.arange(g.atoms))
        parts = p.of[first_piece][g.atom]  # of each unit
        unit = np.repeat(np.arange(len(g.sizes)), parts)
        part = np.arange(len(unit)) - np.repeat(np.cumsum(parts) - parts, parts)
        end = g.first[unit] + g.sizes[unit] * (part + 1) // parts[unit]
        placed = Placement.of(self.ranks, end, rank[first_piece[g.atom[unit]] + part], method=method)
        return placed.merged().sharing(self.given)

    @cached_property
    def flow(self) -> sparse.csr_array:
        """[Q, Q] expected words per spike of all neurons of a piece, were every piece a rank of its own."""
        g, p = self.graph, self.pieces
        columns = sparse.csr_array(
            (g.sizes.astype(float), (g.column, g.atom)), shape=(g.miss.shape[1], g.atoms)
        )
        hits = (g.miss @ columns)[:, p.atom].tocsr()  # a part has its share of the draws
        hits.data /= p.of[hits.indices]
        hits.data = -np.expm1(-hits.data)
        of_units = sparse.csr_array(
            (g.sizes.astype(float), (g.atom, np.arange(len(g.atom)))), shape=(g.atoms, len(g.atom))
        )
        found = (of_units @ hits).tocsr()[p.atom]
        found = (sparse.diags_array(1 / p.of) @ found).tocsr()
        found.setdiag(0)
        found.eliminate_zeros()
        return found

    @cached_property
    def out(self) -> np.ndarray:
        """[Q] what each piece sends to all others, were every piece a rank of its own."""
        return self.flow.sum(axis=1)

    @cached_property
    def loads(self) -> np.ndarray:
        """[Q, 2] size and outgoing traffic, each as a share of the mean load of a rank."""
        both = np.c_[self.sizes, self.out].astype(float)
        sums = both.sum(axis=0)
        return both * self.ranks / np.where(sums > 0, sums, 1)


def _by_number(atom: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the first unit of every atom, then the second, …"""
    number = np.arange(len(atom)) - np.searchsorted(atom, atom)
    for k in range(int(number.max()) + 1):
        yield np.flatnonzero(number == k)


@dataclass(frozen=True)
class Method:
    """A way to place pieces.

    `place` yields ever better states and may go on from an earlier one; whoever asks may stop at any state.
    `cut` says into how many parts the atoms are cut. `direct`, where given, places neurons without pieces.
    `library` is what it needs besides our own packages. `weighted` says whether it heeds capacities, and
    `searches` whether it goes on and on, so that a time limit may end it.
    """

    name: str
    summary: str
    place: Callable[[Problem, State | None], Iterator[State]]
    cut: Callable[[Graph, int], np.ndarray] = field(default=lambda graph, ranks: large_ones(graph, ranks))
    direct: Callable[[Problem], Placement] | None = None
    library: str = ""
    weighted: bool = False
    searches: bool = False


def large_ones(graph: Graph, ranks: int) -> np.ndarray:
    """[A] parts: 1, but of an atom larger than the mean load of a rank, parts of a quarter of that load."""
    load = graph.atom_sizes * ranks / graph.neurons
    return np.where(load > 1 + 1e-9, np.ceil(4 * load - 1e-9), 1).astype(np.int64)


def fine(share: float) -> Callable[[Graph, int], np.ndarray]:
    """Parts of at most `share` of the mean load of a rank."""

    def cut(graph: Graph, ranks: int) -> np.ndarray:
        mean = share * graph.neurons / ranks
        return np.maximum(1, np.ceil(graph.atom_sizes / mean - 1e-9)).astype(np.int64)

    return cut


def once(place: Callable[[Problem], np.ndarray]) -> Callable[[Problem, State | None], Iterator[State]]:
    """A method that has one result and nothing to go on from."""

    def states(problem: Problem, earlier: State | None) -> Iterator[State]:
        yield {"rank": place(problem) if earlier is None else earlier["rank"]}

    return states


def in_sequence(loads: np.ndarray, ranks: int, capacity: np.ndarray | None = None) -> np.ndarray:
    """[Q] ranks of pieces that follow each other, cut where `loads` [Q] sum up to what ranks shall have.

    Every rank gets a piece where there are enough.
    """
    count = len(loads)
    middle = np.cumsum(loads) - loads / 2
    total = loads.sum()
    ends = np.cumsum(np.ones(ranks) if capacity is None else capacity)
    rank = (
        np.minimum(np.searchsorted(ends, middle / total * ends[-1], "right"), ranks - 1)
        if total > 0
        else np.zeros(count, int)
    )
    if count >= ranks:  # cut 1 … ranks - 1 lie one piece apart at least
        cuts = np.searchsorted(rank, np.arange(1, ranks))
        cuts = np.maximum.accumulate(cuts - np.arange(ranks - 1)) + np.arange(ranks - 1)
        cuts = np.maximum(cuts, np.arange(1, ranks))
        cuts = np.minimum(cuts, count - ranks + np.arange(1, ranks))
        rank = np.searchsorted(cuts, np.arange(count), "right")
    return rank


def unevenness_of(loads: np.ndarray, rank: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """[kinds] largest load of a rank over what it shall have, of `loads` [Q, kinds] in shares of the mean."""
    return np.array([(np.bincount(rank, kind, len(capacity)) / capacity).max() for kind in loads.T])
