"""A table as people read it: heads, kinds and cells, without the names and values behind them."""

from spikemark.quantities.table import Table


def heads(table: Table) -> list[str]:
    return [column.head for column in table.columns]


def kinds(table: Table) -> list[str]:
    return [column.kind for column in table.columns]


def lines(table: Table) -> list[dict[str, str]]:
    """One {head: cell} for each row; of columns with one head the last one counts."""
    return [dict(zip(heads(table), row, strict=True)) for row in table.cells]


def table(section, title: str) -> Table:
    """The table of the section that has this title."""
    return next(table for table in section.tables if table.title == title)
