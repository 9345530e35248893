"""Every planned run and its outcome."""

from collections.abc import Callable

from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.cases import View
from spikemark.records.gather import Measured, Planned, Sweep
from spikemark.records.order import span
from spikemark.report import machine_parts
from spikemark.report.ranks_on_nodes import ranks_on_nodes


def section(view: View) -> Section:
    """Lists the runs in the order of the plan."""
    sweep = view.sweep
    whole = {m.planned.id: m for m in sweep.runs}
    state = {p.id: "complete" if p.id in whole else _state(sweep, p.id) for p in sweep.planned}

    def of_run(read: Callable[[Measured], Cell]) -> Callable[[Planned], Cell]:
        return lambda p: read(whole[p.id]) if p.id in whole else missing(state[p.id])

    turn = {m.planned.id: i + 1 for i, m in enumerate(sorted(sweep.runs, key=lambda m: span(m.run)[0]))}
    columns = {
        Column("run", "run", "given"): lambda p: p.label,
        Column("state", "state"): lambda p: state[p.id],
        Column("factor", "real-time factor", view.kind): of_run(lambda m: m.real_time_factor),
        Column("checksum", "checksum", "counted"): of_run(lambda m: m.run.record.checksum),
    }
    if not sweep.simulated:
        columns[Column("turn", "begun as", "measured")] = of_run(lambda m: turn[m.planned.id])
    if any(m.run.record.host.nodes > 1 for m in sweep.runs):
        columns[Column("nodes", "ranks on nodes", view.kind)] = of_run(lambda m: ranks_on_nodes(m.run))
    table = Table.of(columns, sweep.planned, f"All {len(sweep.planned)} planned runs")
    broken = [f"{p.label}: {state[p.id]}" for p in sweep.planned if p.id in sweep.failed | sweep.unreadable]
    text = [
        f"{sweep.progress}. Runs are made in shuffled order (seed {sweep.shuffle_seed}), that of the table."
    ]
    tables = [table, *filter(None, [machine_parts.table(sweep.runs)])]
    return Section("runs", "Runs", text=text, tables=tables, missing=broken)


def _state(sweep: Sweep, run: str) -> str:
    if run in sweep.failed:
        return f"failed: {sweep.failed[run]}"
    return f"unreadable: {sweep.unreadable[run]}" if run in sweep.unreadable else "not run yet"
