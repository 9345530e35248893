"""The one table: made of values, it becomes a table on the terminal, on a page or in Markdown, or JSON."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .quantity import Quantity
from .words import integer, number, span

#: What a cell may hold: words, a truth, a number, a quantity, a range (low, high), or nothing.
Cell = str | bool | int | float | Quantity | tuple[float, float] | None


@dataclass(frozen=True)
class Column:
    """`name` is the key in JSON and tells the unit, `head` stands above the column.

    `kind` says what its numbers are, see quantity.KINDS. `words`, such as words.percent, writes a number that
    should not be written with `digits` significant digits.
    """

    name: str
    head: str
    kind: str = ""
    digits: int = 3
    words: Callable[[float], str] | None = None

    def text(self, cell: Cell) -> str:
        """A cell as people read it."""
        if cell is None:
            return ""
        if isinstance(cell, Quantity):
            if not cell:
                return cell.mark
            limits = (
                "" if cell.low is None or cell.low == cell.high else f" ({self._range(cell.low, cell.high)})"
            )
            return self._number(cell.value) + limits
        if isinstance(cell, tuple):
            return self._range(*cell)
        if isinstance(cell, str):
            return cell
        return self._number(cell)

    def _number(self, value: float) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.words is not None:
            return self.words(value)
        return integer(value) if isinstance(value, int) else number(value, self.digits)

    def _range(self, low: float, high: float) -> str:
        if self.words is None:
            return span([low, high], self.digits)
        return " to ".join(dict.fromkeys((self.words(low), self.words(high))))


#: Columns, and what the cell of each is, given the item that a row is about.
Cells = dict[Column, Callable[[Any], Cell]]


@dataclass(frozen=True)
class Table:
    """Rows are {column name: cell}; a cell that is not given is empty.

    `name` is the key in JSON where several tables stand together, `title` stands above the table, `notes`
    below it.
    """

    columns: list[Column]
    rows: list[dict[str, Cell]]
    title: str = ""
    name: str = ""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, columns: Cells, items: Iterable, title: str = "", name: str = "", notes: Iterable[str] = ()):
        """One row for each item; `columns` says of each column what its cell is, given the item."""
        rows = [{column.name: cell(item) for column, cell in columns.items()} for item in items]
        return cls(list(columns), rows, title, name, list(notes))

    @property
    def heads(self) -> list[tuple[str, str]]:
        """[column], its head and the kind of its numbers."""
        return [(column.head, column.kind) for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """[row][column], as people read them."""
        return [[column.text(row.get(column.name)) for column in self.columns] for row in self.rows]

    @property
    def words(self) -> tuple[int, ...]:
        """Which columns hold words and are aligned to the left; the first one always does."""
        return tuple(
            i
            for i, column in enumerate(self.columns)
            if i == 0 or all(isinstance(row.get(column.name), str | None) for row in self.rows)
        )

    def turned(self, abreast: int) -> list["Table"]:
        """The same cells with a column for every row, named by its first cell, in tables of limited width.

        This suits tables with more columns than fit on a terminal. Notes stand below the last table.
        """
        (corner, *heads), cells = (
            [f"{head} ({kind})" if kind else head for head, kind in self.heads],
            self.cells,
        )
        found = []
        for first in range(0, len(cells), abreast):
            part = cells[first : first + abreast]
            columns = [Column("", corner), *(Column(str(i), row[0]) for i, row in enumerate(part))]
            rows = [
                {"": head, **{str(i): row[place] for i, row in enumerate(part)}}
                for place, head in enumerate(heads, 1)
            ]
            last = first + abreast >= len(cells)
            found.append(Table(columns, rows, self.title, self.name, self.notes if last else []))
        return found

    def reasons(self) -> list[str]:
        """Says why cells lack a number, one line for each reason."""
        found = defaultdict(Counter)
        for row in self.rows:
            for column in self.columns:
                cell = row.get(column.name)
                if isinstance(cell, Quantity) and not cell:
                    found[cell.reason][column.head] += 1
        return [
            f"{self.title}: {why}: {', '.join(heads)} (in {max(heads.values())} of {len(self.rows)} rows)."
            for why, heads in found.items()
        ]

    def markdown(self) -> str:
        """The table in Markdown, without its title; heads have their kinds."""
        heads = [f"{head} ({kind})" if kind else head for head, kind in self.heads]
        rule = ["---" if i in self.words else "---:" for i in range(len(heads))]
        return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *self.cells))

    def content(self) -> dict[str, Any]:
        """The content for JSON: a missing value is null, and `missing` lists the reasons."""
        return {
            "title": self.title,
            "columns": [{"name": c.name, "head": c.head, "kind": c.kind or None} for c in self.columns],
            "rows": [{c.name: _plain(row.get(c.name)) for c in self.columns} for row in self.rows],
            "missing": self.reasons(),
        }


def _plain(cell: Cell) -> Any:
    """A cell for JSON: value, low and high of a quantity; null if it has no number."""
    if isinstance(cell, tuple):
        return list(cell)
    if not isinstance(cell, Quantity):
        return cell
    return {"value": cell.value, "low": cell.low, "high": cell.high} if cell else None
