"""What tables of several studies need."""

from spikemark.documents.stored import Row, shown
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number

AWARE, OVERLAPPED, PLAIN = "structure-aware", "overlapped", "conventional"


def share(value: float | None, digits: int = 2) -> str:
    """A value in per cent, as text runs."""
    return shown(value, lambda v: f"{number(v, digits)} %")


def each(rows: list[Row], name: str) -> list:
    """The values of a column, each once."""
    return list(dict.fromkeys(row[name] for row in rows))


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """A table of cells that are already words."""
    columns = [Column(str(i), head) for i, head in enumerate(heads)]
    rows = [{column.name: cell for column, cell in zip(columns, line, strict=True)} for line in lines]
    return Table(columns, rows).markdown()
