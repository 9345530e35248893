"""Our own local search: moves and swaps that lower the peak of the exact traffic.

It begins along a space-filling curve, or in sequence, cut anew by exact traffic, and changes one piece or
two after another. A change is kept if it lowers sum_r (sent_r / scale)^P + (w received_r / scale)^P, which
nearly is the peak, and leaves the neurons of a rank within `ROOM`. Until it is better than the best of
`STARTS`, that one is the result. Traffic is that of `traffic.py`, not that of single voxels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.prediction.partition.problem import Method, Problem, State, in_sequence
from spikemark.prediction.partition.traffic import expected

from . import greedy_swap, largest_first, sequential, space_filling

STARTS = (largest_first.METHOD, greedy_swap.METHOD, sequential.METHOD)
RECUTS = 5
MATRICES = 2.5  # of all ranks and units, at most at a time
WEIGHT = 0.9  # of what is received in the score, so that what is sent decides
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
    room: float  # the most neurons of a rank

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
        loads = self.loads() / scale
        for _ in range(DOUBLINGS):
            loads *= loads
        return float(loads.sum())

    def loads(self) -> np.ndarray:
        """[3 ranks] what is sent, received, and neurons, which are scaled so that the limit is the peak."""
        full = self.sent.max() / self.room * self.load
        return np.concatenate([self.sent, WEIGHT * self.received, full])


def begin(problem: Problem, rank: np.ndarray) -> Search:
    """The search with pieces on these ranks. Raises BadInput where it does not fit into memory."""
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
    what = f"ranks={ranks}: method='peak_search' with {len(unit)} units"
    memory.check(MATRICES * 4 * ranks * len(unit), what)
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
    return Search(
        neurons, piece, first, d, problem.sizes, rank.copy(), m, reach, sent, received, load, _room(problem)
    )


def place(problem: Problem, earlier: State | None) -> Iterator[State]:
    """States after every few tries: `rank` has the lowest peak so far, `at` is where the search is.

    `peak` is that of `rank`, and `done` counts tries.
    """
    state = earlier
    if state is None:
        rank, peak = _best_start(problem)
        yield {"rank": rank, "at": rank, "peak": np.array(peak), "done": np.array(0)}
        state = {"rank": rank, "at": _recut(problem), "peak": np.array(peak), "done": np.array(0)}
    yield state
    if problem.ranks == 1 or len(problem.sizes) < 2:
        return
    search, done, since = begin(problem, state["at"]), int(state["done"]), 0
    best, peak = state["rank"], float(state["peak"])
    while done < MOST and since < STALE:
        rng = problem.rng(done)
        for _ in range(SHOWN):
            since = 0 if _try(search, rng) else since + 1
        done += SHOWN
        if search.sent.max() < peak and search.load.max() <= search.room:
            best, peak = search.rank.copy(), float(search.sent.max())
        yield {"rank": best, "at": search.rank.copy(), "peak": np.array(peak), "done": np.array(done)}


def _room(problem: Problem) -> float:
    """The most neurons of a rank: as `ROOM` allows, and one piece where pieces are that large."""
    return max(ROOM * problem.graph.neurons / problem.ranks, float(problem.sizes.max()))


def _best_start(problem: Problem) -> tuple[np.ndarray, float]:
    """[Q] ranks: the start with the lowest peak among those whose ranks have room; and its peak."""
    found = []
    for method in STARTS:
        for state in method.place(problem, None):
            rank = state["rank"]
        fits = np.bincount(rank, problem.sizes, problem.ranks).max() <= _room(problem)
        sent = expected(problem.graph, problem.placement(rank, method.name)).sent
        found.append((not fits, float(sent.max()), rank))
    _, peak, rank = min(found, key=lambda start: start[:2])
    return rank, peak


def _recut(problem: Problem) -> np.ndarray:
    """[Q] ranks along the space-filling curve, or in sequence, cut anew by exact traffic a few times.

    Neighbours share ranks, so that there is less traffic than where pieces are spread to even it out.
    """
    count, places = len(problem.sizes), problem.graph.places
    order = np.arange(count)
    if places is not None:
        order = np.argsort(space_filling.morton(places)[problem.pieces.atom], kind="stable")
    mean = problem.graph.neurons / problem.ranks
    loads, best = problem.loads.max(axis=1), None
    for _ in range(RECUTS):
        rank = np.empty(count, np.int64)
        rank[order] = in_sequence(loads[order], problem.ranks)
        search = begin(problem, rank)
        over = max(0.0, search.load.max() - _room(problem))
        if best is None or (over, search.sent.max()) < best[:2]:
            best = over, search.sent.max(), rank
        own = search.m[rank[search.piece], np.arange(len(search.piece))]
        out = np.bincount(search.piece, search.neurons * (search.reach + np.expm1(-own)), count)
        loads = np.maximum(out * problem.ranks / max(out.sum(), 1e-300), problem.sizes / (ROOM * mean))
    return best[2]


def _try(search: Search, rng: np.random.Generator) -> bool:
    """Try one move or swap; undo it unless it lowers the score. Says whether it did."""
    loads = search.loads().reshape(3, -1).max(axis=0)
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
    w = None
    if len(there) and (search.load[to] + search.sizes[v] > search.room or rng.random() < 0.7):
        w = int(there[rng.integers(len(there))])
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


METHOD = Method(
    "peak_search", "our local search that lowers the peak of the exact traffic", place, searches=True
)
