"""Tables of what unequal nodes cost each schedule."""

import itertools
from collections.abc import Callable
from typing import Any

from spikemark.quantities.quantity import Quantity
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

    def cost(variant: str) -> Callable[[str], Quantity]:
        return lambda way: kept.quantity(found[way]["predict"], f"cost {variant}", PER_CENT)

    columns = {
        Column("schedule", "schedule", "given"): lambda way: way,
        Column("base", f"real-time factor, {setting.base}", kind): lambda way: kept.quantity(
            found[way]["predict"], f"runtime {setting.base}"
        ),
    } | {Column(other, f"{_head(setting, other)} (%)", kind, 2): cost(other) for other in setting.others}
    return Table.of(columns, found, title, name, [COSTS_NOTE])


def _head(setting: Setting, variant: str) -> str:
    slower = setting.variants[variant].slower
    return variant if slower is None else f"one node takes {slower:g} times as long"


def beside(setting: Setting, found: Found, kind: str, name: str, title: str) -> Table:
    """One row for each schedule and variant: `predict` and `whatif`."""
    columns = {
        Column("schedule", "schedule", "given"): lambda row: row[0],
        Column("variant", "nodes", "given"): lambda row: _head(setting, row[1]),
    }
    for what, head, factor in (
        ("waiting", "waiting (µs per cycle)", MICRO * CYCLE_S), ("cost", "cost (%)", PER_CENT)
    ):  # fmt: skip
        predict, whatif = (_of(found, method, what, factor) for method in ("predict", "whatif"))
        columns |= {
            Column(f"predict_{what}", f"{head}, predict", kind): predict,
            Column(f"whatif_{what}", "whatif", kind): whatif,
            Column(f"off_{what}", "error (%)", kind, 2): lambda row, one=whatif, other=predict: kept.error(
                one(row), other(row)
            ),
        }
    return Table.of(columns, itertools.product(found, setting.others), title, name, [ASKED_NOTE])


def _of(found: Found, method: str, what: str, factor: float) -> Callable[[tuple[str, str]], Quantity]:
    return lambda row: kept.quantity(found[row[0]][method], f"{what} {row[1]}", factor)


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
