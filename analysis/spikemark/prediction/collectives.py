"""Times of collective calls on an interconnect: tables of the profile, else latency, gap and bandwidth.

A message of n bytes between nodes takes latency + n / bandwidth, a rank that sends several needs the gap for
each (Hockney 1994 with the gap of Culler et al. 1993), and all ranks of a node share its card. Within a node
the sender copies one message after another. What is larger than the eager threshold asks its receiver first,
which takes the wire's part of one more latency. Calls use the algorithm that the profile's MPI library
chooses (machines/algorithms.py), which simulations use, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from spikemark.machines import algorithms
from spikemark.machines.algorithms import BRUCK, DOUBLING, LINEAR, NEIGHBOR, PAIRWISE, RING, ROOT, TREE
from spikemark.machines.fields import BETWEEN, FULL, LAYOUTS, WITHIN
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect

from .traffic import Traffic

WHY = "exchange between ranks"
TABLES = ("alltoall", "allgather", "barrier")


@dataclass(frozen=True)
class Collectives:
    """Times of calls in seconds. `tables`: (layout, name) -> rows [ranks, bytes, seconds].

    `cores`: of a node, where the profile knows them; the layouts are those of machines/fields.py.
    """

    net: Interconnect
    tables: dict[tuple[str, str], np.ndarray]
    cores: int | None = None

    @classmethod
    def of(cls, inputs: Inputs, nodes: int, measured: bool = True) -> "Collectives":
        """The calls on a profile; what lies between nodes is not asked for where there is one node.

        `measured`: with the tables of the profile. Raises BadInput naming the value that is unknown.
        """
        layouts = () if not measured else LAYOUTS if nodes > 1 else (WITHIN,)
        found = {(at, name): inputs.table(f"interconnect.{at}.{name}") for at in layouts for name in TABLES}
        known = {key: rows for key, rows in found.items() if rows is not None}
        net, cores = Interconnect.of(inputs, WHY, nodes), inputs.profile.get("node.cores")
        net = replace(
            net,
            selector=inputs.text("interconnect.selector"),
            topology=inputs.text("interconnect.topology"),
            nodes_per_leaf=round(inputs.get("interconnect.nodes_per_leaf", 0.0)) or None,
        )
        return cls(net, known, None if cores is None else round(cores.value))

    @cached_property
    def _chosen(self) -> Interconnect:
        """The network where the algorithm has been chosen, for which the selector does no more."""
        return replace(self.net, selector=None)

    def messages(self, traffic: Traffic, by_number: bool = False) -> float:
        """All messages leave at once; the slowest rank, or the card of a node, sets the time.

        Half of what a message costs keeps its sender busy and half its receiver, while others are on their
        way (the overheads of LogGP, Alexandrov et al. 1995, and of simulations). Where everyone serves its
        targets `by_number`, the last target gets its messages all at once, when everyone has done with the
        others. They share its card, and then it receives them one by one. Ranks differ in how far the two
        overlap; the root of the sum of squares is within 20 % of simulations of 8 and 32 ranks.
        """
        net, (near, away) = self.net, traffic.sent
        busy = near * net.busy_node_s + away * net.gap_s
        copies, card = traffic.near_bytes / net.bandwidth_node, traffic.card_bytes / net.bandwidth
        latency, gap = (net.latency_s, net.gap_s) if traffic.far else (net.latency_node_s, net.busy_node_s)
        late = traffic.most_bytes > net.eager
        behind = np.maximum(0.0, busy - gap)
        last = np.hypot(behind, card) if by_number else behind / 2
        through = np.maximum(busy, latency + last)
        return float(max((through + copies).max(), latency + late * max(0.0, latency - gap) + card))

    def _rounds(self, node: np.ndarray, rounds: Iterable[tuple[np.ndarray, float]]) -> float:
        """Mean time of the members in `_ends`, if all begin together."""
        return float(self._ends(np.zeros(len(node)), node, rounds).mean())

    def _ends(
        self, clock: np.ndarray, node: np.ndarray, rounds: Iterable[tuple[np.ndarray, float]]
    ) -> np.ndarray:
        """Every member gets a message from another and waits for it, round by round. Returns when they end,
        [..., member], from when they begin, `clock` of the same shape.

        `rounds`: (number of the sender, by receiver; bytes). Messages that leave a node in a round share its
        card. Who sends within its node copies the message before it does anything else. What is not eager
        begins when both are there, and its sender waits, too. Nobody waits for others than its partners
        (Hockney 1994 with overheads as above). Who is its own sender gets no message.
        """
        net, nodes = self.net, np.unique(node, return_inverse=True)[1]
        leaf, at = node // (net.nodes_per_leaf or 1), np.arange(len(node))
        between = net.leaf_latency_s(int(nodes.max()) + 1)
        for source, size in rounds:
            near, late = nodes[source] == nodes, size > net.eager
            shared = max(1, int(np.bincount(nodes[~near], minlength=1).max()))
            latency = np.where(leaf == leaf[source], between, net.latency_s)
            busy = np.where(near, net.busy_node_s, net.busy_s)
            latency = np.where(near, net.latency_node_s, latency)
            copying = np.zeros(len(node))
            copying[source[near & (source % len(node) != at)]] = size / net.bandwidth_node
            clock = clock + copying
            copied = np.where(near, 0.0, size * shared / net.bandwidth)
            began = np.maximum(clock[..., source], clock) if late else clock[..., source]
            there = began + latency + late * (latency - busy) + copied
            clock = np.where(source % len(node) == at, clock, np.maximum(clock + busy, there))
            if late:
                clock[..., source] = np.maximum(clock[..., source], there)
        return clock

    def _down(self, node: np.ndarray, size: float) -> np.ndarray:
        """When each member has so many bytes of the first: a binomial tree, the largest distance first."""
        net, clock = self.net, np.zeros(len(node))
        inside = net.latency_node_s + size / net.bandwidth_node
        for distance in reversed(_powers(len(node))):
            at = np.arange(distance, len(node), 2 * distance)
            near = node[at] == node[at - distance]
            clock[at] = clock[at - distance] + np.where(near, inside, net.latency_s + size / net.bandwidth)
        return clock

    def alltoall(self, traffic: Traffic, call: str = "alltoall") -> float:
        """Everyone sends everyone as much as the busiest rank does on average; or by alltoall_init."""
        size = traffic.mean_bytes
        name = algorithms.chosen(self.net.selector, call, traffic.ranks, size)
        return self._measured("alltoall", traffic, size, name)

    def alltoallv(self, traffic: Traffic, name: str | None = None) -> float:
        """Everyone sends what there is; a measured table of alltoall is a bound where all leave at once, and
        no others send meanwhile.

        `name`: of the algorithm, by default the one that the library chooses.
        """
        size = traffic.mean_bytes
        name = name or algorithms.chosen(self.net.selector, "alltoallv", traffic.ranks, size)
        dense = self._measured("alltoall", traffic, size, name)
        if name == LINEAR and traffic.card is not None:
            return self.messages(traffic)
        return min(dense, self.messages(traffic)) if name == LINEAR else dense

    def _alltoall(self, name: str, node: np.ndarray, size: float) -> float:
        n = len(node)
        if name == LINEAR:
            other = 1.0 - np.eye(n)
            return self.messages(Traffic(size * other, other, node))
        at = np.arange(n)
        if name == PAIRWISE:
            each = int(np.bincount(node).max()) if len(np.unique(node)) > 1 else 1
            mixed = [d for d in range(1, n) if min(d, n - d) < each]  # some partners are on the same node
            # The others take as long in any order.
            some = np.linspace(each, n - each, 9).astype(int)
            alike = np.mean([self._rounds(node, [(at - d, size)]) for d in some])
            return float((n - 1 - len(mixed)) * alike + self._rounds(node, ((at - d, size) for d in mixed)))
        return self._rounds(node, ((at - d, size * np.count_nonzero(at & d)) for d in _powers(n)))

    def allgather(self, traffic: Traffic, size: float, call: str = "allgather") -> float:
        """Everyone gets `size` bytes from everyone, by MPI_Allgather, or by the `call` allgatherv."""
        name = algorithms.chosen(self.net.selector, call, traffic.ranks, size)
        return self._measured("allgather", traffic, size, name)

    def _allgather(self, name: str, node: np.ndarray, size: float) -> float:
        n = len(node)
        at = np.arange(n)
        if name == RING or (name == NEIGHBOR and n % 2):
            return self._rounds(node, [(at - 1, size)] * (n - 1))
        if name == NEIGHBOR:  # two blocks from alternating neighbours, the first time one
            other = np.where(at % 2, at + 1, at - 1) % n, at ^ 1
            return self._rounds(node, ((other[k % 2], min(k, 2) * size) for k in range(1, n // 2 + 1)))
        if name == ROOT:
            return self._root(node, size) + float(self._down(node, n * size).mean())
        return self._rounds(node, [(at_, size * min(d, n - d)) for d, at_ in _doubling(n, name)])

    def barrier(self, traffic: Traffic) -> float:
        """Messages to ranks at doubling distances, or there and back to a root, or up and down a tree."""
        name = algorithms.chosen(self.net.selector, "barrier", traffic.ranks, 0)
        return self._measured("barrier", traffic, 1.0, name)

    def barrier_after(self, traffic: Traffic, came_s: np.ndarray) -> np.ndarray:
        """Mean time from the arrival of the last rank at a barrier until each rank leaves it, [rank] in s.

        `came_s` [draw, rank]: when ranks arrive. Where partners are at doubling distances, messages of early
        ranks are there before the last one comes. So it leaves at once, and its neighbours sooner than those
        that its arrival reaches in several rounds. If all come together, everyone takes as long as `barrier`
        says; so it is in other algorithms.
        """
        name = algorithms.chosen(self.net.selector, "barrier", traffic.ranks, 0)
        whole, node = self.barrier(traffic), np.asarray(traffic.node)
        rounds = [(source, 0) for source in _barrier_rounds(len(node), name)]
        if name in (ROOT, TREE) or not rounds:
            return np.full(len(node), whole)
        left_s = self._ends(came_s, node, rounds) - came_s.max(axis=1, keepdims=True)
        return left_s.mean(axis=0) * (whole / self._rounds(node, rounds))

    def _barrier(self, name: str, node: np.ndarray, _: float) -> float:
        if name == ROOT:
            return 2 * self._root(node, 0)
        rounds = [(source, 0) for source in _barrier_rounds(len(node), name)]
        return (1 + (name == TREE)) * self._rounds(node, rounds)

    def _root(self, node: np.ndarray, size: float) -> float:
        """Everyone sends the first member so many bytes."""
        sent = np.zeros((len(node), len(node)))
        sent[0, 1:] = 1  # the same time as to everyone
        return self.messages(Traffic(size * sent, sent, node))

    def _measured(self, name: str, traffic: Traffic, size: float, algorithm: str) -> float:
        """The time from the table of the profile for this layout of ranks, or else from the algorithm.

        For more ranks than the table has, it is the last value of the table times the growth of the model.
        """
        ranks, rows = traffic.ranks, self.tables.get((self._layout(traffic), name))

        def model(ranks: float) -> float:
            node = np.ascontiguousarray(_nodes(traffic, ranks), dtype=np.int64)
            return _modelled(self._chosen, name, algorithm, node.tobytes(), float(size))

        if rows is None:
            return model(float(ranks))
        known = np.unique(rows[:, 0])
        curves = np.array([_curve(rows[rows[:, 0] == p], size) for p in known])
        inside = float(np.clip(ranks, known[0], known[-1]))
        found = float(np.exp(np.interp(np.log(inside), np.log(known), np.log(curves))))
        return found if inside == ranks else found * model(float(ranks)) / model(inside)

    def _layout(self, traffic: Traffic) -> str | None:
        """The tables for the way that the ranks lie on nodes; None for a way that nobody has measured.

        A profile without tables for several nodes has the same ones for all ways.
        """
        each = np.bincount(traffic.node)
        if len(each[each > 0]) == 1 or {at for at, _ in self.tables} <= {WITHIN}:
            return WITHIN
        if each.max() == 1:
            return BETWEEN
        return FULL if each.max() == self.cores else None


@lru_cache(maxsize=100_000)
def _modelled(net: Interconnect, call: str, algorithm: str, node: bytes, size: float) -> float:
    """Seconds of an algorithm, `size` bytes for each of the ranks, whose nodes these are."""
    calls = Collectives(net, {})
    model = {"alltoall": calls._alltoall, "allgather": calls._allgather, "barrier": calls._barrier}[call]
    return model(algorithm, np.frombuffer(node, dtype=np.int64), size)


def _nodes(traffic: Traffic, ranks: float) -> np.ndarray:
    """The node of each of so many ranks, that share nodes as those of `traffic` do."""
    if ranks == traffic.ranks:
        return traffic.node
    return np.arange(round(ranks)) // max(1, int(np.bincount(traffic.node).max()))


def _powers(ranks: int) -> list[int]:
    """1, 2, 4 … below the number of ranks."""
    return [2**k for k in range(int(np.ceil(np.log2(max(1, ranks)))))]


def _doubling(ranks: int, name: str) -> list[tuple[int, np.ndarray]]:
    """The distance of partners round by round, and who they are.

    A power of two may double with partners in pairs, so that near ones meet near ones; else it goes round.
    """
    at, paired = np.arange(ranks), name != BRUCK and ranks == 2 ** round(np.log2(max(1, ranks)))
    return [(d, at ^ d if paired else at - d) for d in _powers(ranks)]


def _barrier_rounds(ranks: int, name: str) -> list[np.ndarray]:
    """Who sends to each rank, round by round; itself: nobody.

    Of a number that is no power of two, doubling pairs the ranks below the largest power that fits. The
    others first tell one of these that they are there, and in the end it tells them that all are
    (ompi/mca/coll/base/coll_base_barrier.c).
    """
    at, inner = np.arange(ranks), 2 ** int(np.log2(max(1, ranks)))
    if name != DOUBLING or inner == ranks:
        return [source for _, source in _doubling(ranks, name)]
    pairs = [np.where(at < inner, at ^ d, at) for d in _powers(inner)]
    return [np.where(at < ranks - inner, at + inner, at), *pairs, np.where(at < inner, at, at - inner)]


def _curve(rows: np.ndarray, size: float) -> float:
    """Seconds from rows of one number of ranks: log-linear between sizes, constant below, linear above."""
    rows = rows[np.argsort(rows[:, 1])]
    sizes, times = np.maximum(rows[:, 1], 1.0), rows[:, 2]
    found = float(np.exp(np.interp(np.log(max(size, 1.0)), np.log(sizes), np.log(times))))
    return found * max(1.0, size / sizes[-1])
