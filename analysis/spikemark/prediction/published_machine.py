"""What models of production programs take of a machine: one function from its profile.

A published point names a profile, and an offer is one: both become a PublishedMachine here and
nowhere else, so that equal data give equal times. Only `measured_as` and `processor` of a profile
say which runs were made on it.
"""

import dataclasses
from dataclasses import dataclass, replace
from functools import cache

from spikemark import machines
from spikemark.machines import priors
from spikemark.machines.profile import ASSUMED, Profile, Value
from spikemark.machines.values import limits

SMALL_BOARD_CORES = 8  #: a machine with no more is no full node of a server
USUAL_SOCKETS = 2  #: of a machine that does not state them
AS_OFFERED = "{} as offered"  #: a machine on which nothing was measured
#: Fields without which nodes do not share the error of their processor.
KNOWN_PROCESSOR = frozenset({"clock_ghz", "l3_kib", "l3_cores"})
#: The values that models take as numbers: name of the field, and path in the profile. One that has
#: no row in priors.yaml is a cost on top of others: its default in PublishedMachine is 0.
PATHS = {
    "clock_ghz": "node.clock",
    "turbo_ghz": "node.clock_turbo",
    "clock_share": "node.clock_share",
    "l3_kib": "node.l3",
    "l3_cores": "node.l3_cores",
    "latency_us": "interconnect.latency",
    "latency_node_us": "interconnect.latency_node",
    "gap_us": "interconnect.gap",
    "bandwidth_gb": "interconnect.bandwidth",
    "congestion": "interconnect.congestion",
}


@dataclass(frozen=True)
class UncertainValue:
    """A value of a machine that is not known for sure."""

    field: str  #: of PublishedMachine
    name: str  #: of its draws: identity and path
    value: Value  #: as the profile states or assumes it
    low: float  #: lower end of the 95 % interval, in its unit
    high: float  #: upper end


@dataclass(frozen=True)
class PublishedMachine:
    """Nodes of one kind. Numbers are medians; models also take draws in their place."""

    name: str  #: identity: the id of what it is measured as
    clock_ghz: float = 2.5
    turbo_ghz: float = 3.0  #: of a core while the others are idle
    clock_share: float = 0.65  #: of the step from clock to turbo clock that all cores reach
    l3_kib: float = 20480  #: of a slice of the last cache
    l3_cores: float = 8  #: cores that share a slice
    latency_us: float = 1.5  #: of a message between nodes
    latency_node_us: float = 0.36  #: of a message within a node
    gap_us: float = 0.27  #: between two messages of a sender
    bandwidth_gb: float = 12.4  #: between two nodes, GB/s
    congestion: float = 1.74  #: of a pair of nodes alone over that while half of them send
    cores: int = 64  #: of a node
    sockets: int = 2
    platform: bool = False  #: a small board or a quiet core instead of full nodes of a server
    processor: str = ""  #: machines of one processor share the error of the kernel
    uncertain: tuple[UncertainValue, ...] = ()  #: what is not known for sure
    stated: frozenset[str] = frozenset()  #: fields that the profile states
    #: After what errors of its nodes and of its network are named, if not after `name`.
    node_as: str = ""
    network_as: str = ""
    known_as: str = dataclasses.field(default="", compare=False)  #: by readers, if not by `name`

    @property
    def title(self) -> str:
        """The machine for readers."""
        return self.known_as or self.name

    @property
    def is_offer(self) -> bool:
        """Whether no run on it is published: others may have its nodes, or its network."""
        return bool(self.node_as)

    @property
    def full_ghz(self) -> float:
        """Clock of the cores while all of them are at work."""
        return float(priors.clock_at_work(self.clock_ghz, self.turbo_ghz, self.clock_share))

    @property
    def cache_mb(self) -> float:
        """Last-level cache of a core."""
        return self.l3_kib / 1024 / self.l3_cores


def machine_of(profile: Profile) -> PublishedMachine:
    """The machine of a profile; what the profile does not state is assumed (priors.yaml).

    A profile that is measured as another one is that machine.

    Example:
        >>> from spikemark import machines
        >>> machine_of(machines.load("jureca-dc")).sockets
        2
    """
    if profile.measured_as is not None:
        return measured_machine(profile.measured_as)
    offered = _machine(profile, AS_OFFERED.format(profile.identity), profile.name)
    nodes = profile.processor or AS_OFFERED.format(profile.node_identity)
    if not offered.stated.issuperset(KNOWN_PROCESSOR):
        # With a share of the error in common, it would be sure that the unknown value is a bad one.
        nodes = AS_OFFERED.format((profile.same_node or profile).identity)
    return replace(
        offered,
        node_as=nodes,
        network_as=AS_OFFERED.format(profile.network_identity),
    )


def ignored_values(profile: Profile) -> list[str]:
    """Paths of what a profile states and the machine that it is measured as does not.

    Models of production programs would take them, but times are those of the measured machine.

    Example:
        >>> from spikemark import machines
        >>> ignored_values(machines.load("jureca-dc"))
        []
    """
    if profile.measured_as is None:
        return []
    measured = machines.load(profile.measured_as)
    ignored = []
    for path in PATHS.values():
        value = profile.values.get(path)
        if value is None or value.reference.startswith(ASSUMED):
            continue
        if path not in measured.values:
            ignored.append(path)
    return ignored


@cache
def measured_machine(name: str) -> PublishedMachine:
    """The machine of a profile of machines/, or of a .yaml file.

    Raises BadInput for one that is not there.

    Example:
        >>> measured_machine("jureca-dc").sockets
        2
    """
    profile = machines.load(name)
    return _machine(profile, profile.identity, profile.name)


def _machine(profile: Profile, name: str, title: str) -> PublishedMachine:
    """The machine with the values of a profile; `name`: its identity, `title`: for readers."""
    filled = machines.filled(profile)
    values = filled.values
    cores = round(filled.need("node.cores", "the ranks of a production program").value)
    sockets = USUAL_SOCKETS
    if "node.sockets" in values:
        sockets = round(values["node.sockets"].value)
    numbers = {field: values[path].value for field, path in PATHS.items() if path in values}
    return PublishedMachine(
        name=name,
        known_as=title,
        **numbers,
        cores=cores,
        sockets=min(sockets, cores),
        platform=cores <= SMALL_BOARD_CORES,
        processor=profile.processor or "",
        uncertain=_uncertain(filled),
        stated=_stated(profile),
    )


def _stated(profile: Profile) -> frozenset[str]:
    """The fields that a profile states: not those that are assumed."""
    stated = set()
    for field, path in PATHS.items():
        value = profile.values.get(path)
        if value is not None and not value.reference.startswith(ASSUMED):
            stated.add(field)
    return frozenset(stated)


def _uncertain(profile: Profile) -> tuple[UncertainValue, ...]:
    """The values with an interval.

    A last cache that is assumed is one of so many cores, which are then no further doubt.
    """
    values = profile.values
    is_assumed = values["node.l3"].kind == "assumed"
    uncertain = []
    for field, path in PATHS.items():
        if path not in values:
            continue
        low, high = limits(path, values[path], values)
        if high > low and not (field == "l3_cores" and is_assumed):
            name = f"{profile.draws_of(path)}/{path}"
            uncertain.append(UncertainValue(field, name, values[path], low, high))
    return tuple(uncertain)
