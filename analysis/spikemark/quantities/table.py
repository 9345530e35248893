"""The one table: made of values, it becomes text on a terminal, a part of a page, Markdown or JSON.

    columns = [Column("ranks", "ranks"), Column("waiting_us", "waiting (µs)", "measured")]
    table = Table(columns, [{"ranks": 2, "waiting_us": Quantity(3.1, 3.0, 3.2)}], "Waiting")

Cells are values, not text: each face of the table writes them in its own way.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from .quantity import Quantity
from .words import integer, number, span

#: What a cell may hold: words, a truth, a number, a quantity, a range (low, high), or nothing.
Cell = str | bool | int | float | Quantity | tuple[float, float] | None


@dataclass(frozen=True)
class Column:
    """A column: what its numbers are, and how they are written."""

    name: str  #: the key in JSON, which tells the unit
    head: str  #: stands above the column
    kind: str = ""  #: what its numbers are, see quantity.KINDS
    digits: int = 3  #: significant digits of a number
    #: Writes a number that should not be written with `digits`, such as words.percent.
    words: Callable[[float], str] | None = None

    @property
    def title(self) -> str:
        """The head with the kind of the numbers, in one line."""
        return f"{self.head} ({self.kind})" if self.kind else self.head

    def text(self, cell: Cell) -> str:
        """A cell as people read it."""
        if cell is None:
            return ""
        if isinstance(cell, Quantity):
            return self._quantity(cell)
        if isinstance(cell, tuple):
            return self._range(*cell)
        if isinstance(cell, str):
            return cell
        return self._number(cell)

    def _quantity(self, quantity: Quantity) -> str:
        if quantity.value is None:
            return quantity.mark
        text = self._number(quantity.value)
        interval = quantity.interval
        if interval is None or interval[0] == interval[1]:
            return text
        ends = self._range(*interval)
        return text if ends == text else f"{text} ({ends})"

    def _number(self, value: float) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.words is not None:
            return self.words(value)
        return integer(value) if isinstance(value, int) else number(value, self.digits)

    def _range(self, low: float, high: float) -> str:
        if self.words is None:
            return span([low, high], self.digits)
        first = self.words(low)
        last = self.words(high)
        return first if first == last else f"{first} to {last}"


#: Columns, and what the cell of each is, given the item that a row is about.
Cells = dict[Column, Callable[[Any], Cell]]


@dataclass(frozen=True)
class Table:
    """Columns and rows of values, with a title and notes."""

    columns: list[Column]
    rows: list[dict[str, Cell]]  #: {column name: cell}; a cell that is not there is empty
    title: str = ""  #: stands above the table
    name: str = ""  #: the key in JSON where several tables stand together
    notes: list[str] = field(default_factory=list)  #: stand below the table

    @classmethod
    def from_items(
        cls,
        columns: Cells,
        items: Iterable[Any],
        title: str = "",
        name: str = "",
        notes: Iterable[str] = (),
    ) -> Self:
        """One row for each item; `columns` says of each column what its cell is, given the item."""
        rows: list[dict[str, Cell]] = []
        for item in items:
            rows.append({column.name: cell_of(item) for column, cell_of in columns.items()})
        return cls(list(columns), rows, title, name, list(notes))

    @property
    def heads(self) -> list[tuple[str, str]]:
        """[column], its head and the kind of its numbers."""
        return [(column.head, column.kind) for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """[row][column], as people read them."""
        return [self._texts(row) for row in self.rows]

    def _texts(self, row: dict[str, Cell]) -> list[str]:
        return [column.text(row.get(column.name)) for column in self.columns]

    @property
    def words(self) -> tuple[int, ...]:
        """Which columns hold words and are aligned to the left; the first one always does."""
        indices = range(len(self.columns))
        return tuple(index for index in indices if index == 0 or self._has_words(index))

    def _has_words(self, index: int) -> bool:
        name = self.columns[index].name
        return all(isinstance(row.get(name), str | None) for row in self.rows)

    def turned(self, abreast: int) -> list["Table"]:
        """The same cells, as tables with a column for each row, named by its first cell.

        This suits tables with more columns than fit on a terminal. `abreast`: how many rows become
        columns of one table. Notes stand below the last table.
        """
        cells = self.cells
        tables = []
        for first in range(0, len(cells), abreast):
            is_last = first + abreast >= len(cells)
            notes = self.notes if is_last else []
            tables.append(self._turned(cells[first : first + abreast], notes))
        return tables

    def _turned(self, cells: list[list[str]], notes: list[str]) -> "Table":
        """A table with a column for each row of `cells`."""
        corner, *heads = [column.title for column in self.columns]
        columns = [Column("", corner)]
        rows: list[dict[str, Cell]] = [{"": head} for head in heads]
        for index, (name, *texts) in enumerate(cells):
            columns.append(Column(str(index), name))
            for row, text in zip(rows, texts, strict=True):
                row[str(index)] = text
        return Table(columns, rows, self.title, self.name, notes)

    def reasons(self) -> list[str]:
        """Says why cells lack a number, one line for each reason."""
        heads_by_reason: dict[str | None, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            for column in self.columns:
                cell = row.get(column.name)
                if isinstance(cell, Quantity) and not cell:
                    heads_by_reason[cell.reason][column.head] += 1
        lines = []
        for reason, heads in heads_by_reason.items():
            share = f"in {max(heads.values())} of {len(self.rows)} rows"
            lines.append(f"{self.title}: {reason}: {', '.join(heads)} ({share}).")
        return lines

    def markdown(self) -> str:
        """The table in Markdown, without its title; heads have their kinds."""
        heads = [column.title for column in self.columns]
        words = self.words
        rule = ["---" if index in words else "---:" for index in range(len(heads))]
        lines = []
        for cells in (heads, rule, *self.cells):
            escaped = [cell.replace("|", "\\|") for cell in cells]
            lines.append(f"| {' | '.join(escaped)} |")
        return "\n".join(lines)

    def content(self) -> dict[str, Any]:
        """The content for JSON: a missing value is null, and `missing` lists the reasons."""
        columns = []
        for column in self.columns:
            columns.append({"name": column.name, "head": column.head, "kind": column.kind or None})
        return {
            "title": self.title,
            "columns": columns,
            "rows": [self._row_content(row) for row in self.rows],
            "missing": self.reasons(),
        }

    def _row_content(self, row: dict[str, Cell]) -> dict[str, Any]:
        return {column.name: _plain(row.get(column.name)) for column in self.columns}


def _plain(cell: Cell) -> Any:
    """A cell for JSON: value, low and high of a quantity; null if it has no number."""
    if isinstance(cell, tuple):
        return list(cell)
    if not isinstance(cell, Quantity):
        return cell
    if not cell:
        return None
    return {"value": cell.value, "low": cell.low, "high": cell.high}
