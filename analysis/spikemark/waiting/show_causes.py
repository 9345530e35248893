"""What made long cycles long, as tables."""

from functools import partial

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent

from .causes import Causes

MOST_PROCESSES = 5
_percent = partial(percent, digits=1)
NOT_KEPT = "what made cycles long is not known: run again with record.kernel=true (docs/noise.md)"
NOT_OURS = (
    "what made cycles long is not known from times alone: `spikemark noise` on an idle node says what takes"
    " time from its cores (docs/noise.md)"
)


def tables(found: Causes | None) -> list[Table]:
    """What the rare long cycles were made of, and which counts rose with them; none if that is not known."""
    if found is None:
        return []
    notes = [f"ran beside the ranks: {line}" for line in found.processes[:MOST_PROCESSES]]
    notes += [f"could not be seen: {line}" for line in found.blind]
    columns = {
        Column("cause", "cause of long cycles"): lambda c: c.name,
        Column("share", "share, and interval of 95 %", words=_percent): lambda c: c.share,
        Column("kind", "kind"): lambda c: c.share.kind,
        Column("meaning", "what it is"): lambda c: c.meaning,
    }
    beyond = f"{number(1e3 * found.long_s)} ms beyond the usual, all ranks together"
    title = f"{counted(found.long_cycles, 'rare long cycle')}, {beyond}"
    shown = [Table.of(columns, found.causes, title, notes=[] if found.coincidences else notes)]
    if found.coincidences:
        columns = {
            Column("count", "counted more often beside them"): lambda c: f"{c.name} ({c.source})",
            Column("with", "per second, with a long cycle", "counted"): lambda c: c.with_loss,
            Column("without", "without", "counted"): lambda c: c.without,
            Column("share", "share that coincides", "modelled", words=_percent): lambda c: c.share,
        }
        shown.append(Table.of(columns, found.coincidences, notes=notes))
    return shown
