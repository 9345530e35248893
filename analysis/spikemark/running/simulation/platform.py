"""The cluster that SimGrid simulates: platform file and options of smpirun, from a machine profile.

A message of n bytes between nodes takes gap + wire latency + n / bandwidth: half the gap keeps the sender
busy, half the receiver, as LogGP's overheads do (Alexandrov et al. 1995). The wire's share of the profile's
latency is spread evenly over the links of the longest path, so that two nodes of one leaf are nearer than the
profile says. Within a node a message takes the profile's latency and bandwidth there, and messages do not
disturb each other.
"""

import math
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.machines.interconnect import Interconnect

SPEED = "1Gf"  # speed of a core; it cancels, since compute times are given in seconds
POLL_S = 1e-7  # simulated time of an MPI_Iprobe; with 0, waiting would never end
BRUCK = 16  # ranks from which Open MPI 4 and MPICH combine blocks of alltoall of up to some 500 bytes


@dataclass(frozen=True)
class Platform:
    """`xml` describes the cluster; `hosts` has a line per rank, `flags` go to smpirun."""

    xml: str
    hosts: str
    flags: list[str]
    facts: str  # one line: what was built


#: Attributes of the cluster, the nodes it must have, the links of its longest path, and a description.
Shape = tuple[str, int, int, str]


def _star(network: Interconnect, nodes: int) -> Shape:
    return "", nodes, 2, f"{nodes} nodes on one switch"


def _fat_tree(network: Interconnect, nodes: int) -> Shape:
    """Two levels with as many links up as down; the nodes of a single leaf form a star."""
    down = network.nodes_per_leaf
    leaves = math.ceil(nodes / down)
    if leaves == 1:
        return _star(network, nodes)
    attributes = f' topology="FAT_TREE" topo_parameters="2;{down},{leaves};1,{down};1,1"'
    return attributes, down * leaves, 4, f"{leaves} leaves of {down} nodes and as many links up"


def _dragonfly(network: Interconnect, nodes: int) -> Shape:
    """Groups of routers that are all linked, each group linked to every other, wide enough for uniform
    traffic.
    """
    here = network.nodes_per_leaf
    if nodes <= here:
        return _star(network, nodes)
    routers = max(2, math.ceil(math.sqrt(nodes / here)))  # of a group, and at most so many groups
    groups = math.ceil(nodes / (routers * here))
    between = math.ceil(routers * here / max(groups - 1, 1))
    within = math.ceil(2 * here / max(groups - 1, 1))
    parameters = f"{groups},{between};1,1;{routers},{within};{here}"
    words = f"{groups} groups of {routers} routers of {here} nodes"
    return f' topology="DRAGONFLY" topo_parameters="{parameters}"', groups * routers * here, 5, words


TOPOLOGIES = {"star": _star, "fat_tree": _fat_tree, "dragonfly": _dragonfly}


def build(network: Interconnect, ranks: int, ranks_per_node: int = 1) -> Platform:
    """The cluster with as few nodes as the ranks need; ranks fill one node after another.

    Raises BadInput for a topology that is not in TOPOLOGIES.
    """
    if network.topology not in TOPOLOGIES:
        raise BadInput(f"interconnect.topology={network.topology!r}: allowed are {', '.join(TOPOLOGIES)}")
    nodes = math.ceil(ranks / ranks_per_node)
    attributes, hosts, links, words = TOPOLOGIES[network.topology](network, nodes)
    overhead = overhead_s(network, ranks_per_node > 1)
    wire = max(network.latency_s - 2 * overhead, 0) / links
    inside = max(network.latency_node_s - 2 * overhead, 0)
    xml = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Full">
  <cluster id="machine" prefix="node-" suffix="" radical="0-{hosts - 1}"
           speed="{SPEED}" core="{ranks_per_node}" sharing_policy="SPLITDUPLEX"
           bw="{network.bandwidth:.6g}Bps" lat="{wire:.6g}s"
           loopback_bw="{network.bandwidth_node:.6g}Bps" loopback_lat="{inside:.6g}s"{attributes}/>
 </zone>
</platform>
"""
    lines = "".join(f"node-{rank // ranks_per_node}\n" for rank in range(ranks))
    facts = (
        f"{network.topology}: {words}, {nodes} used, {ranks_per_node} ranks each; longest path of {links}"
        f" links of {1e6 * wire:.3g} us and {1e-9 * network.bandwidth:.4g} GB/s, {1e6 * overhead:.3g} us per"
        f" message at either end; within a node {1e6 * inside:.3g} us and"
        f" {1e-9 * network.bandwidth_node:.4g} GB/s"
    )
    return Platform(xml, lines, flags(network, overhead, ranks), facts)


def overhead_s(network: Interconnect, shared: bool) -> float:
    """What a message costs its sender, and again its receiver; `shared`: several ranks on a node.

    Half the gap, or half the shortest latency where that is below the gap.
    """
    latency = min(network.latency_s, network.latency_node_s) if shared else network.latency_s
    return min(network.gap_s, latency) / 2


def flags(network: Interconnect, overhead_s: float, ranks: int) -> list[str]:
    """Options of smpirun: the network as the platform says, collectives as the profile's library chooses."""
    settings = {
        "network/model": "SMPI",
        "network/TCP-gamma": 0,  # no window of TCP
        "network/crosstraffic": 0,  # links are full duplex
        "smpi/lat-factor": "0:1",  # latency and bandwidth are measured ones and need no correction
        "smpi/bw-factor": "0:1",
        **{f"smpi/{name}": f"0:{overhead_s:.6g}:0" for name in ("os", "ois", "or")},
        "smpi/async-small-thresh": round(network.eager),
        "smpi/send-is-detached-thresh": round(network.eager),
        "smpi/coll-selector": network.selector,
        "smpi/alltoallv": "ring",  # that of ompi takes seconds with 128 ranks; `pair` requires powers of two
        **(
            {"smpi/alltoall": "bruck"} if ranks >= BRUCK else {}
        ),  # that of ompi also takes seconds, from some bytes on
        "smpi/privatization": "no",  # the mini-app has no variables that ranks could spoil for each other
        "smpi/wtime": 0,  # reading the clock takes no time
        "smpi/test": 0,
        "smpi/iprobe": f"{POLL_S:g}",
        "smpi/grow-injected-times": "no",  # otherwise every failed test makes the next one take longer
    }
    return [f"--cfg={name}:{value}" for name, value in settings.items()]
