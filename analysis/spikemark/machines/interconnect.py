"""The interconnect of a profile in SI units; everything that uses it reads it here."""

from dataclasses import dataclass, replace
from typing import Any

from .inputs import Inputs

CROWD = 4  # nodes from which exchanges meet the congestion of the profile
UNLIMITED = 1e30  # bytes: every message leaves without asking
#: Links of the longest path, on which the latency of a message is spread evenly; two nodes of a leaf use two.
LINKS = {"star": 2, "fat_tree": 4, "dragonfly": 5}


@dataclass(frozen=True)
class Interconnect:
    """Seconds, bytes and bytes per second. The last three are None where only messages are of interest."""

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
    def of(cls, inputs: Inputs, why: str, nodes: int = 2) -> "Interconnect":
        """What a message costs. With one node, values between nodes are not needed; from `CROWD` nodes on,
        the bandwidth between them is what congestion leaves of it.

        Raises BadInput naming the value that is unknown, and `why` it is needed.
        """

        def need(name: str) -> float:
            return inputs.need(f"interconnect.{name}", why)

        latency, bandwidth = need("latency_node"), need("bandwidth_node")
        between = nodes > 1
        crowded = inputs.get("interconnect.congestion", 1.0) if nodes >= CROWD else 1.0
        return cls(
            need("latency") if between else latency,
            latency,
            need("bandwidth") / crowded if between else bandwidth,
            bandwidth,
            need("gap") if between else min(latency, inputs.get("interconnect.gap", latency / 2)),
            inputs.get("interconnect.eager", UNLIMITED),
        )

    @classmethod
    def whole(cls, inputs: Inputs, why: str) -> "Interconnect":
        """The same of two nodes alone, with topology and collectives.

        Raises BadInput for any value that is unknown.
        """

        def exact(name: str) -> Any:
            return inputs.profile.need(f"interconnect.{name}", why).value

        topology = exact("topology")
        return replace(
            cls.of(inputs, why),
            eager=inputs.need("interconnect.eager", why),
            topology=topology,
            nodes_per_leaf=1 if topology == "star" else round(exact("nodes_per_leaf")),
            selector=exact("selector"),
        )
