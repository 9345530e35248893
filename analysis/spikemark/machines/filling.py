"""Simple rules that assume values which predictions and simulations need but a profile lacks.

Kernel times come from a profile that was calibrated (`REFERENCE`):

- update, external, collocate, t_spike: times the ratio of clocks.
- t_next: times the ratio of clocks, but no less than the memory takes for a synapse and its cell of the ring
  at the core's share of the bandwidth. (By the ratio of bandwidths instead, the mini-app would be slower than
  NEST on JURECA-DC: docs/prediction.md.)
- t_first: as there, since the latency of memory is much the same everywhere, but no less than the memory
  takes for one line at the core's share of the bandwidth.

Jitter is not taken from there: on a virtual machine it is the hypervisor's, and its cycles are short. The CV
comes from a cluster (`REFERENCE_JITTER`); cycles are assumed to be independent, without a mode of long ones,
and nodes to be alike.

What is unknown of the interconnect comes from a profile whose messages were measured between nodes
(`REFERENCE_NETWORK`): the gap in proportion to latency, the bandwidth within a node up to half that of the
memory. An interconnect card draws as much as that of `REFERENCE_CARD`. The power of cores, prices and times
of collectives are not assumed.
"""

from collections.abc import Iterator

from .loader import load, names
from .profile import Profile

#: The profile that `spikemark calibrate` wrote.
REFERENCE = "epyc-vm"
REFERENCE_NETWORK = "jureca-dc"
REFERENCE_JITTER = "dpsnn-westmere-ib"
REFERENCE_CARD = "dpsnn-westmere-eth"

DIGITS = 4
SYNAPSE = 8  # bytes: the synapse is read, its cell of two bytes read and written
NODES_PER_LEAF = (
    16,
    ("half the ports of a switch lead up; 36 to 48 ports are usual, the half rounded down to a power of two"),
)
EAGER = 12, "Open MPI's default for InfiniBand (btl_openib_eager_limit)"
JITTER = {
    "correlation_time": (
        1,
        "cycles are assumed to be independent, which flatters schedules that meet rarely",
    ),
    "minor_share": (0, "no mode of long cycles is known"),
    "minor_factor": (1, "no mode of long cycles is known"),
    "node_spread": (0, "nodes are assumed to be alike"),
}

#: Path, value and reason of each assumed value.
Assumed = Iterator[tuple[str, float | str, str]]


def filled(profile: Profile, reference: Profile | None = None) -> Profile:
    """The profile with assumed values for those that are needed but unknown; their references state the rule.

    `reference`: a calibrated profile instead of `REFERENCE`. Values that the rules do not give either stay
    unknown.
    """
    if reference is None and REFERENCE in names():
        reference = profile if profile.name == REFERENCE else load(REFERENCE)
    for rule in (_node, _kernels):
        if reference is not None and reference is not profile:
            profile = _assumed(profile, rule(profile, reference))
    for rule in (_interconnect, _dependent):
        profile = _assumed(profile, rule(profile, load(REFERENCE_NETWORK)))
    return _assumed(profile, _fixed(profile))


def _assumed(profile: Profile, found: Assumed) -> Profile:
    return profile.assume_all({path: (value, why) for path, value, why in found if not profile.get(path)})


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _node(profile: Profile, reference: Profile) -> Assumed:
    for path in ("node.clock", "node.line"):
        if known := reference.get(path):
            yield path, known.value, f"as {reference.name}"


def _kernels(profile: Profile, reference: Profile) -> Assumed:
    for group, path in (("one_core", "node.bandwidth_core"), ("full_node", "node.bandwidth")):
        times = f"kernels.{group}."
        clock, synapse = _clock(profile, reference), _memory_ns(profile, path, SYNAPSE)
        for known in (p for p in reference.values if p.startswith(times)):
            value = reference.get(known).value
            name = known.removeprefix(times)
            if name == "t_first":
                line = _memory_ns(profile, path)
                longer = (
                    f"a line of memory at the core's share of bandwidth; {value:g} ns on {reference.name}"
                )
                yield known, _round(max(value, line)), longer if line > value else f"as {reference.name}"
            elif name == "t_next" and synapse > value * clock:
                why = f"{SYNAPSE} bytes at the core's share of bandwidth; {value:g} ns on {reference.name}"
                yield known, _round(synapse), why
            else:
                yield known, _round(value * clock), f"{value:g} ns on {reference.name} by the ratio of clocks"


def _clock(profile: Profile, reference: Profile) -> float:
    """How many times slower the profile is by its clock; 1 where a clock is unknown."""
    here, there = profile.get("node.clock"), reference.get("node.clock")
    return there.value / here.value if here and there else 1.0


def _share(profile: Profile, path: str) -> float | None:
    """Bandwidth per busy core in GB/s; one core alone has all of it."""
    bandwidth, cores = profile.get(path), profile.get("node.cores")
    if bandwidth is None or (cores is None and path == "node.bandwidth"):
        return None
    return bandwidth.value / (cores.value if path == "node.bandwidth" else 1)


def _memory_ns(profile: Profile, path: str, bytes_: float | None = None) -> float:
    """Nanoseconds that the memory takes for so many bytes, or for a line; 0 where unknown."""
    share, line = _share(profile, path), profile.get("node.line")
    size = bytes_ or (line.value if line else None)
    return size / share if share and size else 0.0


def _interconnect(profile: Profile, network: Profile) -> Assumed:
    for name in ("topology", "latency", "latency_node", "bandwidth", "selector"):
        path = f"interconnect.{name}"
        yield path, network.need(path, "the interconnect of others").value, f"as {network.name}"


def _dependent(profile: Profile, network: Profile) -> Assumed:
    latency, gap, inside = (
        network.need(f"interconnect.{name}", "the interconnect of others").value
        for name in ("latency", "gap", "bandwidth_node")
    )
    here = profile.get("interconnect.latency").value
    why = f"{gap:g} us on {network.name} by the ratio of latencies"
    yield "interconnect.gap", _round(gap * here / latency), why
    memory, path = profile.get("node.bandwidth"), "interconnect.bandwidth_node"
    if memory and memory.value / 2 < inside:
        yield path, _round(memory.value / 2), "half that of the memory: a copy reads and writes"
    else:
        yield path, inside, f"as {network.name}"


def _fixed(profile: Profile) -> Assumed:
    yield "interconnect.nodes_per_leaf", *NODES_PER_LEAF
    yield "interconnect.eager", *EAGER
    yield (
        "jitter.cv",
        load(REFERENCE_JITTER).need("jitter.cv", "jitter").value,
        f"as {REFERENCE_JITTER}, a cluster",
    )
    for name, assumed in JITTER.items():
        yield f"jitter.{name}", *assumed
    if profile.get("power.idle"):
        card = load(REFERENCE_CARD).need("power.card", "the interconnect cards of others")
        yield "power.card", card.value, f"as {REFERENCE_CARD}, of Gigabit Ethernet"
