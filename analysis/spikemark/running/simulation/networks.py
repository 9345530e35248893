"""The networks between the nodes of a simulated machine: one of equal nodes, or those of parts and links."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect
from spikemark.machines.node import Node
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile, UnknownValue
from spikemark.prediction.layout import Layout

from . import congestion

WHY = "the simulated network"
LIBRARY = "the MPI library of all ranks is that of part {}, {}: the parts have different ones"
WITHIN = "messages within any node take {:.3g} us and {:.4g} GB/s, as on the part where they are slowest"
EAGER = "messages up to {:g} bytes leave before their receiver is ready, as on the part where fewest do"


@dataclass(frozen=True)
class Networks:
    """`parts`: the interconnect of each part that has ranks, in their order. A machine of equal nodes has
    one, without a name. `links`: what lies between two of them, by their names in the same order.

    `alike`: nodes of different parts reach each other as those of one part do. `said`: what the simulation
    makes of the congestion of the machine.
    """

    parts: dict[str | None, Interconnect]
    links: dict[tuple[str, str], Interconnect]
    alike: bool
    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, machine: Any, layout: Layout) -> "Networks":
        """The networks of a filled profile, or of a filled machine of parts, as ranks meet them.

        Raises UnknownValue, naming the part or the link, where one lacks a value.
        """
        inputs, nodes = Inputs(machine), layout.nodes
        names = [share.part for share in layout.shares]
        one = cls._of(names, layout, inputs, nodes)
        if not isinstance(machine, Machine):
            return one
        pairs = list(combinations(names, 2))
        links = {pair: _between(inputs, pair, nodes) for pair in pairs}
        equal = len(set(map(_outside, one.parts.values()))) == 1 and all(
            _free(inputs.of_link(*pair)) == _free(inputs.of_part(pair[0])) for pair in pairs
        )
        if equal:
            return replace(one, links=links)
        return replace(cls._of(names, layout, inputs, None), links=links, alike=False)

    @classmethod
    def _of(cls, names: list[str | None], layout: Layout, inputs: Inputs, nodes: int | None) -> "Networks":
        """The networks of all parts, on one of `nodes` nodes together; None: each is a star of its own."""

        def each(what: Callable) -> list:
            return layout.each(inputs, lambda of, share: what(of, nodes or share.node.nodes))

        star = nodes is None
        parts = each(lambda of, here: congestion.simulated(of, WHY, here, star))
        said = each(lambda of, here: congestion.said(of, here, star))
        return cls(
            dict(zip(names, parts, strict=True)), {}, True, tuple(line for lines in said for line in lines)
        )

    @property
    def common(self) -> Interconnect:
        """Settings that all ranks share: the MPI library, and the size up to which messages are eager.

        The rest is the network of the first part, with the slowest messages within a node.
        """
        every = list(self.parts.values())
        return replace(
            every[0],
            eager=min(one.eager for one in every),
            latency_node_s=max(one.latency_node_s for one in every),
            bandwidth_node=min(one.bandwidth_node for one in every),
        )

    @property
    def content(self) -> dict[str, Any]:
        """The interconnect of a machine of equal nodes, or those of all parts and links by their names."""
        parts = {name: asdict(one) for name, one in self.parts.items()}
        return parts.get(None) or parts | {"-".join(pair): asdict(one) for pair, one in self.links.items()}

    @property
    def assumptions(self) -> list[str]:
        """What had to be chosen, since it can only be one for all ranks."""
        used, found = self.common, [*self.said]
        if self.alike and len({(one.latency_node_s, one.bandwidth_node) for one in self.parts.values()}) > 1:
            found.append(WITHIN.format(1e6 * used.latency_node_s, 1e-9 * used.bandwidth_node))
        if len({one.selector for one in self.parts.values()}) > 1:
            found.append(LIBRARY.format(next(iter(self.parts)), used.selector))
        if len({one.eager for one in self.parts.values()}) > 1:
            found.append(EAGER.format(used.eager))
        return found


def of_nodes(filled: Profile, ranks: int, ranks_per_node: int = 1) -> Interconnect:
    """The network of a filled profile, as so many ranks meet it. Raises UnknownValue."""
    node = Node.of(filled, ranks, 1, ranks_per_node)
    return Networks.of(filled, Layout.equal(node, ranks)).common


def _outside(network: Interconnect) -> tuple:
    """What messages between nodes depend on, besides what is `common`."""
    return (
        network.latency_s, network.bandwidth, network.gap_s, network.topology, network.nodes_per_leaf,
    )  # fmt: skip


def _between(inputs: Inputs, pair: tuple[str, str], nodes: int) -> Interconnect:
    try:
        return Interconnect.of(inputs.of_link(*pair), WHY, nodes)
    except UnknownValue as reason:
        raise UnknownValue(f"link {'-'.join(pair)}: {reason}") from None


def _free(inputs: Inputs) -> tuple[float, float]:
    """Latency in s and bandwidth in bytes per second without congestion, which links mostly do not state."""
    return tuple(inputs.need(f"interconnect.{name}", WHY) for name in ("latency", "bandwidth"))
