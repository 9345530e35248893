"""Times of collective calls on an interconnect: tables of the profile, else latency, gap and bandwidth.

A message of n bytes between nodes takes latency + n / bandwidth, a rank that sends several needs the gap for
each (Hockney 1994 with the gap of Culler et al. 1993), and all ranks of a node share its card. What is larger
than the eager threshold waits for one more latency. A collective is the fastest of the ways that MPI
libraries choose from: all messages at once, log2(P) rounds (Bruck), or one partner after another.
"""

from dataclasses import dataclass, replace

import numpy as np

from spikemark.machines.fields import BETWEEN, FULL, LAYOUTS, WITHIN
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect

WHY = "exchange between ranks"
TABLES = ("alltoall", "allgather", "barrier")
CROWD = 4  # nodes from which exchanges meet the congestion of the profile


@dataclass(frozen=True)
class Traffic:
    """What the ranks of a group send each other in an exchange, [sender, receiver]; nothing to oneself."""

    bytes: np.ndarray
    messages: np.ndarray  # expected numbers of messages that are not empty
    node: np.ndarray  # [member]

    @property
    def ranks(self) -> int:
        return len(self.node)

    @property
    def mean_bytes(self) -> float:
        """Bytes for each other rank, of the rank that sends or receives most."""
        most = max(self.bytes.sum(axis=0).max(), self.bytes.sum(axis=1).max())
        return float(most / max(1, self.ranks - 1))

    def dense(self, size: float) -> "Traffic":
        """The same ranks, with `size` bytes from everyone to everyone."""
        other = 1.0 - np.eye(self.ranks)
        return Traffic(size * other, other, self.node)


@dataclass(frozen=True)
class Collectives:
    """Times of calls in seconds. `tables`: (layout, name) -> rows [ranks, bytes, seconds].

    `cores`: of a node, where the profile knows them; the layouts are those of machines/fields.py.
    """

    net: Interconnect
    tables: dict[tuple[str, str], np.ndarray]
    cores: int | None = None

    @classmethod
    def of(cls, inputs: Inputs, nodes: int) -> "Collectives":
        """The calls on a profile; what lies between nodes is not asked for where there is one node.

        Raises BadInput naming the value that is unknown.
        """
        layouts = LAYOUTS if nodes > 1 else (WITHIN,)
        found = {(at, name): inputs.table(f"interconnect.{at}.{name}") for at in layouts for name in TABLES}
        known = {key: rows for key, rows in found.items() if rows is not None}
        net, cores = Interconnect.of(inputs, WHY, nodes), inputs.profile.get("node.cores")
        if nodes >= CROWD:
            net = replace(net, bandwidth=net.bandwidth / inputs.get("interconnect.congestion", 1.0))
        return cls(net, known, None if cores is None else round(cores.value))

    def messages(self, traffic: Traffic) -> float:
        """All messages leave at once; the slowest rank, or the card of a node, sets the time."""
        same = traffic.node[:, None] == traffic.node[None, :]
        inside = np.where(same, traffic.messages * self.net.latency_node_s / 2, 0) + np.where(
            same, traffic.bytes / self.net.bandwidth_node, 0
        )
        sent = (inside + np.where(same, 0, traffic.messages * self.net.gap_s)).sum(axis=1)
        out = np.where(same, 0, traffic.bytes)
        nodes = np.unique(traffic.node, return_inverse=True)[1]
        card = max(np.bincount(nodes, out.sum(axis=axis)).max() for axis in (0, 1)) / self.net.bandwidth
        latency = self.net.latency_s if (~same).any() else self.net.latency_node_s
        late = traffic.bytes.max() > self.net.eager
        return float(latency * (1 + late) + max(sent.max(), card))

    def alltoall(self, traffic: Traffic) -> float:
        """Everyone sends everyone as much as the busiest rank does on average."""
        size = traffic.mean_bytes
        return self._measured("alltoall", traffic, size, lambda p: self._alltoall(traffic, p, size))

    def _alltoall(self, traffic: Traffic, ranks: float, size: float) -> float:
        each = max(1, int(np.bincount(traffic.node).max()))
        rounds = np.ceil(np.log2(max(2, ranks)))
        latency = self.net.latency_s if len(np.unique(traffic.node)) > 1 else self.net.latency_node_s
        wide = self.net.bandwidth / each if len(np.unique(traffic.node)) > 1 else self.net.bandwidth_node
        bruck = rounds * (latency + self.net.gap_s + ranks / 2 * size / wide)
        in_turn = (ranks - 1) * (latency + size / wide)
        if ranks == traffic.ranks:
            return float(min(bruck, in_turn, self.messages(traffic.dense(size))))
        return float(min(bruck, in_turn, latency + (ranks - 1) * max(self.net.gap_s, size / wide)))

    def allgather(self, traffic: Traffic, size: float) -> float:
        """Everyone gets `size` bytes from everyone."""

        def model(ranks: float) -> float:
            each = max(1, int(np.bincount(traffic.node).max()))
            return float(self._rounds(traffic) + (ranks - 1) * size * min(each, 2) / self.net.bandwidth)

        return self._measured("allgather", traffic, size, model)

    def barrier(self, traffic: Traffic) -> float:
        """A latency for every doubling of the ranks of a node, and then of the nodes."""
        return self._measured("barrier", traffic, 1.0, lambda p: self._rounds(traffic, p))

    def _rounds(self, traffic: Traffic, ranks: float | None = None) -> float:
        nodes = len(np.unique(traffic.node))
        each = int(np.bincount(traffic.node).max())
        between = nodes if ranks is None else max(1.0, ranks / each)
        return float(
            np.ceil(np.log2(max(1, each))) * self.net.latency_node_s
            + np.ceil(np.log2(between)) * self.net.latency_s
        )

    def _measured(self, name: str, traffic: Traffic, size: float, model) -> float:
        """The time from the table of the profile for this layout of ranks, or else from the model.

        For more ranks than the table has, it is the last value of the table times the growth of the model.
        """
        ranks, rows = traffic.ranks, self.tables.get((self._layout(traffic), name))
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


def _curve(rows: np.ndarray, size: float) -> float:
    """Seconds from rows of one number of ranks: log-linear between sizes, constant below, linear above."""
    rows = rows[np.argsort(rows[:, 1])]
    sizes, times = np.maximum(rows[:, 1], 1.0), rows[:, 2]
    found = float(np.exp(np.interp(np.log(max(size, 1.0)), np.log(sizes), np.log(times))))
    return found * max(1.0, size / sizes[-1])
