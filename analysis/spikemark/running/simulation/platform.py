"""The cluster that SimGrid simulates: its networks, platform file and options of smpirun.

A message of n bytes between nodes takes gap + wire latency + n / bandwidth: half the gap keeps the
sender busy, half the receiver, as LogGP's overheads do (Alexandrov et al. 1995). The wire's share
of the profile's latency is spread evenly over the links of the longest path, so that two nodes of
one leaf are nearer than the profile says. Within a node a message takes the profile's latency and
bandwidth there, too. Its sender copies it, one message after another, and messages of other ranks
do not disturb it.

Parts of a machine whose networks and links are alike share one such network. Otherwise each part is
a star with the latency of its longest path, since SimGrid cannot leave a fat tree or a dragonfly
but through one of its nodes. A message from part A to part B takes the link of its node in A, the
link between the parts, and that of the node in B. Its latency is the stated one, and its bandwidth
the least of the three. The messages of all nodes together have the bandwidth between the parts once
for each node of the smaller part, as if every node had a port of its own. A host's property `part`
is its part's number (miniapp/simulated/message_cost.cpp).

A profile's congestion is the bandwidth of a pair of nodes alone, over that while each node of the
first half sends to one of the second half (`spikemark calibrate`). Links have the profile's
bandwidth over it, so that in that pattern the simulated machine shows what the profile states;
messages of other patterns meet on links besides. It is not applied where the simulated links cause
it themselves: in a dragonfly, and in a fat tree where it is only assumed for static routes. It
counts in parts that are stars, and on links between parts.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from spikemark.machines.parts import MachineOfParts, Node, RanksOfPart
from spikemark.machines.profile import ASSUMED, Profile, UnknownValue
from spikemark.machines.values import Values
from spikemark.models import mpi_rules
from spikemark.models.loggp import CROWD, LINKS, Interconnect, between_nodes
from spikemark.prediction.layout import MachineLayout
from spikemark.quantities.words import counted

#: What values of a profile are needed for, as complaints say it.
WHY = "the simulated network"
CONGESTION = "interconnect.congestion"
#: Speed of a core; it cancels, since compute times are given in seconds.
HOST_SPEED = "1Gf"
#: Simulated time of an MPI_Iprobe; with 0, waiting would never end.
POLL_S = 1e-7
#: Variable with the algorithms of all-to-all calls, miniapp/simulated/all_to_all.h.
ALL_TO_ALL = "SPIKEMARK_ALL_TO_ALL"
#: Variable with the costs of messages, miniapp/simulated/message_cost.cpp.
MESSAGE_COST = "SPIKEMARK_MESSAGE_COST"
#: Bytes per second of messages within a node after their sender has copied them.
COPIED = 1e15
#: Bytes that SimGrid adds to a message.
ENVELOPE = 16
#: Messages that a rank has on their way at a time; other algorithms are SimGrid's own. Sixteen hide
#: the latency of all but the last, as all at once do, for which SimGrid takes up to a hundred times
#: as long.
AHEAD = {mpi_rules.PAIRWISE: 1, mpi_rules.RING: 1, mpi_rules.LINEAR: 16}
#: From so many ranks on, broadcasts take a binomial tree. What SimGrid has for small broadcasts of
#: Open MPI sends several messages between all pairs of ranks for each new communicator: minutes for
#: a thousand ranks.
BINOMIAL_FROM_RANKS = 256
CALLS = {"alltoall": "c", "alltoallv": "v", "allgather": "g"}


@dataclass(frozen=True)
class Platform:
    """A simulated cluster, with the ranks on it."""

    xml: str  #: describes the cluster
    hosts: str  #: a line per rank with the name of its node
    flags: list[str]  #: for smpirun
    facts: str  #: what was built, in one line
    #: For the mini-app: algorithms of all-to-all calls, and costs of messages.
    environment: dict[str, str]


@dataclass(frozen=True)
class Networks:
    """The networks of a machine, as ranks meet them."""

    #: The interconnect of each part that has ranks, in their order. A machine of equal nodes has
    #: one, without a name.
    parts: dict[str | None, Interconnect]
    #: What lies between two parts, by their names in the same order.
    links: dict[tuple[str, str], Interconnect]
    alike: bool  #: whether nodes of different parts reach each other as those of one part do
    #: What the simulation makes of the congestion of the machine.
    congestion_remarks: tuple[str, ...] = ()

    @classmethod
    def from_machine(cls, machine: object, layout: MachineLayout) -> "Networks":
        """The networks of a filled profile, or of a filled machine of parts.

        Raises UnknownValue, naming the part or the link, where one lacks a value.
        """
        inputs = Values(machine)
        parts, congestion_remarks = _met_by_part(inputs, layout, one_network=True)
        if not isinstance(machine, MachineOfParts):
            return cls(parts, {}, True, congestion_remarks)
        links = {}
        names = [str(share.part) for share in layout.shares]
        for pair in combinations(names, 2):
            try:
                links[pair] = Interconnect.from_values(inputs.of_link(*pair), WHY, layout.nodes)
            except UnknownValue as error:
                raise UnknownValue(f"link {'-'.join(pair)}: {error}") from None
        outside = ("latency_s", "bandwidth", "gap_s", "topology", "nodes_per_leaf")
        alike = _differ(parts.values(), *outside) < 2
        alike = alike and all(_is_as_within(inputs, *pair, layout.nodes) for pair in links)
        if not alike:
            parts, congestion_remarks = _met_by_part(inputs, layout, one_network=False)
        return cls(parts, links, alike, congestion_remarks)

    @property
    def common(self) -> Interconnect:
        """Settings that all ranks share: the MPI library, and which messages are eager.

        The rest is the network of the first part, with the slowest messages within a node.
        """
        networks = list(self.parts.values())
        return replace(
            networks[0],
            eager=min(network.eager for network in networks),
            latency_node_s=max(network.latency_node_s for network in networks),
            bandwidth_node=min(network.bandwidth_node for network in networks),
        )

    @property
    def content(self) -> dict[str | None, Any]:
        """For JSON: the interconnect of a machine of equal nodes, or of each part and link.

        Those of parts and links go by their names.
        """
        parts: dict[str | None, Any] = {name: asdict(part) for name, part in self.parts.items()}
        if None in parts:
            interconnect: dict[str | None, Any] = parts[None]
            return interconnect
        for pair, link in self.links.items():
            parts["-".join(pair)] = asdict(link)
        return parts

    @property
    def assumptions(self) -> list[str]:
        """What had to be chosen, since SimGrid has one for all ranks or cannot have it."""
        common = self.common
        networks = self.parts.values()
        sentences = list(self.congestion_remarks)
        if _differ(networks, "selector") > 1:
            first = f"{next(iter(self.parts))}, {common.selector}"
            library = f"the MPI library of all ranks is that of part {first}"
            sentences.append(f"{library}: the parts have different ones")
        if _differ(networks, "eager") > 1:
            least = f"messages up to {common.eager:g} bytes leave before their receiver is ready"
            sentences.append(f"{least}, as on the part where fewest do")
        if not self.alike:
            for (a, b), link in self.links.items():
                least_s = self.least_s(a, b)
                if least_s > link.latency_s * (1 + 1e-9):
                    change = f"{1e6 * least_s:.3g} µs instead of {1e6 * link.latency_s:.3g}"
                    reason = "half of the latencies within both parts"
                    sentences.append(f"from {a} to {b}: {change}, {reason}")
        return sentences

    def least_s(self, a: str, b: str) -> float:
        """The latency between two parts if the link between them takes no time."""
        return float(self.links[a, b].busy_s + _wire_s(self.parts[a]) + _wire_s(self.parts[b]))


def _met_by_part(
    inputs: Values, layout: MachineLayout, one_network: bool
) -> tuple[dict[str | None, Interconnect], tuple[str, ...]]:
    """The interconnect of each part, and what becomes of its congestion.

    `one_network`: all parts are on one network; otherwise each is a star of its own.
    """

    def met(values: Values, share: RanksOfPart) -> tuple[Interconnect, tuple[str, ...]]:
        nodes = layout.nodes if one_network else share.node.nodes
        return _met(values, nodes, star=not one_network)

    parts = {}
    sentences: list[str] = []
    for share, (network, lines) in zip(layout.shares, layout.each(inputs, met), strict=True):
        parts[share.part] = network
        sentences += lines
    return parts, tuple(sentences)


def _is_as_within(inputs: Values, a: str, b: str, nodes: int) -> bool:
    """Whether the link between two parts is as the network within the first."""
    link = between_nodes(inputs.of_link(a, b), WHY, nodes)
    return link == between_nodes(inputs.of_part(a), WHY, nodes)


def _differ(networks: Iterable[Interconnect], *fields: str) -> int:
    """How many different values networks have for some fields."""
    values = set()
    for network in networks:
        values.add(tuple(getattr(network, field) for field in fields))
    return len(values)


def _speed(latency_s: float, bandwidth: float) -> str:
    return f"{1e6 * latency_s:.3g} µs and {1e-9 * bandwidth:.4g} GB/s"


def of_nodes(filled: Profile, ranks: int, ranks_per_node: int = 1) -> Interconnect:
    """The network of a filled profile, as so many ranks meet it. Raises UnknownValue.

    Example:
        >>> from spikemark import machines
        >>> network = of_nodes(machines.filled(machines.load("jureca-dc")), ranks=64)
        >>> network.latency_s < 5e-6  # between two nodes
        True
    """
    node = Node.from_profile(filled, ranks, 1, ranks_per_node)
    return Networks.from_machine(filled, MachineLayout.equal(node, ranks)).common


def _met(inputs: Values, nodes: int, star: bool) -> tuple[Interconnect, tuple[str, ...]]:
    """The interconnect of a filled profile as `nodes` nodes meet it.

    Also sentences on what becomes of its congestion. `star`: these nodes are simulated on one
    switch, whatever their topology.
    """
    network = Interconnect.from_complete_values(inputs, WHY)
    if nodes < CROWD:
        return network, ()
    congestion = inputs.get(CONGESTION, 1.0)
    topology = network.topology
    divided = replace(network, bandwidth=network.bandwidth / congestion)
    for_routes = _for_routes(inputs.profile)
    if star or (topology == "star" and not for_routes):
        return divided, ()
    stated = f"{inputs.start}{CONGESTION} = {congestion:g}"
    if topology == "dragonfly" or for_routes:
        reason = f"the routes of the simulated {topology} cause it themselves"
        return network, (f"{stated} is not applied: {reason}",)
    if congestion == 1:
        return divided, ()
    effect = f"links have 1/{congestion:.3g} of the bandwidth"
    besides = f"messages of other patterns meet on the links of the simulated {topology} besides"
    return divided, (f"{stated}: {effect}; {besides}",)


def _for_routes(profile: Profile) -> bool:
    """True if the congestion of a filled profile is assumed for static routes.

    Simulations have such routes.
    """
    congestion = profile.get(CONGESTION)
    topology = profile.get("interconnect.topology")
    fabric = profile.get("interconnect.fabric")
    if congestion is None or topology is None or fabric is None:
        return False
    assumed = congestion.reference.startswith(ASSUMED)
    return assumed and topology.value != "star" and fabric.value not in ("ethernet", "other")


def routed(machine: Any, layout: MachineLayout) -> bool:
    """True if such a congestion counts for messages between the nodes of a layout.

    Example:
        >>> from spikemark import machines
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> routed(machine, MachineLayout.from_machine(machine, 4, 1, 1, None))
        True
    """
    if layout.nodes < CROWD:
        return False
    return any(_for_routes(layout.profile(machine, share)) for share in layout.shares)


@dataclass(frozen=True)
class ClusterShape:
    """How the nodes of a cluster are linked."""

    attributes: str  #: of the element `cluster`
    hosts: int  #: nodes that the cluster must have
    links: int  #: of its longest path
    words: str  #: its description


def _shape(network: Interconnect, nodes: int) -> ClusterShape:
    """The cluster for so many nodes.

    A fat tree has two levels with as many links up as down. The groups of a dragonfly are all
    linked, and so are the routers of a group. The nodes of a single leaf form a star.
    """
    topology = network.topology or "star"
    leaf = network.nodes_per_leaf or nodes
    if topology == "star" or nodes <= leaf:
        return ClusterShape("", nodes, LINKS["star"], f"{nodes} nodes on one switch")
    if topology == "fat_tree":
        leaves = math.ceil(nodes / leaf)
        hosts = leaf * leaves
        parameters = f"2;{leaf},{leaves};1,{leaf};1,1"
        words = f"{leaves} leaves of {leaf} nodes and as many links up"
    else:
        routers = max(2, math.ceil(math.sqrt(nodes / leaf)))  # and at most so many groups
        groups = math.ceil(nodes / (routers * leaf))
        hosts = groups * routers * leaf
        between = math.ceil(routers * leaf / max(groups - 1, 1))  # wide enough for uniform traffic
        within = math.ceil(2 * leaf / max(groups - 1, 1))
        parameters = f"{groups},{between};1,1;{routers},{within};{leaf}"
        words = f"{groups} groups of {routers} routers of {leaf} nodes"
    attributes = f' topology="{topology.upper()}" topo_parameters="{parameters}"'
    return ClusterShape(attributes, hosts, LINKS[topology], words)


def build(network: Interconnect, ranks: int, ranks_per_node: int = 1) -> Platform:
    """The cluster with as few nodes as the ranks need; ranks fill one node after another.

    Example:
        >>> network = Interconnect(2e-6, 5e-7, 1e10, 5e9, 1e-6, 8192.0, "star", 1)
        >>> type(build(network, ranks=2)).__name__
        'Platform'
    """
    return _equal(network, [rank // ranks_per_node for rank in range(ranks)], ranks_per_node)


def _equal(network: Interconnect, node_of: Sequence[int], ranks_per_node: int) -> Platform:
    """The same for ranks that are on the nodes `node_of` [rank], up to `ranks_per_node` on each."""
    nodes = node_of[-1] + 1
    shape = _shape(network, nodes)
    wire_s = (network.latency_s - network.busy_s) / shape.links
    path = f"{shape.links} links of {_speed(wire_s, network.bandwidth)}"
    facts = (
        f"{network.topology}: {shape.words}, {nodes} used, {ranks_per_node} ranks each;"
        f" longest path of {path}, {1e6 * network.busy_s / 2:.3g} µs"
        f" per message at either end; within a node {1e6 * _inside_s(network):.3g} µs,"
        f" {1e-9 * network.bandwidth_node:.4g} GB/s and {1e6 * network.busy_node_s / 2:.3g} µs"
    )
    costs = [network.busy_s / 2, network.busy_node_s / 2, 1 / network.bandwidth_node]
    cluster = _cluster(
        name="machine",
        prefix="node-",
        network=network,
        hosts=shape.hosts,
        cores=ranks_per_node,
        wire_s=wire_s,
        attributes=shape.attributes,
    )
    hosts = [f"node-{node}" for node in node_of]
    return _platform(cluster, hosts, network, facts, costs)


def build_parts(networks: Networks, layout: MachineLayout) -> Platform:
    """The cluster on which ranks lie as `layout` says.

    Example:
        >>> from spikemark import machines
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> layout = MachineLayout.from_machine(machine, 4, 1, 2, None)
        >>> platform = build_parts(Networks.from_machine(machine, layout), layout)
        >>> platform.hosts.split()
        ['node-0', 'node-0', 'node-1', 'node-1']
    """
    if networks.alike:
        ranks_per_node = max(share.node.ranks for share in layout.shares)
        return _equal(networks.common, layout.node_of.tolist(), ranks_per_node)
    zones: list[str] = []
    facts: list[str] = []
    costs: list[float] = []
    hosts: list[str] = []
    for number, share in enumerate(layout.shares):
        node = share.node
        network = networks.parts[share.part]
        zones.append(_part(number, share, network))
        facts.append(
            f"{share.part}: {counted(node.nodes, 'node')} on one switch, {node.ranks} ranks each,"
            f" {_speed(network.latency_s, network.bandwidth)}, within a node"
            f" {_speed(network.latency_node_s, network.bandwidth_node)}"
        )
        costs += _costs_of_messages(networks, str(share.part))
        hosts += [f"{share.part}-{rank // node.ranks}" for rank in range(share.ranks)]
    nodes = {share.part: share.node.nodes for share in layout.shares}
    routes: list[str] = []
    for (a, b), link in networks.links.items():
        latency_s = max(link.latency_s, networks.least_s(a, b))
        wire_s = latency_s - networks.least_s(a, b)
        zones.append(_link(f"{a}-{b}", link, wire_s, ports=min(nodes[a], nodes[b])))
        routes += [_route(a, b, f"{a}-{b}", "UP"), _route(b, a, f"{a}-{b}", "DOWN")]
        facts.append(f"{a} to {b}: {_speed(latency_s, link.bandwidth)}")
    return _platform("".join([*zones, *routes]), hosts, networks.common, "; ".join(facts), costs)


def _part(number: int, share: RanksOfPart, network: Interconnect) -> str:
    """The cluster of a part, a star."""
    return _cluster(
        name=str(share.part),
        prefix=f"{share.part}-",
        network=network,
        hosts=share.node.nodes,
        cores=share.node.ranks,
        wire_s=_wire_s(network),
        attributes=f'\n           router_id="{share.part}-router"',
        properties=f'   <prop id="part" value="{number}"/>\n',
    )


def _costs_of_messages(networks: Networks, part: str) -> list[float]:
    """A row as message_cost.cpp reads it: to each part, and within a node."""
    links = networks.links
    network = networks.parts[part]
    costs = []
    for other in networks.parts:
        pair = (part, str(other))
        link = links.get(pair) or links.get((pair[1], pair[0]), network)
        costs.append(link.busy_s / 2)
    return [*costs, network.busy_node_s / 2, 1 / network.bandwidth_node]


def _link(name: str, link: Interconnect, wire_s: float, ports: int) -> str:
    """What lies between two parts.

    A link that gives each message its bandwidth, and one that all messages share.
    """
    shared = ports * link.bandwidth
    return (
        f'  <link id="{name}" bandwidth="{link.bandwidth:.6g}Bps" latency="{wire_s:.6g}s"'
        ' sharing_policy="FATPIPE"/>\n'
        f'  <link id="{name}-ports" bandwidth="{shared:.6g}Bps" latency="0s"'
        ' sharing_policy="SPLITDUPLEX"/>\n'
    )


def _route(source: str, target: str, link: str, direction: str) -> str:
    """The way from one part to another; both ways lead over the same links."""
    return (
        f'  <zoneRoute src="{source}" dst="{target}" gw_src="{source}-router"'
        f' gw_dst="{target}-router" symmetrical="NO">\n   <link_ctn id="{link}"/>'
        f'<link_ctn id="{link}-ports" direction="{direction}"/>\n  </zoneRoute>\n'
    )


def _wire_s(network: Interconnect) -> float:
    """Latency of each of the two links of a path within a star."""
    return float((network.latency_s - network.busy_s) / LINKS["star"])


def _inside_s(network: Interconnect) -> float:
    """Latency within a node, without what a message costs its sender and its receiver."""
    return float(network.latency_node_s - network.busy_node_s)


def _cluster(
    name: str,
    prefix: str,
    network: Interconnect,
    hosts: int,
    cores: int,
    wire_s: float,
    attributes: str = "",
    properties: str = "",
) -> str:
    """Hosts with so many cores each on links of the latency `wire_s`."""
    end = f">\n{properties}  </cluster>\n" if properties else "/>\n"
    return f"""  <cluster id="{name}" prefix="{prefix}" suffix="" radical="0-{hosts - 1}"
           speed="{HOST_SPEED}" core="{cores}" sharing_policy="SPLITDUPLEX"
           bw="{network.bandwidth:.6g}Bps" lat="{wire_s:.6g}s"
           loopback_bw="{COPIED:g}Bps" loopback_lat="{_inside_s(network):.6g}s"{attributes}{end}"""


def _platform(
    zones: str,
    hosts: list[str],
    network: Interconnect,
    facts: str,
    costs: Iterable[float],
) -> Platform:
    """The platform of clusters, links and routes.

    Args:
        zones: clusters, links and routes in XML.
        hosts: the node of each rank.
        network: settings that all ranks share.
        facts: what was built, in one line.
        costs: of messages.
    """
    xml = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
{zones} </zone>
</platform>
"""
    settings = _settings(network, len(hosts))
    return Platform(
        xml=xml,
        hosts="".join(f"{host}\n" for host in hosts),
        flags=[f"--cfg={name}:{value}" for name, value in settings.items()],
        facts=facts,
        environment={
            ALL_TO_ALL: " ".join(_algorithms(network, len(hosts))),
            MESSAGE_COST: " ".join(f"{cost:.6g}" for cost in costs),
        },
    )


def _settings(network: Interconnect, ranks: int) -> dict[str, str | int | None]:
    """The settings of SimGrid.

    The network is as the platform file says; collectives are as the profile's library chooses.
    """
    eager = round(network.eager)
    settings: dict[str, str | int | None] = {
        "network/model": "SMPI",
        "network/TCP-gamma": 0,  # no window of TCP
        "network/crosstraffic": 0,  # links are full duplex
        # Latency and bandwidth are measured ones; what is not eager asks its receiver first.
        "smpi/lat-factor": f"0:1;{eager + ENVELOPE}:2",
        "smpi/bw-factor": "0:1",
        "smpi/async-small-thresh": eager,
        "smpi/send-is-detached-thresh": eager,
        # As _algorithms.
        "smpi/coll-selector": "mpich" if network.selector == "impi" else network.selector,
        "smpi/alltoall": "bruck",  # where ALL_TO_ALL leaves the choice to SimGrid
        # Before the first cycle; that of ompi takes minutes with 128 ranks.
        "smpi/alltoallv": "ring",
        # The mini-app has no variables that ranks could spoil for each other.
        "smpi/privatization": "no",
        "smpi/wtime": 0,  # reading the clock takes no time
        "smpi/test": 0,
        "smpi/iprobe": f"{POLL_S:g}",
        # Otherwise every failed test makes the next one take longer.
        "smpi/grow-injected-times": "no",
        "smpi/simulate-computation": "no",  # compute times are given
        "smpi/cpu-threshold": 0,
        "smpi/host-speed": HOST_SPEED,
    }
    if ranks >= BINOMIAL_FROM_RANKS:
        settings["smpi/bcast"] = "binomial_tree"
    return settings


def _algorithms(network: Interconnect, ranks: int) -> list[str]:
    """Algorithms of all-to-all calls, as miniapp/simulated/all_to_all.h reads them."""
    rules = mpi_rules.rules(network.selector, ranks)
    words = []
    for call, letter in CALLS.items():
        for least, bytes_, name in rules[call]:
            words.append(f"{letter}:{least}:{bytes_}:{AHEAD.get(name, 0)}")
    return words
