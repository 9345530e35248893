"""Times of exchanges between ranks: LogGP with the algorithms that MPI libraries choose (mpi_rules.py).

A message of n bytes between nodes takes latency + n / bandwidth, a rank that sends several needs the gap for
each, and all ranks of a node share its card (Hockney 1994; LogGP of Alexandrov et al. 1995). Within a node
the sender copies one message after another. What is larger than the eager threshold asks its receiver first,
which takes the wire's part of one more latency. Tables of a profile take precedence over the model.

`EXCHANGES` has one function per back-end of the mini-app; those composed of others are in
prediction/partition/routed.py. A put is a message, and MPI_Win_fence the end of it and a barrier
(Gerstenberger, Besta, Hoefler 2013, doi 10.1145/2503210.2503286); in shared memory (Hoefler et al. 2013, doi
10.1007/s00607-013-0324-2) reading what another rank has written is a message within the node.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput

from . import mpi_rules
from .mpi_rules import BRUCK, DOUBLING, LINEAR, NEIGHBOR, PAIRWISE, RING, ROOT, TREE

CROWD = 4  # nodes from which exchanges meet the congestion of the profile
UNLIMITED = 1e30  # bytes: every message leaves without asking
#: Links of the longest path, on which the latency of a message is spread evenly; two nodes of a leaf use two.
LINKS = {"star": 2, "fat_tree": 4, "dragonfly": 5}
WHY = "exchange between ranks"
TABLES = ("alltoall", "allgather", "barrier")
WITHIN, BETWEEN, FULL = LAYOUTS = ("tables", "tables_between", "tables_full")  # of machines/fields.py
COUNT_BYTES = 4.0  # a size that is sent ahead
LINE_WORDS, WORD_BYTES = 16, 4  # what a fixed buffer begins with; the words that it consists of
#: Exchanges that go on while ranks compute (`overlaps` in `miniapp --list --json`); a lag needs one.
OVERLAPPING = ("ialltoallv", "ineighbor", "p2p", "direct", "sparse", "rma_put", "shared")
#: `broadcast` in `miniapp --list --json`.
BROADCASTS = ("allgather", "allgatherv", "rma_doubling", "rma_bruck")


@dataclass(frozen=True)
class Interconnect:
    """Seconds, bytes and bytes per second. The last three are None where they are unknown."""

    latency_s: float  # between two nodes, end to end, 0 bytes
    latency_node_s: float  # the same within a node
    bandwidth: float
    bandwidth_node: float
    gap_s: float  # from one message of a sender to its next
    eager: float  # bytes up to which a message leaves before its receiver is ready
    topology: str | None = None  # star, fat_tree or dragonfly
    nodes_per_leaf: int | None = None  # nodes on one switch
    selector: str | None = None  # whose choice of algorithms for collectives: ompi, mpich or impi

    @property
    def busy_s(self) -> float:
        """What a message between nodes costs its sender and its receiver together, half of it each."""
        return min(self.gap_s, self.latency_s)

    @property
    def busy_node_s(self) -> float:
        """The same of a message within a node; besides, its sender copies at `bandwidth_node`."""
        return min(self.gap_s, self.latency_node_s)

    def leaf_latency_s(self, nodes: int) -> float:
        """Latency between two nodes of one leaf. With a single leaf it is that of the profile."""
        if self.topology not in LINKS or not self.nodes_per_leaf or nodes <= self.nodes_per_leaf:
            return self.latency_s
        return self.busy_s + (self.latency_s - self.busy_s) * 2 / LINKS[self.topology]

    @classmethod
    def of(cls, values: Any, why: str, nodes: int = 2) -> "Interconnect":
        """What a message costs. With one node, values between nodes are not needed; from `CROWD` nodes on,
        the bandwidth between them is what congestion leaves of it.

        Raises UnknownValue naming the value that is unknown, and `why` it is needed.
        """

        def need(name: str) -> float:
            return values.need(f"interconnect.{name}", why)

        latency, bandwidth = need("latency_node"), need("bandwidth_node")
        between, leaf = nodes > 1, values.profile.get("interconnect.nodes_per_leaf")
        crowded = values.get("interconnect.congestion", 1.0) if nodes >= CROWD else 1.0
        return cls(
            need("latency") if between else latency,
            latency,
            need("bandwidth") / crowded if between else bandwidth,
            bandwidth,
            need("gap") if between else np.minimum(latency, values.get("interconnect.gap", latency / 2)),
            values.get("interconnect.eager", UNLIMITED),
            values.text("interconnect.topology"),
            None if leaf is None else round(leaf.value),
            values.text("interconnect.selector"),
        )

    @classmethod
    def whole(cls, values: Any, why: str) -> "Interconnect":
        """The same of two nodes alone. Raises BadInput for any value that is unknown."""
        found = cls.of(values, why)
        star = found.topology == "star"
        for name in ("topology", "eager", *(() if star else ("nodes_per_leaf",)), "selector"):
            values.profile.need(f"interconnect.{name}", why)
        return replace(found, nodes_per_leaf=1) if star else found


@dataclass(frozen=True, eq=False)
class Traffic:
    """What the ranks of a group send each other in an exchange, [sender, receiver]; nothing to oneself.

    Sums that depend on no machine are kept, since many machines and their limits are asked about one traffic.
    """

    bytes: np.ndarray
    messages: np.ndarray  # expected numbers of messages that are not empty
    node: np.ndarray  # [member]
    #: Words of each member onto sets of members, [member, set], given the set of each; for merging.
    onto: Callable[[np.ndarray], np.ndarray] | None = None
    word_bytes: int = 4
    card: float | None = None  # bytes through the busiest card, where other ranks send through it, too
    kept: dict = field(default_factory=dict, repr=False)  # what follows from it alone

    @property
    def ranks(self) -> int:
        return len(self.node)

    def place(self, leaves: bool) -> bytes:
        """The node of each member as int64, from 0; `leaves`: by its own number, which names the switch."""
        if ("place", leaves) not in self.kept:
            node = self.node if leaves else np.unique(self.node, return_inverse=True)[1]
            self.kept["place", leaves] = np.ascontiguousarray(node, dtype=np.int64).tobytes()
        return self.kept["place", leaves]

    @cached_property
    def _same(self) -> np.ndarray:
        """True if two ranks share a node, [sender, receiver]."""
        return self.node[:, None] == self.node[None, :]

    @cached_property
    def far(self) -> bool:
        """True if there are several nodes."""
        return not self._same.all()

    @cached_property
    def sent(self) -> tuple[np.ndarray, np.ndarray]:
        """Messages to ranks of the own node, and to others, [sender]."""
        near = np.where(self._same, self.messages, 0.0).sum(axis=1)
        return near, self.messages.sum(axis=1) - near

    @cached_property
    def near_bytes(self) -> np.ndarray:
        """Bytes that each rank sends to ranks of its own node, [sender]."""
        return np.where(self._same, self.bytes, 0.0).sum(axis=1)

    @cached_property
    def card_bytes(self) -> float:
        """Through the busiest card of a node, one way."""
        if self.card is not None:
            return self.card
        out, nodes = np.where(self._same, 0.0, self.bytes), np.unique(self.node, return_inverse=True)[1]
        return float(max(np.bincount(nodes, out.sum(axis=axis)).max() for axis in (0, 1)))

    @cached_property
    def most_bytes(self) -> float:
        """Bytes of the largest message."""
        return float(self.bytes.max())

    @cached_property
    def each(self) -> "Traffic":
        """A message for every pair of ranks that has something to say now and then; it may be empty."""
        return Traffic(self.bytes, (self.bytes > 0).astype(float), self.node, card=self.card)

    @cached_property
    def mean_bytes(self) -> float:
        """Bytes for each other rank, of the rank that sends or receives most."""
        most = max(self.bytes.sum(axis=0).max(), self.bytes.sum(axis=1).max())
        return float(most / max(1, self.ranks - 1))

    def dense(self, size: float) -> "Traffic":
        """The same ranks, with `size` bytes from everyone to everyone."""
        if size not in self.kept:
            other = 1.0 - np.eye(self.ranks)
            self.kept[size] = Traffic(size * other, other, self.node)
        return self.kept[size]


@dataclass(frozen=True)
class Collectives:
    """Times of calls in seconds. `tables`: (layout, name) -> rows [ranks, bytes, seconds].

    `cores`: of a node, where the profile knows them; the layouts are those of LAYOUTS.
    """

    net: Interconnect
    tables: dict[tuple[str, str], np.ndarray]
    cores: int | None = None

    @classmethod
    def of(cls, values: Any, nodes: int, measured: bool = True) -> "Collectives":
        """The calls on a profile; what lies between nodes is not asked for where there is one node.

        `measured`: with the tables of the profile. Raises BadInput naming the value that is unknown.
        """
        layouts = () if not measured else LAYOUTS if nodes > 1 else (WITHIN,)
        found = {(at, name): values.table(f"interconnect.{at}.{name}") for at in layouts for name in TABLES}
        known, cores = (
            {k: rows for k, rows in found.items() if rows is not None},
            values.profile.get("node.cores"),
        )
        return cls(Interconnect.of(values, WHY, nodes), known, None if cores is None else round(cores.value))

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
        """Mean time of members that begin together; each gets a message and waits for it, round by round.

        `rounds`: (number of the sender, by receiver; bytes). Messages that leave a node in a round share its
        card. Who sends within its node copies the message before it does anything else. What is not eager
        begins when both are there, and its sender waits, too. Nobody waits for others than its partners
        (Hockney 1994 with overheads as above). Who is its own sender gets no message.
        """
        net, nodes = self.net, np.unique(node, return_inverse=True)[1]
        leaf, at, clock = node // (net.nodes_per_leaf or 1), np.arange(len(node)), np.zeros(len(node))
        between = net.leaf_latency_s(int(nodes.max()) + 1)
        for source, size in rounds:
            near, own, late = nodes[source] == nodes, source % len(node) == at, size > net.eager
            shared = max(1, int(np.bincount(nodes[~near], minlength=1).max()))
            latency = np.where(leaf == leaf[source], between, net.latency_s)
            busy = np.where(near, net.busy_node_s, net.busy_s)
            latency = np.where(near, net.latency_node_s, latency)
            clock = clock.copy()
            clock[source[near & ~own]] += size / net.bandwidth_node
            copied = np.where(near, 0.0, size * shared / net.bandwidth)
            began = np.maximum(clock[source], clock) if late else clock[source]
            there = began + latency + late * (latency - busy) + copied
            clock = np.where(own, clock, np.maximum(clock + busy, there))
            if late:
                clock[source] = np.maximum(clock[source], there)
        return float(clock.mean())

    def alltoall(self, traffic: Traffic, call: str = "alltoall") -> float:
        """Everyone sends everyone as much as the busiest rank does on average; or by alltoall_init."""
        return self._call("alltoall", traffic, traffic.mean_bytes, self._chosen(call, traffic))

    def alltoallv(self, traffic: Traffic, name: str | None = None) -> float:
        """Everyone sends what there is; a measured table of alltoall is a bound where all leave at once, and
        no others send at the same time.

        `name`: of the algorithm, by default the one that the library chooses.
        """
        name = name or self._chosen("alltoallv", traffic)
        dense = self._call("alltoall", traffic, traffic.mean_bytes, name)
        if name != LINEAR:
            return dense
        return min(self.messages(traffic), np.inf if traffic.card is not None else dense)

    def allgather(self, traffic: Traffic, size: float, call: str = "allgather") -> float:
        """Everyone gets `size` bytes from everyone, by MPI_Allgather, or by the `call` allgatherv."""
        return self._call("allgather", traffic, size, self._chosen(call, traffic, size))

    def barrier(self, traffic: Traffic) -> float:
        """Messages to ranks at doubling distances, or there and back to a root, or up and down a tree."""
        return self._call("barrier", traffic, 1.0, self._chosen("barrier", traffic, 0))

    def _chosen(self, call: str, traffic: Traffic, size: float | None = None) -> str:
        size = traffic.mean_bytes if size is None else size
        return mpi_rules.chosen(self.net.selector, call, traffic.ranks, size)

    def _call(self, call: str, traffic: Traffic, size: float, algorithm: str) -> float:
        """The time from the table of the profile for this layout of ranks, or else from the algorithm.

        For more ranks than the table has, it is the last value of the table times the growth of the model.
        """
        ranks = traffic.ranks
        rows = self.tables.get((self._layout(traffic), call)) if self.tables else None

        def model(ranks: float) -> float:
            place = traffic.place(bool(self.net.nodes_per_leaf))
            if ranks != traffic.ranks:  # that share nodes as these do
                node = np.arange(round(ranks)) // max(1, int(np.bincount(traffic.node).max()))
                place = node.astype(np.int64).tobytes()
            return _modelled(self.net, call, algorithm, place, float(size))

        if rows is None:
            return model(ranks)
        known = np.unique(rows[:, 0])
        curves = np.array([_curve(rows[rows[:, 0] == p], size) for p in known])
        inside = float(np.clip(ranks, known[0], known[-1]))
        found = float(np.exp(np.interp(np.log(inside), np.log(known), np.log(curves))))
        return found if inside == ranks else found * model(ranks) / model(inside)

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
    calls, place = Collectives(net, {}), np.frombuffer(node, dtype=np.int64)
    n, size = len(place), size * (call != "barrier")
    if algorithm in (LINEAR, ROOT):
        sent = 1.0 - np.eye(n)
        if algorithm == ROOT:  # to the first rank, which takes as long as to everyone
            sent[1:] = sent[:, 0] = 0
        there = calls.messages(Traffic(size * sent, sent, place))
        back = (float(_down(net, place, n * size).mean()) if call == "allgather" else there) * (
            algorithm == ROOT
        )
        return there + back
    if algorithm == PAIRWISE and call == "alltoall":
        each = int(np.bincount(place).max()) if len(np.unique(place)) > 1 else 1
        mixed = [d for d in range(1, n) if min(d, n - d) < each]  # some partners are on the same node
        at, some = np.arange(n), np.linspace(each, n - each, 9).astype(int)
        alike = np.mean([calls._rounds(place, [(at - d, size)]) for d in some])  # the others, in any order
        return float((n - 1 - len(mixed)) * alike + calls._rounds(place, ((at - d, size) for d in mixed)))
    return (1 + (algorithm == TREE)) * calls._rounds(place, rounds(call, algorithm, n, size))


def rounds(call: str, algorithm: str, n: int, size: float) -> list[tuple[np.ndarray, float]]:
    """The rounds of an algorithm on `n` ranks with `size` bytes each: the sender to every rank (itself:
    nobody), and the bytes of a message.

    A power of two may double with partners in pairs, so that near ones meet near ones; else it goes round.
    Of another number, a barrier that doubles pairs the ranks below the largest power that fits. The others
    first tell one of these that they are there, and in the end it tells them that all are
    (ompi/mca/coll/base/coll_base_barrier.c).
    """
    at = np.arange(n)
    if call == "alltoall":
        return [(at - d, size * np.count_nonzero(at & d)) for d in _powers(n)]
    if algorithm == RING or (algorithm == NEIGHBOR and n % 2):
        return [(at - 1, size)] * (n - 1)
    if algorithm == NEIGHBOR:  # two blocks from alternating neighbours, the first time one
        other = np.where(at % 2, at + 1, at - 1) % n, at ^ 1
        return [(other[k % 2], min(k, 2) * size) for k in range(1, n // 2 + 1)]
    core = 2 ** int(np.log2(max(1, n)))
    if call == "barrier" and algorithm == DOUBLING and core < n:
        pairs = [np.where(at < core, at ^ d, at) for d in _powers(core)]
        ends = np.where(at < n - core, at + core, at), np.where(at < core, at, at - core)
        return [(source, size) for source in (ends[0], *pairs, ends[1])]
    paired = algorithm != BRUCK and core == n
    return [(at ^ d if paired else at - d, size * min(d, n - d)) for d in _powers(n)]


def _down(net: Interconnect, node: np.ndarray, size: float) -> np.ndarray:
    """When each member has so many bytes of the first: a binomial tree, the largest distance first."""
    clock, inside = np.zeros(len(node)), net.latency_node_s + size / net.bandwidth_node
    for distance in reversed(_powers(len(node))):
        at = np.arange(distance, len(node), 2 * distance)
        near = node[at] == node[at - distance]
        clock[at] = clock[at - distance] + np.where(near, inside, net.latency_s + size / net.bandwidth)
    return clock


def _powers(ranks: int) -> list[int]:
    """1, 2, 4 … below the number of ranks."""
    return [2**k for k in range(int(np.ceil(np.log2(max(1, ranks)))))]


def _curve(rows: np.ndarray, size: float) -> float:
    """Seconds from rows of one number of ranks: log-linear between sizes, constant below, linear above."""
    rows = rows[np.argsort(rows[:, 1])]
    sizes, times = np.maximum(rows[:, 1], 1.0), rows[:, 2]
    found = float(np.exp(np.interp(np.log(max(size, 1.0)), np.log(sizes), np.log(times))))
    return found * max(1.0, size / sizes[-1])


def _room(traffic: Traffic) -> float:
    """Bytes of a fixed buffer: it doubles from a cache line on, until the largest window has fitted.

    That one is taken to have four standard deviations more than the mean, of Poisson numbers.
    """
    words = traffic.most_bytes / WORD_BYTES
    need = words + 4 * np.sqrt(words) + 2  # with a header of up to two words
    return WORD_BYTES * LINE_WORDS * 2.0 ** max(0, np.ceil(np.log2(need / LINE_WORDS)))


def _linked(traffic: Traffic, sizes: bool = False) -> Traffic:
    """A message for every pair of ranks that has something to say: its size, or with it what there is."""
    linked = (traffic.bytes > 0).astype(float)
    sent = COUNT_BYTES * linked
    return Traffic(sent if sizes else traffic.bytes + sent, linked, traffic.node,
                   card=None if sizes else traffic.card)  # fmt: skip


def _partners(net: Collectives, traffic: Traffic) -> float:
    return net.messages(_linked(traffic, sizes=True)) + net.messages(traffic)


def _direct(net: Collectives, traffic: Traffic) -> float:
    return net.messages(traffic.each, by_number=True)


def _put_bruck(net: Collectives, traffic: Traffic) -> float:
    return _put(net, traffic, rounds("allgather", BRUCK, traffic.ranks, 1))


def _put_doubling(net: Collectives, traffic: Traffic) -> float:
    """Pairs of ranks; those beyond the largest power of two hand their block in, and get all at the end."""
    n, at = traffic.ranks, np.arange(traffic.ranks)
    core = 2 ** int(np.log2(n))
    own = at[:core]
    held = np.where(own < n - core, 2, 1)  # blocks that a rank of the core begins with
    blocks: list[Any] = [np.add.reduceat(held, own[::m])[own // m] for m in _powers(core)]
    blocks = [np.pad(pairs, (0, n - core)) for pairs in blocks]
    ends = [1, *blocks, n] if n > core else blocks
    sources = [source for source, _ in rounds("barrier", DOUBLING, n, 0)]
    return _put(net, traffic, zip(sources, ends, strict=True))


def _put(net: Collectives, traffic: Traffic, steps: Iterable[tuple[np.ndarray, Any]]) -> float:
    """Seconds of steps, each with a fence; in each, the source of every rank, unless that is the rank itself,
    puts so many blocks into it."""
    seconds, at = 0.0, np.arange(traffic.ranks)
    for source, blocks in steps:
        sent = np.zeros((traffic.ranks, traffic.ranks))
        sent[source, at] = source % traffic.ranks != at
        put = _room(traffic) * np.reshape(blocks, (-1, 1)) * sent
        seconds += net.messages(Traffic(put, sent, traffic.node)) + net.barrier(traffic)
    return seconds


def _shared(net: Collectives, traffic: Traffic) -> float:
    nodes = len(np.unique(traffic.node))
    if nodes > 1:
        raise BadInput(f"exchange='shared': {traffic.ranks} ranks on {nodes} nodes; expected one node")
    return net.barrier(traffic) + net.messages(traffic.each)


#: A rank that gathers sends everyone the same, since nearly every spike has a target on every rank.
EXCHANGES: dict[str, Callable[[Collectives, Traffic], float]] = {
    "alltoallv": lambda net, t: net.alltoall(t.dense(COUNT_BYTES)) + net.alltoallv(t),
    # All messages of a non-blocking exchange start at once, in Open MPI (libnbc) as in SimGrid; MPICH, which
    # combines sizes of 8 and more ranks, is taken to do the same. The spikes go to ranks by number.
    "ialltoallv": lambda net, t: net.alltoallv(t.dense(COUNT_BYTES), LINEAR) + net.messages(t, True),
    "alltoall": lambda net, t: net.alltoall(t.dense(_room(t))),
    "persistent": lambda net, t: net.alltoall(t.dense(_room(t)), "alltoall_init"),
    "neighbor": _partners,
    "ineighbor": _partners,
    "p2p": _direct,
    "direct": _direct,
    "sparse": lambda net, t: net.messages(t, by_number=True) + net.barrier(t),
    # Buffers of fixed size; a second call, for spikes that do not fit, is rare.
    "allgather": lambda net, t: net.allgather(t, _room(t)),
    "allgatherv": lambda net, t: net.allgather(t, COUNT_BYTES) + net.allgather(t, t.most_bytes, "allgatherv"),
    "rma_put": lambda net, t: net.messages(_linked(t)) + net.barrier(t),  # sizes are put, too
    "rma_doubling": _put_doubling,
    "rma_bruck": _put_bruck,
    "shared": _shared,
}
