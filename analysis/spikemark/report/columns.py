"""Columns that tables of several sections share, and ways to write their numbers."""

from functools import partial

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column
from spikemark.quantities.words import percent

SCHEDULE = Column("schedule", "schedule", "given")
RANKS = Column("ranks", "ranks", "given")
THREADS = Column("threads", "threads", "given")
SEED = Column("seed", "seed", "given", words=str)
REPETITION = Column("repetition", "repetition", "given")
RUNS = Column("runs", "runs", "counted")
PAIRS = Column("pairs", "pairs", "counted")

per_cent = partial(percent, digits=1)


def share(name: str, head: str, kind: str, digits: int = 1) -> Column:
    """A column of shares, written as per cent."""
    return Column(name, head, kind, words=partial(percent, digits=digits))


def several(names: dict[str, str], kind: str, digits: int = 3) -> list[Column]:
    """Columns of one kind of number; `names`: name and head of each."""
    return [Column(name, head, kind, digits) for name, head in names.items()]


def without(reason: str, said: bool = True) -> Quantity:
    """A cell without a number, with the reason in the cell where it is `said`."""
    return missing(reason, mark=f"missing: {reason}" if said else "missing")


def known(value: float | None, reason: str) -> float | Quantity:
    """The number, or a cell that lacks it for that reason."""
    return missing(reason) if value is None else value
