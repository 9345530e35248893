"""Partition methods: which rank holds which neurons. A method is a function and a row of METHODS.

Methods place the *pieces* of a Problem: whole atoms (areas, voxels), or equal parts of one that is larger
than a rank. All but round_robin and area_group look at one cost: the fullness of a rank, which is the larger
of its share of neurons and its share of outgoing traffic, over what it shall have. Those of Du et al. (2022,
"A low-latency communication design for brain simulations") are `greedy_affinity`, their algorithm 1 as
printed, `greedy_swap`, what their public code does, and `genetic`, with which they compare.
"""

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.network import pools
from spikemark.network.placement import ranges, sizes_of_areas
from spikemark.network.placement_file import Placement, text_of

from .graph import Graph

ROOM = 1.05  # of greedy_affinity: the most fullness of a rank
THRESHOLD, EXTREMES, MOST_SWAPS = 1.002, 32, 200_000  # of greedy_swap
PERMUTATIONS, GENERATIONS, STALE, EXCHANGES = 100, 20_000, 2_000, 2  # of genetic
MOST_WEIGHT, IMBALANCE = 10_000, 0.03  # of an edge or a vertex: libraries take whole numbers; of kahip


class Problem:
    """A graph whose Q pieces are to be placed on ranks. `weights` [ranks], in any unit, say how much each
    rank shall have; None: all the same. Atoms larger than the smallest rank have parts of a quarter of it."""

    def __init__(self, graph: Graph, ranks: int, seed: int = 1, weights: np.ndarray | None = None) -> None:
        self.graph, self.ranks, self.seed = graph, ranks, seed
        self.equal = weights is None or np.ptp(weights) == 0
        self.capacity = np.ones(ranks) if self.equal else weights / weights.mean()  # [ranks] of mean 1
        load = sizes_of_areas(graph) * math.ceil(ranks / self.capacity.min()) / graph.neurons
        self.of = np.where(load > 1 + 1e-9, np.ceil(4 * load - 1e-9), 1).astype(np.int64)  # [A] parts

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Piece, unit and neurons of every part of a unit, in the order of neurons."""
        sizes, of = self.graph.sizes, self.of[self.graph.area_of]
        unit = np.repeat(np.arange(len(of)), of)
        part = np.arange(len(unit)) - np.repeat(np.cumsum(of) - of, of)
        piece = (np.cumsum(self.of) - self.of)[self.graph.area_of[unit]] + part
        of = of[unit]
        return piece, unit, sizes[unit] * (part + 1) // of - sizes[unit] * part // of

    @cached_property
    def sizes(self) -> np.ndarray:
        """[Q] neurons."""
        return np.bincount(self.rows[0], self.rows[2]).astype(np.int64)

    @cached_property
    def flow(self) -> sparse.csr_array:
        """[Q, Q] expected words per spike of all neurons of a piece, were every piece a rank of its own.

        Parts of an atom count as exactly equal, so that they are alike to every method.
        """
        (piece, unit, _), g = self.rows, self.graph
        neurons, count = (g.sizes / self.of[g.area_of])[unit], self.of.sum()
        sources = sparse.csc_array((neurons, (unit, piece)), shape=(len(g.sizes), count))
        targets = sparse.csr_array((neurons, (g.column[unit], piece)), shape=(g.misses.shape[1], count))
        found = pools.needed(sources, g.misses @ targets).tocsr()
        found.setdiag(0)
        found.eliminate_zeros()
        return found

    @cached_property
    def loads(self) -> np.ndarray:
        """[Q, 2] size and outgoing traffic, each as a share of the mean load of a rank."""
        both = np.c_[self.sizes, self.flow.sum(axis=1)].astype(float)
        sums = both.sum(axis=0)
        return both * self.ranks / np.where(sums > 0, sums, 1)

    def fullness(self, sums: np.ndarray, rank: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The cost of ranks [ranks] from their sums of loads [ranks, 2]; 1 is a fair share."""
        return sums.max(axis=-1) / self.capacity[rank]

    def in_sequence(self, order: np.ndarray, loads: np.ndarray) -> np.ndarray:
        """[Q] ranks of pieces that follow each other in this order, cut where `loads` [Q] sum up to what each
        rank shall have. Every rank gets a piece where there are enough."""
        count, ranks, loads = len(order), self.ranks, loads[order]
        ends, total = np.cumsum(self.capacity), max(loads.sum(), 1e-300)
        middle = (np.cumsum(loads) - loads / 2) / total * ends[-1]
        at = np.minimum(np.searchsorted(ends, middle, "right"), ranks - 1)
        if count >= ranks:  # cuts are one piece apart at least
            cuts, later = np.searchsorted(at, np.arange(1, ranks)), np.arange(ranks - 1)
            cuts = np.maximum.accumulate(cuts - later) + later
            cuts = np.clip(cuts, later + 1, count - ranks + later + 1)
            at = np.searchsorted(cuts, np.arange(count), "right")
        return at[np.argsort(order)]

    def placement(self, rank: np.ndarray) -> Placement:
        """The placement of neurons when the pieces are on these ranks, [Q]."""
        piece, _, neurons = self.rows
        return Placement.of(self.ranks, np.cumsum(neurons), rank[piece]).merged()


def by_rule(p: Problem, rule: str) -> Placement:
    """The placement of the mini-app of that name: its atoms are areas."""
    text = rule if p.equal else text_of({"name": rule, "weights": p.capacity.tolist()})
    return ranges(p.graph, text, p.ranks)[0].merged()


def random(p: Problem) -> np.ndarray:
    """Random order of voxels, as Du et al. must mean: sums of millions of random neurons are all alike."""
    order = np.random.default_rng(p.seed).permutation(len(p.sizes))
    return p.in_sequence(order, np.ones(len(order)))


def sequential(p: Problem) -> np.ndarray:
    """Pieces in their order, cut so that ranks have nearly equally many neurons."""
    return p.in_sequence(np.arange(len(p.sizes)), p.sizes)


def greedy_affinity(p: Problem) -> np.ndarray:
    """Algorithm 1 of Du et al. as printed: each voxel, the largest first, joins the rank with which it
    exchanges most and that has room; else, the emptiest rank."""
    loads, both = p.loads, (p.flow + p.flow.T).tocsr()
    rank, sums = np.full(len(loads), -1), np.zeros((p.ranks, 2))
    for v in np.argsort(-loads.max(axis=1), kind="stable"):
        row = slice(both.indptr[v], both.indptr[v + 1])
        there = rank[both.indices[row]]
        pull = np.bincount(there[there >= 0], both.data[row][there >= 0], p.ranks)
        after = p.fullness(sums + loads[v])
        best = int(np.where(after <= ROOM, pull, -1).argmax())
        if after[best] > ROOM or pull[best] <= 0:
            best = int(after.argmin())
        rank[v] = best
        sums[best] += loads[v]
    return rank


def greedy_swap(p: Problem) -> np.ndarray:
    """In sequence, then moves and swaps of pieces between the fullest rank and empty ones, until the fullest
    is within THRESHOLD of the mean: what Du et al. run."""
    rank, loads = sequential(p), p.loads
    sums = np.array([np.bincount(rank, kind, p.ranks) for kind in loads.T]).T  # [ranks, 2]
    stuck: set[int] = set()
    for _ in range(MOST_SWAPS):
        fullness = p.fullness(sums)
        order = np.argsort(-fullness, kind="stable")
        full = next((int(r) for r in order[:EXTREMES] if r not in stuck), None)
        if full is None or fullness.max() <= THRESHOLD:
            break
        change = _swap(p, rank, sums, full, order[::-1][:EXTREMES])
        stuck = set() if change else stuck | {full}
        for piece, target in change:
            sums[rank[piece]] -= loads[piece]
            sums[target] += loads[piece]
            rank[piece] = target
    return rank


def _swap(p: Problem, rank, sums, full: int, empty: np.ndarray) -> list[tuple[int, int]]:
    """Pieces and their new ranks: the move or swap between rank `full` and one of `empty` after which the
    fuller one has least; none where none makes it less full. A move is a swap with nothing."""
    empty = empty[empty != full]
    own, others = np.flatnonzero(rank == full), np.flatnonzero(np.isin(rank, empty))
    empty = empty if len(own) > 1 else empty[:0]
    loads, there = np.r_[p.loads[others], np.zeros((len(empty), 2))], np.r_[rank[others], empty]
    best, change = p.fullness(sums[full], full) - 1e-9, []
    for v in own:
        gain = loads - p.loads[v]  # what `full` gains
        after = np.maximum(p.fullness(sums[full] + gain, full), p.fullness(sums[there] - gain, there))
        if after.min(initial=best) < best:
            w = int(after.argmin())
            best, change = after[w], [(v, int(there[w])), *((int(o), full) for o in others[w : w + 1])]
    return change


def evolved(sizes: np.ndarray, parts: int, seed: int) -> np.ndarray:
    """[count] parts of things with these sizes, equally many in each; the largest sum of sizes is small.

    The genetic algorithm with which Du et al. compare. As published: 100 permutations, which are cut into
    parts, and 20 000 generations (fewer where STALE of them bring nothing). The operators are not published:
    here, the better half stays, and the others become copies of it in which a few pairs are exchanged.
    """
    count, rng = len(sizes), np.random.default_rng(seed)
    part_at = np.arange(count) * parts // count  # of each place in a permutation
    starts, column = np.unique(part_at, return_index=True, return_inverse=True)[1:]
    order = np.array([rng.permutation(count) for _ in range(PERMUTATIONS)]).astype(np.int32)
    sums = np.array([np.add.reduceat(sizes[row], starts) for row in order])
    half, best, since = PERMUTATIONS // 2, math.inf, 0
    for _ in range(GENERATIONS):
        most = sums.max(axis=1)
        best, since = (most.min(), 0) if most.min() < best else (best, since + 1)
        if since == STALE:
            break
        ranked = np.argsort(most, kind="stable")
        kept, lost = rng.permutation(ranked[:half]), ranked[half:]
        order[lost], sums[lost] = order[kept], sums[kept]
        for a, b in rng.integers(count, size=(EXCHANGES, 2, len(lost))):
            first, second = order[lost, a], order[lost, b]
            order[lost, a], order[lost, b] = second, first
            gained = sizes[second] - sizes[first]
            sums[lost, column[a]] += gained
            sums[lost, column[b]] -= gained
    return part_at[np.argsort(order[sums.max(axis=1).argmin()])]


def metis(p: Problem) -> np.ndarray:
    """METIS (Karypis and Kumar 1998) on expected traffic."""
    pymetis, (edges, loads) = importlib.import_module("pymetis"), _for_libraries(p)
    graph = pymetis.CSRAdjacency(edges.indptr.astype(np.int32), edges.indices.astype(np.int32))
    weights = {"vweights": loads, "eweights": edges.data.tolist()}
    options = pymetis.Options(seed=p.seed % 2**31)
    return np.array(pymetis.part_graph(p.ranks, graph, options=options, **weights)[1], np.int64)


def kahip(p: Problem) -> np.ndarray:
    """KaHIP (Sanders and Schulz 2013) on expected traffic."""
    library, (edges, loads) = importlib.import_module("kahip"), _for_libraries(p)
    given = loads, edges.indptr.tolist(), edges.data.tolist(), edges.indices.tolist()
    quietly, fast = True, 0
    return np.array(library.kaffpa(*given, p.ranks, IMBALANCE, quietly, p.seed % 2**31, fast)[1], np.int64)


def _for_libraries(p: Problem) -> tuple:
    """Whole weights of edges [Q, Q] (traffic of both directions) and of vertices [Q] (load), at least 1."""
    both = (p.flow + p.flow.T).tocsr()
    both.data = np.maximum(1, np.rint(both.data / max(both.data.max(initial=0), 1e-300) * MOST_WEIGHT))
    both = both.astype(np.int32)
    both.sort_indices()
    loads = p.loads.max(axis=1)
    return both, np.maximum(1, np.rint(loads / loads.max() * MOST_WEIGHT)).astype(int).tolist()


@dataclass(frozen=True)
class Method:
    """`library`: the Python package that it needs; `weighted`: it heeds weights of ranks."""

    place: Callable[[Problem], np.ndarray | Placement]
    library: str = ""
    weighted: bool = True

    @property
    def here(self) -> bool:
        """False if its library is not installed."""
        return not self.library or find_spec(self.library) is not None


METHODS = {
    "round_robin": Method(lambda p: by_rule(p, "round_robin")), "random": Method(random),
    "sequential": Method(sequential), "area_group": Method(lambda p: by_rule(p, "area_group")),
    "greedy_affinity": Method(greedy_affinity), "greedy_swap": Method(greedy_swap),
    "genetic": Method(lambda p: evolved(p.sizes, p.ranks, p.seed), weighted=False),
    "metis": Method(metis, "pymetis", False), "kahip": Method(kahip, "kahip", False),
}  # fmt: skip


def divide(
    graph: Graph, ranks: int, method: str, seed: int = 1, weights: np.ndarray | None = None
) -> Placement:
    """Place the graph on so many ranks by a method of METHODS; `weights` [ranks], None: equal ranks.

    Raises BadInput for an unknown method, one whose library is absent or that knows equal ranks only, and
    for more ranks than neurons, or another number of weights.
    """
    found = METHODS.get(method)
    usable = [name for name, m in METHODS.items() if m.weighted or weights is None]
    if method not in usable:
        expected = f"{'with weights ' * bool(found)}one of {', '.join(usable)}"
        raise BadInput(f"--method={method}; expected {expected}")
    if not found.here:
        raise BadInput(f"--method={method}; expected the Python package: pip install {found.library}")
    if ranks > graph.neurons:
        raise BadInput(f"--ranks={ranks}; expected 1 to {graph.neurons}, the number of neurons")
    if weights is not None and len(weights) != ranks:
        raise BadInput(f"weights: {len(weights)} of them; expected {ranks}, one for each rank")
    problem = Problem(graph, ranks, seed, weights)
    made = found.place(problem)
    placed = made if isinstance(made, Placement) else problem.placement(made)
    return replace(placed, method=method, weights=None if problem.equal else problem.capacity)
