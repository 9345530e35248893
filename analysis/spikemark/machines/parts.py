"""A machine of unequal nodes: parts, each with a profile and a number of nodes, and links between them.

A value of a part is asked for by its path with the name of the part before it, such as
`parts.arm.node.cores`; one of a link by `links.x86-arm.interconnect.latency`. So models that move every value
to its limits (prediction/intervals.py) move those of each part apart.
"""

from dataclasses import dataclass, field
from typing import Any

from spikemark.core.errors import BadInput

from .inputs import SLOWER
from .node import Node
from .profile import Profile, UnknownValue, Value

PARTS, LINKS = "parts", "links"
BETWEEN = "-"  # between the names of the two parts of a link


@dataclass(frozen=True)
class Part:
    """So many nodes of a profile. `slower`: a factor of its kernel times, such as that of throttled nodes."""

    name: str
    profile: Profile
    nodes: int
    slower: Value | None = None

    def get(self, path: str) -> Value | None:
        """The value at a path of the profile, or `slower`."""
        return self.slower if path == SLOWER else self.profile.get(path)


@dataclass(frozen=True)
class Link:
    """What connects two parts: a profile of which only `interconnect` counts."""

    name: str
    profile: Profile

    def get(self, path: str) -> Value | None:
        """The value at a path of the profile."""
        return self.profile.get(path)


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

    def get(self, path: str) -> Value | None:
        """The value at a path such as parts.arm.node.cores; None if unknown.

        Raises BadInput for a wrong path.
        """
        group, _, rest = path.partition(".")
        name, _, inside = rest.partition(".")
        of = {PARTS: self.parts, LINKS: self.links}.get(group, {})
        if name not in of:
            known = ", ".join(f"{PARTS}.{part}" for part in self.parts)
            raise BadInput(f"{self.name}: path {path!r}; allowed: paths of {known}")
        return of[name].get(inside)

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
        """Of an array with an entry for each rank."""
        return slice(self.first, self.first + self.ranks)


def shares(
    machine: Profile | Machine,
    ranks: int,
    threads: int | None = None,
    ranks_per_node: int | None = None,
    on: dict[str, int] | None = None,
) -> tuple[Share, ...]:
    """How ranks lie on the parts of a machine: in the order of its file, each part filled before the next.

    `on`: ranks by part instead, a sum of `ranks`; a part may be left out. A profile is one part. Raises
    BadInput for more ranks than the parts have cores, for numbers that do not add up and for unknown parts.
    """
    if not isinstance(machine, Machine):
        return (Share(None, Node.of(machine, ranks, threads, ranks_per_node), 0, ranks),)
    for name in on or ():
        if name not in machine.parts:
            raise BadInput(f"part {name!r}; allowed: {', '.join(machine.parts)}")
    if on is not None and sum(on.values()) != ranks:
        raise BadInput(f"ranks of the parts: {sum(on.values())} in all; allowed: ranks={ranks}")
    found, first, left = [], 0, ranks
    for part in machine.parts.values():
        each = Node.of(part.profile, 10**9, threads, ranks_per_node)
        room = each.ranks * part.nodes
        own = min(left, room) if on is None else on.get(part.name, 0)
        if own > room:
            raise BadInput(
                f"part {part.name}: {own} ranks; allowed: up to {room}, {each.ranks} on each of its"
                f" {part.nodes} nodes, with {each.threads} threads each"
            )
        if own:
            found.append(Share(part.name, Node.of(part.profile, own, each.threads, each.ranks), first, own))
        first, left = first + own, left - own
    if left:
        raise BadInput(f"ranks={ranks}: the parts of {machine.name} take up to {first}")
    return tuple(found)
