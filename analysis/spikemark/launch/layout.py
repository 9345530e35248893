"""How ranks and threads lie on the nodes and cores of a machine, and the command that starts them.

A LaunchLayout is what a user wants, Nodes is what is there, RanksOnNodes is what comes of both (see
`spread`), and a Launch is the command that a launcher (mpirun.py, srun.py) makes of it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from spikemark.core.errors import BadInput, unknown_name

from . import outer

#: block: successive ranks share a node; cyclic: they lie on different nodes.
Distribution = Literal["block", "cyclic"]
#: cores: every thread has a core of its own; none: the system moves threads.
Binding = Literal["cores", "none"]


@dataclass(frozen=True)
class LaunchLayout:
    """Wanted layout of ranks and threads; None leaves a field to the launcher.

    Raises BadInput for an unknown distribution or binding.
    """

    ranks: int
    threads: int = 1  #: of each rank
    ranks_per_node: int | None = None  #: at most; None: as many as the cores allow
    distribution: Distribution | None = None  #: None: block
    #: None: every thread is bound to a core of its own; but none is where the cores are too few and
    #: the launcher starts the ranks all the same.
    binding: Binding | None = None

    def __post_init__(self) -> None:
        _check_choice("distribution", self.distribution, get_args(Distribution))
        _check_choice("binding", self.binding, get_args(Binding))


def _check_choice(field: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Raises BadInput for a value that is not one of the choices."""
    if value is not None and value not in choices:
        raise unknown_name(field, value, choices)


class Nodes(NamedTuple):
    """The nodes at hand."""

    cores: tuple[int, ...]  #: cores that may be used, by node
    whose: str  #: where the nodes come from, in words, such as `job 17`
    names: tuple[str, ...] = ()  #: by node; empty where they are unknown
    #: Whether this process has a mask that mpirun does not heed, so that it must not bind ranks.
    confined: bool = False

    def only(self, names: Collection[str]) -> "Nodes":
        """Those of the nodes that have one of these names; all where none has."""
        numbers = [number for number, name in enumerate(self.names) if name in names]
        if not numbers:
            return self
        cores = tuple(self.cores[number] for number in numbers)
        node_names = tuple(self.names[number] for number in numbers)
        return Nodes(cores, self.whose, node_names, self.confined)


class RanksOnNodes(NamedTuple):
    """The nodes that the ranks of a program are started on."""

    ranks: int
    nodes: int  #: how many there are
    ranks_per_node: int  #: at most
    distribution: Distribution = "block"
    names: tuple[str, ...] = ()  #: of the nodes, where they are known before

    def node(self, rank: int) -> int:
        """The number of a rank's node, from 0."""
        return rank // self.ranks_per_node if self.distribution == "block" else rank % self.nodes


@dataclass(frozen=True)
class Launch:
    """A command line, and how it changes the environment."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)  #: variables that it adds
    #: Variables that it takes away: those of an outer job, see outer.py.
    removed: tuple[str, ...] = field(default_factory=outer.variables)
    #: The nodes that its ranks are started on; None if that is left to the program.
    spread: RanksOnNodes | None = None

    def applied(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the program that is started in `environment`."""
        variables = dict(environment)
        for name in self.removed:
            variables.pop(name, None)
        return {**variables, **self.environment}


def openmp(threads: int, bound: bool) -> dict[str, str]:
    """The variables of OpenMP for the threads of a rank.

    Example:
        >>> openmp(threads=2, bound=False)["OMP_NUM_THREADS"]
        '2'
    """
    variables = {"OMP_NUM_THREADS": str(threads)}
    if bound:
        return {**variables, "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
    return {**variables, "OMP_PROC_BIND": "false"}


def spread(layout: LaunchLayout, nodes: Nodes) -> RanksOnNodes:
    """The nodes that a layout takes: as few as can hold the ranks, the largest first.

    Raises BadInput naming the field if they are too few or too small.

    Example:
        >>> spread(LaunchLayout(ranks=6, threads=2), Nodes((8, 8), "job 17"))
        RanksOnNodes(ranks=6, nodes=2, ranks_per_node=4, distribution='block', names=())
    """
    room = [cores // layout.threads for cores in nodes.cores]  # ranks that a node can take
    per_node = _ranks_per_node(layout, nodes, room)
    room = [min(per_node, ranks) for ranks in room]
    if sum(room) < layout.ranks:
        limit = f"{sum(room)} with threads={layout.threads}, ranks_per_node={per_node}"
        expected = f"at most {limit}, by the nodes ({len(room)}) of {nodes.whose}"
        raise BadInput(
            field="ranks",
            value=layout.ranks,
            expected=expected,
            code="range",
        )
    largest_first = sorted(range(len(room)), key=lambda node: -room[node])
    taken: list[int] = []
    held = 0
    for node in largest_first:
        if held >= layout.ranks:
            break
        held += room[node]
        taken.append(node)
    names: tuple[str, ...] = ()
    if nodes.names:
        names = tuple(nodes.names[node] for node in sorted(taken))
    distribution = layout.distribution or "block"
    return RanksOnNodes(layout.ranks, len(taken), per_node, distribution, names)


def _ranks_per_node(layout: LaunchLayout, nodes: Nodes, room: list[int]) -> int:
    """The most ranks that a node takes; `room`: how many each can take.

    Raises BadInput where a node can take none, or fewer than the layout asks for.
    """
    largest = max(nodes.cores)
    per_node = layout.ranks_per_node
    if per_node is not None:
        if per_node > max(room):
            limit = f"{max(room)} with threads={layout.threads}"
            expected = f"at most {limit}, by the cores ({largest}) of a node of {nodes.whose}"
            raise BadInput(
                field="ranks_per_node",
                value=per_node,
                expected=expected,
                code="range",
            )
        return per_node
    # The largest number with which the nodes that can take as many hold all ranks; where there is
    # none, that of the largest node.
    sufficient = []
    for ranks in room:
        able_nodes = sum(other >= ranks for other in room)
        if ranks > 0 and ranks * able_nodes >= layout.ranks:
            sufficient.append(ranks)
    per_node = min(max(sufficient or room), layout.ranks)
    if per_node == 0:
        expected = f"at most {largest}, the cores of a node of {nodes.whose}"
        raise BadInput(
            field="threads",
            value=layout.threads,
            expected=expected,
            code="range",
        )
    return per_node


def by_part(text: str) -> dict[str, int]:
    """Ranks by part of a machine. Raises BadInput for anything else.

    Example:
        >>> by_part("x86=4,arm=8")
        {'x86': 4, 'arm': 8}
    """
    pairs = re.findall(r"(?:^|,)\s*([^\s=,]+)=([1-9][0-9]{0,8})\s*(?=,|$)", text)
    if len(dict(pairs)) <= text.count(","):
        message = "each part once with its ranks is needed, such as x86=4,arm=8"
        raise BadInput(message, field="ranks")
    return {part: int(ranks) for part, ranks in pairs}
