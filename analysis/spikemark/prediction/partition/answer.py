"""What `spikemark partition` answers: methods side by side, or the loads of one placement."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.models.exchange_times import WORD_BYTES
from spikemark.network.placement_file import Placement
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number

from .graph import Graph
from .methods import METHODS, divide
from .routing import Grid
from .shares import EqualTimes
from .traffic import ExpectedTraffic

ROUTE = (
    "A route is a neuron and another rank with a synapse of it. Numbers are expectations over"
    " networks."
)
EVEN = 1.1  #: largest share of neurons over the mean of a placement that may be called the best
DEALT = "round_robin"  #: the method that others are compared with: neurons dealt one by one


def load_summary(values: np.ndarray, words: np.ndarray | None = None) -> dict[str, Any]:
    """Mean and peak of a quantity of every rank, [ranks].

    `words` [ranks] are those in a window, where it is sent or received. Without any load there is
    no ratio; a whole peak is an int.

    >>> load_summary(np.array([1.0, 3.0]))
    {'mean': 2.0, 'peak': 3, 'max_over_mean': 1.5}
    """
    peak = float(values.max())
    mean = float(values.mean())
    summary = {
        "mean": mean,
        "peak": int(peak) if peak.is_integer() else peak,
        "max_over_mean": peak / mean if mean > 0 else None,
    }
    if words is not None:
        most_words = float(words.max())
        summary["words"] = most_words
        summary["bytes"] = WORD_BYTES * most_words
        summary["mean_words"] = float(words.mean())
    return summary


class PlacementLoads:
    """All loads of the ranks of a placement, by their names.

    Args:
        traffic: of the placement.
        cycles: of a window; words are those of so many cycles.
        grid: for routing in levels.
        merged: whether a spike is sent to a bridge once.

    Attributes:
        rows: by the name of the load, its head and what `load_summary` says of it.
    """

    def __init__(
        self, traffic: ExpectedTraffic, cycles: int, grid: Grid | None, merged: bool
    ) -> None:
        self.traffic = traffic
        self.cycles = cycles
        self.grid = grid
        self.merged = merged
        self.rows: dict[str, dict[str, Any]] = {}
        self._add_neurons()
        self._add_direct()
        if grid is not None:
            self._add_levels(grid)

    def _add(
        self, name: str, head: str, values: np.ndarray, words: np.ndarray | None = None
    ) -> None:
        self.rows[name] = {"head": head, **load_summary(values, words)}

    def _add_neurons(self) -> None:
        """Neurons, and neurons over weights where ranks have some."""
        placement = self.traffic.placement
        self._add("neurons", "neurons", placement.per_rank)
        if placement.weights is not None:
            weighted = placement.per_rank / placement.weights
            self._add("neurons_over_weight", "neurons / weight", weighted)

    def _add_direct(self) -> None:
        """What ranks send to each other without levels."""
        traffic = self.traffic
        words = self.cycles * traffic.words
        self._add("sent", "routes from here", traffic.sent, words.sum(axis=1))
        self._add("received", "routes to here", traffic.pairs.sum(axis=0), words.sum(axis=0))
        self._add("connections", "ranks sent to", traffic.partners)
        busy = (words >= 1).sum(axis=1)
        self._add("connections_busy", "with a word in a window", busy)

    def _add_levels(self, grid: Grid) -> None:
        """What ranks send and forward in each level, and in all of them."""
        routes = self.traffic.hops(grid, self.merged)
        words = self.traffic.hops(grid, self.merged, self.cycles)
        for level, (route, word) in enumerate(zip(routes, words, strict=True), 1):
            self._add(f"level_{level}_sent", f"level {level}, sent", route.sent, word.sent)
            if level > 1:
                self._add(
                    f"level_{level}_forwarded",
                    f"level {level}, sent on for others",
                    route.forwarded,
                    word.forwarded,
                )
        self._add(
            "total",
            "sent and received, all levels",
            np.sum([hop.sent + hop.received for hop in routes], axis=0),
            np.sum([hop.sent + hop.received for hop in words], axis=0),
        )
        partners = np.sum([hop.partners for hop in routes], axis=0)
        self._add("level_connections", "ranks sent to, all levels", partners)

    def table(self) -> Table:
        """One row for each load."""
        columns = [
            Column("head", "load of a rank"),
            Column("peak", "peak", "modelled", 4),
            Column("mean", "mean", "modelled", 4),
            Column("max_over_mean", "peak / mean", "modelled", 4),
            Column("words", "peak, words per window", "modelled"),
            Column("bytes", "bytes per window", "modelled"),
        ]
        title = f"Traffic of {self.traffic.placement.method}"
        return Table(columns, list(self.rows.values()), title, "traffic", self.notes())

    def notes(self) -> list[str]:
        """What stands below the table."""
        window = "a cycle" if self.cycles == 1 else f"{self.cycles} cycles"
        notes = [ROUTE, f"A window is {window}; a word has {WORD_BYTES} bytes."]
        notes += [f"Words and bytes rest on assumed {line}." for line in self.traffic.graph.assumed]
        if self.grid is not None:
            sizes = "x".join(map(str, self.grid.sizes))
            merged = ", merged" if self.merged else ""
            notes.append(f"Levels {sizes}: bridges on the {self.grid.side}'s side{merged}.")
        return notes

    def content(self, seed: int) -> dict[str, Any]:
        """The loads for JSON."""
        graph = self.traffic.graph
        placement = self.traffic.placement
        grid = self.grid
        loads = {}
        for name, row in self.rows.items():
            loads[name] = {key: value for key, value in row.items() if key != "head"}
        return {
            "kind": "traffic",
            "format_version": 1,
            "ranks": placement.ranks,
            "neurons": graph.neurons,
            "method": placement.method,
            "side": grid.side if grid else "sender",
            "merged": self.merged,
            "delay_ratio": self.cycles,
            "seed": seed,
            "levels": list(grid.sizes) if grid else [],
            "cycle_ms": graph.cycle_ms,
            "assumed": graph.assumed,
            "loads": loads,
        }


@dataclass(frozen=True)
class BalancedTable:
    """A forwarding table that was written, and what it makes of the busiest bridge."""

    file: Path
    routes_before: float  #: of the busiest bridge without the table
    routes_after: float  #: with it

    @property
    def sentence(self) -> str:
        """What the table is worth."""
        return (
            f"{self.file}: busiest bridge {self.routes_before:.4g} routes before,"
            f" {self.routes_after:.4g} after"
        )


@dataclass(frozen=True, repr=False)
class PartitionAnswer(Answer):
    """Neurons on ranks, and what the ranks send each other.

    `table` has a row for each method where methods were compared, else one for each load of a rank.
    """

    verb = "partition"

    loads: PlacementLoads  #: of the placement that was asked for, or of the best one
    seed: int  #: of methods that draw
    #: The traffic of all methods, the best first; empty where one placement was asked for.
    methods: Sequence[ExpectedTraffic] = ()
    equal_times: EqualTimes | None = None  #: weights with which ranks compute equally long
    balanced: BalancedTable | None = None  #: the forwarding table that was written
    file: Path | None = None  #: of the placement that was written
    proposals: Sequence[str] = ()  #: commands to go on with

    @property
    def placement(self) -> Placement:
        """Which rank holds which neurons."""
        return self.loads.traffic.placement

    @property
    def table(self) -> pd.DataFrame:
        """Methods side by side, or the loads of one placement."""
        return frame_of(self._table)

    @property
    def _table(self) -> Table:
        if self.methods and self.loads.grid is None:
            return _method_table(self.methods)
        return self.loads.table()

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark partition` prints."""
        return self._screen

    @cached_property
    def _screen(self) -> Screen:
        if self.methods and self.loads.grid is None:
            sentences = _method_sentences(self.methods)
        else:
            sentences = [_placement_sentence(self.loads.traffic)]
        notes = []
        if self.equal_times is not None:
            notes.append(self.equal_times.sentence)
        if self.balanced is not None:
            notes.append(self.balanced.sentence)
        notes += [f"Next: {proposal}" for proposal in self.proposals]
        return Screen(sentences, [self._table], notes)

    def content(self) -> dict[str, Any]:
        """The methods or the balance, what was written, and the loads."""
        content: dict[str, Any] = {}
        if self.methods:
            content["methods"] = {row["method"]: row for row in _method_table(self.methods).rows}
        if self.equal_times is not None:
            content["balance"] = self.equal_times.content()
        if self.balanced is not None:
            content["table"] = str(self.balanced.file)
            content["forwarded_peak"] = self.balanced.routes_after
            content["forwarded_peak_before"] = self.balanced.routes_before
        if self.file is not None:
            content["placement"] = str(self.file)
        return content | self.loads.content(self.seed)


def by_method(
    graph: Graph, ranks: int, seed: int = 1, weights: np.ndarray | None = None
) -> list[ExpectedTraffic]:
    """The traffic of all methods that can place the graph here, the best first.

    The best has the lowest peak of those whose largest rank has at most EVEN times its share of
    neurons; if there is none, the most even one is the best.

    Example:
        >>> from spikemark.prediction.partition import graph
        >>> network = graph.load(Path("tests/golden/analysis/networks/graph-64.json"))
        >>> len(by_method(network, ranks=4)) > 1
        True
    """
    results = []
    for name, method in METHODS.items():
        if method.here and (method.weighted or weights is None):
            results.append(ExpectedTraffic(graph, divide(graph, ranks, name, seed, weights)))
    results.sort(key=lambda traffic: (max(EVEN, traffic.placement.balance), traffic.sent.max()))
    return results


def _placement_sentence(traffic: ExpectedTraffic) -> str:
    """What the busiest rank of a placement sends, and how even the placement is."""
    peak = float(traffic.sent.max())
    return (
        f"{traffic.placement.method}: the busiest of {counted(traffic.ranks, 'rank')} sends"
        f" {number(peak)} routes; the largest has {number(traffic.placement.balance)} times its"
        " share of neurons."
    )


def _method_sentences(results: Sequence[ExpectedTraffic]) -> list[str]:
    """Which method is the best, and what it is worth beside dealing neurons."""
    best = results[0]
    name = best.placement.method
    peak = float(best.sent.max())
    sentences = [
        f"Best: {name}. Its busiest rank sends {number(peak)} routes; its largest rank has"
        f" {number(best.placement.balance)} times its share of neurons."
    ]
    peaks = {traffic.placement.method: float(traffic.sent.max()) for traffic in results}
    if name != DEALT and peaks[DEALT] > 0:
        less = f"{number(100 * (1 - peak / peaks[DEALT]))} % less"
        sentences.append(
            f"That is {less} than with neurons dealt one by one, on {best.ranks} ranks."
        )
    return sentences


def _method_table(results: Sequence[ExpectedTraffic]) -> Table:
    """A row for each method, in the order of the results."""
    columns = [
        Column("method", "method"),
        Column("peak", "peak traffic (routes)", "modelled", 4),
        Column("max_over_mean", "peak / mean", "modelled"),
        Column("neurons_max_over_mean", "neurons, largest / share", "counted"),
        Column("connections", "ranks sent to (mean)", "modelled"),
    ]
    rows = [
        {
            "method": traffic.placement.method,
            **load_summary(traffic.sent),
            "neurons_max_over_mean": traffic.placement.balance,
            "connections": float(traffic.partners.mean()),
        }
        for traffic in results
    ]
    notes = [
        ROUTE,
        f"Best: the lowest peak among those with at most {EVEN:g} times the share on a rank.",
    ]
    rates_hz = results[0].graph.rates_hz
    if rates_hz.min() < rates_hz.max():
        notes.append(
            f"Routes do not tell rates, here {rates_hz.min():g} to {rates_hz.max():g} spikes/s:"
            " with --method, the table has the words that a rank sends."
        )
    absent = [
        f"{name} (pip install {method.library})"
        for name, method in METHODS.items()
        if not method.here
    ]
    if absent:
        notes.append(f"Not installed: {', '.join(absent)}")
    return Table(columns, rows, "Methods", "methods", notes)
