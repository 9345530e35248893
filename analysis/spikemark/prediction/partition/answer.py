"""What `spikemark partition` answers: methods side by side, or the loads of one placement."""

from typing import Any

import numpy as np

from spikemark.network.placement_file import Placement
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number

from .graph import Graph
from .methods import METHODS, divide
from .traffic import WORD, Traffic

ROUTE = "A route is a neuron and another rank with a synapse of it. Numbers are expectations over networks."
EVEN = 1.1  # largest share of neurons over the mean of a placement that may be called the best


def row_of(found: Traffic) -> dict[str, Any]:
    """A row of the table of methods, and for JSON."""
    peak, mean = float(found.sent.max()), float(found.sent.mean())
    return {
        "method": found.placement.method, "peak": peak, "mean": mean,
        "max_over_mean": peak / mean if mean > 0 else None,
        "neurons_max_over_mean": found.placement.balance, "connections": float(found.partners().mean()),
    }  # fmt: skip


def compared(
    graph: Graph, ranks: int, seed: int = 1, weights: np.ndarray | None = None
) -> tuple[dict[str, dict[str, Any]], Traffic]:
    """Rows of all methods that can place the graph here, the best first, and the traffic of the best.

    The best has the lowest peak of those whose largest rank has at most EVEN times its share of neurons; if
    there is none, the most even one is the best.
    """
    found = {}
    for name, method in METHODS.items():
        if method.here and (weights is None or method.weighted):
            traffic = Traffic(graph, divide(graph, ranks, name, seed, weights))
            found[name] = row_of(traffic), traffic

    def cost(name: str) -> tuple[float, float]:
        row = found[name][0]
        return max(EVEN, row["neurons_max_over_mean"]), row["peak"]

    order = sorted(found, key=cost)
    return {name: found[name][0] for name in order}, found[order[0]][1]


def screen(rows: dict[str, dict[str, Any]], ranks: int) -> tuple[list[str], Table]:
    """The answer in two sentences (the best method, and what it is worth beside dealing neurons), and a row
    for each method."""
    name, best = next(iter(rows.items()))
    said = [
        f"Best: {name}. Its busiest rank sends {number(best['peak'])} routes; its largest rank has"
        f" {number(best['neurons_max_over_mean'])} times its share of neurons."
    ]
    dealt = rows.get("round_robin", best)["peak"]
    if dealt and name != "round_robin":
        change = number(100 * (1 - best["peak"] / dealt))
        said.append(f"That is {change} % less than with neurons dealt one by one, on {ranks} ranks.")
    columns = [
        Column("method", "method"), Column("peak", "peak traffic (routes)", "modelled", 4),
        Column("max_over_mean", "peak / mean", "modelled"),
        Column("neurons_max_over_mean", "neurons, largest / share", "counted"),
        Column("connections", "ranks sent to (mean)", "modelled"),
    ]  # fmt: skip
    absent = ", ".join(f"{n} (pip install {m.library})" for n, m in METHODS.items() if not m.here)
    notes = [ROUTE, f"Best: the lowest peak among those with at most {EVEN:g} times the share on a rank."]
    notes += [f"Not installed: {absent}"] if absent else []
    return said, Table(columns, list(rows.values()), "Methods", "methods", notes)


def loads_table(
    rows: list[dict[str, Any]], placement: Placement, graph: Graph, cycles: int, how: str
) -> Table:
    """One row for each load of one placement."""
    columns = [Column("head", "load of a rank")]
    columns += [Column(name, name, "modelled", 4) for name in ("peak", "mean")]
    columns += [Column("max_over_mean", "peak / mean", "modelled", 4),
                Column("words", "peak, words per window", "modelled"),
                Column("bytes", "bytes per window", "modelled")]  # fmt: skip
    window = "a cycle" if cycles == 1 else f"{cycles} cycles"
    notes = [ROUTE, f"A window is {window}; a word has {WORD} bytes."]
    notes += [f"Words and bytes rest on assumed {line}." for line in graph.assumed]
    return Table(columns, rows, f"Traffic of {placement.method}", "traffic", notes + [how] * bool(how))


def content(rows: list[dict[str, Any]], placement: Placement, graph: Graph, **more: Any) -> dict[str, Any]:
    """The loads of a placement for JSON."""
    return {
        "kind": "traffic", "format_version": 1, "ranks": placement.ranks, "neurons": graph.neurons,
        "method": placement.method, **more, "cycle_ms": graph.cycle_ms, "assumed": graph.assumed,
        "loads": {row["load"]: {k: v for k, v in row.items() if k not in ("load", "head")} for row in rows},
    }  # fmt: skip
