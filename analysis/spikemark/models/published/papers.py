"""Numbers of papers, kept as data files of this package; data/README.md names the sources."""

import csv
from pathlib import Path


def path(name: str) -> Path:
    """The data file `name`.csv."""
    return Path(__file__).with_name("data") / f"{name}.csv"


def rows(name: str) -> list[dict[str, str]]:
    """The lines of a data file."""
    return list(csv.DictReader(path(name).read_text(encoding="utf-8").splitlines()))
