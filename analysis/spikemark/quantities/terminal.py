"""Tables on a terminal."""

from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from spikemark.core.errors import plain

from .table import Table

#: Characters of a line of a table that goes to a file.
FILE_WIDTH = 150


def _drawn(table: Table) -> RichTable:
    """The table as drawn by rich; the kind of a column's numbers is below its head."""
    drawing = RichTable(
        title=_words(table.title) or None,
        title_justify="left",
    )
    words = table.words
    for number, column in enumerate(table.columns):
        drawing.add_column(
            _words(f"{column.head}\n{column.kind}".strip()),
            justify="left" if number in words else "right",
            overflow="fold",
        )
    for row in table.cells:
        drawing.add_row(*(_words(cell) for cell in row))
    return drawing


def _words(text: str) -> str:
    """Neither rich nor the terminal reads anything else than words into it."""
    return escape(plain(text))


def show(*tables: Table, stream: TextIO | None = None, notes: bool = True) -> None:
    """Prints tables to a stream, or to standard output, each with its notes unless told not to.

    Example:
        >>> from spikemark.quantities.table import Column
        >>> columns = [Column("ranks", "ranks"), Column("s", "time (s)")]
        >>> show(Table(columns, [{"ranks": 4, "s": 1.25}]))
        ┏━━━━━━━┳━━━━━━━━━━┓
        ┃ ranks ┃ time (s) ┃
        ┡━━━━━━━╇━━━━━━━━━━┩
        │ 4     │     1.25 │
        └───────┴──────────┘
    """
    console = Console(file=stream, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    for table in tables:
        console.print(_drawn(table))
        if notes:
            for line in table.notes:
                console.print(plain(line), markup=False)
