"""The cluster that SimGrid simulates: platform file and options of smpirun, from a machine profile.

A message of n bytes between nodes takes gap + wire latency + n / bandwidth: half the gap keeps the sender
busy, half the receiver, as LogGP's overheads do (Alexandrov et al. 1995). The wire's share of the profile's
latency is spread evenly over the links of the longest path, so that two nodes of one leaf are nearer than the
profile says. Within a node a message takes the profile's latency and bandwidth there, too. Its sender copies
it, one message after another, and messages of other ranks do not disturb it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.machines import algorithms
from spikemark.machines.interconnect import LINKS, Interconnect

SPEED = "1Gf"  # speed of a core; it cancels, since compute times are given in seconds
POLL_S = 1e-7  # simulated time of an MPI_Iprobe; with 0, waiting would never end
ALL_TO_ALL = "SPIKEMARK_ALL_TO_ALL"  # miniapp/src/transport/all_to_all.h
MESSAGE_COST = "SPIKEMARK_MESSAGE_COST"  # miniapp/serial/message_cost.cpp
COPIED = 1e15  # bytes per second of messages within a node after their sender has copied them
ENVELOPE = 16  # bytes that SimGrid adds to a message
#: Messages that a rank has on their way at a time. Sixteen hide the latency of all but the last, as all at
#: once do, for which SimGrid takes up to a hundred times as long.
AHEAD = {algorithms.PAIRWISE: 1, algorithms.RING: 1, algorithms.LINEAR: 16}  # others are SimGrid's own
#: From so many ranks on, what SimGrid has for small broadcasts of Open MPI sends several messages between all
#: pairs of ranks for each new communicator: minutes for a thousand ranks. A binomial tree does not.
MANY = 256
CALLS = {"alltoall": "c", "alltoallv": "v", "allgather": "g"}


@dataclass(frozen=True)
class Platform:
    """`xml` describes the cluster; `hosts` has a line per rank, `flags` go to smpirun."""

    xml: str
    hosts: str
    flags: list[str]
    facts: str  # one line: what was built
    environment: dict[str, str]  # of the mini-app: the algorithms of all-to-all calls


#: Attributes of the cluster, the nodes it must have, the links of its longest path, and a description.
Shape = tuple[str, int, int, str]


def _star(network: Interconnect, nodes: int) -> Shape:
    return "", nodes, LINKS["star"], f"{nodes} nodes on one switch"


def _fat_tree(network: Interconnect, nodes: int) -> Shape:
    """Two levels with as many links up as down; the nodes of a single leaf form a star."""
    down = network.nodes_per_leaf
    leaves = math.ceil(nodes / down)
    if leaves == 1:
        return _star(network, nodes)
    attributes = f' topology="FAT_TREE" topo_parameters="2;{down},{leaves};1,{down};1,1"'
    return (
        attributes,
        down * leaves,
        LINKS["fat_tree"],
        f"{leaves} leaves of {down} nodes and as many links up",
    )


def _dragonfly(network: Interconnect, nodes: int) -> Shape:
    """Groups of routers that are all linked, each group linked to every other, wide enough for uniform
    traffic.
    """
    here = network.nodes_per_leaf
    if nodes <= here:
        return _star(network, nodes)
    groups, between, routers, within = dragonfly(here, nodes)
    parameters = f"{groups},{between};1,1;{routers},{within};{here}"
    words = f"{groups} groups of {routers} routers of {here} nodes"
    return (
        f' topology="DRAGONFLY" topo_parameters="{parameters}"',
        groups * routers * here,
        LINKS["dragonfly"],
        words,
    )


def dragonfly(here: int, nodes: int) -> tuple[int, int, int, int]:
    """Groups, links from one to another, routers of a group, and links from one of them to another; `here`
    nodes on a router.
    """
    routers = max(2, math.ceil(math.sqrt(nodes / here)))  # and at most so many groups
    groups = math.ceil(nodes / (routers * here))
    between = math.ceil(routers * here / max(groups - 1, 1))
    within = math.ceil(2 * here / max(groups - 1, 1))
    return groups, between, routers, within


TOPOLOGIES = {"star": _star, "fat_tree": _fat_tree, "dragonfly": _dragonfly}


def build(network: Interconnect, ranks: int, ranks_per_node: int = 1) -> Platform:
    """The cluster with as few nodes as the ranks need; ranks fill one node after another.

    Raises BadInput for a topology that is not in TOPOLOGIES.
    """
    return placed(network, [rank // ranks_per_node for rank in range(ranks)], ranks_per_node)


def placed(network: Interconnect, node_of: Sequence[int], ranks_per_node: int) -> Platform:
    """The same for ranks that are on the nodes `node_of` [rank], up to `ranks_per_node` on each."""
    check(network)
    ranks, nodes = len(node_of), node_of[-1] + 1
    attributes, hosts, links, words = TOPOLOGIES[network.topology](network, nodes)
    wire = (network.latency_s - network.busy_s) / links
    inside = network.latency_node_s - network.busy_node_s
    xml = world(cluster("machine", "node-", network, hosts, ranks_per_node, wire, attributes))
    lines = "".join(f"node-{node}\n" for node in node_of)
    facts = (
        f"{network.topology}: {words}, {nodes} used, {ranks_per_node} ranks each; longest path of {links}"
        f" links of {1e6 * wire:.3g} us and {1e-9 * network.bandwidth:.4g} GB/s,"
        f" {1e6 * network.busy_s / 2:.3g} us per message at either end; within a node {1e6 * inside:.3g} us,"
        f" {1e-9 * network.bandwidth_node:.4g} GB/s and {1e6 * network.busy_node_s / 2:.3g} us"
    )
    costs = network.busy_s / 2, network.busy_node_s / 2, 1 / network.bandwidth_node
    return Platform(xml, lines, flags(network, ranks), facts, environment(network, ranks, costs))


def check(network: Interconnect) -> None:
    """Raises BadInput for a topology that is not in TOPOLOGIES."""
    if network.topology not in TOPOLOGIES:
        raise BadInput(f"interconnect.topology={network.topology!r}: allowed are {', '.join(TOPOLOGIES)}")


def world(inside: str) -> str:
    """A platform file of clusters, links and routes."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
{inside} </zone>
</platform>
"""


def cluster(
    name: str,
    prefix: str,
    network: Interconnect,
    hosts: int,
    cores: int,
    wire: float,
    attributes: str = "",
    speed: str = SPEED,
    properties: dict[str, str] | None = None,
) -> str:
    """Hosts with so many cores each on links of the latency `wire` in s, with these `properties`."""
    inside = network.latency_node_s - network.busy_node_s
    given = "".join(f'   <prop id="{key}" value="{value}"/>\n' for key, value in (properties or {}).items())
    return f"""  <cluster id="{name}" prefix="{prefix}" suffix="" radical="0-{hosts - 1}"
           speed="{speed}" core="{cores}" sharing_policy="SPLITDUPLEX"
           bw="{network.bandwidth:.6g}Bps" lat="{wire:.6g}s"
           loopback_bw="{COPIED:g}Bps" loopback_lat="{inside:.6g}s"{attributes}""" + (
        f">\n{given}  </cluster>\n" if given else "/>\n"
    )


def flags(network: Interconnect, ranks: int) -> list[str]:
    """Options of smpirun: the network as the platform says, collectives as the profile's library chooses."""
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
    }
    if ranks >= MANY:
        settings["smpi/bcast"] = "binomial_tree"
    return [f"--cfg={name}:{value}" for name, value in settings.items()]


def environment(network: Interconnect, ranks: int, costs: Iterable[float]) -> dict[str, str]:
    """What the mini-app is told: algorithms of all-to-all calls by ranks and bytes, and costs of messages."""
    words = [
        f"{CALLS[call]}:{least}:{bytes_}:{AHEAD.get(name, 0)}"
        for call in CALLS
        for least, bytes_, name in algorithms.rules(network.selector, ranks)[call]
    ]
    return {ALL_TO_ALL: " ".join(words), MESSAGE_COST: " ".join(f"{cost:.6g}" for cost in costs)}
