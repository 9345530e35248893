"""How ranks and threads lie on the nodes and cores of a machine, and the command that starts them so."""

import itertools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn, get_args

from spikemark.core.errors import BadInput

#: block: successive ranks share a node; cyclic: they lie on different nodes.
Distribution = Literal["block", "cyclic"]
#: cores: every thread has a core of its own; none: the system moves threads.
Binding = Literal["cores", "none"]


@dataclass(frozen=True)
class Layout:
    """Wanted layout of ranks and threads; None leaves a field to the launcher.

    `ranks_per_node` is the largest number of ranks on a node; None: as many as the cores allow. Ranks fill
    one node after the other (block) unless `distribution` says otherwise. Without `binding`, every thread is
    bound to a core of its own, or none is where the cores are too few and the launcher starts the ranks all
    the same. Raises BadInput for an unknown distribution or binding.
    """

    ranks: int
    threads: int = 1
    ranks_per_node: int | None = None
    distribution: Distribution | None = None
    binding: Binding | None = None

    def __post_init__(self) -> None:
        for name, known in (("distribution", Distribution), ("binding", Binding)):
            if (value := getattr(self, name)) not in (None, *get_args(known)):
                raise BadInput.of(name, value, f"one of {', '.join(get_args(known))}", code="unknown")


class Nodes(NamedTuple):
    """The nodes at hand: the cores that may be used on each, whose they are, in words, and their names."""

    cores: tuple[int, ...]
    whose: str
    names: tuple[str, ...] = ()

    def only(self, names: Collection[str]) -> "Nodes":
        """Those of the nodes that have one of these names; all where none has."""
        kept = [i for i, name in enumerate(self.names) if name in names] or range(len(self.cores))
        cores, own = (tuple(values[i] for i in kept if values) for values in (self.cores, self.names))
        return Nodes(cores, self.whose, own)


class Spread(NamedTuple):
    """The nodes that the ranks of a program are started on; each takes up to `ranks_per_node`."""

    ranks: int
    nodes: int
    ranks_per_node: int
    distribution: Distribution = "block"
    names: tuple[str, ...] = ()  # of the nodes, where they are known before

    def node(self, rank: int) -> int:
        """The number of a rank's node, from 0."""
        return rank // self.ranks_per_node if self.distribution == "block" else rank % self.nodes


@dataclass(frozen=True)
class Launch:
    """A command line, the variables that it adds to the environment, and those that it takes out of it.

    `spread` says on which nodes its ranks are started; None if that is left to the program.
    """

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    spread: Spread | None = None

    def applied(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the program that is started in `environment`."""
        kept = {name: value for name, value in environment.items() if name not in self.removed}
        return {**kept, **self.environment}


def openmp(threads: int, bound: bool) -> dict[str, str]:
    """The variables of OpenMP for the threads of a rank."""
    places = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if bound else {"OMP_PROC_BIND": "false"}
    return {"OMP_NUM_THREADS": str(threads), **places}


def spread(layout: Layout, nodes: Nodes) -> Spread:
    """The nodes that a layout takes. Raises BadInput naming the field if they are too few or too small."""
    room = [cores // layout.threads for cores in nodes.cores]  # ranks that a node can take
    largest, per_node = max(nodes.cores), layout.ranks_per_node

    def refuse(field: str, value: int, expected: str) -> NoReturn:
        raise BadInput.of(field, value, f"at most {expected} of {nodes.whose}", code="range")

    if per_node is None:
        # The most on a node so that nodes which can take as many hold all ranks; else those of the largest.
        alike = [each for each in room if each and each * sum(r >= each for r in room) >= layout.ranks]
        per_node = min(max(alike or room), layout.ranks)
        if per_node == 0:
            refuse("threads", layout.threads, f"{largest}, the cores of a node")
    elif per_node > max(room):
        limit = f"{max(room)} with threads={layout.threads}"
        refuse("ranks_per_node", per_node, f"{limit}, by the cores ({largest}) of a node")
    room = [min(per_node, each) for each in room]
    if sum(room) < layout.ranks:
        limit = f"{sum(room)} with threads={layout.threads}, ranks_per_node={per_node}"
        refuse("ranks", layout.ranks, f"{limit}, by the nodes ({len(room)})")
    widest = sorted(range(len(room)), key=lambda node: -room[node])
    held = itertools.accumulate(room[node] for node in widest)
    count = 1 + next(n for n, ranks in enumerate(held) if ranks >= layout.ranks)
    names = tuple(nodes.names[node] for node in sorted(widest[:count])) if nodes.names else ()
    return Spread(layout.ranks, count, per_node, layout.distribution or "block", names)


def by_part(text: str) -> dict[str, int]:
    """Ranks by part of a machine, from words such as x86=4,arm=8. Raises BadInput for anything else."""
    pairs = re.findall(r"(?:^|,)\s*([^\s=,]+)=([1-9][0-9]{0,8})\s*(?=,|$)", text)
    if len(dict(pairs)) <= text.count(","):
        raise BadInput("each part once with its ranks is needed, such as x86=4,arm=8")
    return {part: int(ranks) for part, ranks in pairs}
