"""Tables of docs/ that are computed from models and profiles, or measured with programs of their own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.quantities.table import Table
from spikemark.studies import prediction_checks

from . import faults, growth, keep, scaling
from .stored import Stored

PROFILES = "from the profiles in machines/"


@dataclass(frozen=True)
class Family:
    """Tables that are stored together. `source` says what they come from."""

    tables: Callable[[], Iterator[Table]]
    kind: str
    markdown: Callable[[Table], str]
    source: Callable[[], str]


TABLES = {
    "prediction": Family(
        prediction_checks.tables,
        "modelled",
        prediction_checks.markdown,
        lambda: "from the profiles in machines/",
    ),
    "growth": Family(growth.tables, "measured", Table.markdown, growth.machine),
    "scaling": Family(scaling.tables, "modelled", Table.markdown, growth.machine),
    "faults": Family(faults.tables, "counted", Table.markdown, faults.machine),
}


def store(name: str) -> Stored:
    """Computes the tables of that name and stores them. Raises BadInput naming all."""
    if name not in TABLES:
        raise BadInput(f"tables {name!r} not found: one of {', '.join(TABLES)}")
    family, command = TABLES[name], f"python -m spikemark.documents {name}"
    made_of = list(family.tables())
    return keep.tables(name, family.kind, made_of, command, family.markdown, family.source())
