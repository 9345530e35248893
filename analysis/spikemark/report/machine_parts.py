"""What ranks did on each part of a simulated machine of unequal parts: a table with a row for each."""

from typing import Any

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.gather import SIMULATED, Measured

COLUMNS = [
    Column("run", "run", "given"),
    Column("part", "part", "given"),
    Column("ranks", "ranks", "given"),
    Column("nodes", "nodes", "given"),
    Column("computing_s", "computing (s per simulated s)", SIMULATED),
    Column("waiting_s", "waiting (s per simulated s)", SIMULATED),
    Column("power_w", "power (W)", "modelled"),
    Column("energy_j", "energy (J per simulated s)", "modelled"),
    Column("energy_per_event_uj", "energy per own synaptic event (µJ)", "modelled"),
]
TITLE = "By part of the machine: means over the ranks of the part"


def table(runs: list[Measured]) -> Table | None:
    """A row for each part of each run; None where no run was simulated on a machine of parts."""
    rows = [row for m in runs for row in _rows(m)]
    return Table(COLUMNS, rows, TITLE) if rows else None


def _rows(m: Measured) -> list[dict[str, Cell]]:
    found, first = [], 0
    for name, own in m.simulation.get("parts", {}).items():
        ranks = slice(first, first + own["ranks"])
        first = ranks.stop
        found.append({
            "run": m.planned.label,
            "part": name,
            "ranks": own["ranks"],
            "nodes": own["nodes"],
            **_times(m, ranks),
            **_energy(m, name),
        })  # fmt: skip
    return found


def _times(m: Measured, ranks: slice) -> dict[str, Cell]:
    """Computing and waiting of these ranks, s per simulated s."""
    if m.run.cycles is None:
        return dict.fromkeys(("computing_s", "waiting_s"), missing("cycles were not recorded"))
    model_s, waiting = m.run.record.timing.model_s, m.run.waiting()
    computing = float(m.run.compute()[ranks].sum(axis=1).mean()) / model_s
    if waiting is None:
        return {"computing_s": computing, "waiting_s": missing("waiting was not timed")}
    return {"computing_s": computing, "waiting_s": float(waiting[ranks].sum(axis=1).mean()) / model_s}


def _energy(m: Measured, part: str) -> dict[str, Quantity]:
    """Power and energy of the nodes of a part, as simulation.json has them."""
    known: dict[str, Any] = m.simulation.get("energy", {}).get("parts", {}).get(part, {})
    reason = known.get("reason") or "simulation.json does not say"
    found = {}
    for name, over in (("power_w", 1), ("energy_j", m.run.record.timing.model_s), ("energy_per_event_uj", 1)):
        value = known.get(name)
        found[name] = missing(reason) if value is None else Quantity(value / over, kind="modelled")
    return found
