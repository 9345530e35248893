"""What a study is: an experiment, and how its runs are read as tables and words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spikemark.quantities.elements import Box, Figure, KeyFigure, Section
from spikemark.records.gather import Measured
from spikemark.records.results import Results
from spikemark.studies.table import StudyTable


@dataclass(frozen=True)
class Part:
    """One part of the page."""

    id: str
    title: str
    text: list[str] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[StudyTable] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def section(self) -> Section:
        """As the page takes it, the reasons for missing numbers added."""
        missing = [*self.missing, *(line for table in self.tables for line in table.reasons())]
        tables = [table.shown() for table in self.tables]
        text = [*self.text, *(note for table in self.tables for note in table.notes)]
        return Section(self.id, self.title, text, self.boxes, self.figures, tables, missing)


@dataclass(frozen=True)
class Findings:
    """What the runs of a study say. The first table of all parts is the main one."""

    sentence: str
    key_figures: list[KeyFigure]
    parts: list[Part]

    @property
    def tables(self) -> list[StudyTable]:
        return [table for part in self.parts for table in part.tables]

    @property
    def remarks(self) -> list[str]:
        """What stands out."""
        return [box.text for part in self.parts for box in part.boxes]

    def content(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sentence": self.sentence,
            "remarks": self.remarks,
            "tables": {table.name: table.content() for table in self.tables},
        }


@dataclass(frozen=True)
class Study:
    """`experiment`: a file in workflows/experiments; `read` takes its whole runs, as many as there are.

    `prepare`, where given, adds what is missing beside the runs in their results folder, and returns
    complaints; it is only called where the runs are made on this machine.
    """

    name: str
    summary: str
    experiment: str
    read: Callable[[list[Measured]], Findings]
    prepare: Callable[[Results], list[str]] | None = None
