"""What made the rare long cycles of runs long, one row for each configuration whose runs kept it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from spikemark.quantities.table import Column, Table
from spikemark.records.gather import Configuration
from spikemark.waiting.causes import MEANING, NOT_SEEN, Causes

from .columns import LABEL, per_cent, share

MEANT = "Shares of what these cycles took beyond the usual, of all ranks together; means over the runs."


class Explained(Protocol):
    """Whatever has a configuration and the causes of its runs."""

    configuration: Configuration
    causes: tuple[Causes, ...]


def table(bars: Sequence[Explained], title: str) -> Table | None:
    """A row for each of `bars` that has long cycles with causes; None if none has any."""
    kept = [bar for bar in bars if any(one.long_cycles for one in bar.causes)]
    if not kept:
        return None
    columns = {Column("cycles", "long cycles of a run", "counted"): _number_of_cycles}
    for name, kind in (*((name, "measured") for name in MEANING), (NOT_SEEN, "modelled")):
        columns[share(name, name, kind)] = lambda bar, name=name: _share(bar, name)
    columns[Column("coincides", "coincides with", "modelled")] = _named
    blind = dict.fromkeys(line for bar in kept for one in bar.causes for line in one.blind)
    notes = [MEANT, *(f"{name}: {words}." for name, words in MEANING.items())]
    notes += [f"Could not be seen: {line}." for line in blind]
    return Table.of(LABEL | columns, kept, title, notes=notes)


def _number_of_cycles(bar: Explained) -> float:
    return float(np.mean([one.long_cycles for one in bar.causes]))


def _share(bar: Explained, name: str) -> float:
    """The mean share of a cause over the runs that have long cycles."""
    runs = [{cause.name: cause.share.value for cause in one.causes} for one in bar.causes if one.long_cycles]
    return float(np.mean([shares.get(name, 0.0) for shares in runs]))


def _named(bar: Explained) -> str:
    """The counts of nodes that coincide with long cycles, the largest mean share first."""
    known = (*MEANING, NOT_SEEN)
    names = dict.fromkeys(c.name for one in bar.causes for c in one.causes if c.name not in known)
    shares = sorted(((_share(bar, name), name) for name in names), reverse=True)
    return ", ".join(f"{name} {per_cent(value)}" for value, name in shares) or "nothing"
