"""The cluster that SimGrid simulates: its networks, platform file and options of smpirun.

A message of n bytes between nodes takes gap + wire latency + n / bandwidth: half the gap keeps the sender
busy, half the receiver, as LogGP's overheads do (Alexandrov et al. 1995). The wire's share of the profile's
latency is spread evenly over the links of the longest path, so that two nodes of one leaf are nearer than the
profile says. Within a node a message takes the profile's latency and bandwidth there, too. Its sender copies
it, one message after another, and messages of other ranks do not disturb it.

Parts of a machine whose networks and links are alike share one such network. Otherwise each part is a star
with the latency of its longest path, since SimGrid cannot leave a fat tree or a dragonfly but through one of
its nodes. A message from part A to part B takes the link of its node in A, the link between the parts, and
that of the node in B. Its latency is the stated one, and its bandwidth the least of the three. The messages
of all nodes together have the bandwidth between the parts once for each node of the smaller part, as if every
node had a port of its own. A host's property `part` is its part's number (miniapp/serial/message_cost.cpp).

A profile's congestion is the bandwidth of a pair of nodes alone, over that while each node of the first half
sends to one of the second half (`spikemark calibrate`). Links have the profile's bandwidth over it, so that
in that pattern the simulated machine shows what the profile states; messages of other patterns meet on links
besides. It is not applied where the simulated links cause it themselves: in a dragonfly, and in a fat tree
where it is only assumed for static routes. It counts in parts that are stars, and on links between parts.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from spikemark.machines import priors
from spikemark.machines.parts import Machine, Node
from spikemark.machines.profile import Profile, UnknownValue
from spikemark.machines.values import Values
from spikemark.models import mpi_rules
from spikemark.models.loggp import CROWD, LINKS, Interconnect
from spikemark.prediction.layout import Layout
from spikemark.quantities.words import counted

WHY = "the simulated network"
CONGESTION = "interconnect.congestion"
SPEED = "1Gf"  # speed of a core; it cancels, since compute times are given in seconds
POLL_S = 1e-7  # simulated time of an MPI_Iprobe; with 0, waiting would never end
ALL_TO_ALL = "SPIKEMARK_ALL_TO_ALL"  # miniapp/serial/all_to_all.h
MESSAGE_COST = "SPIKEMARK_MESSAGE_COST"  # miniapp/serial/message_cost.cpp
COPIED = 1e15  # bytes per second of messages within a node after their sender has copied them
ENVELOPE = 16  # bytes that SimGrid adds to a message
#: Messages that a rank has on their way at a time. Sixteen hide the latency of all but the last, as all at
#: once do, for which SimGrid takes up to a hundred times as long.
AHEAD = {mpi_rules.PAIRWISE: 1, mpi_rules.RING: 1, mpi_rules.LINEAR: 16}  # others are SimGrid's own
#: From so many ranks on, what SimGrid has for small broadcasts of Open MPI sends several messages between all
#: pairs of ranks for each new communicator: minutes for a thousand ranks. A binomial tree does not.
MANY = 256
CALLS = {"alltoall": "c", "alltoallv": "v", "allgather": "g"}


@dataclass(frozen=True)
class Platform:
    """`xml` describes the cluster; `hosts` has a line per rank, `flags` go to smpirun, `environment` to the
    mini-app (algorithms of all-to-all calls, costs of messages); `facts`: one line on what was built."""

    xml: str
    hosts: str
    flags: list[str]
    facts: str
    environment: dict[str, str]


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
        inputs, names = Values(machine), [share.part for share in layout.shares]

        def each(nodes: int | None) -> tuple[dict[str | None, Interconnect], tuple[str, ...]]:
            """All parts on one network of so many nodes; None: each is a star of its own."""
            met = layout.each(
                inputs, lambda of, share: _met(of, nodes or share.node.nodes, star=nodes is None)
            )
            return dict(zip(names, (one for one, _ in met), strict=True)), sum((said for _, said in met), ())

        parts, said = each(layout.nodes)
        if not isinstance(machine, Machine):
            return cls(parts, {}, True, said)
        links = {}
        for pair in combinations(names, 2):
            try:
                links[pair] = Interconnect.of(inputs.of_link(*pair), WHY, layout.nodes)
            except UnknownValue as reason:
                raise UnknownValue(f"link {'-'.join(pair)}: {reason}") from None
        outside = ("latency_s", "bandwidth", "gap_s", "topology", "nodes_per_leaf")
        alike = _differ(parts.values(), *outside) < 2 and all(
            inputs.of_link(a, b).need(path, WHY) == inputs.of_part(a).need(path, WHY)
            for a, b in links
            for path in ("interconnect.latency", "interconnect.bandwidth")
        )
        parts, said = (parts, said) if alike else each(None)
        return cls(parts, links, alike, said)

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
        """What had to be chosen, since SimGrid has one for all ranks or cannot have it."""
        common, found, every = self.common, [*self.said], self.parts.values()
        if _differ(every, "selector") > 1:
            first = f"{next(iter(self.parts))}, {common.selector}"
            found.append(
                f"the MPI library of all ranks is that of part {first}: the parts have different ones"
            )
        if _differ(every, "eager") > 1:
            least = f"messages up to {common.eager:g} bytes leave before their receiver is ready"
            found.append(f"{least}, as on the part where fewest do")
        for (a, b), link in () if self.alike else self.links.items():
            if (least_s := self.least_s(a, b)) > link.latency_s * (1 + 1e-9):
                instead = f"{1e6 * least_s:.3g} µs instead of {1e6 * link.latency_s:.3g}"
                found.append(f"from {a} to {b}: {instead}, half of the latencies within both parts")
        return found

    def least_s(self, a: str, b: str) -> float:
        """The latency between two parts if the link between them takes no time."""
        return self.links[a, b].busy_s + sum(_wire_s(self.parts[name]) for name in (a, b))


def _differ(networks: Iterable[Interconnect], *fields: str) -> int:
    """How many different values networks have for some fields."""
    return len({tuple(getattr(one, field) for field in fields) for one in networks})


def _speed(latency_s: float, bandwidth: float) -> str:
    return f"{1e6 * latency_s:.3g} µs and {1e-9 * bandwidth:.4g} GB/s"


def of_nodes(filled: Profile, ranks: int, ranks_per_node: int = 1) -> Interconnect:
    """The network of a filled profile, as so many ranks meet it. Raises UnknownValue."""
    node = Node.of(filled, ranks, 1, ranks_per_node)
    return Networks.of(filled, Layout.equal(node, ranks)).common


def _met(inputs: Values, nodes: int, star: bool) -> tuple[Interconnect, tuple[str, ...]]:
    """The interconnect of a filled profile as `nodes` nodes meet it, and what becomes of its congestion.

    `star`: these nodes are simulated on one switch, whatever their topology.
    """
    network, stated = Interconnect.whole(inputs, WHY), inputs.get(CONGESTION, 1.0)
    if nodes < CROWD:
        return network, ()
    line, topology = f"{inputs.start}{CONGESTION} = {stated:g}", network.topology
    divided = replace(network, bandwidth=network.bandwidth / stated)
    if star or (topology == "star" and not _for_routes(inputs.profile)):
        return divided, ()
    if topology == "dragonfly" or _for_routes(inputs.profile):
        line += f" is not applied: the routes of the simulated {topology} cause it themselves"
        return network, (line,)
    line += f": links have 1/{stated:.3g} of the bandwidth;"
    line += f" messages of other patterns meet on the links of the simulated {topology} besides"
    return divided, (line,) if stated != 1 else ()


def _for_routes(profile: Profile) -> bool:
    """True if the congestion of a filled profile is assumed for static routes, which simulations have."""
    found = profile.get(CONGESTION)
    topology, fabric = (profile.get(f"interconnect.{name}") for name in ("topology", "fabric"))
    assumed = found is not None and found.reference.startswith(priors.ASSUMED)
    routes = topology is not None and topology.value != "star"
    return assumed and routes and fabric is not None and fabric.value not in ("ethernet", "other")


def routed(machine: Any, layout: Layout) -> bool:
    """True if such a congestion counts for messages between the nodes of a layout on a filled machine."""
    profiles = (layout.profile(machine, share) for share in layout.shares)
    return layout.nodes >= CROWD and any(map(_for_routes, profiles))


def _shape(network: Interconnect, nodes: int) -> tuple[str, int, int, str]:
    """Attributes of the cluster, the nodes it must have, the links of its longest path, and its description.

    A fat tree has two levels with as many links up as down. The groups of a dragonfly are all linked, and so
    are the routers of a group. The nodes of a single leaf form a star.
    """
    topology, leaf = network.topology, network.nodes_per_leaf
    if topology == "star" or nodes <= leaf:
        return "", nodes, LINKS["star"], f"{nodes} nodes on one switch"
    if topology == "fat_tree":
        leaves = math.ceil(nodes / leaf)
        parameters, hosts = f"2;{leaf},{leaves};1,{leaf};1,1", leaf * leaves
        words = f"{leaves} leaves of {leaf} nodes and as many links up"
    else:
        routers = max(2, math.ceil(math.sqrt(nodes / leaf)))  # and at most so many groups
        groups = math.ceil(nodes / (routers * leaf))
        between = math.ceil(routers * leaf / max(groups - 1, 1))  # wide enough for uniform traffic
        within = math.ceil(2 * leaf / max(groups - 1, 1))
        parameters, hosts = f"{groups},{between};1,1;{routers},{within};{leaf}", groups * routers * leaf
        words = f"{groups} groups of {routers} routers of {leaf} nodes"
    attributes = f' topology="{topology.upper()}" topo_parameters="{parameters}"'
    return attributes, hosts, LINKS[topology], words


def build(network: Interconnect, ranks: int, ranks_per_node: int = 1) -> Platform:
    """The cluster with as few nodes as the ranks need; ranks fill one node after another."""
    return _equal(network, [rank // ranks_per_node for rank in range(ranks)], ranks_per_node)


def _equal(network: Interconnect, node_of: Sequence[int], ranks_per_node: int) -> Platform:
    """The same for ranks that are on the nodes `node_of` [rank], up to `ranks_per_node` on each."""
    nodes = node_of[-1] + 1
    attributes, hosts, links, words = _shape(network, nodes)
    wire = (network.latency_s - network.busy_s) / links
    facts = (
        f"{network.topology}: {words}, {nodes} used, {ranks_per_node} ranks each; longest path of {links}"
        f" links of {_speed(wire, network.bandwidth)}, {1e6 * network.busy_s / 2:.3g} µs per message at"
        f" either end; within a node {1e6 * _inside_s(network):.3g} µs,"
        f" {1e-9 * network.bandwidth_node:.4g} GB/s and {1e6 * network.busy_node_s / 2:.3g} µs"
    )
    costs = network.busy_s / 2, network.busy_node_s / 2, 1 / network.bandwidth_node
    cluster = _cluster("machine", "node-", network, hosts, ranks_per_node, wire, attributes)
    return _platform(cluster, [f"node-{node}" for node in node_of], network, facts, costs)


def build_parts(networks: Networks, layout: Layout) -> Platform:
    """The cluster on which ranks lie as `layout` says."""
    shares, links, common = layout.shares, networks.links, networks.common
    if networks.alike:
        return _equal(common, layout.node_of.tolist(), max(share.node.ranks for share in shares))
    clusters, between, routes, facts, costs = [], [], [], [], []
    for number, share in enumerate(shares):
        part, node, network = share.part, share.node, networks.parts[share.part]
        clusters.append(
            _cluster(
                part, f"{part}-", network, node.nodes, node.ranks, _wire_s(network),
                f'\n           router_id="{part}-router"', f'   <prop id="part" value="{number}"/>\n',
            )
        )  # fmt: skip
        facts.append(
            f"{part}: {counted(node.nodes, 'node')} on one switch, {node.ranks} ranks each,"
            f" {_speed(network.latency_s, network.bandwidth)}, within a node"
            f" {_speed(network.latency_node_s, network.bandwidth_node)}"
        )
        # A row as message_cost.cpp reads it: to each part, and within a node.
        others = [links.get((part, other)) or links.get((other, part), network) for other in networks.parts]
        costs += [each.busy_s / 2 for each in others]
        costs += [network.busy_node_s / 2, 1 / network.bandwidth_node]
    nodes = {share.part: share.node.nodes for share in shares}
    for (a, b), link in links.items():
        # Both ways lead over a link that gives each message its bandwidth, and one that all messages share.
        name, latency_s = f"{a}-{b}", max(link.latency_s, networks.least_s(a, b))
        wire_s, ports = latency_s - networks.least_s(a, b), min(nodes[a], nodes[b]) * link.bandwidth
        between.append(
            f'  <link id="{name}" bandwidth="{link.bandwidth:.6g}Bps" latency="{wire_s:.6g}s"'
            ' sharing_policy="FATPIPE"/>\n'
            f'  <link id="{name}-ports" bandwidth="{ports:.6g}Bps" latency="0s"'
            ' sharing_policy="SPLITDUPLEX"/>\n'
        )
        routes += [
            f'  <zoneRoute src="{x}" dst="{y}" gw_src="{x}-router" gw_dst="{y}-router" symmetrical="NO">\n'
            f'   <link_ctn id="{name}"/><link_ctn id="{name}-ports" direction="{direction}"/>\n'
            "  </zoneRoute>\n"
            for x, y, direction in ((a, b, "UP"), (b, a, "DOWN"))
        ]
        facts.append(f"{a} to {b}: {_speed(latency_s, link.bandwidth)}")
    hosts = [f"{s.part}-{rank // s.node.ranks}" for s in shares for rank in range(s.ranks)]
    return _platform("".join([*clusters, *between, *routes]), hosts, common, "; ".join(facts), costs)


def _wire_s(network: Interconnect) -> float:
    """Latency of each of the two links of a path within a star."""
    return (network.latency_s - network.busy_s) / LINKS["star"]


def _inside_s(network: Interconnect) -> float:
    """Latency within a node, without what a message costs its sender and its receiver."""
    return network.latency_node_s - network.busy_node_s


def _cluster(
    name: str, prefix: str, network: Interconnect, hosts: int, cores: int, wire: float,
    attributes: str = "", properties: str = "",
) -> str:  # fmt: skip
    """Hosts with so many cores each on links of the latency `wire` in s."""
    return f"""  <cluster id="{name}" prefix="{prefix}" suffix="" radical="0-{hosts - 1}"
           speed="{SPEED}" core="{cores}" sharing_policy="SPLITDUPLEX"
           bw="{network.bandwidth:.6g}Bps" lat="{wire:.6g}s"
           loopback_bw="{COPIED:g}Bps" loopback_lat="{_inside_s(network):.6g}s"{attributes}""" + (
        f">\n{properties}  </cluster>\n" if properties else "/>\n"
    )


def _platform(
    zones: str, hosts: list[str], network: Interconnect, facts: str, costs: Iterable[float]
) -> Platform:
    """The platform of clusters, links and routes, with the node of each rank, and settings of all ranks.

    The network is as the file says; collectives are as the profile's library chooses. `costs` of messages.
    """
    settings = {
        "network/model": "SMPI",
        "network/TCP-gamma": 0,  # no window of TCP
        "network/crosstraffic": 0,  # links are full duplex
        # Latency and bandwidth are measured ones; what is not eager asks its receiver first.
        "smpi/lat-factor": f"0:1;{round(network.eager) + ENVELOPE}:2",
        "smpi/bw-factor": "0:1",
        "smpi/async-small-thresh": round(network.eager),
        "smpi/send-is-detached-thresh": round(network.eager),
        "smpi/coll-selector": "mpich" if network.selector == "impi" else network.selector,  # as in algorithms
        "smpi/alltoall": "bruck",  # where ALL_TO_ALL leaves the choice to SimGrid
        "smpi/alltoallv": "ring",  # before the first cycle; that of ompi takes minutes with 128 ranks
        "smpi/privatization": "no",  # the mini-app has no variables that ranks could spoil for each other
        "smpi/wtime": 0,  # reading the clock takes no time
        "smpi/test": 0,
        "smpi/iprobe": f"{POLL_S:g}",
        "smpi/grow-injected-times": "no",  # otherwise every failed test makes the next one take longer
        "smpi/simulate-computation": "no",  # compute times are given
        "smpi/cpu-threshold": 0,
        "smpi/host-speed": SPEED,
    }
    if len(hosts) >= MANY:
        settings["smpi/bcast"] = "binomial_tree"
    algorithms = [
        f"{CALLS[call]}:{least}:{bytes_}:{AHEAD.get(name, 0)}"
        for call in CALLS
        for least, bytes_, name in mpi_rules.rules(network.selector, len(hosts))[call]
    ]
    xml = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
{zones} </zone>
</platform>
"""
    return Platform(
        xml,
        "".join(f"{host}\n" for host in hosts),
        [f"--cfg={name}:{value}" for name, value in settings.items()],
        facts,
        {ALL_TO_ALL: " ".join(algorithms), MESSAGE_COST: " ".join(f"{cost:.6g}" for cost in costs)},
    )
