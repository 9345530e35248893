"""How ranks and threads lie on the nodes and cores of a machine."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from spikemark.core.errors import BadInput

#: block: successive ranks share a node; cyclic: they lie on different nodes.
Distribution = Literal["block", "cyclic"]
#: cores: every thread has a core of its own; none: the system moves threads.
Binding = Literal["cores", "none"]
DISTRIBUTIONS: tuple[str, ...] = get_args(Distribution)
BINDINGS: tuple[str, ...] = get_args(Binding)
RANKS_ON_PART = re.compile(r"\s*([^\s=,]+)=([1-9][0-9]{0,8})\s*")


@dataclass(frozen=True)
class Layout:
    """Wanted layout of ranks and threads; None leaves a field to the launcher.

    `ranks_per_node` is the largest number of ranks on a node; None: as many as the cores allow. Ranks fill
    one node after the other (block) unless `distribution` says otherwise. Without `binding`, every thread is
    bound to a core of its own, or none is where the cores are too few and the launcher starts the ranks all
    the same.
    """

    ranks: int
    threads: int = 1
    ranks_per_node: int | None = None
    distribution: Distribution | None = None
    binding: Binding | None = None


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


class Nodes(NamedTuple):
    """The nodes at hand: the cores that may be used on each, whose they are, in words, and their names."""

    cores: tuple[int, ...]
    whose: str
    names: tuple[str, ...] = ()


def spread(layout: Layout, nodes: Nodes) -> Spread:
    """The nodes that a layout takes. Raises BadInput if they are too few or too small.

    The message names the field, its value and what is allowed.
    """
    check(layout)
    largest = max(nodes.cores)
    per_node = layout.ranks_per_node
    if per_node is None:
        per_node = min(_alike(layout, nodes), layout.ranks)
        if per_node == 0:
            raise BadInput(
                f"threads: {layout.threads}; allowed: at most {largest}, the cores of a node of {nodes.whose}"
            )
    elif per_node * layout.threads > largest:
        raise BadInput(
            f"ranks_per_node: {per_node}; allowed with threads={layout.threads}: at most"
            f" {largest // layout.threads}, by the cores ({largest}) of a node of {nodes.whose}"
        )
    room = [min(per_node, cores // layout.threads) for cores in nodes.cores]
    if sum(room) < layout.ranks:
        raise BadInput(
            f"ranks: {layout.ranks}; allowed with threads={layout.threads}, ranks_per_node={per_node}:"
            f" at most {sum(room)}, by the nodes ({len(room)}) of {nodes.whose}"
        )
    widest = sorted(range(len(room)), key=lambda node: -room[node])
    number = next(n for n in range(1, len(room) + 1) if sum(room[i] for i in widest[:n]) >= layout.ranks)
    taken = sorted(widest[:number])  # the same nodes for every run of a layout
    names = tuple(nodes.names[i] for i in taken) if nodes.names else ()
    return Spread(layout.ranks, number, per_node, layout.distribution or "block", names)


def _alike(layout: Layout, nodes: Nodes) -> int:
    """Most ranks on a node so that nodes which can take as many hold all ranks; else those of the largest."""
    room = [cores // layout.threads for cores in nodes.cores]
    enough = [each for each in room if each and each * sum(r >= each for r in room) >= layout.ranks]
    return max(enough or room)


def by_part(text: str) -> dict[str, int]:
    """Ranks by part of a machine, from words such as x86=4,arm=8. Raises BadInput for anything else."""
    pairs = [RANKS_ON_PART.fullmatch(pair) for pair in text.split(",")]
    found = {pair[1]: int(pair[2]) for pair in pairs if pair}
    if len(found) < len(pairs):
        raise BadInput("each part once with its ranks is needed, such as x86=4,arm=8")
    return found


def check(layout: Layout) -> None:
    """Raises BadInput for words that no launcher knows."""
    for name, allowed in (("distribution", DISTRIBUTIONS), ("binding", BINDINGS)):
        value = getattr(layout, name)
        if value is not None and value not in allowed:
            raise BadInput(f"{name}: {value!r} is not allowed: one of {', '.join(allowed)}", code="unknown")
