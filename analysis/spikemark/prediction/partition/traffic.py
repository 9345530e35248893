"""Expected traffic between ranks, exactly and without drawing a network, and the loads that follow from it.

T[s, r] = sum_u n[u, s] h[u, r], r != s, counts *routes*: pairs of a neuron on rank s and another rank r that
has a synapse of it. The mini-app sends one word along each route for every spike. h is the probability of
graph.py. The peak of a placement is the largest number of routes that begin on a rank (Du et al. 2022).
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.network.lanes import chosen
from spikemark.network.placement import PLACEMENTS, ranges
from spikemark.network.placement_file import FILE, Placement, read, residues, split

from . import levels
from .graph import Graph

WORD = 4  # bytes
MOST_COUNTED = 5_000_000  # dealt (unit, rank) pairs up to which neurons are counted one by one


def named(graph: Graph, name: str | None, ranks: int | None) -> Placement:
    """A placement by its file, or by a rule of the mini-app and a number of ranks [that of the description].

    Raises BadInput for an unknown name, for a file of another number of ranks, and for a rule without areas.
    """
    if name is None:
        name = "round_robin" if graph.described is None else chosen(graph.described, None, None)[1]
    if split(name)[0] not in PLACEMENTS:
        if not name.endswith(FILE):
            raise BadInput.of("placement", name, f"a file ({FILE}) or one of {', '.join(PLACEMENTS)}")
        found = read(Path(name), graph.neurons)
        return found.on(found.ranks if ranks is None else ranks, name)
    if ranks is None:
        raise BadInput(f"--ranks: missing; expected the number of ranks for placement {name!r}")
    if graph.described is not None:
        return ranges(graph.described.network, name, ranks)[0]
    if name == "round_robin":
        return Placement.of(ranks, [graph.neurons], [0], [ranks], [0], name)
    raise BadInput.of("placement", name, "round_robin or a file, since a voxel graph has no areas")


def per_unit(placed: Placement, graph: Graph) -> sparse.csr_array:
    """Neurons of every unit on every rank, [U, ranks]; of a large graph that is dealt to all ranks, equal
    shares in one column, [U, 1]."""
    which, unit, start, count = placed.cut(graph.first, graph.sizes)
    over, rank = placed.over[which], placed.rank[which]
    if over[over > 1].sum() > MOST_COUNTED and (over == placed.ranks).all():
        return sparse.csr_array((graph.sizes / placed.ranks)[:, np.newaxis])
    dealt = [residues(int(s - placed.origin[w]), int(c), int(n)) if n > 1 else np.array([c])
             for s, w, c, n in zip(start, which, count, over, strict=True)]  # fmt: skip
    turn = np.arange(over.sum()) - np.repeat(np.cumsum(over) - over, over)
    at = np.repeat(unit, over), np.repeat(rank, over) + turn
    found = sparse.csr_array((np.concatenate(dealt).astype(float), at), (len(graph.sizes), placed.ranks))
    found.eliminate_zeros()
    return found


class Traffic:
    """What the ranks of a placed graph send each other, as expectations over all networks of the graph.

    Raises BadInput where a matrix of all pairs of ranks does not fit into memory.
    """

    def __init__(self, graph: Graph, placement: Placement) -> None:
        self.graph, self.placement, self.ranks = graph, placement, placement.ranks
        memory.check(4 * 8 * self.ranks**2, f"ranks={self.ranks}: a matrix of all pairs of ranks")
        self.there = per_unit(placement, graph)  # [U, ranks] or [U, 1]
        of_column = _members(graph.column, graph.miss.shape[1]).T
        self.miss = (graph.miss @ (of_column @ self.there)).tocsr()  # as `there`

    def onto(self, sets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Expected neurons of each rank with a synapse in each set, [ranks, sets].

        `sets` [ranks] is the number of the set that a rank belongs to. `weight` [U] multiplies the neurons.
        """
        if self.there.shape[1] < self.ranks:  # all ranks are alike
            member = sparse.csr_array(np.bincount(sets)[np.newaxis].astype(float))
        else:
            member = _members(sets, sets.max() + 1)
        return self._sums(self.miss @ member, weight)

    def between(self, weight: np.ndarray | None = None) -> np.ndarray:
        """T [ranks, ranks] with zeros on the diagonal; `weight` as above."""
        found = self._sums(self.miss, weight)
        found = np.broadcast_to(found, (self.ranks, self.ranks)).copy()
        np.fill_diagonal(found, 0)
        return found

    def _sums(self, miss: sparse.csr_array, weight: np.ndarray | None) -> np.ndarray:
        hits = miss.copy()
        hits.data = -np.expm1(-hits.data)
        there = self.there if weight is None else sparse.diags_array(weight) @ self.there
        found = (there.T.tocsr() @ hits).toarray()
        return np.broadcast_to(found, (self.ranks, found.shape[1])).copy()

    @cached_property
    def pairs(self) -> np.ndarray:
        """T, routes from rank to rank, [ranks, ranks]."""
        return self.between()

    @cached_property
    def per_cycle(self) -> np.ndarray:
        """[U] spikes of a neuron in a cycle."""
        return 1e-3 * self.graph.cycle_ms * self.graph.rates_hz

    @cached_property
    def words(self) -> np.ndarray:
        """Words per cycle from rank to rank, [ranks, ranks]."""
        per_cycle = self.per_cycle
        return self.pairs * per_cycle[0] if np.ptp(per_cycle) == 0 else self.between(per_cycle)

    @property
    def sent(self) -> np.ndarray:
        """[ranks] routes that begin on each rank: its traffic."""
        return self.pairs.sum(axis=1)

    def partners(self, least: float = 0.0, cycles: int = 1) -> np.ndarray:
        """[ranks] others to which a rank sends anything, or at least `least` words in so many cycles."""
        return (self.pairs > 0 if least == 0 else self.words * cycles >= least).sum(axis=1)


def _members(number: np.ndarray, sets: int) -> sparse.csr_array:
    """[things, sets]: 1 for the set that each thing is in."""
    return sparse.csr_array((np.ones(len(number)), (np.arange(len(number)), number)), (len(number), sets))


def load(name: str, head: str, values: np.ndarray, words: np.ndarray | None = None) -> dict[str, Any]:
    """A row of the table of loads: a quantity of every rank, [ranks], and words in a window where it is sent
    or received. Without any load there is no ratio; a whole peak is an int."""
    peak, mean = float(values.max()), float(values.mean())
    found = {"load": name, "head": head, "mean": mean, "peak": int(peak) if peak.is_integer() else peak,
             "max_over_mean": peak / mean if mean > 0 else None}  # fmt: skip
    if words is not None:
        most = float(words.max())
        found |= {"words": most, "bytes": WORD * most, "mean_words": float(words.mean())}
    return found


def loads(
    found: Traffic, cycles: int = 1, sizes: tuple[int, ...] = (), side: str = "sender", merged: bool = False
) -> list[dict[str, Any]]:
    """All loads of the ranks; `cycles` of a window, and `sizes`, `side` and `merged` as of `levels.hops`."""
    placement, words = found.placement, cycles * found.words
    rows = [load("neurons", "neurons", placement.per_rank)]
    if placement.weights is not None:
        rows.append(load("neurons_over_weight", "neurons / weight", placement.per_rank / placement.weights))
    rows += [
        load("sent", "routes from here", found.sent, words.sum(axis=1)),
        load("received", "routes to here", found.pairs.sum(axis=0), words.sum(axis=0)),
        load("connections", "ranks sent to", found.partners()),
        load("connections_busy", "with a word in a window", found.partners(1.0, cycles)),
    ]
    if not sizes:
        return rows
    in_window = cycles * found.per_cycle
    routes = levels.hops(found.pairs, sizes, side, found.onto if merged else None)
    spoken = levels.hops(words, sizes, side, (lambda sets: found.onto(sets, in_window)) if merged else None)
    for number, (route, word) in enumerate(zip(routes, spoken, strict=True), 1):
        rows.append(load(f"level_{number}_sent", f"level {number}, sent", route.sent, word.sent))
        if number > 1:
            head = f"level {number}, sent on for others"
            rows.append(load(f"level_{number}_forwarded", head, route.forwarded, word.forwarded))
    total, in_words = (sum(hop.sent + hop.received for hop in hops) for hops in (routes, spoken))
    rows.append(load("total", "sent and received, all levels", total, in_words))
    partners = sum(hop.partners for hop in routes)
    return [*rows, load("level_connections", "ranks sent to, all levels", partners)]
