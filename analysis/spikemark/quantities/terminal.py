"""Tables on a terminal."""

from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn

from spikemark.core.errors import plain

from .table import Table

WIDTH = 150  # of a table that goes to a file


def drawn(table: Table) -> Drawn:
    """The table as drawn by rich; the kind of a column's numbers is below its head."""
    found = Drawn(title=_words(table.title) or None, title_justify="left")
    words = table.words
    for number, (head, kind) in enumerate(table.heads):
        found.add_column(
            _words(f"{head}\n{kind}".strip()), justify="left" if number in words else "right", overflow="fold"
        )
    for row in table.cells:
        found.add_row(*map(_words, row))
    return found


def _words(text: str) -> str:
    """Neither rich nor the terminal reads anything else than words into it."""
    return escape(plain(text))


def show(*tables: Table, stream: TextIO | None = None, notes: bool = True) -> None:
    """Print tables, each with its notes, to a stream (standard output)."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDTH
    for table in tables:
        console.print(drawn(table))
        for line in table.notes if notes else ():
            console.print(plain(line), markup=False)
