"""The noise of nodes as tables."""

from functools import partial

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import microseconds, number, percent

from .noise import NodeNoise

_percent = partial(percent, digits=1)
COLUMNS = {
    Column("core", "core"): lambda core: str(core.core),
    Column("lost", "time lost", "measured", words=_percent): lambda core: core.lost,
    Column("switched", "to other processes", "measured", words=_percent): lambda core: core.switched,
    Column("slower", "work slower by", "measured", words=_percent): lambda core: core.slower,
    Column("detours", "detours per s", "measured"): lambda core: core.detours_per_second,
    Column("median", "median", "measured", words=microseconds): lambda core: core.median_s,
    Column("q99", "99 %", "measured", words=microseconds): lambda core: core.q99_s,
    Column("largest", "largest", "measured", words=microseconds): lambda core: core.largest_s,
    Column("counts", "the kernel counted, per s", "counted"): lambda core: ", ".join(
        f"{c.name} {number(c.per_second)}" for c in core.counts[:SHOWN]
    ),
}
MOST_PROCESSES = 5
SHOWN = 3  # counts of a core
MOST_CORES = 32  # of a node; of more, those that lost the most


def tables(nodes: list[NodeNoise]) -> list[Table]:
    """One table for each node."""
    return [_table(node) for node in nodes]


def _table(node: NodeNoise) -> Table:
    worst = sorted(node.cores, key=lambda core: -core.lost)[:MOST_CORES]
    shown = [core for core in node.cores if core in worst]
    notes = []
    if len(worst) < len(node.cores):
        notes = [f"of {len(node.cores)} cores, the {MOST_CORES} that lost the most are shown; --json has all"]
    notes += [
        f"ran meanwhile: {p['name']} (process {p['pid']}), last on core {p['core']}: {p['used_s']:.2f} s"
        for p in node.processes[:MOST_PROCESSES]
    ]
    notes += [f"could not be seen: {line}" for line in node.blind]
    return Table.of(COLUMNS, shown, f"{node.node}, {node.seconds:g} s", notes=notes)
