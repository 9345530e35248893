"""Every planned run and its outcome."""

from spikemark.quantities.elements import Section
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.cases import View
from spikemark.records.gather import Measured, Planned, Sweep
from spikemark.report.columns import known


def section(view: View) -> Section:
    """Lists the runs in the order of the plan."""
    sweep = view.sweep
    whole = {m.planned.id: m for m in sweep.runs}
    columns = [
        Column("run", "run", "given"),
        Column("state", "state"),
        Column("factor", "real-time factor", view.kind),
        Column("checksum", "checksum", "counted"),
    ]
    rows = [_row(sweep, planned, whole.get(planned.id)) for planned in sweep.planned]
    table = Table(columns, rows, f"All {len(rows)} planned runs")
    missing = [
        f"{p.label}: {_state(sweep, p.id)}" for p in sweep.planned if p.id in sweep.failed | sweep.unreadable
    ]
    text = [f"{sweep.progress}. Runs are made in shuffled order (seed {sweep.shuffle_seed})."]
    return Section("runs", "Runs", text=text, tables=[table], missing=missing)


def _row(sweep: Sweep, planned: Planned, run: Measured | None) -> dict[str, Cell]:
    state = "complete" if run else _state(sweep, planned.id)
    return {
        "run": planned.label,
        "state": state,
        "factor": known(run.real_time_factor if run else None, state),
        "checksum": run.run.record.checksum if run else known(None, state),
    }


def _state(sweep: Sweep, run: str) -> str:
    if run in sweep.failed:
        return f"failed: {sweep.failed[run]}"
    return f"unreadable: {sweep.unreadable[run]}" if run in sweep.unreadable else "not run yet"
