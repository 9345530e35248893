"""The table of an answer as text for other programs and papers: CSV, Markdown or LaTeX.

CSV has every digit, and the limits of an interval in columns of their own. Markdown and LaTeX have
three digits, with the interval behind its number.
"""

import csv
from collections.abc import Callable
from typing import Any

import pandas as pd

from .quantity import Quantity
from .table import Cell, Column, Table

LOW = "_low"  #: end of the name of a column that has the lower limits of another
HIGH = "_high"  #: the same for upper limits


def table_text(frame: pd.DataFrame, form: str) -> str:
    """A table in one of the TABLE_FORMS.

    Args:
        frame: the `table` of an answer; `attrs["units"]` may have units by column.
        form: csv, markdown or latex.

    Example:
        >>> frame = pd.DataFrame({"ranks": [2], "waiting_us": [3.25]})
        >>> frame = frame.assign(waiting_us_low=3.0, waiting_us_high=3.5)
        >>> print(table_text(frame, "csv"))
        "ranks","waiting_us","waiting_us_low","waiting_us_high"
        2,3.25,3.0,3.5
        >>> print(table_text(frame, "markdown"))
        | ranks | waiting_us |
        | --- | ---: |
        | 2 | 3.25 (3.00–3.50) |
    """
    return TABLE_FORMS[form](frame).rstrip("\n")


def _csv(frame: pd.DataFrame) -> str:
    """Lines `# column [unit]` for columns whose names do not tell it, and the rows below them."""
    units = frame.attrs.get("units", {})
    lines = [f"# {name} [{unit}]\n" for name, unit in units.items() if name in frame]
    return "".join(lines) + frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def _markdown(frame: pd.DataFrame) -> str:
    return _readable(frame).markdown()


def _latex(frame: pd.DataFrame) -> str:
    """A `tabular` with the rules of the package booktabs."""
    table = _readable(frame)
    sides = ["l" if index in table.words else "r" for index in range(len(table.columns))]
    heads = [column.head for column in table.columns]
    texts = pd.DataFrame(table.cells, columns=heads)
    return texts.to_latex(index=False, escape=True, column_format="".join(sides))


#: What `--format` takes, and how it writes a frame.
TABLE_FORMS: dict[str, Callable[[pd.DataFrame], str]] = {
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}


def _readable(frame: pd.DataFrame) -> Table:
    """The frame as people read it: limits stand behind their numbers, units in the heads."""
    plain = frame.astype(object).where(frame.notna(), None)
    limits = {name + end for name in frame.columns if name + LOW in frame for end in (LOW, HIGH)}
    units = frame.attrs.get("units", {})
    columns = []
    for name in frame.columns:
        if name not in limits:
            unit = units.get(name, "")
            columns.append(Column(name, f"{name} ({unit})" if unit not in ("", "1") else name))
    records = plain.to_dict("records")
    rows = [{column.name: _cell(record, column.name) for column in columns} for record in records]
    return Table(columns, rows)


def _cell(record: dict[Any, Any], name: str) -> Cell:
    """The cell of a column: a quantity where the record has its limits."""
    value: Cell = record[name]
    if isinstance(value, str):
        return " ".join(value.splitlines())
    low = record.get(name + LOW)
    if low is None or not isinstance(value, float | int):
        return value
    return Quantity(value, low, record[name + HIGH])
