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
    columns = [
        Column("cause", "cause of long cycles"),
        Column("share", "share, and interval of 95 %", words=_percent),
        Column("kind", "kind"),
        Column("meaning", "what it is"),
    ]
    rows = [
        {"cause": c.name, "share": c.share, "kind": c.share.kind, "meaning": c.meaning} for c in found.causes
    ]
    beyond = f"{number(1e3 * found.long_s)} ms beyond the usual, all ranks together"
    title = f"{counted(found.long_cycles, 'rare long cycle')}, {beyond}"
    shown = [Table(columns, rows, title, notes=[] if found.coincidences else notes)]
    if found.coincidences:
        columns = [
            Column("count", "counted more often beside them"),
            Column("with", "per second, with a long cycle", "counted"),
            Column("without", "without", "counted"),
            Column("share", "share that coincides", "modelled", words=_percent),
        ]
        rows = [
            {
                "count": f"{c.name} ({c.source})",
                "with": c.with_loss,
                "without": c.without,
                "share": c.share,
            }
            for c in found.coincidences
        ]
        shown.append(Table(columns, rows, notes=notes))
    return shown
