"""Rules of filling.py for what lies between nodes: interconnect, jitter and interconnect cards."""

from collections.abc import Iterator
from dataclasses import replace

from . import comparable
from .assuming import Assumed, Known, between, compared
from .fields import ETHERNET, FABRIC, OTHER
from .profile import Profile

REFERENCE_NETWORK = "jureca-dc"  # of what has no better side
NODES_PER_LEAF = (
    16,
    ("half the ports of a switch lead up; 36 to 48 ports are usual, the half rounded down to a power of two"),
)
EAGER = 12, "Open MPI's default for InfiniBand (btl_openib_eager_limit)", (6.0, 24.0)
EAGER_ETHERNET = 12, f"{EAGER[1]}; 64 KiB for TCP (btl_tcp_eager_limit)", (6.0, 64.0)
CONGESTION = (
    2.63,
    "static routes through several switches leave 38 to 60 % of the bandwidth, typically 55 to 60 %"
    " (Hoefler et al. 2008, doi:10.1109/CLUSTR.2008.4663762; Geoffray and Hoefler 2008)",
    (1.0, 2.63),
)
CONGESTION_ETHERNET = (
    8,
    "the links up from a switch of Ethernet have a 2.5th to an eighth of the bandwidth down"
    " (Al-Fares, Loukissas, Vahdat 2008, doi:10.1145/1402958.1402967)",
    (1.0, 8.0),
)
UNKNOWN_FABRIC = "not known: each value between nodes is the worst over all fabrics"
ONE_SWITCH = 1, "all nodes are on one switch", (1.0, 1.0)
INDEPENDENT = "cycles are assumed to be independent, which flatters schedules that meet rarely"
ALIKE = "nodes are assumed to be alike; at most they differ as cycles do"
NO_MODE = "no mode of long cycles is known; a virtual machine has one"


def messages(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """Latency and bandwidth; networks of the fabric are comparable whose other one of the two is alike."""
    yield Assumed(FABRIC, OTHER, UNKNOWN_FABRIC)
    network = comparable.profile(REFERENCE_NETWORK)
    for name in ("topology", "selector"):
        path = f"interconnect.{name}"
        yield Assumed(path, network.need(path, "the interconnect of others").value, f"as {network.name}")
    latency, bandwidth = "interconnect.latency", "interconnect.bandwidth"
    for path, related, worse in ((latency, bandwidth, max), (bandwidth, latency, min)):
        yield from compared(known, path, worse, alike=related)
    yield from compared(known, "interconnect.latency_node", max)


def in_proportion(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """The gap goes with latency, copies within a node with its memory, congestion with the topology."""
    lowest, highest = comparable.limits("interconnect.gap") or (float("inf"), 0.0)
    for made in compared(known, "interconnect.gap", max, "interconnect.latency"):
        low, high = made.interval
        yield replace(made, interval=(min(low, 1e6 * lowest), max(high, 1e6 * highest)))
    memory = known.number("node.bandwidth")
    for made in compared(known, "interconnect.bandwidth_node", min):
        most = memory / 2 if memory else None
        yield between(made, None, most, "half that of the memory: a copy reads and writes")
    one = known.number("interconnect.topology") == "star"
    many = CONGESTION_ETHERNET if may_be_ethernet(known.number(FABRIC)) else CONGESTION
    yield Assumed("interconnect.congestion", *(ONE_SWITCH if one else many))


def may_be_ethernet(fabric: str | None) -> bool:
    """True if the nodes are connected by Ethernet, or nobody says that they are not."""
    return any(ETHERNET in group for group in comparable.groups(fabric))


def for_routes(profile: Profile) -> bool:
    """True if the congestion of a filled profile is the one assumed for static routes (`CONGESTION`).

    False if the profile states a congestion. What is assumed for Ethernet stands for few links between
    switches, whatever the routes.
    """
    found, topology, fabric = map(profile.get, ("interconnect.congestion", "interconnect.topology", FABRIC))
    if found is None or not found.open or topology is None or topology.value == "star":
        return False
    return not may_be_ethernet(None if fabric is None else fabric.value)


def the_rest(known: Known, reference: Profile | None) -> Iterator[Assumed]:
    """Jitter, interconnect cards, and what only simulations need."""
    yield Assumed("interconnect.nodes_per_leaf", *NODES_PER_LEAF)
    yield Assumed("interconnect.eager", *(EAGER_ETHERNET if may_be_ethernet(known.number(FABRIC)) else EAGER))
    for made in compared(known, "jitter.cv", max):
        yield made
        known = known.also(made)
    yield from _scatter(known)
    if known.number("power.idle") is not None:
        yield from compared(known, "power.card", max)


def _scatter(known: Known) -> Iterator[Assumed]:
    """Jitter beside the CV: none, unless the machine is known to have long cycles; all of it may be there."""
    cv = known.number("jitter.cv")
    yield Assumed("jitter.node_spread", 0, ALIKE, (0, cv))
    shortest, longest = comparable.limits("jitter.correlation_time") or (1.0, 1.0)
    yield Assumed("jitter.correlation_time", 1, INDEPENDENT, (min(0.5, shortest), max(2.0, longest)))
    share, factor = (comparable.most(f"jitter.minor_{name}") for name in ("share", "factor"))
    if share is None or factor is None:
        share, factor = 0, 1
    if known.number("jitter.minor_share"):
        yield Assumed("jitter.minor_factor", factor, f"as long as elsewhere; {NO_MODE}", (1, factor))
    yield Assumed("jitter.minor_factor", 1, NO_MODE)
    if (known.number("jitter.minor_factor") or 1) > 1:
        yield Assumed("jitter.minor_share", share, f"as many as elsewhere; {NO_MODE}", (0, share))
    yield Assumed("jitter.minor_share", 0, NO_MODE, (0, share))
