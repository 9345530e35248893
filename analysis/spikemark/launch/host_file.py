"""A file of nodes for mpirun, where no batch system says them.

A line is `NAME slots=CORES` as Open MPI writes it, perhaps with `max_slots=CORES`, or `NAME:CORES`
as MPICH does, or only `NAME`, once for each slot, as in the file that PBS names in PBS_NODEFILE.
Slots of a node that is named several times add up. A file in which each name stands once and
without a number is refused: Open MPI would take all cores of these nodes, PBS means one.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from spikemark.core.errors import BadInput, short_repr
from spikemark.core.reading import read_text

from .layout import Nodes

#: The variable that names the file.
VARIABLE = "SPIKEMARK_HOSTFILE"
HOST_NAME = re.compile(r"[A-Za-z0-9._-]+")
NUMBER = re.compile(r"[1-9][0-9]{0,5}")
#: How names of launch nodes of LSF begin.
LAUNCH_NODE = re.compile("batch|login|launch")
EXPECTED = "expected lines NAME slots=CORES, or a line NAME for each slot"


@dataclass(frozen=True)
class HostLine:
    """A line of the file."""

    text: str  #: without its comment
    number: int  #: of the line in the file, from 1
    name: str  #: of the node
    slots: int | None  #: ranks that the node takes; None where the line does not say
    limit: int | None  #: max_slots; None where the line does not say

    @property
    def node(self) -> str:
        """The name as names of hosts are compared: without regard to capitals."""
        return self.name.casefold()


def name_from_anywhere() -> None:
    """Makes the path in VARIABLE absolute, since runs are started in other folders.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {VARIABLE: "hosts"}):
        ...     name_from_anywhere()
        ...     os.path.isabs(os.environ[VARIABLE])
        True
    """
    file = os.environ.get(VARIABLE)
    if file:
        os.environ[VARIABLE] = os.path.abspath(file)


def nodes_of_file(file: Path) -> Nodes:
    """The nodes in a host file, in the order in which they are first named. Raises BadInput.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w") as file:
        ...     print("node1 slots=4", file=file)
        ...     print("node2 slots=4", file=file, flush=True)
        ...     nodes = nodes_of_file(Path(file.name))
        >>> nodes.cores, nodes.names
        ((4, 4), ('node1', 'node2'))
    """
    advice = f"{VARIABLE} names a file of nodes"
    text = read_text(file, advice).removeprefix("\ufeff")
    lines = []
    for number, full_line in enumerate(text.splitlines(), 1):
        without_comment = full_line.partition("#")[0].strip()
        if without_comment:
            lines.append(_line(file, number, without_comment))
    if not lines:
        raise BadInput(f"no node; {EXPECTED}", file=file, code="file")
    _check_numbers(file, lines)
    names: dict[str, str] = {}
    slots: Counter[str] = Counter()
    for line in lines:
        names.setdefault(line.node, line.name)
        slots[line.node] += line.slots or 1
    _check_limits(file, lines, slots)
    _check_names(file, names)
    _check_launch_node(file, lines, slots)
    return Nodes(tuple(slots.values()), str(file), tuple(names.values()))


def _line(file: Path, number: int, text: str) -> HostLine:
    """A line without its comment. Raises BadInput for anything else than a name and its numbers."""
    name, *settings = re.sub(r"\s*=\s*", "=", text).split()
    name, colon, slots = name.partition(":")
    values = {"slots": slots} if colon else {}
    for setting in settings:
        key, _, value = setting.partition("=")
        key = key.lower().replace("-", "_")
        if key in values or key not in ("slots", "max_slots"):
            raise _bad_line(file, number, f"{short_repr(text)}; {EXPECTED}")
        values[key] = value
    are_numbers = all(NUMBER.fullmatch(value) for value in values.values())
    if not HOST_NAME.fullmatch(name) or not are_numbers:
        raise _bad_line(file, number, f"{short_repr(text)}; {EXPECTED}")
    numbers = {key: int(value) for key, value in values.items()}
    return HostLine(text, number, name, numbers.get("slots"), numbers.get("max_slots"))


def _bad_line(file: Path, number: int, message: str) -> BadInput:
    """The complaint about a line as a whole."""
    return BadInput(message, file=file, line=number, code="file")


def _check_numbers(file: Path, lines: list[HostLine]) -> None:
    """Refuses names without a number, unless each line stands for one slot."""
    bare = [line for line in lines if line.slots is None]
    if not bare:
        return
    repeated = len({line.node for line in lines}) < len(lines)
    without_limit = all(line.limit is None for line in bare)
    if len(bare) < len(lines) or not repeated or not without_limit:
        message = f"{short_repr(bare[0].text)} has no number of slots; {EXPECTED}"
        raise _bad_line(file, bare[0].number, message)


def _check_limits(file: Path, lines: list[HostLine], slots: Counter[str]) -> None:
    """Refuses a node with more slots than its max_slots."""
    for line in lines:
        if line.limit is not None and line.limit < slots[line.node]:
            total = f"{short_repr(line.text)}: {slots[line.node]} slots in all"
            message = f"{total}; expected at most max_slots"
            raise BadInput(
                message,
                field="max_slots",
                file=file,
                line=line.number,
            )


def _check_launch_node(file: Path, lines: list[HostLine], slots: Counter[str]) -> None:
    """Refuses the launch node that LSF names first, once, before nodes with several slots each."""
    first = lines[0]
    is_one_slot = first.slots is None and slots[first.node] == 1
    if not is_one_slot or not LAUNCH_NODE.match(first.node):
        return
    others = [number for node, number in slots.items() if node != first.node]
    if min(others) > 1:
        message = f"{short_repr(first.name)} seems to be a launch node; expected nodes that compute"
        raise _bad_line(file, first.number, message)


def _check_names(file: Path, names: dict[str, str]) -> None:
    """Refuses a node and the same with its domain: nobody can say from here if they are one."""
    for node, name in names.items():
        short = node.partition(".")[0]
        if short != node and short in names:
            pair = f"{short_repr(names[short])} and {short_repr(name)}"
            message = f"{pair} may be one node; expected one name for a node"
            raise BadInput(message, file=file, code="file")
