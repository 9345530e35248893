"""Tables of what one slow node costs each schedule."""

from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change

from .slow_node import RANKS, SLOWER, WAYS, error, quantity

MICRO, PER_CENT = 1e6, 100.0
COSTS_NOTE = (
    "Run time over that of equal nodes, minus 1. Intervals: what the profile does not know, moved for all"
    " nodes alike; most of it is how much cycle times scatter (jitter.cv). A large scatter hides a slow node,"
    " since ranks wait for each other anyway."
)
ASKED_NOTE = (
    "`whatif` has the cycle times of a conventional run on equal nodes, drawn as the profile says that they"
    " scatter. It keeps them for all schedules, and does not know that areas on ranks of their own shorten"
    " delivery. Its intervals are those of its cycle times. Error: its number over that of `predict` - 1."
)


def costs(found: dict[str, Any], kind: str) -> Table:
    """One row for each schedule: the run time on equal nodes, and what a slow node adds to it."""
    rows = []
    for way in (way for way in WAYS if way.words in found):
        kept = found[way.words]
        cycles = 1 / kept["cycle_s"]
        row = {"schedule": way.words, "equal": quantity(kept["model"], "runtime", 1).times(cycles)}
        for factor in SLOWER:
            row[f"cost{factor:g}"] = quantity(kept["model"], "cost", factor).times(PER_CENT)
        rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("equal", "real-time factor, equal nodes", kind),
        *(Column(f"cost{f:g}", f"one node takes {f:g} times as long (%)", kind, 2) for f in SLOWER),
    ]
    return Table(columns, rows, f"What one slow node in {RANKS} costs", "slow_node", [COSTS_NOTE])


def beside(found: dict[str, Any], kind: str) -> Table:
    """One row for each schedule and factor: `predict` and `whatif`."""
    rows = []
    for way in (way for way in WAYS if way.words in found):
        model, asked = found[way.words]["model"], found[way.words]["whatif"]
        for factor in SLOWER:
            row = {"schedule": way.words, "slower": factor}
            for name, kept in ("model", model), ("whatif", asked):
                row[f"{name}_us"] = _scaled(quantity(kept, "waiting", factor), MICRO)
                row[f"{name}_cost"] = _scaled(quantity(kept, "cost", factor), PER_CENT)
            for what in "us", "cost":
                row[f"off_{what}"] = error(row[f"whatif_{what}"], row[f"model_{what}"])
            rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("slower", "slow node takes", "given", words=lambda x: f"{x:g} times"),
        Column("model_us", "waiting (µs per cycle), predict", kind),
        Column("whatif_us", "whatif", kind),
        Column("off_us", "error (%)", kind, 2),
        Column("model_cost", "cost (%), predict", kind),
        Column("whatif_cost", "whatif", kind),
        Column("off_cost", "error (%)", kind, 2),
    ]
    return Table(columns, rows, "`whatif` from equal nodes, beside `predict`", "whatif", [ASKED_NOTE])


def _scaled(value, factor: float):
    return value.times(factor) if value else value


def sentence(found: dict[str, Any], factor: float = 1.2) -> str | None:
    """What the slow node costs the first schedule and the one that it costs most."""
    costs = {name: quantity(kept["model"], "cost", factor) for name, kept in found.items()}
    if len(costs) < 2:
        return None
    first, most = next(iter(costs)), max(costs, key=lambda name: costs[name].value)
    least, worst = (change(1 + costs[name].value) for name in (first, most))
    return (
        f"One node of {RANKS} that takes {factor:g} times as long costs {least} run time under {first}, and"
        f" {worst} under {most}."
    )
