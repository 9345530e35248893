"""Partition methods: which rank holds which neurons. A method is a function and a row of METHODS.

Methods place the *pieces* of a Problem: whole atoms (areas, voxels), or equal parts of one that is
larger than a rank. All but round_robin and area_group look at one cost: the fullness of a rank,
which is the larger of its share of neurons and its share of outgoing traffic, over what it shall
have. Those of Du et al. (2022, "A low-latency communication design for brain simulations") are
`greedy_affinity`, their algorithm 1 as printed, `greedy_swap`, what their public code does, and
`genetic`, with which they compare.

To add a method, write a function that takes a Problem and returns the rank of each piece, and give
it a row. greedy_affinity costs pieces times ranks, greedy_swap up to MAX_SWAPS times the pieces of
32 ranks, genetic GENERATIONS times pieces.
"""

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput, unknown_name
from spikemark.network import pools
from spikemark.network.placement import ranges
from spikemark.network.placement_file import Placement
from spikemark.network.placement_text import text_of

from .graph import Graph

AFFINITY_ROOM = 1.05  #: of greedy_affinity: the most fullness of a rank
SWAP_THRESHOLD = 1.002  #: of greedy_swap: fullness of the fullest rank at which it ends
SWAP_RANKS = 32  #: of greedy_swap: so many of the fullest and of the emptiest ranks are looked at
MAX_SWAPS = 200_000  #: of greedy_swap
LESS_FULL = 1e-9  #: of greedy_swap: by how much a change has to make the fuller rank less full
PERMUTATIONS = 100  #: of genetic: its population
GENERATIONS = 20_000  #: of genetic, at most
STALE_GENERATIONS = 2_000  #: of genetic: it ends after so many that bring nothing
PAIRS_EXCHANGED = 2  #: of genetic: pairs that a mutation exchanges
LARGEST_WEIGHT = 10_000  #: of an edge or a vertex: libraries take whole numbers
KAHIP_IMBALANCE = 0.03


class Piece(NamedTuple):
    """Parts of units, in the order of neurons: numbers [part] of each."""

    piece: np.ndarray  #: the piece that a part belongs to
    unit: np.ndarray
    neurons: np.ndarray


class Problem:
    """A graph whose Q pieces are to be placed on ranks.

    Atoms larger than the smallest rank have parts of a quarter of it.

    Args:
        graph: what is placed.
        ranks: number of ranks.
        seed: of methods that draw.
        weights: [rank], how much each rank shall have, in any unit; None: all the same.

    Attributes:
        equal: whether all ranks shall have the same.
        capacity: [rank], how much each rank shall have; the mean is 1.
        parts: [atom], into how many pieces each atom is cut.
    """

    def __init__(
        self, graph: Graph, ranks: int, seed: int = 1, weights: np.ndarray | None = None
    ) -> None:
        self.graph = graph
        self.ranks = ranks
        self.seed = seed
        if weights is None or np.ptp(weights) == 0:
            self.equal = True
            self.capacity = np.ones(ranks)
        else:
            self.equal = False
            self.capacity = weights / weights.mean()
        ranks_as_smallest = math.ceil(ranks / self.capacity.min())
        atom_sizes = np.bincount(graph.area_of, graph.sizes)
        load = atom_sizes * ranks_as_smallest / graph.neurons  # in smallest ranks, [atom]
        cut = np.where(load > 1 + 1e-9, np.ceil(4 * load - 1e-9), 1)
        self.parts = cut.astype(np.int64)

    @cached_property
    def rows(self) -> Piece:
        """Piece, unit and neurons of every part of a unit, in the order of neurons."""
        graph = self.graph
        parts_of_unit = self.parts[graph.area_of]
        unit = np.repeat(np.arange(len(parts_of_unit)), parts_of_unit)
        first_part = np.cumsum(parts_of_unit) - parts_of_unit
        part = np.arange(len(unit)) - np.repeat(first_part, parts_of_unit)
        first_piece = np.cumsum(self.parts) - self.parts  # [atom]
        piece = first_piece[graph.area_of[unit]] + part
        size = graph.sizes[unit]
        parts = parts_of_unit[unit]
        neurons = size * (part + 1) // parts - size * part // parts
        return Piece(piece, unit, neurons)

    @cached_property
    def sizes(self) -> np.ndarray:
        """[Q] neurons."""
        return np.bincount(self.rows.piece, self.rows.neurons).astype(np.int64)

    @cached_property
    def flow(self) -> sparse.csr_array:
        """[Q, Q] expected words per spike of all neurons of a piece, were every piece a rank of its
        own.

        Parts of an atom count as exactly equal, so that they are alike to every method.
        """
        graph = self.graph
        piece, unit, _ = self.rows
        neurons = (graph.sizes / self.parts[graph.area_of])[unit]
        pieces = self.parts.sum()
        units, columns = graph.misses.shape
        sources = sparse.csc_array((neurons, (unit, piece)), shape=(units, pieces))
        targets = sparse.csr_array((neurons, (graph.column[unit], piece)), shape=(columns, pieces))
        flow: sparse.csr_array = pools.neurons_with_targets(sources, graph.misses @ targets).tocsr()
        flow.setdiag(0)
        flow.eliminate_zeros()
        return flow

    @property
    def exchanged(self) -> sparse.csr_array:
        """[Q, Q] the flow of both directions together."""
        exchanged: sparse.csr_array = (self.flow + self.flow.T).tocsr()
        return exchanged

    @cached_property
    def loads(self) -> np.ndarray:
        """[Q, 2] size and outgoing traffic, each as a share of the mean load of a rank."""
        loads = np.c_[self.sizes, self.flow.sum(axis=1)].astype(float)
        sums = loads.sum(axis=0)
        shares: np.ndarray = loads * self.ranks / np.where(sums > 0, sums, 1)
        return shares

    def fullness(
        self, sums: np.ndarray, rank: int | np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """The cost of ranks [ranks] from their sums of loads [ranks, 2]; 1 is a fair share."""
        cost: np.ndarray = sums.max(axis=-1) / self.capacity[rank]
        return cost

    def in_sequence(self, order: np.ndarray, loads: np.ndarray) -> np.ndarray:
        """[Q] ranks of pieces that follow each other in this order.

        The sequence is cut where `loads` [Q] sum up to what each rank shall have. Every rank gets a
        piece where there are enough.
        """
        pieces = len(order)
        loads_in_order = loads[order]
        ends = np.cumsum(self.capacity)
        total = max(loads_in_order.sum(), 1e-300)
        middle = (np.cumsum(loads_in_order) - loads_in_order / 2) / total * ends[-1]
        rank = np.minimum(np.searchsorted(ends, middle, "right"), self.ranks - 1)
        if pieces >= self.ranks:  # cuts are one piece apart at least
            later = np.arange(self.ranks - 1)
            cuts = np.searchsorted(rank, np.arange(1, self.ranks))
            cuts = np.maximum.accumulate(cuts - later) + later
            cuts = np.clip(cuts, later + 1, pieces - self.ranks + later + 1)
            rank = np.searchsorted(cuts, np.arange(pieces), "right")
        rank_of_piece: np.ndarray = rank[np.argsort(order)]
        return rank_of_piece

    def placement(self, rank: np.ndarray) -> Placement:
        """The placement of neurons when the pieces are on these ranks, [Q]."""
        piece, _, neurons = self.rows
        return Placement.from_ranges(self.ranks, np.cumsum(neurons), rank[piece]).merged()


def _by_rule(problem: Problem, rule: str) -> Placement:
    """The placement of the mini-app of that name: its atoms are areas."""
    text = rule
    if not problem.equal:
        text = text_of({"name": rule, "weights": problem.capacity.tolist()})
    return ranges(problem.graph, text, problem.ranks)[0].merged()


def _round_robin(problem: Problem) -> Placement:
    """Neurons dealt one by one, as the mini-app does."""
    return _by_rule(problem, "round_robin")


def _area_group(problem: Problem) -> Placement:
    """Each area on ranks of its own, as the mini-app does."""
    return _by_rule(problem, "area_group")


def _random(problem: Problem) -> np.ndarray:
    """Pieces in random order, [Q] ranks.

    Du et al. must mean an order of voxels: sums of millions of random neurons are all alike.
    """
    order = np.random.default_rng(problem.seed).permutation(len(problem.sizes))
    return problem.in_sequence(order, np.ones(len(order)))


def _sequential(problem: Problem) -> np.ndarray:
    """Pieces in their order, cut so that ranks have nearly equally many neurons; [Q] ranks."""
    return problem.in_sequence(np.arange(len(problem.sizes)), problem.sizes)


def _greedy_affinity(problem: Problem) -> np.ndarray:
    """Algorithm 1 of Du et al. as printed; [Q] ranks.

    Each voxel, the largest first, joins the rank with which it exchanges most and that has room;
    else, the emptiest rank.
    """
    loads = problem.loads
    exchanged = problem.exchanged
    rank = np.full(len(loads), -1)  # of each piece; -1: not placed yet
    sums = np.zeros((problem.ranks, 2))
    for piece in np.argsort(-loads.max(axis=1), kind="stable"):
        row = slice(exchanged.indptr[piece], exchanged.indptr[piece + 1])
        neighbour_rank = rank[exchanged.indices[row]]
        placed = neighbour_rank >= 0
        affinity = np.bincount(neighbour_rank[placed], exchanged.data[row][placed], problem.ranks)
        fullness = problem.fullness(sums + loads[piece])
        best = int(np.where(fullness <= AFFINITY_ROOM, affinity, -1).argmax())
        if fullness[best] > AFFINITY_ROOM or affinity[best] <= 0:
            best = int(fullness.argmin())
        rank[piece] = best
        sums[best] += loads[piece]
    return rank


def _greedy_swap(problem: Problem) -> np.ndarray:
    """What Du et al. run; [Q] ranks.

    Pieces in sequence, then moves and swaps of pieces between the fullest rank and empty ones,
    until the fullest is within SWAP_THRESHOLD of the mean.
    """
    rank = _sequential(problem)
    loads = problem.loads
    sums = np.array([np.bincount(rank, load, problem.ranks) for load in loads.T]).T  # [ranks, 2]
    stuck: set[int] = set()  # ranks for which no change was found
    for _ in range(MAX_SWAPS):
        fullness = problem.fullness(sums)
        order = np.argsort(-fullness, kind="stable")
        candidates = [int(full) for full in order[:SWAP_RANKS] if full not in stuck]
        if not candidates or fullness.max() <= SWAP_THRESHOLD:
            break
        full = candidates[0]
        moves = _swap(problem, rank, sums, full, order[::-1][:SWAP_RANKS])
        if moves:
            stuck = set()
        else:
            stuck.add(full)
        for piece, target in moves:
            sums[rank[piece]] -= loads[piece]
            sums[target] += loads[piece]
            rank[piece] = target
    return rank


def _swap(
    problem: Problem, rank: np.ndarray, sums: np.ndarray, full: int, empty: np.ndarray
) -> list[tuple[int, int]]:
    """Pieces and their new ranks: the best move or swap between rank `full` and one of `empty`.

    The best is that after which the fuller of both has least; there is none where none makes it
    less full. A move is a swap with nothing, and leaves at least one piece.
    """
    empty = empty[empty != full]
    pieces = np.flatnonzero(rank == full)
    partners = np.flatnonzero(np.isin(rank, empty))
    movable = empty if len(pieces) > 1 else empty[:0]
    # What `full` gets: a piece of another rank, or nothing from each of the empty ranks.
    loads = np.r_[problem.loads[partners], np.zeros((len(movable), 2))]
    other_rank = np.r_[rank[partners], movable]
    lowest = problem.fullness(sums[full], full) - LESS_FULL
    moves: list[tuple[int, int]] = []
    for piece in pieces:
        gain = loads - problem.loads[piece]  # what `full` gains
        fullness = np.maximum(
            problem.fullness(sums[full] + gain, full),
            problem.fullness(sums[other_rank] - gain, other_rank),
        )
        if fullness.min(initial=lowest) < lowest:
            choice = int(fullness.argmin())
            lowest = fullness[choice]
            moves = [(int(piece), int(other_rank[choice]))]
            if choice < len(partners):
                moves.append((int(partners[choice]), full))
    return moves


def _genetic(problem: Problem) -> np.ndarray:
    """The genetic algorithm of `evolved` on neurons alone; [Q] ranks."""
    return evolved(problem.sizes, problem.ranks, problem.seed)


def evolved(sizes: np.ndarray, parts: int, seed: int) -> np.ndarray:
    """The part of each thing [count], equally many things in each; the largest sum of sizes is
    small.

    The genetic algorithm with which Du et al. compare. As published: 100 permutations, which are
    cut into parts, and 20 000 generations (fewer where STALE_GENERATIONS of them bring nothing).
    The operators are not published: here, the better half stays, and the others become copies of it
    in which a few pairs are exchanged.

    Example:
        >>> parts = evolved(np.array([8.0, 1.0, 1.0, 8.0]), parts=2, seed=1)
        >>> bool(parts[0] != parts[3])  # the two large ones are apart
        True
    """
    count = len(sizes)
    rng = np.random.default_rng(seed)
    part_at = np.arange(count) * parts // count  # of each place in a permutation
    starts, column = np.unique(part_at, return_index=True, return_inverse=True)[1:]
    orders = [rng.permutation(count) for _ in range(PERMUTATIONS)]
    order = np.array(orders).astype(np.int32)
    sums = np.array([np.add.reduceat(sizes[row], starts) for row in order])
    half = PERMUTATIONS // 2
    lowest = math.inf
    stale = 0
    for _ in range(GENERATIONS):
        largest = sums.max(axis=1)
        if largest.min() < lowest:
            lowest = largest.min()
            stale = 0
        else:
            stale += 1
        if stale == STALE_GENERATIONS:
            break
        ranked = np.argsort(largest, kind="stable")
        parents = rng.permutation(ranked[:half])
        children = ranked[half:]
        order[children] = order[parents]
        sums[children] = sums[parents]
        for a, b in rng.integers(count, size=(PAIRS_EXCHANGED, 2, len(children))):
            first = order[children, a]
            second = order[children, b]
            order[children, a] = second
            order[children, b] = first
            gained = sizes[second] - sizes[first]
            sums[children, column[a]] += gained
            sums[children, column[b]] -= gained
    best = sums.max(axis=1).argmin()
    part: np.ndarray = part_at[np.argsort(order[best])]
    return part


def _metis(problem: Problem) -> np.ndarray:
    """METIS (Karypis and Kumar 1998) on expected traffic; [Q] ranks."""
    pymetis = importlib.import_module("pymetis")
    edges, vertex_weights = _whole_weights(problem)
    graph = pymetis.CSRAdjacency(edges.indptr.astype(np.int32), edges.indices.astype(np.int32))
    _, rank = pymetis.part_graph(
        problem.ranks,
        graph,
        options=pymetis.Options(seed=problem.seed % 2**31),
        vweights=vertex_weights,
        eweights=edges.data.tolist(),
    )
    return np.array(rank, np.int64)


def _kahip(problem: Problem) -> np.ndarray:
    """KaHIP (Sanders and Schulz 2013) on expected traffic; [Q] ranks."""
    library = importlib.import_module("kahip")
    edges, vertex_weights = _whole_weights(problem)
    quietly = True
    fast_mode = 0
    _, rank = library.kaffpa(
        vertex_weights,
        edges.indptr.tolist(),
        edges.data.tolist(),
        edges.indices.tolist(),
        problem.ranks,
        KAHIP_IMBALANCE,
        quietly,
        problem.seed % 2**31,
        fast_mode,
    )
    return np.array(rank, np.int64)


def _whole_weights(problem: Problem) -> tuple[sparse.csr_array, list[int]]:
    """Whole weights, at least 1: of edges [Q, Q] (traffic of both directions), and of vertices [Q]
    (load).
    """
    edges = problem.exchanged
    largest = max(edges.data.max(initial=0), 1e-300)
    edges.data = np.maximum(1, np.rint(edges.data / largest * LARGEST_WEIGHT))
    edges = edges.astype(np.int32)
    edges.sort_indices()
    loads = problem.loads.max(axis=1)
    weights = np.maximum(1, np.rint(loads / loads.max() * LARGEST_WEIGHT))
    return edges, weights.astype(int).tolist()


@dataclass(frozen=True)
class Method:
    """A way to place a problem."""

    place: Callable[[Problem], np.ndarray | Placement]  #: ranks of pieces, [Q], or of neurons
    library: str = ""  #: the Python package that it needs
    weighted: bool = True  #: whether it heeds weights of ranks

    @property
    def here(self) -> bool:
        """False if its library is not installed."""
        return not self.library or find_spec(self.library) is not None


METHODS = {
    "round_robin": Method(_round_robin),
    "random": Method(_random),
    "sequential": Method(_sequential),
    "area_group": Method(_area_group),
    "greedy_affinity": Method(_greedy_affinity),
    "greedy_swap": Method(_greedy_swap),
    "genetic": Method(_genetic, weighted=False),
    "metis": Method(_metis, library="pymetis", weighted=False),
    "kahip": Method(_kahip, library="kahip", weighted=False),
}


def divide(
    graph: Graph, ranks: int, method: str, seed: int = 1, weights: np.ndarray | None = None
) -> Placement:
    """Place the graph on so many ranks by a method of METHODS.

    `weights` [ranks] say how much each rank shall have; None: equal ranks. Raises BadInput for an
    unknown method, one whose library is absent or that knows equal ranks only, and for more ranks
    than neurons, or another number of weights.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.prediction.partition import graph
        >>> network = graph.load(Path("tests/golden/analysis/networks/graph-64.json"))
        >>> divide(network, ranks=4, method="greedy_swap").rank.shape
        (22,)
    """
    _check_method(method, weights is not None)
    if ranks > graph.neurons:
        raise BadInput(
            field="ranks",
            value=ranks,
            expected=f"1 to {graph.neurons}, the number of neurons",
            code="range",
        )
    if weights is not None and len(weights) != ranks:
        raise BadInput(
            field="weights",
            reason=f"{len(weights)} of them",
            expected=f"{ranks}, one for each rank",
        )
    problem = Problem(graph, ranks, seed, weights)
    placement = METHODS[method].place(problem)
    if not isinstance(placement, Placement):
        placement = problem.placement(placement)
    capacity = None if problem.equal else problem.capacity
    return replace(placement, method=method, weights=capacity)


def _check_method(name: str, has_weights: bool) -> None:
    """Raises BadInput for a method that does not exist, is not installed, or heeds no weights."""
    weighted = {key for key, method in METHODS.items() if method.weighted}
    usable = [key for key in METHODS if key in weighted or not has_weights]
    if name not in usable:
        condition = "with weights " if name in METHODS else ""
        expected = f"{condition}one of {', '.join(usable)}"
        raise unknown_name("method", name, usable, expected=expected)
    method = METHODS[name]
    if not method.here:
        raise BadInput(
            f"method={name}; expected the Python package: pip install {method.library}",
            field="method",
        )
