"""Numbers of papers, kept as data files of this package; data/README.md names the sources."""

import csv
from importlib import resources


def rows(name: str) -> list[dict[str, str]]:
    """The lines of the data file `name`.csv."""
    text = (resources.files(__package__) / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
