"""Our own local search: moves and swaps that lower the peak of the exact traffic.

It begins with the best of `STARTS` and changes one piece or pair of pieces after another. A change is kept
if it lowers sum_r (sent_r / scale)^P + (received_r / scale)^P over all ranks, which nearly is the peak, and
leaves the neurons of a rank within `ROOM`. Traffic is that of `traffic.py`, not that of single voxels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spikemark.partition.problem import Method, Problem, State
from spikemark.partition.traffic import expected

from . import greedy_swap, largest_first, sequential, space_filling

STARTS = (largest_first.METHOD, greedy_swap.METHOD, sequential.METHOD, space_filling.METHOD)
ROOM = 1.1  # neurons of a rank, by the mean
DOUBLINGS = 6  # P = 64
SHOWN, MOST, STALE = 250, 400_000, 20_000  # tries: between two states, at most, and without success


@dataclass
class Search:
    """Traffic of pieces on ranks, and how a move changes it.

    A row is a unit of a piece. `d` [rows, Q] is -log of the probability that a neuron of the row has no
    synapse on the piece, and m [ranks, rows] the same for a rank. `reach` [rows] sums the hits of all ranks.
    """

    neurons: np.ndarray  # [rows]
    piece: np.ndarray  # [rows]
    first: np.ndarray  # [Q + 1] rows of piece q are first[q] … first[q + 1] - 1
    d: sparse.csc_array
    sizes: np.ndarray  # [Q]
    rank: np.ndarray  # [Q]
    m: np.ndarray
    reach: np.ndarray
    sent: np.ndarray  # [ranks]
    received: np.ndarray  # [ranks]
    load: np.ndarray  # [ranks] neurons

    def move(self, v: int, to: int) -> None:
        """Put piece v on another rank; all sums follow."""
        a, rows = self.rank[v], slice(self.first[v], self.first[v + 1])
        self._carry(rows, a, -1)
        span = slice(self.d.indptr[v], self.d.indptr[v + 1])
        at, d = self.d.indices[span], self.d.data[span]
        owner, n = self.rank[self.piece[at]], self.neurons[at]
        others = self.piece[at] != v
        for r, sign in ((a, -1), (to, 1)):
            before = self.m[r, at]
            after = np.maximum(before + sign * d, 0)
            self.m[r, at] = after
            change = np.exp(-before) - np.exp(-after)  # of the hits
            self.reach[at] += change
            gained = n * change * (others & (owner != r))
            self.sent += np.bincount(owner, gained, len(self.sent))
            self.received[r] += gained.sum()
        self.rank[v] = to
        self._carry(rows, to, 1)
        self.load[a] -= self.sizes[v]
        self.load[to] += self.sizes[v]

    def _carry(self, rows: slice, rank: int, sign: int) -> None:
        """Adds what these rows send from a rank, or takes it away."""
        hits = -np.expm1(-self.m[:, rows]) @ (sign * self.neurons[rows])
        hits[rank] = 0
        self.sent[rank] += hits.sum()
        self.received += hits

    def score(self, scale: float) -> float:
        """The sum that the search lowers."""
        loads = np.concatenate([self.sent, self.received]) / scale
        for _ in range(DOUBLINGS):
            loads *= loads
        return float(loads.sum())


def begin(problem: Problem, rank: np.ndarray) -> Search:
    """The search with pieces on these ranks."""
    g, p = problem.graph, problem.pieces
    units = np.bincount(g.atom)[p.atom]  # of each piece
    piece = np.repeat(np.arange(len(p.atom)), units)
    first = np.concatenate([[0], np.cumsum(units)])
    unit = np.searchsorted(g.atom, p.atom)[piece] + np.arange(len(piece)) - first[piece]
    part, of = p.part[piece], p.of[piece]
    neurons = (g.sizes[unit] * (part + 1) // of - g.sizes[unit] * part // of).astype(float)
    targets = sparse.csr_array(
        (neurons, (g.column[unit], piece)), shape=(g.miss.shape[1], len(p.atom)), dtype=np.float32
    )
    d = sparse.csr_array(g.miss.astype(np.float32) @ targets)  # [units, Q]
    speaks = np.diff(d.indptr) > 1  # the others have synapses on their own piece only
    kept = speaks[unit]
    unit, neurons, piece = unit[kept], neurons[kept], piece[kept]
    first = np.searchsorted(piece, np.arange(len(p.atom) + 1))
    d = d[unit].tocsc()
    d.sort_indices()
    ranks = problem.ranks
    member = sparse.csr_array(
        (np.ones(len(rank), np.float32), (np.arange(len(rank)), rank)), shape=(len(rank), ranks)
    )
    m = np.ascontiguousarray((d @ member).toarray().T)
    reach, sent, received = np.zeros(len(unit)), np.zeros(ranks), np.zeros(ranks)
    owner = rank[piece]
    for r in range(ranks):
        hits = -np.expm1(-m[r])
        reach += hits
        words = neurons * hits
        away = np.where(owner == r, 0, words)
        sent += np.bincount(owner, away, ranks)
        received[r] = away.sum()
    load = np.bincount(rank, problem.sizes, ranks)
    return Search(neurons, piece, first, d, problem.sizes, rank.copy(), m, reach, sent, received, load)


def place(problem: Problem, earlier: State | None) -> Iterator[State]:
    """States after every few tries; `done` counts them."""
    state = {"rank": _start(problem), "done": np.array(0)} if earlier is None else earlier
    yield state
    if problem.ranks == 1 or len(problem.sizes) < 2:
        return
    search, done, since = begin(problem, state["rank"]), int(state["done"]), 0
    while done < MOST and since < STALE:
        rng = problem.rng(done)
        for _ in range(SHOWN):
            since = 0 if _try(search, rng, problem) else since + 1
        done += SHOWN
        yield {"rank": search.rank.copy(), "done": np.array(done)}


def _start(problem: Problem) -> np.ndarray:
    """[Q] ranks: the start with the lowest peak whose ranks have room."""
    found = []
    most = ROOM * problem.graph.neurons / problem.ranks
    for method in STARTS:
        if method is space_filling.METHOD and problem.graph.places is None:
            continue
        for state in method.place(problem, None):
            rank = state["rank"]
        fits = np.bincount(rank, problem.sizes, problem.ranks).max() <= most
        sent = expected(problem.graph, problem.placement(rank, method.name)).sent
        found.append((not fits, sent.max(), rank))
    return min(found, key=lambda start: start[:2])[2]


def _try(search: Search, rng: np.random.Generator, problem: Problem) -> bool:
    """Try one move or swap; undo it unless it lowers the score. Says whether it did."""
    loads = np.maximum(search.sent, search.received)
    scale = loads.max()
    if scale == 0:
        return False
    busy = np.argpartition(-loads, min(8, len(loads) - 1))[:8]
    full = int(busy[rng.integers(len(busy))]) if rng.random() < 0.5 else int(loads.argmax())
    own = np.flatnonzero(search.rank == full)
    if len(own) < 2:
        return False
    v = int(own[rng.integers(len(own))])
    to = _target(search, rng, v, loads)
    if to == full:
        return False
    there = np.flatnonzero(search.rank == to)
    most = ROOM * problem.graph.neurons / problem.ranks
    grown = search.load[to] + search.sizes[v]
    w = None
    if len(there) and (grown > most or rng.random() < 0.7):
        w = int(there[rng.integers(len(there))])
        grown -= search.sizes[w]
    if max(grown, search.load[full] - search.sizes[v] + (0 if w is None else search.sizes[w])) > most:
        return False
    before = search.score(scale)
    search.move(v, to)
    if w is not None:
        search.move(w, full)
    if search.score(scale) < before:
        return True
    if w is not None:
        search.move(w, to)
    search.move(v, full)
    return False


def _target(search: Search, rng: np.random.Generator, v: int, loads: np.ndarray) -> int:
    """A rank with little load, or one that the piece already exchanges much with."""
    rows = slice(search.first[v], search.first[v + 1])
    if rows.stop > rows.start and rng.random() < 0.5:
        pull = search.m[:, rows].sum(axis=1)
        best = np.argpartition(-pull, min(16, len(pull) - 1))[:16]
        return int(best[rng.integers(len(best))])
    few = max(2, len(loads) // 4)
    return int(np.argpartition(loads, few - 1)[:few][rng.integers(few)])


METHOD = Method("peak_search", "our local search that lowers the peak of the exact traffic", place)
