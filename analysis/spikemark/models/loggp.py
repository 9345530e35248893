"""Times of messages and collectives between ranks: LogGP, with the algorithms of MPI libraries.

A message of n bytes between nodes takes latency + n / bandwidth, a rank that sends several needs
the gap for each, and all ranks of a node share its card (Hockney 1994; LogGP of Alexandrov et al.
1995). Within a node the sender copies one message after another. What is larger than the eager
threshold asks its receiver first, which takes the wire's part of one more latency. Tables of a
profile take precedence over the model.

Which algorithm a library takes is in mpi_rules.py. Exchanges of the mini-app are made of such calls
(exchange_times.py).

Cost: arrays of [rank, rank], log2(ranks) to `ranks` of them for a collective; times of collectives
are kept for the next call.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from . import mpi_rules
from .mpi_rules import BRUCK, DOUBLING, LINEAR, NEIGHBOR, PAIRWISE, RING, ROOT, TREE

#: Nodes from which exchanges meet the congestion of the profile.
CROWD = 4
#: Eager threshold in bytes with which every message leaves without asking.
UNLIMITED = 1e30
#: Links of the longest path, on which the latency of a message is spread evenly.
LINKS = {"star": 2, "fat_tree": 4, "dragonfly": 5}
#: Links between two nodes of a leaf.
LINKS_IN_LEAF = 2
WHY = "exchange between ranks"
#: Measured tables of a profile: calls, and layouts of ranks on nodes (machines/fields.py).
TABLES = ("alltoall", "allgather", "barrier")
WITHIN, BETWEEN, FULL = "tables", "tables_between", "tables_full"
LAYOUTS = (WITHIN, BETWEEN, FULL)
#: Algorithms whose messages leave at once, whatever switches lie between.
AT_ONCE = (LINEAR, ROOT)
#: Distances at which the time of a pairwise round between nodes is sampled.
SAMPLED_DISTANCES = 9
#: Traffic, of 8 MB for 512 ranks, that is kept for the next values of a machine.
KEPT_TRAFFIC = 16
#: Rounds whose pairs of ranks are kept, 10 KB each for 512 ranks.
KEPT_ROUNDS = 4096

#: Node of each member as int64, as a key of tables.
NodeKey = bytes
Kept = TypeVar("Kept")


class StatedNumber(Protocol):
    """What a profile states at a path, such as `machines.profile.Value`."""

    @property
    def value(self) -> float: ...


class StatedNumbers(Protocol):
    """A profile in its own units, such as `machines.profile.Profile`."""

    def get(self, path: str) -> StatedNumber | None: ...  #: None where it is unknown
    def need(self, path: str, purpose: str) -> StatedNumber: ...  #: raises where it is unknown


class NetworkValues(Protocol):
    """Values of a machine profile in SI units, such as `machines.values.Values`.

    A value is a number, or an array of its draws: then all that follows from it is one, too.
    """

    @property
    def profile(self) -> StatedNumbers: ...  #: the profile itself
    def need(self, path: str, why: str) -> Any: ...  #: raises where it is unknown
    def get(self, path: str, otherwise: float) -> Any: ...  #: `otherwise` where it is unknown
    def text(self, path: str) -> str | None: ...  #: a text; None where it is unknown
    def table(self, path: str) -> np.ndarray | None: ...  #: rows [ranks, bytes, seconds]


LARGER_IS_BETTER = {"better": 1}
SMALLER_IS_BETTER = {"better": -1}


def between_nodes(values: NetworkValues, why: str, nodes: int) -> dict[str, Any]:
    """What a message costs between two of so many nodes, by fields of Interconnect.

    From CROWD nodes on, the bandwidth is what congestion leaves of it.

    Raises:
        UnknownValue: naming the value that is unknown, and `why` it is needed.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.machines.values import Values
        >>> jureca = Values(machines.load("jureca-dc"))
        >>> between_nodes(jureca, "an example", nodes=2)["latency_s"]
        1.47e-06
    """
    congestion = values.get("interconnect.congestion", 1.0) if nodes >= CROWD else 1.0
    return {
        "latency_s": values.need("interconnect.latency", why),
        "bandwidth": values.need("interconnect.bandwidth", why) / congestion,
        "gap_s": values.need("interconnect.gap", why),
    }


@dataclass(frozen=True, eq=False)
class Interconnect:
    """What a message costs, in seconds, bytes and bytes per second.

    Fields that are uncertain numbers say in their metadata whether a larger number is better
    (`message_costs`). They are numbers, or arrays [setting, 1] of what they may be together; then
    times of calls are arrays [setting].
    """

    #: Between two nodes, end to end, 0 bytes.
    latency_s: Any = field(metadata=SMALLER_IS_BETTER)
    #: The same within a node.
    latency_node_s: Any = field(metadata=SMALLER_IS_BETTER)
    #: Between two nodes, bytes per second.
    bandwidth: Any = field(metadata=LARGER_IS_BETTER)
    #: Within a node, bytes per second.
    bandwidth_node: Any = field(metadata=LARGER_IS_BETTER)
    #: From one message of a sender to its next.
    gap_s: Any = field(metadata=SMALLER_IS_BETTER)
    #: Bytes up to which a message leaves before its receiver is ready.
    eager: Any = field(metadata=LARGER_IS_BETTER)
    topology: str | None = None  #: star, fat_tree or dragonfly; None: unknown
    nodes_per_leaf: int | None = None  #: nodes on one switch; None: unknown
    #: Whose choice of algorithms for collectives: ompi, mpich or impi; None: unknown.
    selector: str | None = None

    @cached_property
    def content(self) -> tuple[object, ...]:
        """The fields, with arrays as bytes; equal for networks on which messages cost the same."""
        values = [getattr(self, item.name) for item in fields(self)]
        return tuple(value.tobytes() if np.ndim(value) else value for value in values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interconnect) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    @cached_property
    def settings(self) -> tuple[int, ...]:
        """How many settings the costs have, in a tuple; () for numbers."""
        costs = [getattr(self, name) for name in message_costs()]
        return np.broadcast_shapes(*(np.shape(cost)[:1] for cost in costs))

    @cached_property
    def busy_s(self) -> Any:
        """What a message between nodes costs its sender and its receiver, half of it each."""
        return _plain(np.minimum(self.gap_s, self.latency_s))

    @cached_property
    def busy_node_s(self) -> Any:
        """The same of a message within a node; besides, its sender copies at `bandwidth_node`."""
        return _plain(np.minimum(self.gap_s, self.latency_node_s))

    def leaf_latency_s(self, nodes: int) -> Any:
        """Latency between two nodes of one leaf, on a machine of so many nodes.

        With a single leaf it is the latency of the profile.

        Example:
            >>> fat_tree = Interconnect(2e-6, 5e-7, 1e10, 5e9, 1e-6, 8192.0, "fat_tree", 4)
            >>> fat_tree.leaf_latency_s(nodes=8)  # half of the links, half of the wire's 1 us
            1.5e-06
        """
        if self.topology not in LINKS or not self.nodes_per_leaf or nodes <= self.nodes_per_leaf:
            return self.latency_s
        wire_s = self.latency_s - self.busy_s
        return self.busy_s + wire_s * LINKS_IN_LEAF / LINKS[self.topology]

    @classmethod
    def from_values(cls, values: NetworkValues, why: str, nodes: int = 2) -> "Interconnect":
        """What a message costs on a machine.

        With one node, values between nodes are not needed.

        Raises:
            UnknownValue: naming the value that is unknown, and `why` it is needed.
        """
        latency_node_s = values.need("interconnect.latency_node", why)
        bandwidth_node = values.need("interconnect.bandwidth_node", why)
        if nodes > 1:
            outside = between_nodes(values, why, nodes)
        else:
            stated_gap_s = values.get("interconnect.gap", latency_node_s / 2)
            outside = {
                "latency_s": latency_node_s,
                "bandwidth": bandwidth_node,
                "gap_s": np.minimum(latency_node_s, stated_gap_s),
            }
        leaf = values.profile.get("interconnect.nodes_per_leaf")
        return cls(
            **outside,
            latency_node_s=latency_node_s,
            bandwidth_node=bandwidth_node,
            eager=values.get("interconnect.eager", UNLIMITED),
            topology=values.text("interconnect.topology"),
            nodes_per_leaf=None if leaf is None else round(leaf.value),
            selector=values.text("interconnect.selector"),
        )

    @classmethod
    def from_complete_values(cls, values: NetworkValues, why: str) -> "Interconnect":
        """What a message costs between two nodes alone, all values being known.

        Raises:
            BadInput: for any value that is unknown, and `why` it is needed.
        """
        network = cls.from_values(values, why)
        required = ["topology", "eager", "nodes_per_leaf", "selector"]
        is_star = network.topology == "star"
        if is_star:
            required.remove("nodes_per_leaf")
        for name in required:
            values.profile.need(f"interconnect.{name}", why)
        return replace(network, nodes_per_leaf=1) if is_star else network


def _plain(seconds: Any) -> Any:
    """A number of Python in place of one of NumPy; an array [setting] as it is."""
    return seconds if np.ndim(seconds) else float(seconds)


def slowest(times: Iterable[Any]) -> Any:
    """The longest of several times, numbers or arrays [setting]; 0 of none.

    Example:
        >>> slowest([1.0, 2.0]), slowest([1.0, np.array([0.5, 3.0])]).tolist()
        (2.0, [1.0, 3.0])
    """
    longest: Any = 0.0
    for seconds in times:
        longest = np.maximum(longest, seconds)
    return _plain(longest)


def message_costs() -> dict[str, int]:
    """Whether a larger number is better (1) or worse (-1), by field of Interconnect.

    Fields that are texts, or counts of nodes, have no such number.

    Example:
        >>> message_costs()["bandwidth"], message_costs()["gap_s"]
        (1, -1)
    """
    costs = {}
    for item in fields(Interconnect):
        if "better" in item.metadata:
            costs[item.name] = int(item.metadata["better"])
    return costs


@dataclass(frozen=True, eq=False)
class Traffic:
    """What the ranks of a group send each other in an exchange; nothing to oneself.

    Sums that depend on no machine are kept, since many machines and their limits are asked about
    one traffic.
    """

    bytes: np.ndarray  #: [sender, receiver]
    messages: np.ndarray  #: [sender, receiver] expected numbers of messages that are not empty
    node: np.ndarray  #: [member] number of the node
    #: Words of each member onto sets of members, [member, set], given the set of each; for merging.
    onto: Callable[[np.ndarray], np.ndarray] | None = None
    word_bytes: int = 4  #: of a spike
    #: Bytes through the busiest card, where other ranks send through it, too.
    card: float | None = None
    #: What follows from the traffic alone, by a key.
    derived: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def ranks(self) -> int:
        """Number of members."""
        return len(self.node)

    def place(self, nodes_per_leaf: int | None) -> NodeKey:
        """The node of each member, as a key: the same for all that lie alike.

        Nodes are counted from 0; with switches of so many nodes, from the first of the switch of
        the first node.

        Example:
            >>> two = Traffic(np.zeros((2, 2)), np.zeros((2, 2)), node=np.array([7, 8]))
            >>> np.frombuffer(two.place(None), dtype=np.int64).tolist()
            [0, 1]
            >>> np.frombuffer(two.place(nodes_per_leaf=4), dtype=np.int64).tolist()
            [3, 4]
        """

        def place() -> NodeKey:
            if not nodes_per_leaf:
                return _key(_numbers_of_nodes(_key(self.node)))
            return _key(self.node - self.node.min() // nodes_per_leaf * nodes_per_leaf)

        return self.kept(("place", nodes_per_leaf), place)

    def kept(self, key: object, made: Callable[[], Kept]) -> Kept:
        """What follows from the traffic alone, made where `key` is asked for the first time.

        Example:
            >>> two = Traffic(np.zeros((2, 2)), np.zeros((2, 2)), node=np.array([0, 1]))
            >>> two.kept("ranks", lambda: len(two.node)), two.kept("ranks", lambda: 0)
            (2, 2)
        """
        if key not in self.derived:
            self.derived[key] = made()
        value: Kept = self.derived[key]
        return value

    @property
    def _same_node(self) -> np.ndarray:
        """True if two ranks share a node, [sender, receiver]."""
        return _sharing_node(self.place(None))

    @cached_property
    def far(self) -> bool:
        """True if there are several nodes."""
        return not self._same_node.all()

    @cached_property
    def sent(self) -> tuple[np.ndarray, np.ndarray]:
        """Messages to ranks of the own node, and to others, [sender] each."""
        near = np.where(self._same_node, self.messages, 0.0).sum(axis=1)
        return near, self.messages.sum(axis=1) - near

    @cached_property
    def near_bytes(self) -> np.ndarray:
        """Bytes that each rank sends to ranks of its own node, [sender]."""
        return np.asarray(np.where(self._same_node, self.bytes, 0.0).sum(axis=1))

    @cached_property
    def card_bytes(self) -> float:
        """Bytes through the busiest card of a node, one way."""
        if self.card is not None:
            return self.card
        between_nodes = np.where(self._same_node, 0.0, self.bytes)
        nodes = _numbers_of_nodes(_key(self.node))
        received = np.bincount(nodes, between_nodes.sum(axis=0))
        sent = np.bincount(nodes, between_nodes.sum(axis=1))
        return float(max(received.max(), sent.max()))

    @cached_property
    def most_bytes(self) -> float:
        """Bytes of the largest message."""
        return float(self.bytes.max())

    @cached_property
    def each(self) -> "Traffic":
        """A message for every pair of ranks that has something to say now and then.

        It may be empty.
        """
        return Traffic(self.bytes, (self.bytes > 0).astype(float), self.node, card=self.card)

    @cached_property
    def links(self) -> "Traffic":
        """A byte for every pair of ranks that has something to say now and then."""
        linked = self.each.messages
        return Traffic(linked, linked, self.node)

    @cached_property
    def mean_bytes(self) -> float:
        """Bytes for each other rank, of the rank that sends or receives most."""
        most = max(self.bytes.sum(axis=0).max(), self.bytes.sum(axis=1).max())
        return float(most / max(1, self.ranks - 1))

    def dense(self, size: float) -> "Traffic":
        """The same ranks, with `size` bytes from everyone to everyone.

        Example:
            >>> two = Traffic(np.zeros((2, 2)), np.zeros((2, 2)), node=np.array([0, 1]))
            >>> two.dense(8.0).bytes
            array([[0., 8.],
                   [8., 0.]])
        """

        def dense() -> Traffic:
            to_others = 1.0 - np.eye(self.ranks)
            return Traffic(size * to_others, to_others, self.node)

        return self.kept(("dense", size), dense)


class PutSums(NamedTuple):
    """What `Collectives.messages` needs to know of ranks that each get a message of one rank, or
    none: the same sums as of a Traffic.
    """

    far: bool  #: whether there are several nodes
    sent: tuple[np.ndarray, np.ndarray]  #: messages within the node and to others, [sender] each
    near_bytes: np.ndarray  #: within the node, [sender]
    card_bytes: float  #: through the busiest card of a node, one way
    most_bytes: float  #: of the largest message


@lru_cache(maxsize=KEPT_ROUNDS)
def put_sums(place: NodeKey, senders: bytes, sizes: tuple[float, ...]) -> PutSums:
    """Sums of a round of puts.

    Args:
        place: node of each rank, as of `Traffic.place`.
        senders: who puts into each rank, which is itself where nobody does; as `place`.
        sizes: bytes that each rank puts, [sender], or one number for all.

    Example:
        >>> place = np.array([0, 0, 1]).tobytes()
        >>> sums = put_sums(place, np.array([1, 1, 0]).tobytes(), sizes=(8.0,))
        >>> sums.near_bytes.tolist(), sums.card_bytes
        ([0.0, 8.0, 0.0], 8.0)
    """
    node = _numbers_of_nodes(place)
    ranks = len(node)
    sender = np.frombuffer(senders, dtype=np.int64) % ranks
    size = np.broadcast_to(sizes, ranks)[sender]  # [receiver]
    active = sender != np.arange(ranks)
    near = active & (node[sender] == node)
    away = active & ~near
    near_messages = np.bincount(sender[near], minlength=ranks)
    far_messages = np.bincount(sender[away], minlength=ranks)
    by_card = [np.bincount(of[away], size[away]).max(initial=0.0) for of in (node, node[sender])]
    return PutSums(
        far=bool(node.max() > 0),
        sent=(near_messages, far_messages),
        near_bytes=np.bincount(sender[near], size[near], minlength=ranks),
        card_bytes=float(max(by_card)),
        most_bytes=float(size[active].max(initial=0.0)),
    )


@lru_cache(maxsize=KEPT_TRAFFIC)
def _sharing_node(place: NodeKey) -> np.ndarray:
    """True if two ranks share a node, [sender, receiver]."""
    node = np.frombuffer(place, dtype=np.int64)
    return np.asarray(node[:, None] == node[None, :])


@lru_cache(maxsize=KEPT_ROUNDS)
def _numbers_of_nodes(place: NodeKey) -> np.ndarray:
    """The node of each member, numbered from 0 without gaps."""
    _, numbers = np.unique(np.frombuffer(place, dtype=np.int64), return_inverse=True)
    return numbers


def _key(node: np.ndarray) -> NodeKey:
    """The node of each member as a key of tables."""
    return np.ascontiguousarray(node, dtype=np.int64).tobytes()


class Round(NamedTuple):
    """A round of an algorithm: every rank gets a message, or none if it is its own sender."""

    sender: np.ndarray  #: [receiver] rank, modulo the number of ranks
    size: float  #: bytes of a message


class Pairs(NamedTuple):
    """How the ranks of a round lie to their senders, whatever a message costs."""

    near: np.ndarray  #: [receiver] whether both share a node
    idle: np.ndarray  #: [receiver] whether it is its own sender
    same_leaf: np.ndarray  #: [receiver] whether both share a switch
    copying: np.ndarray  #: ranks that send within their node
    on_card: int  #: most messages that reach a node


@lru_cache(maxsize=KEPT_ROUNDS)
def _pairs(place: NodeKey, senders: bytes, nodes_per_leaf: int) -> Pairs:
    """The pairs of a round; `senders`: of each rank, as `place`."""
    node = np.frombuffer(place, dtype=np.int64)
    sender = np.frombuffer(senders, dtype=np.int64)
    nodes = _numbers_of_nodes(place)
    leaf = node // nodes_per_leaf
    near = nodes[sender] == nodes
    idle = sender % len(node) == np.arange(len(node))
    return Pairs(
        near=near,
        idle=idle,
        same_leaf=leaf == leaf[sender],
        copying=sender[near & ~idle],
        on_card=max(1, int(np.bincount(nodes[~near], minlength=1).max())),
    )


@dataclass(frozen=True)
class Collectives:
    """Times of MPI calls, collectives and plain messages, in seconds.

    Example:
        Two ranks on two nodes; latency, and 1 MB at 10 GB/s.

        >>> net = Interconnect(2e-6, 5e-7, 1e10, 5e9, gap_s=1e-6, eager=1e30)
        >>> two = Traffic(np.zeros((2, 2)), np.zeros((2, 2)), node=np.array([0, 1]))
        >>> round(1e6 * Collectives(net, {}).messages(two.dense(1e6)), 3)
        102.0
    """

    net: Interconnect  #: what a message costs
    #: Measured times: layout (of LAYOUTS) and call (of TABLES) -> rows [ranks, bytes, seconds].
    tables: dict[tuple[str, str], np.ndarray]
    cores: int | None = None  #: of a node; None where the profile does not know them

    @classmethod
    def from_values(cls, values: NetworkValues, nodes: int, measured: bool = True) -> "Collectives":
        """The calls on a machine; what lies between nodes is not asked for where there is one node.

        Args:
            values: of the machine.
            nodes: number of nodes.
            measured: take the tables of the profile where it has any.

        Raises:
            BadInput: naming the value that is unknown.
        """
        layouts: tuple[str, ...] = ()
        if measured:
            layouts = LAYOUTS if nodes > 1 else (WITHIN,)
        tables = {}
        for layout in layouts:
            for call in TABLES:
                rows = values.table(f"interconnect.{layout}.{call}")
                if rows is not None:
                    tables[layout, call] = rows
        cores = values.profile.get("node.cores")
        return cls(
            net=Interconnect.from_values(values, WHY, nodes),
            tables=tables,
            cores=None if cores is None else round(cores.value),
        )

    def messages(
        self, traffic: Traffic | PutSums, by_number: bool = False, unit_bytes: float = 1.0
    ) -> Any:
        """Seconds until all messages of an exchange have arrived, which leave at once.

        The slowest rank, or the card of a node, decides:

            T = max(max over ranks of (through + copies), latency + asking + card)
            through = max(busy, latency + queue)

        | term | s | what takes it |
        | --- | --- | --- |
        | busy | [rank] | its messages one after another: busy_node_s or gap_s each |
        | queue | [rank] | its messages but one, half of which keep the receiver busy |
        | copies | [rank] | its bytes within the node, at bandwidth_node |
        | card | one | bytes through the busiest card, at bandwidth |
        | asking | one | if a message is not eager: the wire's part of the latency once more |

        Half of what a message costs keeps its sender busy and half its receiver, while others are
        on their way (the overheads of LogGP, Alexandrov et al. 1995, and of simulations).

        Args:
            traffic: what the ranks send each other.
            by_number: whether everyone serves its targets in the order of their numbers. Then the
                last target gets all its messages at once, after everyone has done with the others:
                they share its card, and it receives them one by one. Ranks differ in how far the
                two overlap; queue = hypot(all but one, card) is within 20 % of simulations of 8 and
                32 ranks.
            unit_bytes: what a 1 in the bytes of the traffic stands for.
        """
        net = self.net
        near_messages, far_messages = traffic.sent
        busy_s = near_messages * net.busy_node_s + far_messages * net.gap_s
        copies_s = unit_bytes * traffic.near_bytes / net.bandwidth_node
        card_s = unit_bytes * traffic.card_bytes / net.bandwidth
        if traffic.far:
            latency_s, gap_s = net.latency_s, net.gap_s
        else:
            latency_s, gap_s = net.latency_node_s, net.busy_node_s
        all_but_one_s = np.maximum(0.0, busy_s - gap_s)
        queue_s = np.hypot(all_but_one_s, card_s) if by_number else all_but_one_s / 2
        through_s = np.maximum(busy_s, latency_s + queue_s)
        is_eager = unit_bytes * traffic.most_bytes <= net.eager
        asking_s = np.where(is_eager, 0.0, np.maximum(0.0, latency_s - gap_s))
        last_s = np.asarray(latency_s + asking_s + card_s)
        through_and_copies_s = (through_s + copies_s).max(axis=-1)
        return slowest([through_and_copies_s, last_s.reshape(net.settings)])

    def card_s(self, sent_bytes: float) -> Any:
        """Seconds until so many bytes have arrived through the card of a node.

        Example:
            >>> net = Interconnect(2e-6, 5e-7, 1e10, 5e9, gap_s=1e-6, eager=1e30)
            >>> round(1e6 * Collectives(net, {}).card_s(1e6), 1)
            102.0
        """
        seconds = np.asarray(self.net.latency_s + sent_bytes / self.net.bandwidth)
        return _plain(seconds.reshape(self.net.settings))

    def _rounds(self, node: np.ndarray, rounds: Iterable[Round]) -> Any:
        """Mean time of members that begin together; each gets a message in every round.

        Messages that leave a node in a round share its card. Who sends within its node copies the
        message before it does anything else. What is not eager begins when both are there, and its
        sender waits, too. Nobody waits for others than its partners (Hockney 1994 with overheads as
        above). Who is its own sender gets no message.

        Args:
            node: number of the node, shape [member].
            rounds: one after the other.
        """
        net = self.net
        place = _key(node)
        nodes_per_leaf = net.nodes_per_leaf or 1
        clock = np.zeros((*net.settings, len(node)))
        leaf_latency = net.leaf_latency_s(int(_numbers_of_nodes(place).max()) + 1)
        for sender, size in rounds:
            pairs = _pairs(place, _key(sender), nodes_per_leaf)
            near, idle = pairs.near, pairs.idle
            asks_first = size > net.eager
            latency = np.where(pairs.same_leaf, leaf_latency, net.latency_s)
            latency = np.where(near, net.latency_node_s, latency)
            busy = np.where(near, net.busy_node_s, net.busy_s)
            clock = clock.copy()
            clock[..., pairs.copying] += size / net.bandwidth_node
            on_wire = np.where(near, 0.0, size * pairs.on_card / net.bandwidth)
            began = clock[..., sender]
            there = began + latency + on_wire
            if np.any(asks_first):
                asked = np.maximum(began, clock) + latency + (latency - busy) + on_wire
                there = np.where(asks_first, asked, there)
            clock = np.where(idle, clock, np.maximum(clock + busy, there))
            if np.any(asks_first):
                of_sender = clock[..., sender]
                waits = np.where(asks_first, np.maximum(of_sender, there), of_sender)
                clock[..., sender] = waits
        return _plain(clock.mean(axis=-1))

    def alltoall(self, traffic: Traffic, call: str = "alltoall") -> Any:
        """Seconds of MPI_Alltoall: everyone sends everyone as much as the busiest rank on average.

        `call` may also be alltoall_init.
        """
        size = traffic.mean_bytes
        return self._call("alltoall", traffic, size, self._chosen(call, traffic, size))

    def alltoallv(self, traffic: Traffic, name: str | None = None) -> Any:
        """Seconds of MPI_Alltoallv: everyone sends what there is.

        A measured table of alltoall is a bound where all messages leave at once, and no others are
        sent at the same time.

        Args:
            traffic: what is sent.
            name: of the algorithm, by default the one that the library chooses.
        """
        size = traffic.mean_bytes
        name = name or self._chosen("alltoallv", traffic, size)
        dense_s = self._call("alltoall", traffic, size, name)
        if name != LINEAR:
            return dense_s
        messages_s = self.messages(traffic)
        if traffic.card is not None:
            return messages_s
        return _plain(np.minimum(messages_s, dense_s))

    def allgather(self, traffic: Traffic, size: float, call: str = "allgather") -> Any:
        """Seconds of MPI_Allgather, or of allgatherv: everyone gets `size` bytes from everyone."""
        return self._call("allgather", traffic, size, self._chosen(call, traffic, size))

    def barrier(self, traffic: Traffic) -> Any:
        """Seconds of MPI_Barrier.

        Messages to ranks at doubling distances, or there and back to a root, or up and down a tree.
        """
        return self._call("barrier", traffic, 1.0, self._chosen("barrier", traffic, 0))

    def _chosen(self, call: str, traffic: Traffic, size: float) -> str:
        """The algorithm that the library takes."""
        return mpi_rules.algorithm_of(self.net.selector, call, traffic.ranks, size)

    def _call(self, call: str, traffic: Traffic, size: float, algorithm: str) -> Any:
        """Seconds from the measured table for this layout of ranks, or else from the algorithm.

        More ranks than the table has take what the model says, and at least the table's last value;
        fewer ranks at most its first. So faster messages never make a call longer.
        """
        ranks = traffic.ranks
        layout = self._layout(traffic)
        rows = None if layout is None else self.tables.get((layout, call))
        if rows is None:
            return self._modelled(call, traffic, size, algorithm, ranks)
        numbers = np.unique(rows[:, 0])  # of ranks
        curves = np.array([_table_s(rows[rows[:, 0] == number], size) for number in numbers])
        inside = float(np.clip(ranks, numbers[0], numbers[-1]))
        measured_s = float(np.exp(np.interp(np.log(inside), np.log(numbers), np.log(curves))))
        if inside == ranks:
            return measured_s
        at_ranks_s = self._modelled(call, traffic, size, algorithm, ranks)
        if ranks > inside:
            return slowest([measured_s, at_ranks_s])
        return _plain(np.minimum(measured_s, at_ranks_s))

    def _modelled(
        self, call: str, traffic: Traffic, size: float, algorithm: str, ranks: float
    ) -> Any:
        """Seconds of an algorithm on so many ranks, which share nodes as those of the traffic."""
        place = traffic.place(None if algorithm in AT_ONCE else self.net.nodes_per_leaf)
        if ranks != traffic.ranks:
            ranks_of_a_node = max(1, int(np.bincount(traffic.node).max()))
            place = _key(np.arange(round(ranks)) // ranks_of_a_node)
        return _algorithm_s(self.net, call, algorithm, place, float(size))

    def _layout(self, traffic: Traffic) -> str | None:
        """The tables for the way that the ranks lie on nodes; None where nobody has measured it.

        A profile without tables for several nodes has the same ones for all ways.
        """
        if not self.tables:
            return None
        ranks_of_nodes = np.bincount(traffic.node)
        nodes = np.count_nonzero(ranks_of_nodes)
        measured_layouts = {layout for layout, _ in self.tables}
        if nodes == 1 or measured_layouts == {WITHIN}:
            return WITHIN
        if ranks_of_nodes.max() == 1:
            return BETWEEN
        return FULL if ranks_of_nodes.max() == self.cores else None


@lru_cache(maxsize=100_000)
def _algorithm_s(net: Interconnect, call: str, algorithm: str, place: NodeKey, size: float) -> Any:
    """Seconds of an algorithm, `size` bytes for each of the ranks, whose nodes are in `place`."""
    calls = Collectives(net, {})
    node = np.frombuffer(place, dtype=np.int64)
    ranks = len(node)
    if call == "barrier":
        size = 0.0
    if algorithm == LINEAR:
        return calls.messages(_to_others(place), unit_bytes=size)
    if algorithm == ROOT:  # from the first takes as long as to the first
        there_s = calls.messages(_from_first(place), unit_bytes=size)
        if call == "allgather":
            return _plain(there_s + _broadcast_s(net, node, ranks * size).mean(axis=-1))
        return there_s + there_s
    if algorithm == PAIRWISE and call == "alltoall":
        return _pairwise_s(calls, node, size)
    seconds = calls._rounds(node, rounds(call, algorithm, ranks, size))
    return 2 * seconds if algorithm == TREE else seconds


@lru_cache(maxsize=KEPT_TRAFFIC)
def _to_others(place: NodeKey) -> Traffic:
    """A byte from everyone to everyone."""
    node = np.frombuffer(place, dtype=np.int64)
    to_others = 1.0 - np.eye(len(node))
    return Traffic(to_others, to_others, node)


@lru_cache(maxsize=KEPT_TRAFFIC)
def _from_first(place: NodeKey) -> Traffic:
    """A byte from the first rank to each of the others."""
    node = np.frombuffer(place, dtype=np.int64)
    from_first = np.zeros((len(node), len(node)))
    from_first[0, 1:] = 1.0
    return Traffic(from_first, from_first, node)


def _pairwise_s(calls: Collectives, node: np.ndarray, size: float) -> Any:
    """Seconds of a pairwise alltoall: one partner after another, at all distances.

    At short distances, some partners are on the same node. Rounds at the other distances take the
    mean of some of them, in whatever order.
    """
    ranks = len(node)
    members = np.arange(ranks)
    ranks_of_a_node = 1
    if len(np.unique(node)) > 1:
        ranks_of_a_node = int(np.bincount(node).max())
    short = [d for d in range(1, ranks) if min(d, ranks - d) < ranks_of_a_node]
    distances = np.linspace(ranks_of_a_node, ranks - ranks_of_a_node, SAMPLED_DISTANCES)
    sample_s = [calls._rounds(node, [Round(members - d, size)]) for d in distances.astype(int)]
    short_s = calls._rounds(node, [Round(members - d, size) for d in short])
    return _plain((ranks - 1 - len(short)) * np.mean(sample_s, axis=0) + short_s)


def rounds(call: str, algorithm: str, n: int, size: float) -> list[Round]:
    """The rounds of an algorithm on `n` ranks with `size` bytes each.

    A power of two may double with partners in pairs, so that near ones meet near ones; else it goes
    round. Of another number, a barrier that doubles pairs the ranks below the largest power that
    fits. The others first tell one of these that they are there, and in the end it tells them that
    all are (ompi/mca/coll/base/coll_base_barrier.c).

    Example:
        >>> [(round.sender.tolist(), round.size) for round in rounds("allgather", DOUBLING, 4, 8)]
        [([1, 0, 3, 2], 8), ([2, 3, 0, 1], 16)]
    """
    ranks = np.arange(n)
    if call == "alltoall":
        return [Round(ranks - d, size * np.count_nonzero(ranks & d)) for d in powers_below(n)]
    if algorithm == RING or (algorithm == NEIGHBOR and n % 2):
        return [Round(ranks - 1, size)] * (n - 1)
    if algorithm == NEIGHBOR:  # two blocks from alternating neighbours, the first time one
        odd_rounds = ranks ^ 1
        even_rounds = np.where(ranks % 2, ranks + 1, ranks - 1) % n
        alternating = [Round(odd_rounds, size)]
        for number in range(2, n // 2 + 1):
            neighbours = odd_rounds if number % 2 else even_rounds
            alternating.append(Round(neighbours, 2 * size))
        return alternating
    core = largest_power(n)
    if call == "barrier" and algorithm == DOUBLING and core < n:
        partners = [np.where(ranks < core, ranks ^ d, ranks) for d in powers_below(core)]
        others_report = np.where(ranks < n - core, ranks + core, ranks)
        others_are_told = np.where(ranks < core, ranks, ranks - core)
        return [Round(sender, size) for sender in (others_report, *partners, others_are_told)]
    in_pairs = algorithm != BRUCK and core == n
    doubling = []
    for d in powers_below(n):
        sender = ranks ^ d if in_pairs else ranks - d
        doubling.append(Round(sender, size * min(d, n - d)))
    return doubling


def _broadcast_s(net: Interconnect, node: np.ndarray, size: float) -> np.ndarray:
    """When each member has so many bytes of the first, [..., member], s.

    A binomial tree, the largest distance first.
    """
    clock = np.zeros((*net.settings, len(node)))
    inside_s = net.latency_node_s + size / net.bandwidth_node
    between_s = net.latency_s + size / net.bandwidth
    for distance in reversed(powers_below(len(node))):
        receivers = np.arange(distance, len(node), 2 * distance)
        senders = receivers - distance
        near = node[receivers] == node[senders]
        clock[..., receivers] = clock[..., senders] + np.where(near, inside_s, between_s)
    return clock


def powers_below(ranks: int) -> list[int]:
    """1, 2, 4 … below the number of ranks.

    Example:
        >>> powers_below(6)
        [1, 2, 4]
    """
    return [2**k for k in range(int(np.ceil(np.log2(max(1, ranks)))))]


def largest_power(ranks: int) -> int:
    """The largest power of two that is at most the number of ranks.

    Example:
        >>> largest_power(6)
        4
    """
    return int(2 ** int(np.log2(max(1, ranks))))


def _table_s(rows: np.ndarray, size: float) -> float:
    """Seconds from measured rows [ranks, bytes, seconds] of one number of ranks.

    Log-linear between sizes, constant below, linear above.
    """
    rows = rows[np.argsort(rows[:, 1])]
    sizes = np.maximum(rows[:, 1], 1.0)
    log_seconds = np.interp(np.log(max(size, 1.0)), np.log(sizes), np.log(rows[:, 2]))
    return float(np.exp(log_seconds)) * max(1.0, size / float(sizes[-1]))
