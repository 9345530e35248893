"""Tables of values, not of words: one table goes to the page, to the terminal and into JSON."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from spikemark.quantities import quantity, table
from spikemark.quantities.table import Table

LEVEL = 0.95


@dataclass(frozen=True)
class Missing:
    """There is no number, and `reason` says why; `word` stands in the table."""

    reason: str
    word: str = "missing"


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; `low` and `high` are None where one repetition cannot tell."""

    value: float
    low: float | None = None
    high: float | None = None

    def __truediv__(self, unit: float) -> "Estimate":
        return Estimate(*(None if x is None else x / unit for x in (self.value, self.low, self.high)))


@dataclass(frozen=True)
class Column:
    """`name` is the key in JSON and tells the unit, `head` stands on the page; `kind`: see values.KINDS."""

    name: str
    head: str
    kind: str = ""
    digits: int = 3


@dataclass(frozen=True)
class StudyTable:
    """Rows are {column name: text, number, Estimate or Missing}; a cell that is not given is empty."""

    name: str
    title: str
    columns: list[Column]
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def shown(self) -> Table:
        """As the page and the terminal print it."""
        columns = [table.Column(c.name, c.head, c.kind, c.digits) for c in self.columns]
        rows = [{name: _quantity(cell) for name, cell in row.items()} for row in self.rows]
        return Table(columns, rows, self.title, self.name)

    def reasons(self) -> list[str]:
        """Why cells are without a number, one line for each reason."""
        found = defaultdict(Counter)
        for row in self.rows:
            for column in self.columns:
                if isinstance(cell := row.get(column.name), Missing):
                    found[cell.reason][column.head] += 1
        return [
            f"{self.title}: {why}: {', '.join(heads)} (in {max(heads.values())} of {len(self.rows)} rows)."
            for why, heads in found.items()
        ]

    def content(self) -> dict[str, Any]:
        """For JSON: missing values are null, their reasons stand in a list of their own."""
        return {
            "title": self.title,
            "columns": [{"name": c.name, "head": c.head, "kind": c.kind or None} for c in self.columns],
            "rows": [{c.name: _plain(row.get(c.name)) for c in self.columns} for row in self.rows],
            "missing": self.reasons(),
        }


def estimate(values: Iterable[float]) -> Estimate | Missing:
    """Mean of repetitions with its t interval of 95 %, cut at 0 where none is negative; Missing for none."""
    found = np.asarray(list(values), dtype=float)
    if found.size == 0:
        return Missing("no such run is complete")
    mean = float(found.mean())
    if found.size == 1:
        return Estimate(mean)
    half = stats.t.ppf((1 + LEVEL) / 2, found.size - 1) * found.std(ddof=1) / np.sqrt(found.size)
    lowest = 0.0 if found.min() >= 0 else -np.inf
    return Estimate(mean, max(float(mean - half), lowest), float(mean + half))


def _quantity(cell: Any) -> Any:
    if isinstance(cell, Missing):
        return quantity.missing(cell.reason, mark=cell.word)
    return quantity.Quantity(cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else cell


def _plain(cell: Any) -> Any:
    if isinstance(cell, Missing):
        return None
    if isinstance(cell, Estimate):
        return {"value": cell.value, "low": cell.low, "high": cell.high}
    return cell
