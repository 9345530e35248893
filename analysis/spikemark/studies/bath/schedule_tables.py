"""Tables of what unequal nodes cost each schedule."""

from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change

from . import kept
from .settings import Setting

MICRO, PER_CENT = 1e6, 100.0
CYCLE_S = 1e-4  # of the benchmark
Found = dict[str, dict[str, Any]]
COSTS_NOTE = (
    "Run time over that of the first column, minus 1. Intervals: what the profiles do not know, moved for all"
    " nodes of a profile alike; most of it is how much cycle times scatter (jitter.cv). A large scatter hides"
    " a slow node, since ranks wait for each other anyway."
)
ASKED_NOTE = (
    "`whatif` has the cycle times of a conventional run on equal nodes, drawn as the profile says that they"
    " scatter. It keeps them for all schedules, and does not know that areas on ranks of their own shorten"
    " delivery. Its intervals are those of its cycle times. Error: its number over that of `predict` - 1."
)


def costs(setting: Setting, found: Found, kind: str, name: str, title: str) -> Table:
    """One row for each schedule: the run time of the first variant, and what the others add to it."""
    rows = []
    for way, result in found.items():
        numbers = result["predict"]
        row = {"schedule": way, "base": kept.quantity(numbers, f"runtime {setting.base}")}
        row |= {other: kept.quantity(numbers, f"cost {other}", PER_CENT) for other in setting.others}
        rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("base", f"real-time factor, {setting.base}", kind),
        *(Column(other, f"{_head(setting, other)} (%)", kind, 2) for other in setting.others),
    ]
    return Table(columns, rows, title, name, [COSTS_NOTE])


def _head(setting: Setting, variant: str) -> str:
    slower = setting.variants[variant].slower
    return variant if slower is None else f"one node takes {slower:g} times as long"


def beside(setting: Setting, found: Found, kind: str, name: str, title: str) -> Table:
    """One row for each schedule and variant: `predict` and `whatif`."""
    rows = []
    for way, result in found.items():
        for other in setting.others:
            row = {"schedule": way, "variant": _head(setting, other)}
            for what, factor in ("waiting", MICRO * CYCLE_S), ("cost", PER_CENT):
                for method in "predict", "whatif":
                    row[f"{method}_{what}"] = kept.quantity(result[method], f"{what} {other}", factor)
                row[f"off_{what}"] = kept.error(row[f"whatif_{what}"], row[f"predict_{what}"])
            rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("variant", "nodes", "given"),
        Column("predict_waiting", "waiting (µs per cycle), predict", kind),
        Column("whatif_waiting", "whatif", kind),
        Column("off_waiting", "error (%)", kind, 2),
        Column("predict_cost", "cost (%), predict", kind),
        Column("whatif_cost", "whatif", kind),
        Column("off_cost", "error (%)", kind, 2),
    ]
    return Table(columns, rows, title, name, [ASKED_NOTE])


def sentence(setting: Setting, found: Found, variant: str) -> str | None:
    """What a slow node costs the first schedule and the one that it costs most."""
    costs = {way: kept.quantity(result["predict"], f"cost {variant}") for way, result in found.items()}
    if len(costs) < 2:
        return None
    first, most = next(iter(costs)), max(costs, key=lambda way: costs[way].value)
    least, worst = (change(1 + costs[way].value) for way in (first, most))
    return (
        f"One node of {setting.ranks} that takes {variant} times as long costs {least} run time under"
        f" {first}, and {worst} under {most}."
    )
