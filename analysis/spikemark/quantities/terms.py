"""Every column once: terms.yaml has its heading, unit, digits and what it means.

`records.columns` makes the data dictionary of results folders of it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from spikemark.core.yaml_file import read_yaml

from .table import Column
from .words import change, integer, percent

if TYPE_CHECKING:
    import pandas as pd

#: Units that the words of a number say; `change`: a ratio, of which what it adds to 1 is said.
WORDS_OF_UNITS: dict[str, Callable[[float], str]] = {"%": percent, "change": change}
#: Starts of names of columns of frames that are called after what follows.
PREFIXES = ("part.", "swept.")
#: End of the name of a column that counts something for each level of an exchange.
LEVEL_NUMBER = re.compile(r"_[1-9]$")
#: The origin of a number that was measured or simulated, as the run was.
AS_THE_RUN = "run"


@dataclass(frozen=True)
class Term:
    """What a column is called, and what it means."""

    name: str  #: of the column
    head: str  #: stands above the column
    unit: str = ""
    digits: int = 3  #: significant digits; 0 for a whole number
    kind: str = ""  #: a key of quantity.KINDS
    origin: str = ""  #: a key of quantity.KINDS, or AS_THE_RUN, where `kind` does not say it
    means: str = ""  #: the explanation in the glossary
    source: str = ""  #: the file and the field that the column comes from

    @property
    def heading(self) -> str:
        """The heading with the unit."""
        if not self.unit or self.unit in WORDS_OF_UNITS:
            return self.head
        return f"{self.head} ({self.unit})"


@cache
def terms() -> dict[str, Term]:
    """All terms by name.

    Example:
        >>> terms()["power_w"].heading
        'power (W)'
    """
    content = read_yaml(Path(__file__).with_name("terms.yaml"))
    return {name: Term(name, **entry) for name, entry in content.items()}


def term(name: str) -> Term:
    """The term of a column.

    A column that terms.yaml lacks, such as a field of a grid, is called by its name, as it has to
    be written.

    Example:
        >>> term("swept.some_field").head, term("messages_level_2").head
        ('some_field', 'messages of a level')
    """
    if name in terms():
        return terms()[name]
    bare = LEVEL_NUMBER.sub("", name)
    for prefix in PREFIXES:
        bare = bare.removeprefix(prefix)
    return terms().get(bare) or Term(name, bare)


def column(name: str, kind: str | None = None) -> Column:
    """The column of a table that shows the term; `kind` replaces the term's own.

    Example:
        >>> column("simulate_s").head, column("efficiency").words(0.5)
        ('simulation (s)', '50\\u202f%')
    """
    shown = term(name)
    words = WORDS_OF_UNITS.get(shown.unit)
    if words is None and shown.digits == 0:
        words = integer
    return Column(
        name,
        shown.heading,
        kind=shown.kind if kind is None else kind,
        digits=shown.digits or 3,
        words=words,
    )


def columns(frame: "pd.DataFrame") -> list[Column]:
    """A column for each of a frame.

    Example:
        >>> import pandas as pd
        >>> [column.title for column in columns(pd.DataFrame({"ranks": [4], "spikes": [1000]}))]
        ['ranks', 'spikes (counted)']
    """
    return [column(str(name)) for name in frame]


def glossary() -> str:
    """The terms that need explanation, as a table in Markdown, by their headings.

    The page docs/glossary.md holds it.

    Example:
        >>> glossary().splitlines()[0]
        '| term | unit | what it means |'
    """
    explained = [entry for entry in terms().values() if entry.means]
    explained.sort(key=lambda entry: entry.head.lower())
    units: dict[tuple[str, str], str] = {}
    for entry in explained:
        key = (entry.head, entry.means)
        unit = "" if entry.unit == "change" else entry.unit
        units[key] = units.get(key) or unit
    lines = ["| term | unit | what it means |", "| --- | --- | --- |"]
    for (head, means), unit in units.items():
        lines.append(f"| {head} | {unit} | {means} |")
    return "\n".join([*lines, ""])
