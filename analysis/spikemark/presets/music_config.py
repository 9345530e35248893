"""Reads a configuration file in the manner of MUSIC: applications, their processes, connections.

    np=4                                  # processes of every application without an np of its own
    [A]
      binary=./cells
    [B]
      np=2
    A.out -> B.in [256,collective]        # width, communication; both may be left out
    A.in <- B.out [256,point-to-point]

A name without an application is a port of the section it stands in. The width of a port is the number of
cells of the application that sends. Other variables (binary, args, stoptime, ...) are ignored.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from spikemark.core.errors import BadInput, shown

from .music_wiring import COMMUNICATION, LABEL, Application, Connection, Wiring

DEFAULT = "point-to-point"  # MUSIC's own
MOST_PROCESSES, MOST_CELLS = 1_000_000, 4_000_000_000
_SECTION = re.compile(rf"\[\s*({LABEL})\s*\]", re.ASCII)
_VARIABLE = re.compile(r"([A-Za-z_][\w-]*)\s*=(.*)", re.ASCII)
_PORT = rf"(?:({LABEL})\s*\.\s*)?({LABEL})"
_CONNECTION = re.compile(rf"{_PORT}\s*(->|<-)\s*{_PORT}\s*(?:\[([^\[\]]*)\])?", re.ASCII)


@dataclass
class _Section:
    line: int
    processes: int | None = None


@dataclass
class _Reader:
    """The state of reading a configuration file."""

    path: Path
    line: int = 0
    default: int | None = None  # np before the first section
    section: str | None = None
    sections: dict[str, _Section] = field(default_factory=dict)
    connections: dict[tuple[str, str], Connection] = field(default_factory=dict)
    places: dict[tuple[str, str], int] = field(default_factory=dict)  # their lines
    widths: dict[tuple[str, str], int] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)

    def refuse(self, value: str, allowed: str, line: int | None = None) -> NoReturn:
        raise BadInput(f"{self.path}, line {line or max(self.line, 1)}: {shown(value)}; allowed: {allowed}")

    def take(self, text: str) -> None:
        """Takes one line, without its comment and surrounding blanks."""
        if text.startswith("["):
            self._open(text)
        elif match := _VARIABLE.fullmatch(text):
            if match[1] == "np":
                self._set_processes(text, match[2].strip())
        elif match := _CONNECTION.fullmatch(text):
            self._connect(text, *match.groups())
        else:
            self.refuse(text, "[APPLICATION], NAME=VALUE, or a connection as A.out -> B.in [256,collective]")

    def _open(self, text: str) -> None:
        match = _SECTION.fullmatch(text)
        if not match:
            self.refuse(text, "[APPLICATION], a name of letters, digits and _ in brackets")
        if match[1] in self.sections:
            self.refuse(text, f"an application once; it is in line {self.sections[match[1]].line}")
        self.section = match[1]
        self.sections[match[1]] = _Section(self.line)

    def _set_processes(self, text: str, value: str) -> None:
        known = self.default if self.section is None else self.sections[self.section].processes
        processes = _whole(value, MOST_PROCESSES)
        if processes is None:
            self.refuse(text, f"np as an integer from 1 to {MOST_PROCESSES}")
        if known is not None:
            self.refuse(text, "np once in a section and once before all sections")
        if self.section is None:
            self.default = processes
        else:
            self.sections[self.section].processes = processes

    def _connect(
        self, text: str, left: str, port: str, arrow: str, right: str, other: str, rest: str
    ) -> None:
        if self.section is None and not (left and right):
            self.refuse(text, "ports of applications, as A.out -> B.in, before the first section")
        ends = [(left or self.section, port), (right or self.section, other)]
        (source, _), (target, entry) = ends if arrow == "->" else ends[::-1]
        if (source, target) in self.connections:
            self.refuse(text, "one connection from one application to another")
        if f"{target}.{entry}" in self.inputs:
            self.refuse(text, f"one connection to an input port; {target}.{entry} has one")
        width, communication = self._properties(text, rest)
        self.inputs.add(f"{target}.{entry}")
        self.connections[source, target] = Connection(source, target, communication)
        self.places[source, target] = self.line
        if width is not None:
            for pair, known in self.widths.items():
                if pair[0] == source and known != width:
                    self.refuse(text, f"width {known}, which {source} has in line {self.places[pair]}")
            self.widths[source, target] = width

    def _properties(self, text: str, rest: str | None) -> tuple[int | None, str]:
        """Width and communication from the text in the brackets; None without brackets."""
        entries = [] if rest is None else [entry.strip() for entry in rest.split(",")]
        if entries and _whole(entries[0], MOST_CELLS) is None:
            self.refuse(text, f"a width from 1 to {MOST_CELLS} first in the brackets")
        if entries[1:] and entries[1:] not in [[name] for name in COMMUNICATION]:
            self.refuse(text, f"{' or '.join(COMMUNICATION)} after the width, and nothing else")
        return (int(entries[0]) if entries else None), (entries[1] if entries[1:] else DEFAULT)

    def finish(self) -> Wiring:
        for pair, line in self.places.items():
            for name in pair:
                if name not in self.sections:
                    known = ", ".join(self.sections) or "none"
                    self.refuse(name, f"an application of the file: {known}", line)
        if not self.connections:
            self.refuse("no connection", "at least one, as A.out -> B.in [256,collective]")
        applications = []
        for name, section in self.sections.items():
            processes = section.processes or self.default
            if processes is None:
                self.refuse(f"[{name}]", "a section with np=..., or np=... before all sections", section.line)
            applications.append(Application(name, processes, self._cells(name)))
        return Wiring(tuple(applications), tuple(self.connections.values()))

    def _cells(self, name: str) -> int | None:
        """The width that the application sends or, if it only receives, the largest that it receives."""
        sent = [width for (source, _), width in self.widths.items() if source == name]
        received = [width for (_, target), width in self.widths.items() if target == name]
        return max(sent or received, default=None)


def read(path: str | Path) -> Wiring:
    """The wiring that the file describes.

    Raises BadInput with the file, the line, its text and what is allowed.
    """
    reader = _Reader(Path(path))
    try:
        lines = reader.path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"config={shown(str(path))}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"config={shown(str(path))}: byte {error.start} is not UTF-8 text") from None
    for line in lines:
        reader.line += 1
        text = line.partition("#")[0].strip()
        if text:
            reader.take(text)
    return reader.finish()


def _whole(text: str, most: int) -> int | None:
    """The number, if it is one from 1 to `most`."""
    if not re.fullmatch(r"[0-9]{1,12}", text) or not 1 <= int(text) <= most:
        return None
    return int(text)
