"""The cluster that SimGrid simulates for a machine of unequal parts.

Where all parts have the same network, and the links between them are like it, all nodes are on one such
network (`platform.placed`). Otherwise each part is a star, whose latency is that of its longest path, since
SimGrid cannot leave a fat tree or a dragonfly but through one of its nodes. A message from part A to part B
takes the link of its node in A, the link between the parts, and that of the node in B. Its latency is the
stated one, and its bandwidth the least of the three. The messages of all nodes together have the bandwidth
between the parts once for each node of the smaller part, as if every node had a port of its own.

A host's property `part` is the number of its part among those with ranks (miniapp/serial/message_cost.cpp).
"""

from spikemark.core.errors import BadInput
from spikemark.machines.interconnect import LINKS, Interconnect
from spikemark.machines.parts import Share
from spikemark.prediction.layout import Layout
from spikemark.quantities.words import counted

from . import platform
from .networks import Networks
from .platform import SPEED, Platform

STAR = (
    "part {}: a star of the latency of its longest path, since SimGrid cannot connect a {} with other parts"
)
LONGER = (
    "from {} to {}: {:.3g} us instead of {:.3g}, since half of the latencies within both parts takes so long"
)


def build(
    networks: Networks, layout: Layout, ranks_per_node: int, speeds: dict[str | None, str] | None = None
) -> Platform:
    """The cluster on which ranks lie as `layout` says, up to `ranks_per_node` on a node.

    `speeds`: of the hosts of each part, such as 1Gf, if they are not all equal. Raises BadInput for a
    topology that is not in platform.TOPOLOGIES.
    """
    speeds, shares = speeds or {}, layout.shares
    if networks.alike and len(set(speeds.values())) <= 1:
        return platform.placed(networks.common, layout.node_of.tolist(), ranks_per_node)
    parts = "".join(_part(at, share, networks.parts[share.part], speeds) for at, share in enumerate(shares))
    nodes = {share.part: share.node.nodes for share in shares}
    links = "".join(_links(networks, pair, min(nodes[name] for name in pair)) for pair in networks.links)
    routes = "".join(_routes(*pair) for pair in networks.links)
    hosts = "".join(
        f"{share.part}-{rank // share.node.ranks}\n" for share in shares for rank in range(share.ranks)
    )
    common, ranks = networks.common, layout.ranks
    return Platform(
        platform.world(parts + links + routes),
        hosts,
        platform.flags(common, ranks),
        "; ".join([*(_facts(s, networks.parts[s.part]) for s in shares), *_between(networks)]),
        platform.environment(common, ranks, _costs(networks)),
    )


def assumptions(networks: Networks, built: Platform) -> list[str]:
    """What the platform assumes besides the values of the profiles."""
    found = networks.assumptions
    if networks.alike or not networks.links:
        return found
    found += [
        STAR.format(name, one.topology) for name, one in networks.parts.items() if one.topology != "star"
    ]
    for (one, two), link in networks.links.items():
        if (least := _least_s(networks, (one, two))) > link.latency_s * (1 + 1e-9):
            found.append(LONGER.format(one, two, 1e6 * least, 1e6 * link.latency_s))
    return found


def _wire_s(network: Interconnect) -> float:
    """Latency of each of the two links of a path within a star."""
    return (network.latency_s - network.busy_s) / LINKS["star"]


def _least_s(networks: Networks, pair: tuple[str, str]) -> float:
    """The latency between two parts if the link between them takes no time."""
    return networks.links[pair].busy_s + sum(_wire_s(networks.parts[name]) for name in pair)


def _part(number: int, share: Share, network: Interconnect, speeds: dict[str | None, str]) -> str:
    try:
        platform.check(network)
    except BadInput as error:
        raise BadInput(f"part {share.part}: {error}") from None
    attributes = f'\n           router_id="{share.part}-router"'
    return platform.cluster(
        share.part, f"{share.part}-", network, share.node.nodes, share.node.ranks, _wire_s(network),
        attributes, speeds.get(share.part, SPEED), {"part": str(number)},
    )  # fmt: skip


def _links(networks: Networks, pair: tuple[str, str], nodes: int) -> str:
    """A link that gives each message its bandwidth, and one that the messages of all nodes share."""
    link, name = networks.links[pair], "-".join(pair)
    latency = max(0.0, link.latency_s - _least_s(networks, pair))
    return (
        f'  <link id="{name}" bandwidth="{link.bandwidth:.6g}Bps" latency="{latency:.6g}s"'
        ' sharing_policy="FATPIPE"/>\n'
        f'  <link id="{name}-ports" bandwidth="{nodes * link.bandwidth:.6g}Bps" latency="0s"'
        ' sharing_policy="SPLITDUPLEX"/>\n'
    )


def _routes(one: str, two: str) -> str:
    """The way over both links, there and back."""
    return "".join(
        f'  <zoneRoute src="{a}" dst="{b}" gw_src="{a}-router" gw_dst="{b}-router" symmetrical="NO">\n'
        f'   <link_ctn id="{one}-{two}"/><link_ctn id="{one}-{two}-ports" direction="{direction}"/>\n'
        "  </zoneRoute>\n"
        for a, b, direction in ((one, two, "UP"), (two, one, "DOWN"))
    )


def _costs(networks: Networks) -> list[float]:
    """Rows as message_cost.cpp reads them, one for each part."""
    found: list[float] = []
    for own, network in networks.parts.items():
        between = [
            network if other == own else networks.links.get((own, other)) or networks.links[other, own]
            for other in networks.parts
        ]
        found += [each.busy_s / 2 for each in between]
        found += [network.busy_node_s / 2, 1 / network.bandwidth_node]
    return found


def _facts(share: Share, network: Interconnect) -> str:
    return (
        f"{share.part}: {counted(share.node.nodes, 'node')} on one switch, {share.node.ranks} ranks each,"
        f" {1e6 * network.latency_s:.3g} us and {1e-9 * network.bandwidth:.4g} GB/s, within a node"
        f" {1e6 * network.latency_node_s:.3g} us and {1e-9 * network.bandwidth_node:.4g} GB/s"
    )


def _between(networks: Networks) -> list[str]:
    return [
        f"{one} to {two}: {1e6 * max(link.latency_s, _least_s(networks, (one, two))):.3g} us and"
        f" {1e-9 * link.bandwidth:.4g} GB/s"
        for (one, two), link in networks.links.items()
    ]
