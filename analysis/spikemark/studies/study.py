"""Defines a study: an experiment, and how its runs are turned into tables and words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.table import Table
from spikemark.records.gather import Sweep


@dataclass(frozen=True)
class Findings:
    """What the runs of a study say. The first table of all parts is the main one."""

    sentence: str
    key_figures: list[KeyFigure]
    parts: list[Section]

    @property
    def sections(self) -> list[Section]:
        """The parts of the page. Each also says why numbers in its tables are missing."""
        return [
            replace(part, missing=[*part.missing, *(line for t in part.tables for line in t.reasons())])
            for part in self.parts
        ]

    @property
    def tables(self) -> list[Table]:
        return [table for part in self.parts for table in part.tables]

    @property
    def remarks(self) -> list[str]:
        """The statements that stand out."""
        return [box.text for part in self.parts for box in part.boxes]

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {
            "sentence": self.sentence,
            "remarks": self.remarks,
            "tables": {table.name: table.content() for table in self.tables},
        }


@dataclass(frozen=True)
class Full:
    """What a study prepares at full size, and how long that takes."""

    prepare: Callable[[Sweep], list[str]]
    lasts: str


@dataclass(frozen=True)
class Study:
    """`experiment`: a file in workflows/experiments.

    `read` says what its complete runs show, however many there are.

    `prepare`, where given, computes, measures or simulates what the study needs besides these runs, and
    returns one line for each thing that went wrong. It is only called where the runs are made on this
    machine. `lasts` says how long. `full`, where given, is the same at full size.
    """

    name: str
    summary: str
    experiment: str
    read: Callable[[Sweep], Findings]
    prepare: Callable[[Sweep], list[str]] | None = None
    lasts: str = "a minute or two"
    full: "Full | None" = None
