"""An answer: what a function of the public API returns, and what a command prints.

Terminal, JSON and HTML are three faces of it. Each kind of answer says what it has to say once, as
`screen` and `content`; everything else follows from these two.
"""

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from spikemark.core.errors import BadInput

from .quantity import Quantity
from .table import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Screen:
    """An answer as people read it, from top to bottom."""

    lines: list[str]  #: the sentences of the answer; more lines may follow an empty one
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: below the tables: sources, what is next
    warnings: list[str] = field(default_factory=list)  #: what weakens the answer


#: Of the JSON of all answers; it rises where a field is renamed or removed.
ANSWER_VERSION = 1


class Answer(ABC):
    """The answer to a question, with all its figures.

    Print `sentence`, go on computing with `table`, draw `plot()`, keep `to_json()`. A notebook
    shows all of it.
    """

    #: The command that prints it, which names the format of its JSON.
    verb: ClassVar[str]

    @property
    def sentence(self) -> str:
        """The answer in words: the lines of the screen up to the first empty one.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> answer.sentence.endswith(".")
            True
        """
        sentences = []
        for line in self.screen().lines:
            if not line:
                break
            sentences.append(line)
        return " ".join(sentences)

    @property
    @abstractmethod
    def table(self) -> "pd.DataFrame":
        """The figures, tidy. Names of columns end in the unit, or `table.attrs["units"]` has it.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> len(answer.table) > 0
            True
        """

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """All figures as dictionaries, lists, texts and numbers that JSON can hold.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> "ranks" in answer.content()
            True
        """

    @abstractmethod
    def screen(self, details: bool = False) -> Screen:
        """What the command prints; with `details`, what `--details` adds, too.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> len(answer.screen(details=True).tables) >= len(answer.screen().tables)
            True
        """

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The figure of the answer, drawn into `axes` or into a new figure.

        Raises BadInput where this kind of answer has none.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> answer.plot().get_xlabel()
            'waiting (µs per cycle)'
        """
        reason = f"{type(self).__name__} has no figure"
        raise BadInput(field="plot", reason=reason, expected="figures made of its table")

    def to_json(self) -> str:
        """The text that the command prints with `--json`: content, format and version.

        Raises ValueError for a number that JSON cannot hold.

        Example:
            >>> import spikemark as sm
            >>> answer = sm.waiting("tests/golden/analysis/records/conventional-4")
            >>> answer.to_json().splitlines()[1]
            ' "format": "waiting-answer",'
        """
        return as_json(self.verb, self.content())

    def __repr__(self) -> str:
        first_line, *_ = [*self.screen().lines, "a table"]
        further = ".sentence, .table, .plot(), .screen(details=True), .to_json()"
        if type(self).plot is Answer.plot:
            further = further.replace(" .plot(),", "")
        return f"<{type(self).__name__}: {first_line}>\n {further}"

    def _repr_html_(self) -> str:
        """The screen as HTML, for notebooks."""
        screen = self.screen()
        sentences, _, more = "\n".join(screen.lines).partition("\n\n")
        parts = [f"<p>{html.escape(sentences)}</p>"]
        if more.strip():
            parts.append(f"<pre>{html.escape(more)}</pre>")
        parts += [_html_table(table) for table in screen.tables]
        parts += [f"<p>{html.escape(line)}</p>" for line in screen.notes]
        parts += [f"<p><b>Warning:</b> {html.escape(line)}</p>" for line in screen.warnings]
        return "\n".join(parts)


def frame_of(table: Table, units: Mapping[str, str] | None = None) -> "pd.DataFrame":
    """The rows of a table as a frame: a quantity `x` becomes `x`, `x_low` and `x_high`.

    Args:
        table: its columns keep their names; what is missing becomes None.
        units: of columns whose names do not tell them, for `attrs["units"]`.

    Example:
        >>> from spikemark.quantities.table import Column
        >>> rows = [{"ranks": 2, "waiting_us": Quantity(3.0, 2.5, 3.5)}]
        >>> columns = [Column("ranks", "ranks"), Column("waiting_us", "waiting")]
        >>> frame_of(Table(columns, rows)).to_dict("records")
        [{'ranks': 2, 'waiting_us': 3.0, 'waiting_us_low': 2.5, 'waiting_us_high': 3.5}]
    """
    import pandas as pd

    rows = []
    for row in table.rows:
        cells: dict[str, Any] = {}
        for column in table.columns:
            cell = row.get(column.name)
            if isinstance(cell, Quantity):
                cells[column.name] = cell.value
                cells[f"{column.name}_low"] = cell.low
                cells[f"{column.name}_high"] = cell.high
            else:
                cells[column.name] = cell
        rows.append(cells)
    frame = pd.DataFrame(rows)
    frame.attrs["units"] = dict(units or {})
    return frame


def answer_format(verb: str) -> str:
    """The name of the format of an answer, which is also that of its schema.

    Example:
        >>> answer_format("tender check")
        'tender-check-answer'
    """
    return f"{verb.replace(' ', '-')}-answer"


def as_json(verb: str, content: Mapping[str, Any]) -> str:
    """Content as the text that a command prints with `--json`.

    `spikemark schema FORMAT` prints the JSON Schema of it. Raises ValueError for a number that JSON
    cannot hold.

    Example:
        >>> print(as_json("partition", {"ranks": 2}))
        {
         "format": "partition-answer",
         "version": 1,
         "ranks": 2
        }
    """
    about = {"format": answer_format(verb), "version": ANSWER_VERSION}
    return json.dumps({**about, **content}, indent=1, allow_nan=False)


def _html_table(table: Table) -> str:
    """A table as a page shows it: numbers to the right, kinds of numbers below the heads."""
    heads = [html.escape(f"{head} ({kind})" if kind else head) for head, kind in table.heads]
    rows = [_html_row(heads, "th", table.words)]
    for cells in table.cells:
        rows.append(_html_row([html.escape(cell) for cell in cells], "td", table.words))
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    notes = [f"<p>{html.escape(note)}</p>" for note in table.notes]
    return "\n".join([f"<table>{caption}", *rows, "</table>", *notes])


def _html_row(cells: list[str], tag: str, words: tuple[int, ...]) -> str:
    """A row of a table; `words`: numbers of the columns that are aligned to the left."""
    row = []
    for column, cell in enumerate(cells):
        side = "left" if column in words else "right"
        row.append(f'<{tag} style="text-align: {side}">{cell}</{tag}>')
    return f"<tr>{''.join(row)}</tr>"
