"""Machines of unequal nodes: parts, each so many nodes of a profile, and links; and ranks on nodes.

A value of a part is asked for by its path with the name of the part before it, such as
`parts.arm.node.cores`; one of a link by `links.x86-arm.interconnect.latency`.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from spikemark.core import fields
from spikemark.core.errors import BadInput, shown

from .fields import FABRIC, NETWORK, PATHS, SLOWER, MachineFile
from .profile import Group, Profile, Value, values

PARTS, LINKS, NODES = "parts", "links", "nodes"
UNSTATED = "the file states no source"
#: Paths that say something of a link: those of the network between nodes.
OF_LINKS = tuple(
    path for path in PATHS
    if path.startswith(f"{NETWORK}.") and not path.endswith("_node") and ".tables." not in path
)  # fmt: skip
#: Ends of paths that the digest leaves out: they only say from what an unknown value is assumed.
GAPS = (FABRIC, "node.bandwidth_peak", "power.tdp")


@dataclass(frozen=True)
class Part(Group):
    """A number of nodes with one profile. `slower`: factor of its kernel times, such as for throttled nodes.

    `profile`: with the interconnect that these nodes have here. `counted`: the number of nodes.
    """

    name: str
    profile: Profile
    counted: Value
    slower: Value | None = None
    paths = (NODES, SLOWER, *PATHS)

    @property
    def nodes(self) -> int:
        return self.counted.value

    @cached_property
    def values(self) -> dict[str, Value]:
        """Known values by path: the number of nodes, `slower`, and the values of the profile."""
        slower = {SLOWER: self.slower} if self.slower else {}
        return {NODES: self.counted, **slower, **self.profile.values}


@dataclass(frozen=True)
class Link(Group):
    """What connects two parts: a profile of which only `interconnect` counts."""

    name: str
    profile: Profile
    paths = OF_LINKS

    @cached_property
    def values(self) -> dict[str, Value]:
        """Known values of the network, by path."""
        return {path: value for path, value in self.profile.values.items() if path in OF_LINKS}


@dataclass(frozen=True)
class Machine(Group):
    """Parts in the order in which ranks fill them, and the links between all pairs of them, by name."""

    name: str
    title: str
    parts: dict[str, Part]
    links: dict[str, Link]

    @property
    def groups(self) -> dict[str, Group]:
        """Parts and links by the start of their paths, such as parts.arm."""
        of = {PARTS: self.parts, LINKS: self.links}
        return {f"{kind}.{name}": group for kind, some in of.items() for name, group in some.items()}

    @cached_property
    def values(self) -> dict[str, Value]:
        """Every known value by its path."""
        return {f"{start}.{p}": v for start, group in self.groups.items() for p, v in group.values.items()}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of all parts, then of all links."""
        return tuple(f"{start}.{path}" for start, group in self.groups.items() for path in group.paths)

    def link(self, one: str, two: str) -> Link:
        """What connects two parts, in either order."""
        return self.links.get(f"{one}-{two}") or self.links[f"{two}-{one}"]


def inside(path: str) -> str:
    """The path of the profile in the path of a machine: node.cores in parts.arm.node.cores."""
    group, _, rest = path.partition(".")
    return rest.partition(".")[2] if group in (PARTS, LINKS) else path


def digest(machine: Profile | Machine) -> str:
    """16 hexadecimal digits from the values of a machine and their units; sources, titles and GAPS do not
    count. The names and the order of parts count: ranks fill them in this order."""
    found = {p: [v.value, v.unit] for p, v in sorted(machine.values.items()) if not p.endswith(GAPS)}
    whole = {"parts": list(machine.parts), "values": found} if isinstance(machine, Machine) else found
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def read(content: Any, where: str, load: Callable[[str], Profile]) -> Machine:
    """A machine whose parts are profiles that `load` finds. Raises BadInput naming `where`, the path, the
    value and what is expected; for parts that no link connects, too."""
    fields.checked(MachineFile, content, Path(where), "content")
    parts = {}
    for name, given in content[PARTS].items():
        field = f"{PARTS}.{name}.profile"
        try:
            profile = load(given["profile"])
            profile.refuse_accelerators()
        except (OSError, ValueError) as error:  # of the file's name, or of its content
            raise BadInput(f"{where}: {field}={shown(given['profile'])}: {error}", field=field) from None
        if isinstance(count := given[NODES], int):
            given = given | {NODES: {"value": count, "unit": "1", "kind": "assumed", "reference": UNSTATED}}
        own = values({key: given[key] for key in (NODES, SLOWER) if key in given})
        profile = profile.with_values(values({NETWORK: given.get(NETWORK, {})}))
        parts[name] = Part(name, profile, own[NODES], own.get(SLOWER))
    return Machine(content["name"], content["title"], parts, _links(content.get(LINKS, {}), parts, where))


def _links(given: dict[str, Any], parts: dict[str, Part], where: str) -> dict[str, Link]:
    pairs = {"-".join(pair): frozenset(pair) for pair in permutations(parts, 2)}
    found: dict[frozenset[str], Link] = {}
    for name, network in given.items():
        ends = pairs.get(name)
        if ends is None or ends in found:
            expected = f"one link for each of {', '.join(map('-'.join, combinations(parts, 2))) or 'no pair'}"
            raise BadInput(f"{where}: {LINKS}.{name}: expected {expected}", field=f"{LINKS}.{name}")
        found[ends] = Link(name, Profile(name, name, values({NETWORK: network})))
    for name, ends in pairs.items():
        if ends not in found:
            line = f"{where}: {LINKS}.{name}: missing; expected a link of all parts"
            raise BadInput(line, field=f"{LINKS}.{name}", code="missing")
    return {link.name: link for link in found.values()}


@dataclass(frozen=True)
class Node:
    """A filled node: it has `ranks` ranks with `threads` threads each; `nodes` such nodes are needed."""

    cores: int
    ranks: int
    threads: int
    nodes: int

    @classmethod
    def of(
        cls, profile: Any, ranks: int, threads: int | None = None, ranks_per_node: int | None = None
    ) -> "Node":
        """How `ranks` fill nodes of a profile, as many on each as have cores, or `ranks_per_node`.

        `threads` of a rank: without it, the ranks of a node (one, if `ranks_per_node` is not given) share its
        cores. Raises BadInput for numbers below 1, for more than fits, and for an unknown number of cores.
        """
        cores = round(profile.need("node.cores", "placing ranks").value)
        each = ranks_per_node or (1 if threads is None else None)
        threads = max(1, cores // each) if threads is None else threads
        room = cores // threads if threads > 0 else 0
        for what, value, most in (
            ("ranks", ranks, ranks),
            ("threads", threads, cores),
            ("ranks_per_node", 1 if ranks_per_node is None else ranks_per_node, room),
        ):
            if not 1 <= value <= most:
                expected = "1 or more" if value < 1 else f"1 to {most} on the {cores} cores of {profile.name}"
                raise BadInput.of(what, value, expected, code="range")
        each = min(ranks, each or room)
        return cls(cores, each, threads, -(-ranks // each))

    @property
    def busy(self) -> int:
        """Cores of the node that are at work."""
        return self.ranks * self.threads


@dataclass(frozen=True)
class Share:
    """The ranks of a run that are on one part; `node` says how they fill its nodes.

    `part` is None where all nodes of the machine are equal.
    """

    part: str | None
    node: Node
    first: int  # number of its first rank
    ranks: int

    @property
    def slice(self) -> slice:
        """The ranks of this share in an array with an entry for each rank."""
        return slice(self.first, self.first + self.ranks)


def shares(
    machine: Profile | Machine,
    ranks: int,
    threads: int | None = None,
    ranks_per_node: int | None = None,
    on: dict[str, int] | None = None,
) -> tuple[Share, ...]:
    """Distributes ranks over the parts of a machine, in the order of its file, one part after the other.

    `on`: ranks by part instead, a sum of `ranks`; a part may be left out. A profile is one part. Raises
    BadInput for more ranks than the parts have cores, for numbers that do not add up and for unknown parts.
    """
    parts = machine.parts if isinstance(machine, Machine) else {}
    for name, own in (on or {}).items():
        if name not in parts or own < 0:
            expected = f"0 or more ranks on {', '.join(parts) or 'no part'} of {machine.name}"
            raise BadInput(f"part {name!r}: {own} ranks; expected {expected}", field="on")
    if not parts:
        return (Share(None, Node.of(machine, ranks, threads, ranks_per_node), 0, ranks),)
    found, first = [], 0
    for part in parts.values():
        wanted = ranks - first if on is None else on.get(part.name, 0)
        if wanted <= 0:
            continue
        each = Node.of(part.profile, 10**9, threads, ranks_per_node)
        room = each.ranks * part.nodes
        if on is not None and wanted > room:
            expected = f"up to {room}, {each.ranks} on each of its {part.nodes} nodes"
            raise BadInput(f"part {part.name}: {wanted} ranks; expected {expected}", field="on")
        own = min(wanted, room)
        found.append(Share(part.name, Node.of(part.profile, own, each.threads, each.ranks), first, own))
        first += own
    if first != ranks or ranks < 1:
        raise BadInput.of("ranks", ranks, f"{max(first, 1)}, which the parts of {machine.name} take")
    return tuple(found)
