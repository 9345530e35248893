"""The interconnect of a profile in SI units; everything that uses it reads it here."""

from dataclasses import dataclass, replace
from typing import Any

from .inputs import Inputs

UNLIMITED = 1e30  # bytes: every message leaves without asking


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

    @classmethod
    def of(cls, inputs: Inputs, why: str, nodes: int = 2) -> "Interconnect":
        """What a message costs. With one node, values between nodes are not needed.

        Raises BadInput naming the value that is unknown, and `why` it is needed.
        """

        def need(name: str) -> float:
            return inputs.need(f"interconnect.{name}", why)

        latency, bandwidth = need("latency_node"), need("bandwidth_node")
        between = nodes > 1
        return cls(
            need("latency") if between else latency,
            latency,
            need("bandwidth") if between else bandwidth,
            bandwidth,
            need("gap") if between else latency / 2,
            inputs.get("interconnect.eager", UNLIMITED),
        )

    @classmethod
    def whole(cls, inputs: Inputs, why: str) -> "Interconnect":
        """The same with topology and collectives. Raises BadInput for any value that is unknown."""

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
