"""What `spikemark partition` answers: methods side by side, or the loads of one placement."""

from typing import Any

import numpy as np

from spikemark.models.loggp import WORD_BYTES
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number

from .graph import Graph
from .methods import METHODS, divide
from .routing import Grid
from .traffic import Traffic

ROUTE = "A route is a neuron and another rank with a synapse of it. Numbers are expectations over networks."
EVEN = 1.1  # largest share of neurons over the mean of a placement that may be called the best


def load(values: np.ndarray, words: np.ndarray | None = None) -> dict[str, Any]:
    """A quantity of every rank, [ranks], and words in a window where it is sent or received. Without any load
    there is no ratio; a whole peak is an int."""
    peak, mean = float(values.max()), float(values.mean())
    found = {"mean": mean, "peak": int(peak) if peak.is_integer() else peak,
             "max_over_mean": peak / mean if mean > 0 else None}  # fmt: skip
    if words is not None:
        most = float(words.max())
        found |= {"words": most, "bytes": WORD_BYTES * most, "mean_words": float(words.mean())}
    return found


class Loads:
    """All loads of the ranks of a placement, by their names; words are those of so many cycles."""

    def __init__(self, found: Traffic, cycles: int, grid: Grid | None, merged: bool) -> None:
        self.found, self.cycles, self.grid, self.merged = found, cycles, grid, merged
        placed, words = found.placement, cycles * found.words
        rows = {"neurons": ("neurons", placed.per_rank)}
        if placed.weights is not None:
            rows["neurons_over_weight"] = "neurons / weight", placed.per_rank / placed.weights
        rows["sent"] = "routes from here", found.sent, words.sum(axis=1)
        rows["received"] = "routes to here", found.pairs.sum(axis=0), words.sum(axis=0)
        rows["connections"] = "ranks sent to", found.partners
        rows["connections_busy"] = "with a word in a window", (words >= 1).sum(axis=1)
        if grid is not None:
            hops = [*zip(found.hops(grid, merged), found.hops(grid, merged, cycles), strict=True)]
            for at, (route, word) in enumerate(hops, 1):
                rows[f"level_{at}_sent"] = f"level {at}, sent", route.sent, word.sent
                if at > 1:
                    head = f"level {at}, sent on for others"
                    rows[f"level_{at}_forwarded"] = head, route.forwarded, word.forwarded
            total = (sum(hop.sent + hop.received for hop in each) for each in zip(*hops, strict=True))
            rows["total"] = "sent and received, all levels", *total
            rows["level_connections"] = "ranks sent to, all levels", sum(hop.partners for hop, _ in hops)
        self.rows = {name: {"head": head, **load(*of)} for name, (head, *of) in rows.items()}

    def table(self) -> Table:
        """One row for each load."""
        columns = [Column("head", "load of a rank")]
        columns += [Column(name, name, "modelled", 4) for name in ("peak", "mean")]
        columns += [Column("max_over_mean", "peak / mean", "modelled", 4),
                    Column("words", "peak, words per window", "modelled"),
                    Column("bytes", "bytes per window", "modelled")]  # fmt: skip
        window = "a cycle" if self.cycles == 1 else f"{self.cycles} cycles"
        notes = [ROUTE, f"A window is {window}; a word has {WORD_BYTES} bytes."]
        notes += [f"Words and bytes rest on assumed {line}." for line in self.found.graph.assumed]
        if self.grid is not None:
            sizes, more = "x".join(map(str, self.grid.sizes)), ", merged" * self.merged
            notes.append(f"Levels {sizes}: bridges on the {self.grid.side}'s side{more}.")
        title = f"Traffic of {self.found.placement.method}"
        return Table(columns, list(self.rows.values()), title, "traffic", notes)

    def content(self, seed: int) -> dict[str, Any]:
        """The loads for JSON."""
        graph, placed, grid = self.found.graph, self.found.placement, self.grid
        return {
            "kind": "traffic", "format_version": 1, "ranks": placed.ranks, "neurons": graph.neurons,
            "method": placed.method, "side": grid.side if grid else "sender", "merged": self.merged,
            "delay_ratio": self.cycles, "seed": seed, "levels": list(grid.sizes) if grid else [],
            "cycle_ms": graph.cycle_ms, "assumed": graph.assumed,
            "loads": {name: {k: v for k, v in row.items() if k != "head"} for name, row in self.rows.items()},
        }  # fmt: skip


def compared(
    graph: Graph, ranks: int, seed: int = 1, weights: np.ndarray | None = None
) -> tuple[Traffic, list[str], Table]:
    """The traffic of the best of all methods that can place the graph here, two sentences (which it is, and
    what it is worth beside dealing neurons), and a row for each method, the best first.

    The best has the lowest peak of those whose largest rank has at most EVEN times its share of neurons; if
    there is none, the most even one is the best.
    """
    usable = (name for name, m in METHODS.items() if m.here and (m.weighted or weights is None))
    made = [Traffic(graph, divide(graph, ranks, name, seed, weights)) for name in usable]
    made.sort(key=lambda each: (max(EVEN, each.placement.balance), each.sent.max()))
    rows = {each.placement.method: {
        "method": each.placement.method, **load(each.sent),
        "neurons_max_over_mean": each.placement.balance, "connections": float(each.partners.mean()),
    } for each in made}  # fmt: skip
    name, best = next(iter(rows.items()))
    said = [
        f"Best: {name}. Its busiest rank sends {number(best['peak'])} routes; its largest rank has"
        f" {number(best['neurons_max_over_mean'])} times its share of neurons."
    ]
    dealt = rows["round_robin"]["peak"]
    if dealt and name != "round_robin":
        change = f"{number(100 * (1 - best['peak'] / dealt))} % less than with neurons dealt one by one"
        said.append(f"That is {change}, on {ranks} ranks.")
    columns = [
        Column("method", "method"), Column("peak", "peak traffic (routes)", "modelled", 4),
        Column("max_over_mean", "peak / mean", "modelled"),
        Column("neurons_max_over_mean", "neurons, largest / share", "counted"),
        Column("connections", "ranks sent to (mean)", "modelled"),
    ]  # fmt: skip
    absent = ", ".join(f"{n} (pip install {m.library})" for n, m in METHODS.items() if not m.here)
    notes = [ROUTE, f"Best: the lowest peak among those with at most {EVEN:g} times the share on a rank."]
    notes += [f"Not installed: {absent}"] if absent else []
    return made[0], said, Table(columns, list(rows.values()), "Methods", "methods", notes)
