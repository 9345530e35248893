"""A machine of unequal nodes: parts, each with a profile and a number of nodes, and links between them.

A value of a part is asked for by its path with the name of the part before it, such as
`parts.arm.node.cores`; one of a link by `links.x86-arm.interconnect.latency`. So models that move every value
to its limits (prediction/intervals.py) move those of each part apart.
"""

from dataclasses import dataclass, field
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.quantities.words import counted

from .inputs import SLOWER
from .node import Node
from .profile import PATHS, Profile, UnknownValue, Value

PARTS, LINKS = "parts", "links"
BETWEEN = "-"  # between the names of the two parts of a link
NODES = "nodes"  # the path of the number of nodes of a part
UNSTATED = "the file states no source"
#: Paths that say something of a link: those of the network between nodes.
OF_LINKS = tuple(
    path
    for path in PATHS
    if path.startswith("interconnect.") and not path.endswith("_node") and ".tables." not in path
)


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
        if path in (SLOWER, NODES):
            return self.values.get(path)
        return self.profile.get(path)

    @property
    def values(self) -> dict[str, Value]:
        """Known values by path: the number of nodes, `slower`, and the values of the profile."""
        nodes = self.counted or Value(self.nodes, "1", "assumed", UNSTATED)
        slower = {} if self.slower is None else {SLOWER: self.slower}
        return {NODES: nodes, **slower, **self.profile.values}

    def unknown(self) -> list[str]:
        """Paths without a value, in the order of the table of fields."""
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
        """Paths of the network without a value, in the order of the table of fields."""
        return [path for path in self.profile.unknown() if path in OF_LINKS]


@dataclass(frozen=True)
class Machine:
    """Parts in the order in which ranks fill them, and the links between all pairs of them, by name."""

    name: str
    title: str
    parts: dict[str, Part]
    links: dict[str, Link]
    content: dict[str, Any] = field(repr=False)
    where: str = ""
    odd: tuple[str, ...] = ()
    implausible: tuple[str, ...] = ()

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
        """The value at a path such as parts.arm.node.cores; None if unknown.

        Raises BadInput for a wrong path.
        """
        kind, _, rest = path.partition(".")
        name, _, inside = rest.partition(".")
        group = self.groups.get(f"{kind}.{name}")
        if group is None:
            raise BadInput(f"{self.name}: path {path!r}; allowed: paths of {', '.join(self.groups)}")
        return group.get(inside)

    def need(self, path: str, purpose: str) -> Value:
        """The same. Raises UnknownValue, naming the purpose, where there is none."""
        found = self.get(path)
        if found is None:
            raise UnknownValue(f"{self.name}: {path} is unknown, needed for {purpose}")
        return found

    def link(self, one: str, two: str) -> Link:
        """What connects two parts, in either order."""
        return self.links.get(one + BETWEEN + two) or self.links[two + BETWEEN + one]


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
        if on:
            raise BadInput(f"part {next(iter(on))!r}: all nodes of {machine.name} are equal: it has no parts")
        return (Share(None, Node.of(machine, ranks, threads, ranks_per_node), 0, ranks),)
    _check_on(machine, ranks, on)
    found, first, left = [], 0, ranks
    for part in machine.parts.values():
        own = left if on is None else on.get(part.name, 0)
        if not own:
            continue
        each = Node.of(part.profile, 10**9, threads, ranks_per_node)
        room = each.ranks * part.nodes
        if on is None:
            own = min(own, room)
        if own > room:
            raise BadInput(
                f"part {part.name}: {own} ranks; allowed: up to {room}, {each.ranks} on each of its"
                f" {part.nodes} nodes, with {counted(each.threads, 'thread')} each"
            )
        found.append(Share(part.name, Node.of(part.profile, own, each.threads, each.ranks), first, own))
        first, left = first + own, left - own
    if left:
        raise BadInput(f"ranks={ranks}; allowed: up to {first}, which the parts of {machine.name} take")
    return tuple(found)


def _check_on(machine: Machine, ranks: int, on: dict[str, int] | None) -> None:
    if ranks < 1:
        raise BadInput(f"ranks={ranks}: at least 1")
    for name, own in (on or {}).items():
        if name not in machine.parts:
            raise BadInput(f"part {name!r}; allowed: {', '.join(machine.parts)}")
        if own < 0:
            raise BadInput(f"part {name}: {own} ranks; allowed: 0 or more")
    if on is not None and sum(on.values()) != ranks:
        raise BadInput(f"ranks of the parts: {sum(on.values())} in all; allowed: ranks={ranks}")
