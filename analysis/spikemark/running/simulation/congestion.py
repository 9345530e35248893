"""What congestion leaves of the bandwidth of simulated links.

A profile's congestion is the bandwidth of a pair of nodes alone, over that while each node of the first half
sends to one of the second half, as `spikemark calibrate` measures it. In that very pattern, the simulated
machine shows what the profile states: the bandwidth of its links is the profile's over the part of the
congestion that the simulated topology does not cause itself (`OWN`). In a fat tree it causes none, since
these messages have links of their own. Messages of other patterns meet on its links, on top of that.

A congestion that nobody stated is assumed for static routes through several switches. A simulated fat tree
or dragonfly has such routes, on which messages meet, so its links have the whole bandwidth of the profile.
It counts where nothing can meet: in parts of a machine that are simulated as stars, and on links between
parts. That of Ethernet counts, too. It is assumed for few links between switches, and the simulated
topologies have many.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from statistics import median

from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import CROWD, Interconnect
from spikemark.machines.of_networks import for_routes

from . import platform

PATH = "interconnect.congestion"
ROUTES = (
    "{} = {:g} is not applied: it is assumed for static routes, and the simulated {} has such routes itself"
)
BESIDES = (
    "{} = {:g}: links have 1/{:.3g} of the bandwidth, so that one half of the nodes sends to the other half"
    " so slowly; other messages meet on the links of the simulated {} besides"
)
MORE = "{} = {:g}: while one half of the nodes sends to the other half, the simulated {} has {:.3g}"


def simulated(inputs: Inputs, why: str, nodes: int, as_star: bool = False) -> Interconnect:
    """The interconnect of a filled profile as `nodes` nodes meet it in a simulation.

    `as_star`: these nodes are simulated on one switch, whatever their topology. Raises BadInput, saying `why`
    a value is needed, for one that is unknown.
    """
    found = Interconnect.whole(inputs, why)
    return replace(found, bandwidth=found.bandwidth / _divisor(inputs, found, nodes, as_star))


def said(inputs: Inputs, nodes: int, as_star: bool = False) -> list[str]:
    """What a simulation makes of the congestion, where the simulated topology matters; with its path."""
    network, value = Interconnect.whole(inputs, PATH), inputs.profile.get(PATH)
    if nodes < CROWD or as_star or network.topology == "star" or value is None:
        return []
    path, stated, topology = inputs.start + PATH, value.value, network.topology
    if for_routes(inputs.profile):
        return [ROUTES.format(path, stated, topology)]
    if (own := OWN[topology](network, nodes)) > stated:
        return [MORE.format(path, stated, topology, own)]
    return [BESIDES.format(path, stated, stated / own, topology)] if stated > own else []


def _divisor(inputs: Inputs, network: Interconnect, nodes: int, as_star: bool) -> float:
    if nodes < CROWD or (not as_star and for_routes(inputs.profile)):
        return 1.0
    stated = inputs.get(PATH, 1.0)
    own = 1.0 if as_star else OWN[network.topology](network, nodes)
    return max(min(stated, 1.0), stated / own)


def _none(network: Interconnect, nodes: int) -> float:
    """On one switch nothing meets. In a fat tree, node i of a leaf sends up on link i of the leaf."""
    return 1.0


def _dragonfly(network: Interconnect, nodes: int) -> float:
    """The median over messages of how many share a link with them, per unit of its width.

    In each group, router n has the links to group n (SimGrid 3.32, DragonflyZone.cpp).
    """
    here = network.nodes_per_leaf
    if nodes <= here:
        return 1.0
    _, between, routers, within = platform.dragonfly(here, nodes)

    def links(sender: int) -> list[tuple]:
        """Pairs of routers (group, number)."""
        group, first = divmod(sender // here, routers)
        there, last = divmod((sender + nodes // 2) // here, routers)
        middle = [(group, there), (there, group)] if group != there else []
        return [(a, b) for a, b in pairwise([(group, first), *middle, (there, last)]) if a != b]

    paths = [links(sender) for sender in range(nodes // 2)]
    messages = Counter(link for path in paths for link in path)
    widths = {(a, b): within if a[0] == b[0] else between for a, b in messages}
    return median(max([1.0, *(messages[link] / widths[link] for link in path)]) for path in paths)


#: By topology: how many times as long large messages take while one half of the nodes sends to the other.
OWN: dict[str, Callable[[Interconnect, int], float]] = {
    "star": _none, "fat_tree": _none, "dragonfly": _dragonfly,
}  # fmt: skip
