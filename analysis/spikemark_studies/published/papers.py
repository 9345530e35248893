"""Numbers of papers, kept as data files of this package; data/README.md names the sources."""

import csv
from pathlib import Path


def path(name: str) -> Path:
    """The data file `name`.csv.

    Example:
        >>> path("du_table2").name
        'du_table2.csv'
    """
    return Path(__file__).with_name("data") / f"{name}.csv"


def rows(name: str) -> list[dict[str, str]]:
    """The lines of a data file, by column; all values are text as it is printed.

    Example:
        >>> rows("shehzad_table2")[0]["mpi_s"]
        '117.94'
    """
    text = path(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
