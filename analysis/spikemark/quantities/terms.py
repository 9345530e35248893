"""Every column once: terms.yaml has its heading, unit, digits and what it means."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from spikemark.core.yaml_file import read_yaml

from .table import Column
from .words import change, integer, percent

#: Units that the words of a number say; `change`: a ratio, of which what it adds to 1 is said.
WORDS = {"%": percent, "change": change}
PREFIXES = ("part.", "swept.")  # of columns of frames that are called after what follows


@dataclass(frozen=True)
class Term:
    """`head` stands above the column, `means` in the glossary; `kind` is a key of quantity.KINDS."""

    name: str
    head: str
    unit: str = ""
    digits: int = 3
    kind: str = ""
    means: str = ""

    @property
    def heading(self) -> str:
        """The heading with the unit."""
        return f"{self.head} ({self.unit})" if self.unit and self.unit not in WORDS else self.head


@cache
def terms() -> dict[str, Term]:
    """All terms by name."""
    content = read_yaml(Path(__file__).with_name("terms.yaml"))
    return {name: Term(name, **entry) for name, entry in content.items()}


def term(name: str) -> Term:
    """The term of a column. One that terms.yaml lacks, such as a field of a grid, is called by its name."""
    known = terms().get(name)
    if known is None:
        bare = next((name.removeprefix(p) for p in PREFIXES if name.startswith(p)), name)
        known = terms().get(bare) or Term(name, bare.replace("_", " "))
    return known


def column(name: str, kind: str | None = None) -> Column:
    """The column of a table that shows the term; `kind` replaces the term's own."""
    own = term(name)
    words = WORDS.get(own.unit) or (integer if own.digits == 0 else None)
    return Column(name, own.heading, own.kind if kind is None else kind, own.digits or 3, words)


def columns(frame: pd.DataFrame) -> list[Column]:
    """A column for each of a frame."""
    return [column(name) for name in frame]


def glossary() -> str:
    """The terms that need explanation, as a table in Markdown, by their headings (docs/glossary.md)."""
    explained = sorted((one for one in terms().values() if one.means), key=lambda one: one.head.lower())
    rows: dict[tuple[str, str], str] = {}
    for one in explained:
        key = one.head, one.means
        rows[key] = rows.get(key) or (one.unit if one.unit != "change" else "")
    lines = ["| term | unit | what it means |", "| --- | --- | --- |"]
    return "\n".join(
        [*lines, *(f"| {head} | {unit} | {means} |" for (head, means), unit in rows.items()), ""]
    )
