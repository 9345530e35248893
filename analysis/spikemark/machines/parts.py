"""Machines of unequal nodes: parts, each so many nodes of a profile, and links; and ranks on nodes.

A value of a part is asked for by its path with the name of the part before it, such as
`parts.arm.node.cores`; one of a link by `links.x86-arm.interconnect.latency`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from spikemark.core import digests, fields
from spikemark.core.errors import BadInput, short_repr

from . import usual
from .fields import FABRIC, NETWORK, PATHS, SLOWER, MachineFile
from .profile import Profile, ProfileValues, Value, is_between_nodes, values_of

OF_PARTS = "machine of parts"  #: after which the draws of one as a whole are named
PARTS, LINKS, NODES = "parts", "links", "nodes"
UNSTATED = "the file states no source"
#: More ranks than any machine has, to ask how many its nodes take.
ENOUGH_RANKS = 10**9
#: Hexadecimal digits of the digest of a machine.
DIGEST_DIGITS = 16


def _paths_of_links() -> tuple[str, ...]:
    """Paths that say something of a link: those of the network between nodes."""
    paths = []
    for path in PATHS:
        if is_between_nodes(path) and ".tables." not in path:
            paths.append(path)
    return tuple(paths)


OF_LINKS = _paths_of_links()
#: Ends of paths that the digest leaves out: they only say from what an unknown value is assumed.
GAPS = (FABRIC, "node.bandwidth_peak", "power.tdp")


@dataclass(frozen=True)
class MachinePart(ProfileValues):
    """A number of nodes with one profile."""

    name: str  #: of the part
    profile: Profile  #: with the interconnect that these nodes have here
    counted: Value  #: the number of nodes
    slower: Value | None = None  #: factor of the kernel times, such as for throttled nodes
    #: What is known by path: the number of nodes, `slower`, and the values of the profile.
    values: dict[str, Value] = field(init=False, repr=False, compare=False)
    paths = (NODES, SLOWER, *PATHS)

    def __post_init__(self) -> None:
        values = {NODES: self.counted}
        if self.slower:
            values[SLOWER] = self.slower
        object.__setattr__(self, "values", values | self.profile.values)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        number: int = self.counted.value
        return number


@dataclass(frozen=True)
class Link(ProfileValues):
    """What connects two parts."""

    name: str  #: names of the parts with a dash
    profile: Profile  #: of which only `interconnect` counts
    #: What is known of the network, by path.
    values: dict[str, Value] = field(init=False, repr=False, compare=False)
    paths = OF_LINKS

    def __post_init__(self) -> None:
        stated = self.profile.values.items()
        values = {path: value for path, value in stated if path in OF_LINKS}
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, repr=False)
class MachineOfParts(ProfileValues):
    """Parts, and the links between all pairs of them."""

    name: str  #: as commands take it
    title: str  #: for readers
    parts: dict[str, MachinePart]  #: by name, in the order in which ranks fill them
    links: dict[str, Link]  #: by name
    #: Every known value by its path.
    values: dict[str, Value] = field(init=False, repr=False, compare=False)
    #: The paths of all parts, then of all links.
    paths: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def _summary(self) -> str:
        return f"{super()._summary()}: {self.title}"

    def __post_init__(self) -> None:
        values = {}
        paths = []
        for start, group in self.groups.items():
            paths += [f"{start}.{path}" for path in group.paths]
            for path, value in group.values.items():
                values[f"{start}.{path}"] = value
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "paths", tuple(paths))

    @property
    def identity(self) -> str:
        """What its own draws are named after.

        Example:
            >>> from spikemark.machines import loader
            >>> site = loader.load_any("two-generations")
            >>> site.identity
            'machine of parts'
        """
        return OF_PARTS

    @property
    def names_of_draws(self) -> dict[str, str]:
        """Names for readers of this machine and of the profiles of its parts.

        Example:
            >>> from spikemark.machines import loader
            >>> site = loader.load_any("two-generations")
            >>> "two-generations" in site.names_of_draws.values()
            True
        """
        names = {OF_PARTS: self.name}
        for part in self.parts.values():
            names |= part.profile.names_of_draws
        return names

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the profiles of the parts and the links state that contradicts data sheets, or is
        not usual.

        Example:
            >>> from spikemark.machines import loader
            >>> site = loader.load_any("two-generations")
            >>> site.remarks
            ()
        """
        profiles = [part.profile for part in self.parts.values()]
        profiles += [link.profile for link in self.links.values()]
        remarks: list[str] = []
        for profile in profiles:
            remarks += profile.remarks
        return tuple(dict.fromkeys(remarks))

    @property
    def groups(self) -> dict[str, ProfileValues]:
        """Parts and links by the start of their paths, such as parts.arm.

        Example:
            >>> from spikemark.machines import loader
            >>> site = loader.load_any("two-generations")
            >>> list(site.groups)
            ['parts.older', 'parts.newer', 'links.older-newer']
        """
        groups: dict[str, ProfileValues] = {}
        groups |= {f"{PARTS}.{name}": part for name, part in self.parts.items()}
        groups |= {f"{LINKS}.{name}": link for name, link in self.links.items()}
        return groups

    def link(self, first: str, second: str) -> Link:
        """What connects two parts, in either order.

        Example:
            >>> from spikemark.machines import loader
            >>> site = loader.load_any("two-generations")
            >>> site.link("newer", "older") is site.link("older", "newer")
            True
        """
        return self.links.get(f"{first}-{second}") or self.links[f"{second}-{first}"]


def inside(path: str) -> str:
    """The path of the profile in the path of a machine.

    Example:
        >>> inside("parts.arm.node.cores")
        'node.cores'
    """
    group, _, rest = path.partition(".")
    return rest.partition(".")[2] if group in (PARTS, LINKS) else path


def digest(machine: Profile | MachineOfParts) -> str:
    """16 hexadecimal digits from the values of a machine and their units.

    A value of 4 and one of 4.0 are the same. Sources, titles and GAPS do not count. The names and
    the order of parts count: ranks fill them in this order.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.load("jureca-dc")
        >>> digest(jureca) == digest(replace(jureca, title="the same machine"))
        True
    """
    return digests.digest(_said_by_values(machine))[:DIGEST_DIGITS]


def digest_as_written(machine: Profile | MachineOfParts) -> str:
    """The same, where 4 and 4.0 differ: the names of earlier simulated runs depend on it.

    Example:
        >>> from spikemark import machines
        >>> len(digest_as_written(machines.load("jureca-dc")))
        16
    """
    return digests.digest_as_written(_said_by_values(machine))[:DIGEST_DIGITS]


def _said_by_values(machine: Profile | MachineOfParts) -> dict[str, Any]:
    """What the digest of a machine is made of."""
    values = {}
    for path, value in sorted(machine.values.items()):
        if not path.endswith(GAPS):
            values[path] = [value.value, value.unit]
    if isinstance(machine, MachineOfParts):
        return {"parts": list(machine.parts), "values": values}
    return values


def read(content: Any, where: str, load: Callable[[str], Profile]) -> MachineOfParts:
    """A machine from the content of its file.

    Args:
        content: of the file.
        where: path of the file, for errors.
        load: finds the profile of a part.

    Raises:
        BadInput: naming the file, the path, the value and what is expected; for parts that no link
            connects, too.

    Example:
        >>> from spikemark.machines import loader
        >>> read({"name": "mine"}, "mine.yaml", loader.load)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: mine.yaml: format_version: missing (and 2 more)
    """
    fields.checked(MachineFile, content, Path(where), "content")
    parts = {}
    drawn_as: dict[str, str] = {}  # by profile: parts of one profile share its draws
    for name, part in content[PARTS].items():
        drawn_as.setdefault(part["profile"], f"part {name}")
        parts[name] = _part(name, part, where, load, drawn_as[part["profile"]])
    links = _links(content.get(LINKS, {}), parts, where)
    return MachineOfParts(content["name"], content["title"], parts, links)


def _part(
    name: str,
    content: dict[str, Any],
    where: str,
    load: Callable[[str], Profile],
    drawn_as: str,
) -> MachinePart:
    """A part from its checked content in a file; `drawn_as`: of its profile, if unmeasured."""
    field_path = f"{PARTS}.{name}.profile"
    try:
        profile = replace(load(content["profile"]), drawn_as=drawn_as)
        profile.refuse_accelerators()
    except (OSError, ValueError) as error:  # of the file's name, or of its content
        raise BadInput(
            f"{field_path}={short_repr(content['profile'])}: {error}", field=field_path, file=where
        ) from None
    number = content[NODES]
    if isinstance(number, int):
        number = {"value": number, "unit": "1", "kind": "assumed", "reference": UNSTATED}
    of_part = {NODES: number}
    if SLOWER in content:
        of_part[SLOWER] = content[SLOWER]
    values = values_of(of_part)
    network = values_of({NETWORK: content.get(NETWORK, {})})
    profile = profile.with_values(network)
    remarks = usual.remarks(network, f"{PARTS}.{name}", profile.values, profile.title)
    profile = replace(profile, remarks=profile.remarks + remarks)
    return MachinePart(name, profile, values[NODES], values.get(SLOWER))


def _link(name: str, network: object) -> Link:
    """A link, whose draws are named after its parts."""
    values = values_of({NETWORK: network})
    remarks = usual.remarks(values, f"{LINKS}.{name}")
    return Link(name, Profile(name, name, values, drawn_as=name, remarks=remarks))


def _links(
    content: Mapping[str, Any], parts: Mapping[str, MachinePart], where: str
) -> dict[str, Link]:
    """The links from their checked content in a file; one for each pair of parts."""
    pairs = {"-".join(pair): frozenset(pair) for pair in permutations(parts, 2)}
    link_of_pair: dict[frozenset[str], Link] = {}
    for name, network in content.items():
        pair = pairs.get(name)
        if pair is None or pair in link_of_pair:
            names = ", ".join("-".join(ends) for ends in combinations(parts, 2))
            raise BadInput(
                f"{LINKS}.{name}: expected one link for each of {names or 'no pair'}",
                field=f"{LINKS}.{name}",
                file=where,
            )
        link_of_pair[pair] = _link(name, network)
    for name, pair in pairs.items():
        if pair not in link_of_pair:
            raise BadInput(
                f"{LINKS}.{name}: missing; expected a link of all parts",
                field=f"{LINKS}.{name}",
                file=where,
                code="missing",
            )
    return {link.name: link for link in link_of_pair.values()}


@dataclass(frozen=True)
class Node:
    """A filled node, and how many of them a run needs."""

    cores: int  #: of the node
    ranks: int  #: on the node
    threads: int  #: of each rank
    nodes: int  #: that are needed

    @classmethod
    def from_profile(
        cls,
        profile: ProfileValues,
        ranks: int,
        threads: int | None = None,
        ranks_per_node: int | None = None,
    ) -> "Node":
        """How ranks fill nodes of a profile.

        Args:
            profile: of the nodes.
            ranks: number of ranks.
            threads: of a rank; by default the ranks of a node (one, if `ranks_per_node` is not
                given) share its cores.
            ranks_per_node: by default as many as have cores.

        Raises:
            BadInput: for numbers below 1, for more than fits, and for an unknown number of cores.
        """
        cores = round(profile.need("node.cores", "placing ranks").value)
        per_node = ranks_per_node
        if per_node is None and threads is None:
            per_node = 1
        if threads is None:
            threads = max(1, cores // (per_node or 1))
        room = cores // threads if threads > 0 else 0
        _check_count("ranks", ranks, ranks, cores, profile.name)
        _check_count("threads", threads, cores, cores, profile.name)
        asked_per_node = 1 if ranks_per_node is None else ranks_per_node
        _check_count("ranks_per_node", asked_per_node, room, cores, profile.name)
        per_node = min(ranks, per_node or room)
        return cls(cores, per_node, threads, -(-ranks // per_node))

    @property
    def busy(self) -> int:
        """Cores of the node that are at work."""
        return self.ranks * self.threads


def _check_count(field: str, value: int, most: int, cores: int, machine: str) -> None:
    """Raises BadInput for a number of ranks or threads that is below 1, or more than fits."""
    if value < 1:
        raise BadInput(field=field, value=value, expected="1 or more", code="range")
    if value > most:
        expected = f"1 to {most} on the {cores} cores of {machine}"
        raise BadInput(field=field, value=value, expected=expected, code="range")


@dataclass(frozen=True)
class RanksOfPart:
    """The ranks of a run that are on one part."""

    part: str | None  #: name; None where all nodes of the machine are equal
    node: Node  #: how they fill its nodes
    first: int  #: number of its first rank
    ranks: int  #: number of its ranks

    @property
    def slice(self) -> slice:
        """The ranks of this share in an array with an entry for each rank."""
        return slice(self.first, self.first + self.ranks)


def shares(
    machine: Profile | MachineOfParts,
    ranks: int,
    threads: int | None = None,
    ranks_per_node: int | None = None,
    on: dict[str, int] | None = None,
) -> tuple[RanksOfPart, ...]:
    """Distribute ranks over the parts of a machine, in the order of its file, one after the other.

    Args:
        machine: a profile is one part.
        ranks: number of ranks.
        threads: of a rank, as in `Node.from_profile`.
        ranks_per_node: as in `Node.from_profile`.
        on: ranks by part instead, a sum of `ranks`; a part may be left out.

    Raises:
        BadInput: for more ranks than the parts have cores, for numbers that do not add up and for
            unknown parts.

    Example:
        >>> from spikemark.machines import loader
        >>> machine = loader.load_any("two-generations")
        >>> [(part.part, part.ranks) for part in shares(machine, ranks=20, ranks_per_node=1)]
        [('older', 16), ('newer', 4)]
    """
    parts = machine.parts if isinstance(machine, MachineOfParts) else {}
    for name, number in (on or {}).items():
        if name not in parts or number < 0:
            expected = f"0 or more ranks on {', '.join(parts) or 'no part'} of {machine.name}"
            raise BadInput(f"part {name!r}: {number} ranks; expected {expected}", field="on")
    if not parts:
        return (
            RanksOfPart(None, Node.from_profile(machine, ranks, threads, ranks_per_node), 0, ranks),
        )
    ranks_of_parts = []
    first = 0
    for part in parts.values():
        number = ranks - first if on is None else on.get(part.name, 0)
        if number <= 0:
            continue
        full = Node.from_profile(part.profile, ENOUGH_RANKS, threads, ranks_per_node)
        room = full.ranks * part.nodes
        if on is not None and number > room:
            expected = f"up to {room}, {full.ranks} on each of its {part.nodes} nodes"
            raise BadInput(f"part {part.name}: {number} ranks; expected {expected}", field="on")
        number = min(number, room)
        node = Node.from_profile(part.profile, number, full.threads, full.ranks)
        ranks_of_parts.append(RanksOfPart(part.name, node, first, number))
        first += number
    if first != ranks or ranks < 1:
        expected = f"{max(first, 1)}, which the parts of {machine.name} take"
        raise BadInput(field="ranks", value=ranks, expected=expected)
    return tuple(ranks_of_parts)
