"""The comparison as a table, and what to know about it."""

from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number, percent

from .content import Content, Estimated
from .programs import REFERENCE
from .table import COMPARED

AHEAD = "mini-app ahead by (factor)"


def table(content: Content) -> Table:
    """Rows: quantities by threads, then scaling. Columns: each program, and the factor beside each peer.

    Medians are over rounds; factors have their interval in parentheses, and `*` where a round was disturbed.
    """
    medians = {(m.program, m.threads, m.quantity): m for m in content.medians}
    factors = {(f.peer, f.threads, f.quantity): f for f in content.factors}
    gains = {(g.program, g.threads, g.over): g for g in content.scaling}
    columns = [Column("what", ""), Column("threads", "threads", "given")]
    for program in content.programs:
        columns.append(Column(program.name, program.title, "measured"))
        if program.name != REFERENCE:
            columns.append(Column(_factor_of(program.name), AHEAD, "measured"))
    names = [program.name for program in content.programs]
    rows = []
    for compared in COMPARED:
        for threads in sorted({m.threads for m in content.medians}):
            row: dict[str, Cell] = {"what": f"{compared.title} ({compared.unit})", "threads": threads}
            for name in names:
                row[name] = _median(medians.get((name, threads, compared.name)), compared.unit)
                row[_factor_of(name)] = _factor(factors.get((name, threads, compared.name)))
            rows.append(row)
    for threads, over in sorted({(g.threads, g.over) for g in content.scaling}):
        row = {"what": f"speed, over {counted(over, 'thread')}", "threads": threads}
        for name in names:
            row[name] = _factor(gains.get((name, threads, over)))
            row[_factor_of(name)] = "–"
        rows.append(row)
    return Table(columns, rows, "The mini-app and its peers")


def _factor_of(program: str) -> str:
    return f"ahead_of_{program}"


def _median(found: Estimated | None, unit: str) -> Cell:
    known = found.with_unit(unit) if found else missing("not measured", unit)
    return known.value if known else known


def _factor(found: Estimated | None) -> Cell:
    return found.with_unit("") if found else missing("not measured")


def notes(content: Content) -> list[str]:
    """What a reader of the figures must know, one line each."""
    lines = []
    for program in content.programs:
        title = program.title
        if program.version is not None:
            lines.append(f"{title}: version {program.version}, {number(program.mean_rate_hz)} spikes/s")
        if program.note:
            lines.append(f"{title}: {program.note}")
        if program.baseline_bytes and program.synapses:
            share = program.baseline_bytes / program.synapses
            lines.append(
                f"{title}: {number(share)} B / synapse of its memory exists before the network is built"
            )
    levels = [f.confidence for f in content.factors if f.confidence]
    if levels:
        lines.append(f"intervals contain the median with a confidence of at least {percent(min(levels))}")
    else:
        lines.append("no intervals: they need at least two rounds")
    return lines


def disturbances(content: Content) -> list[str]:
    """One line if others used the machine during measurements, with the trials that they disturbed."""
    titles = {program.name: program.title for program in content.programs}
    lines = [
        f"{titles[m.program]}, {counted(m.threads, 'thread')}: {m.disturbed} of {counted(m.rounds, 'round')}"
        for m in content.medians
        if m.quantity == COMPARED[0].name and m.disturbed
    ]
    if not lines:
        return []
    limit = content.conditions["foreign_limit"]
    return [f"Disturbed (*), others kept more than {limit} cores busy in each attempt: {'; '.join(lines)}."]
