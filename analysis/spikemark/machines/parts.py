"""Ranks on nodes, and machines of unequal nodes: parts, each so many nodes of a profile, and links.

A value of a part is asked for by its path with the name of the part before it, such as
`parts.arm.node.cores`; one of a link by `links.x86-arm.interconnect.latency`.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from spikemark.core.errors import BadInput, shown

from .fields import AT_LEAST_ONE, COUNT, FABRIC, PATHS, Field
from .profile import MODEL, TREE, Profile, UnknownValue, Value, check_head, known_only, read_group, value_of

PARTS, LINKS, NODES, SLOWER = "parts", "links", "nodes", "slower"
BETWEEN = "-"  # between the names of the two parts of a link
UNSTATED = "the file states no source"
#: Paths that say something of a link: those of the network between nodes.
OF_LINKS = tuple(
    path for path in PATHS
    if path.startswith("interconnect.") and not path.endswith("_node") and ".tables." not in path
)  # fmt: skip
OF_PARTS = {NODES: Field(NODES, "1", COUNT, "nodes of the part"),
            SLOWER: Field(SLOWER, "1", AT_LEAST_ONE, "factor of kernel times")}  # fmt: skip
#: Ends of paths that the digest leaves out: they only say from what an unknown value is assumed.
GAPS = (FABRIC, "node.bandwidth_peak", "power.tdp")


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
        name, cores = profile.name, round(profile.need("node.cores", "placing ranks").value)
        for what, value in ("ranks", ranks), ("threads", threads), ("ranks_per_node", ranks_per_node):
            if value is not None and value < 1:
                raise BadInput.of(what, value, "at least 1", code="range")
        each = ranks_per_node or (1 if threads is None else None)
        threads = threads or max(1, cores // each)
        if threads > cores:
            expected = f"up to {cores}, the cores of a node of {name}"
            raise BadInput.of("threads", threads, expected, code="range")
        fit = cores // threads
        if each is not None and each > fit:
            expected = f"1 to {fit} on a node of {name}, which has {cores} cores"
            raise BadInput.of("ranks_per_node", each, expected, code="range")
        each = min(ranks, each or fit)
        return cls(cores, each, threads, -(-ranks // each))

    @property
    def busy(self) -> int:
        """Cores of the node that are at work."""
        return self.ranks * self.threads


@dataclass(frozen=True)
class Part:
    """A number of nodes with one profile. `slower`: factor of its kernel times, such as for throttled nodes.

    `profile`: with the interconnect that these nodes have here. `counted`: where the number of nodes comes
    from; None if the file does not say.
    """

    name: str
    profile: Profile
    nodes: int
    slower: Value | None = None
    counted: Value | None = None

    def get(self, path: str) -> Value | None:
        """The value at a path of the profile, or `slower`, or `nodes`."""
        return self.values.get(path) if path in OF_PARTS else self.profile.get(path)

    @property
    def values(self) -> dict[str, Value]:
        """Known values by path: the number of nodes, `slower`, and the values of the profile."""
        nodes = self.counted or Value(self.nodes, "1", "assumed", UNSTATED)
        return {NODES: nodes, **({SLOWER: self.slower} if self.slower else {}), **self.profile.values}

    def unknown(self) -> list[str]:
        """Paths without a value."""
        return self.profile.unknown()


@dataclass(frozen=True)
class Link:
    """What connects two parts: a profile of which only `interconnect` counts."""

    name: str
    profile: Profile

    def get(self, path: str) -> Value | None:
        """The value at a path of the profile."""
        return self.profile.get(path)

    @property
    def values(self) -> dict[str, Value]:
        """Known values of the network, by path."""
        return {path: value for path, value in self.profile.values.items() if path in OF_LINKS}

    def unknown(self) -> list[str]:
        """Paths of the network without a value."""
        return [path for path in self.profile.unknown() if path in OF_LINKS]


@dataclass(frozen=True)
class Machine:
    """Parts in the order in which ranks fill them, and the links between all pairs of them, by name."""

    name: str
    title: str
    parts: dict[str, Part]
    links: dict[str, Link]
    where: str = ""

    @property
    def groups(self) -> dict[str, Part | Link]:
        """Parts and links by the start of their paths, such as parts.arm."""
        parts = {f"{PARTS}.{name}": part for name, part in self.parts.items()}
        return parts | {f"{LINKS}.{name}": link for name, link in self.links.items()}

    @property
    def values(self) -> dict[str, Value]:
        """Every known value by its path."""
        return {f"{start}.{p}": v for start, group in self.groups.items() for p, v in group.values.items()}

    @property
    def assumptions(self) -> dict[str, Value]:
        """The assumed values by path; the reference of each says why."""
        return {path: value for path, value in self.values.items() if value.kind == "assumed"}

    def unknown(self) -> list[str]:
        """Paths without a value, part by part, then link by link."""
        return [f"{start}.{path}" for start, group in self.groups.items() for path in group.unknown()]

    def get(self, path: str) -> Value | None:
        """The value at a path; None if unknown. Raises BadInput for a wrong path."""
        start, rest = ".".join(path.split(".")[:2]), inside(path)
        if start not in self.groups or rest == path:
            expected = f"paths of {', '.join(self.groups)}"
            raise BadInput(f"{self.name}: path {path!r}; expected {expected}", field=path, code="unknown")
        return self.groups[start].get(rest)

    def need(self, path: str, purpose: str) -> Value:
        """The same. Raises UnknownValue, naming the purpose, where there is none."""
        found = self.get(path)
        if found is None:
            raise UnknownValue(f"{self.name}: {path} is unknown, needed for {purpose}")
        return found

    def link(self, one: str, two: str) -> Link:
        """What connects two parts, in either order."""
        return self.links.get(one + BETWEEN + two) or self.links[two + BETWEEN + one]


def inside(path: str) -> str:
    """The path of the profile in the path of a machine: node.cores in parts.arm.node.cores."""
    group, _, rest = path.partition(".")
    return rest.partition(".")[2] if group in (PARTS, LINKS) else path


def digest(machine: Profile | Machine) -> str:
    """16 hexadecimal digits from the values of a machine and their units; sources, titles and GAPS do not
    count. The names and the order of parts count: ranks fill them in this order."""
    values = {p: [v.value, v.unit] for p, v in sorted(machine.values.items()) if not p.endswith(GAPS)}
    whole = {"parts": list(machine.parts), "values": values} if isinstance(machine, Machine) else values
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def read(content: Any, where: str, load: Callable[[str], Profile]) -> Machine:
    """A machine whose parts are profiles that `load` finds. Raises BadInput naming `where`, the path, the
    value and what is expected; for parts that no link connects, too."""
    groups = check_head(content, where, {PARTS: None, LINKS: None})
    for name in PARTS, LINKS:
        given = groups.get(name, {})
        if not isinstance(given, dict) or (name == PARTS and not given):
            raise BadInput.of(name, given, f"a mapping of {name} by name", file=where, code="type")
    parts = {name: _part(name, given, where, load) for name, given in groups[PARTS].items()}
    links = _links(groups.get(LINKS, {}), parts, where)
    return Machine(content["name"], content["title"], parts, links, where)


def _part(name: str, given: Any, where: str, load: Callable[[str], Profile]) -> Part:
    at = f"{PARTS}.{name}"
    if not re.fullmatch(MODEL, str(name)):
        raise BadInput.of(at, name, "a name of lower-case letters, digits and '_'", file=where)
    if not isinstance(given, dict):
        raise BadInput.of(at, given, "a mapping with profile and nodes", file=where, code="type")
    known_only(given, ["profile", NODES, SLOWER, "interconnect"], at, where)
    for needed in "profile", NODES:
        if needed not in given:
            raise BadInput(f"{where}: {at}.{needed}: missing", field=f"{at}.{needed}", code="missing")
    try:
        if not isinstance(given["profile"], str):
            raise BadInput("expected a name or a file")
        profile = load(given["profile"])
        profile.refuse_accelerators()
    except (OSError, ValueError) as error:  # of the file, which may be no possible name, or of its content
        reason = getattr(error, "strerror", None) or error
        line = f"{where}: {at}.profile={shown(given['profile'])}: {reason}"
        raise BadInput(line, field=f"{at}.profile") from None
    if "interconnect" in given:
        own = dict(_network(given["interconnect"], f"{at}.interconnect", where))
        profile = profile.with_values(own)
    nodes, slower = given[NODES], given.get(SLOWER)
    if not isinstance(nodes, dict) and not OF_PARTS[NODES].holds(nodes):
        raise BadInput.of(f"{at}.{NODES}", nodes, OF_PARTS[NODES].expected, file=where)
    stated = value_of(nodes, OF_PARTS[NODES], f"{at}.{NODES}", where) if isinstance(nodes, dict) else None
    if SLOWER in given:
        slower = value_of(slower, OF_PARTS[SLOWER], f"{at}.{SLOWER}", where)
    return Part(name, profile, stated.value if stated else nodes, slower, stated)


def _network(content: Any, path: str, where: str):
    """Values of `interconnect`, by their paths in a profile, from the content at another path of a file."""
    for at, value in read_group(content, TREE["interconnect"], path, where):
        yield f"interconnect{at.removeprefix(path)}", value


def _links(given: dict[str, Any], parts: dict[str, Part], where: str) -> dict[str, Link]:
    pairs = {frozenset(pair): BETWEEN.join(pair) for pair in combinations(parts, 2)}
    found: dict[frozenset[str], Link] = {}
    for name, content in given.items():
        at, ends = f"{LINKS}.{name}", frozenset(str(name).split(BETWEEN))
        if ends not in pairs or str(name).count(BETWEEN) != 1:
            expected = f"one of {', '.join(pairs.values()) or 'none'}"
            raise BadInput(f"{where}: {at}: no two parts; expected {expected}", field=at, code="unknown")
        if ends in found:
            line = f"{where}: {at}: {found[ends].name} links these parts already; expected one link of two"
            raise BadInput(line, field=at, code="conflict")
        values = dict(_network(content, at, where))
        found[ends] = Link(name, Profile(name, name, values, where))
    for ends, name in pairs.items():
        if ends not in found:
            raise BadInput(f"{where}: {LINKS}.{name}: missing; expected a link of all parts",
                           field=f"{LINKS}.{name}", code="missing")  # fmt: skip
    return {link.name: link for link in found.values()}


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
    if not isinstance(machine, Machine):
        for name in on or {}:
            raise BadInput(f"part {name!r}: {machine.name} has equal nodes; expected no part", field="on")
        return (Share(None, Node.of(machine, ranks, threads, ranks_per_node), 0, ranks),)
    for name, own in (on or {}).items():
        if name not in machine.parts or own < 0:
            expected = f"0 or more ranks on {', '.join(machine.parts)}"
            raise BadInput(f"part {name!r}: {own} ranks; expected {expected}", field="on")
    if ranks < 1 or (on is not None and sum(on.values()) != ranks):
        expected = "1 or more" if on is None else f"{sum(on.values())}, the sum over the parts"
        raise BadInput.of("ranks", ranks, expected)
    found, first, left = [], 0, ranks
    for part in machine.parts.values():
        own = left if on is None else on.get(part.name, 0)
        if not own:
            continue
        each = Node.of(part.profile, 10**9, threads, ranks_per_node)
        room = each.ranks * part.nodes
        own = min(own, room) if on is None else own
        if own > room:
            expected = f"up to {room}, {each.ranks} on each of its {part.nodes} nodes"
            raise BadInput(f"part {part.name}: {own} ranks; expected {expected}", field="on")
        found.append(Share(part.name, Node.of(part.profile, own, each.threads, each.ranks), first, own))
        first, left = first + own, left - own
    if left:
        raise BadInput.of("ranks", ranks, f"up to {first}, which the parts of {machine.name} take")
    return tuple(found)
