"""Columns that tables of several sections share, and ways to write their numbers."""

from collections.abc import Sequence
from functools import partial

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column
from spikemark.quantities.words import percent

SCHEDULE = Column("schedule", "schedule", "given")
LABEL = {SCHEDULE: lambda item: item.configuration.label}  # of whatever has a configuration
RANKS = Column("ranks", "ranks", "given")
THREADS = Column("threads", "threads", "given")
SEED = Column("seed", "seed", "given", words=str)
REPETITION = Column("repetition", "repetition", "given")
RUNS = Column("runs", "runs", "counted")
PAIRS = Column("pairs", "pairs", "counted")
WAITS = Column("waits", "ranks wait")  # where: Run.waits

per_cent = partial(percent, digits=1)


def share(name: str, head: str, kind: str, digits: int = 1) -> Column:
    """Makes a column of shares, written as per cent."""
    return Column(name, head, kind, words=partial(percent, digits=digits))


def without(reason: str, said: bool = True) -> Quantity:
    """Makes a cell without a number; it shows the reason if that is to be `said`."""
    return missing(reason, mark=f"missing: {reason}" if said else "missing")


def extent(values: Sequence[float]) -> tuple[float, float]:
    """Returns the smallest and the largest."""
    return min(values), max(values)


def known(value: float | None, reason: str) -> float | Quantity:
    """Returns the number, or a cell that gives the reason why it is missing."""
    return missing(reason) if value is None else value
