"""The traffic of a placement as a table: peak, mean and largest over mean of every load."""

from dataclasses import dataclass

import numpy as np

from spikemark.network.placement_file import Placement
from spikemark.quantities.table import Column, Table

from . import levels
from .graph import Graph
from .traffic import WORD, Hits, Traffic, of_hits, unevenness


@dataclass(frozen=True)
class Asked:
    """How spikes travel: dimensions of the levels (none: directly), side of the bridges, merging, and D."""

    sizes: tuple[int, ...] = ()
    side: str = "sender"
    merged: bool = False
    delay_ratio: int = 1


@dataclass(frozen=True)
class Load:
    """A quantity of every rank [ranks]; `words` in a window where it is sent or received."""

    name: str
    head: str
    values: np.ndarray
    words: np.ndarray | None = None

    def content(self) -> dict[str, float | str | None]:
        """A row of the table, and for JSON; without any load there is no ratio. A whole peak is an int."""
        peak = float(self.values.max())
        found: dict[str, float | str | None] = {"load": self.name, "mean": float(self.values.mean())}
        found["peak"] = int(peak) if peak.is_integer() else peak
        found["max_over_mean"] = unevenness(self.values) if found["mean"] > 0 else None
        if self.words is not None:
            most = float(self.words.max())
            found |= {"words": most, "bytes": WORD * most, "mean_words": float(self.words.mean())}
        return found


def loads(graph: Graph, placement: Placement, asked: Asked) -> tuple[Traffic, list[Load]]:
    """The direct traffic, and all loads of the ranks. Raises BadInput as Hits and levels.loads."""
    hits = Hits(graph, placement)
    found = of_hits(hits, placement)
    cycles = asked.delay_ratio
    rows = [
        Load("neurons", "neurons", placement.per_rank),
        *_over_weight(placement),
        Load("sent", "routes from here", found.sent, cycles * found.words.sum(axis=1)),
        Load("received", "routes to here", found.received, cycles * found.words.sum(axis=0)),
        Load("connections", "ranks sent to", found.partners()),
        Load("connections_busy", "with a word in a window", found.partners(1.0, cycles)),
    ]
    if asked.sizes:
        rows += _of_levels(hits, found, asked)
    return found, rows


def _over_weight(placement: Placement) -> list[Load]:
    """The neurons of a rank over its weight, where ranks are not equal."""
    if placement.weights is None:
        return []
    return [Load("neurons_over_weight", "neurons / weight", placement.per_rank / placement.weights)]


def _of_levels(hits: Hits, found: Traffic, asked: Asked) -> list[Load]:
    how = asked.sizes, asked.side, asked.merged
    routes = levels.loads(hits, found.pairs, *how)
    per_window = asked.delay_ratio * 1e-3 * hits.graph.cycle_ms * hits.graph.rates_hz
    words = levels.loads(hits, asked.delay_ratio * found.words, *how, weight=per_window)
    rows = []
    for number, (route, word) in enumerate(zip(routes, words, strict=True), 1):
        rows.append(Load(f"level_{number}_sent", f"level {number}, sent", route.sent, word.sent))
        if number > 1:
            name = f"level {number}, sent on for others"
            rows.append(Load(f"level_{number}_forwarded", name, route.forwarded, word.forwarded))
    rows.append(Load("total", "sent and received, all levels", levels.total(routes), levels.total(words)))
    rows.append(Load("level_connections", "ranks sent to, all levels", levels.partners(routes)))
    return rows


def table(rows: list[Load], asked: Asked, method: str, graph: Graph) -> Table:
    """One row for each load."""
    heads = {load.name: load.head for load in rows}
    columns = [
        Column("load", "load of a rank", title=heads.__getitem__),
        Column("peak", "peak", "modelled", 4),
        Column("mean", "mean", "modelled", 4),
        Column("max_over_mean", "peak / mean", "modelled", 4),
        Column("words", "peak, words per window", "modelled"),
        Column("bytes", "bytes per window", "modelled"),
    ]
    window = "a cycle" if asked.delay_ratio == 1 else f"{asked.delay_ratio} cycles"
    how = "x".join(map(str, asked.sizes))
    notes = [
        "A route is a neuron and another rank with a synapse of it. Every number is an expectation over"
        f" networks. A window is {window}; a word has {WORD} bytes."
    ]
    notes += [f"Words and bytes rest on assumed {line}." for line in graph.assumed]
    if asked.sizes:
        merging = (
            "a spike goes to a bridge once" if asked.merged else "a spike goes to a bridge once per rank"
        )
        notes.append(f"Levels {how}: bridges on the {asked.side}'s side; {merging}.")
    return Table(columns, [row.content() for row in rows], f"Traffic of {method}", "traffic", notes)


def content(rows: list[Load], placement: Placement, asked: Asked, graph: Graph) -> dict:
    """The content for JSON."""
    return {
        "kind": "traffic",
        "format_version": 1,
        "ranks": placement.ranks,
        "neurons": graph.neurons,
        "method": placement.method,
        "levels": list(asked.sizes),
        "side": asked.side,
        "merged": asked.merged,
        "delay_ratio": asked.delay_ratio,
        "cycle_ms": graph.cycle_ms,
        "assumed": graph.assumed,
        "loads": {row.name: {k: v for k, v in row.content().items() if k != "load"} for row in rows},
    }
