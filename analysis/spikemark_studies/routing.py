"""Beyond the papers: when does routing spikes in levels pay?

Words can travel through other ranks, their bridges, so that a rank sends fewer and larger messages.
Every level adds a latency and the bytes of one more hop. A longer window (a larger D) also makes
messages fewer and larger, at no cost of bytes. Here is a map over ranks, bytes and D, and replays
of the messages on SimGrid.

The brain is that of the preset voxels, placed by `greedy_swap`. Its traffic is computed once for
each number of ranks and kept in a file, since that takes minutes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from spikemark.launch.process import ProgramFailed
from spikemark.machines.values import Values
from spikemark.models.exchange_times import WORD_BYTES
from spikemark.models.loggp import Collectives
from spikemark.network.exchanges import most_equal
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph, routed
from spikemark.prediction.partition.methods import divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.traffic import ExpectedTraffic
from spikemark.prediction.performance import sampled
from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted
from spikemark.report import plots
from spikemark.running.simulation.platform import of_nodes
from spikemark.running.simulation.smpirun import Messages, replay

from .claims import StudyAnswer
from .profiles import assumed_profile, interconnect_of
from .study import Lacking, Runs, answers_claim

MACHINE, BACK_END, METHOD = "jureca-dc", "p2p", "greedy_swap"
RANKS, QUICK_RANKS = (256, 512, 1000, 2000, 4000), (256, 512)
NEURONS_PER_RANK = 5_000_000
MAX_LEVELS = 4
SHOWN_CYCLES = (1, 10)  #: of a window, in the table of levels
SCANNED_CYCLES = np.logspace(-2, 4, 31)  #: D for which the fastest way is looked for


class Replay(NamedTuple):
    """Messages that are replayed on SimGrid."""

    ranks: int
    levels: int
    cycles: int  #: of a window


REPLAYED = (Replay(256, 2, 1), Replay(256, 2, 10), Replay(512, 2, 1), Replay(512, 3, 1))


@dataclass(frozen=True)
class RoutedWay:
    """How spikes travel, with bridges on the sender's side."""

    sizes: tuple[int, ...]  #: of the levels; one size is one level: directly
    merged: bool = False  #: whether copies for several ranks travel as one

    @property
    def words(self) -> str:
        """Such as "16x16, merged"."""
        if len(self.sizes) == 1:
            return "direct"
        text = "x".join(str(size) for size in self.sizes)
        return f"{text}, merged" if self.merged else text


def _ways(ranks: int) -> list[RoutedWay]:
    """Levels 1 to MAX_LEVELS, as equal as can be, merged and not."""
    ways = [RoutedWay((ranks,))]
    for levels in range(2, MAX_LEVELS + 1):
        sizes = most_equal(ranks, levels)
        ways += [RoutedWay(sizes), RoutedWay(sizes, merged=True)]
    return ways


@dataclass(frozen=True, eq=False)
class PlacedBrain:
    """A brain on ranks, and what its spikes take on every way."""

    ranks: int
    words: float  #: that a route carries in a cycle
    cycle_ms: float
    max_routes: float  #: that begin on a rank
    busiest: dict[RoutedWay, list[dict[str, float]]]  #: sums of the busiest rank, by hop

    @property
    def direct(self) -> RoutedWay:
        """Without levels."""
        return RoutedWay((self.ranks,))

    def cost(self, net: Collectives, way: RoutedWay, cycles: float) -> float:
        """Seconds of exchange per simulated second, of ranks that have a node each."""
        window_s = 1e-3 * self.cycle_ms * cycles
        return routed.seconds_alone(net, self.busiest[way], self.words * cycles) / window_s

    def fastest(
        self,
        net: Collectives,
        cycles: float,
        levels: int | None = None,
    ) -> RoutedWay:
        """The way with the least cost, of those with so many levels; of ties, the fewest levels."""
        ways = [way for way in self.busiest if levels in (None, len(way.sizes))]
        return min(ways, key=lambda way: (self.cost(net, way, cycles), len(way.sizes)))

    def border(self, net: Collectives) -> float:
        """The D from which no way with levels costs less than sending directly.

        Interpolated between SCANNED_CYCLES; their first or last one where it lies outside.
        """
        ahead = np.array([self._lead_of_levels(net, cycles) for cycles in SCANNED_CYCLES])
        paying = np.flatnonzero(ahead > 0)
        if not len(paying):
            return float(SCANNED_CYCLES[0])
        last = int(paying[-1])
        if last == len(SCANNED_CYCLES) - 1:
            return float(SCANNED_CYCLES[-1])
        share = ahead[last] / (ahead[last] - ahead[last + 1])
        step = SCANNED_CYCLES[last + 1] / SCANNED_CYCLES[last]
        return float(SCANNED_CYCLES[last] * step**share)

    def _lead_of_levels(self, net: Collectives, cycles: float) -> float:
        """Log of the cost of sending directly over the least with levels; above 0, levels pay."""
        ways = [way for way in self.busiest if way != self.direct]
        least = min(self.cost(net, way, cycles) for way in ways)
        return float(np.log(self.cost(net, self.direct, cycles) / least))


def _options(ranks: int) -> voxels.VoxelsOptions:
    return choose(voxels.VoxelsOptions, {**voxels.FULL_BRAIN, "neurons": NEURONS_PER_RANK * ranks})


@lru_cache(maxsize=1)  # two do not fit side by side everywhere
def _traffic(ranks: int) -> ExpectedTraffic:
    brain = graph.of_voxels(_options(ranks))
    return ExpectedTraffic(brain, divide(brain, ranks, METHOD))


def _loads(ranks: int) -> dict[str, Any]:
    """What PlacedBrain needs, as plain data."""
    traffic = _traffic(ranks)
    ways = {}
    for way in _ways(ranks):
        hops = traffic.hops(Grid(ranks, way.sizes), way.merged)
        ways[way.words] = [hop.busiest for hop in hops]
    return {
        "words": float(traffic.per_cycle[0]),
        "cycle_ms": traffic.graph.cycle_ms,
        "peak": float(traffic.sent.max()),
        "ways": ways,
    }


def _brain(runs: Runs, ranks: int) -> PlacedBrain:
    """The brain on so many ranks, computed once."""
    inputs = _options(ranks).model_dump()
    loads = runs.kept(f"loads-{ranks}", inputs, partial(_loads, ranks))
    busiest = {way: loads["ways"][way.words] for way in _ways(ranks)}
    return PlacedBrain(ranks, loads["words"], loads["cycle_ms"], loads["peak"], busiest)


def _brains(runs: Runs) -> list[PlacedBrain]:
    return [_brain(runs, ranks) for ranks in _ranks(runs)]


def _ranks(runs: Runs) -> tuple[int, ...]:
    """Numbers of ranks of the study, ascending."""
    return QUICK_RANKS if runs.quick else RANKS


def _net(ranks: int) -> Collectives:
    return interconnect_of(MACHINE, ranks)


@answers_claim
def _thresholds(runs: Runs) -> StudyAnswer:
    """From which bytes and which D on sending directly is fastest, by ranks."""
    profile = assumed_profile(MACHINE)
    rows: list[dict[str, Cell]] = []
    for brain in _brains(runs):

        def evaluate(inputs: Values, brain: PlacedBrain = brain) -> dict[str, float]:
            net = Collectives.from_values(inputs, brain.ranks)
            fastest = brain.fastest(net, 1)
            gain = brain.cost(net, brain.direct, 1) / brain.cost(net, fastest, 1)
            return {"d": brain.border(net), "gain": gain}

        sample = sampled(profile, evaluate)
        megabytes_of_cycle = 1e-6 * WORD_BYTES * brain.words * brain.max_routes
        sent = sample["d"].times(megabytes_of_cycle)
        rows.append(
            {
                "ranks": brain.ranks,
                "d": sample["d"],
                "mb": sent,
                "gain": sample["gain"],
                "way": brain.fastest(_net(brain.ranks), 1).words,
            }
        )
    columns = [
        Column("ranks", "ranks", "given"),
        Column("d", "directly is fastest from D on", "modelled"),
        Column("mb", "MB that a rank sends then", "modelled"),
        Column("gain", "direct / fastest way at D = 1", "modelled"),
        Column("way", "fastest way at D = 1"),
    ]
    note = (
        f"{MACHINE}, a rank on each node, {BACK_END}, cycles of 0.1 ms. Intervals: unknown values."
    )
    table = Table(columns, rows, "When levels pay", "thresholds", [note])
    value = Quantity(sent.value, sent.low, sent.high, "MB", "modelled")
    return StudyAnswer(value, tables=[table])


@answers_claim
def _most_ranks(runs: Runs) -> StudyAnswer:
    """On how many ranks that is."""
    return StudyAnswer(f"{_ranks(runs)[-1]} ranks")


@answers_claim
def _by_levels(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second of the fastest way with so many levels, by ranks and D."""
    numbers = range(1, MAX_LEVELS + 1)
    rows: list[dict[str, Cell]] = []
    for brain in _brains(runs):
        for cycles in SHOWN_CYCLES:
            costs = _costs_by_levels(brain, cycles)
            cells = {f"s{levels}": cost for levels, cost in costs.items()}
            rows.append({"ranks": brain.ranks, "cycles": cycles, **cells})
    columns = [Column("ranks", "ranks", "given"), Column("cycles", "D", "given")]
    for levels in numbers:
        heading = "direct" if levels == 1 else f"{levels} levels"
        columns.append(Column(f"s{levels}", heading, "modelled"))
    costs = _costs_by_levels(brain, 1)  # on the most ranks
    best = min(costs, key=lambda levels: costs[levels])
    words = f"{counted(best, 'level')} on {brain.ranks} ranks at D = 1 (modelled)"
    table = Table(columns, rows, "One to four levels, s per simulated s", "by-levels")
    return StudyAnswer(words, figures=[_figure_of_levels(rows)], tables=[table])


def _figure_of_levels(rows: list[dict[str, Cell]]) -> Figure:
    """Time of exchanges over ranks by number of levels, a panel for each D."""
    long = []
    for row in rows:
        for levels in range(1, MAX_LEVELS + 1):
            long.append(
                {
                    "ranks": row["ranks"],
                    "window": f"D = {row['cycles']}",
                    "way": "direct" if levels == 1 else f"{levels} levels",
                    "seconds": row[f"s{levels}"],
                }
            )
    return plots.lines(
        pd.DataFrame(long),
        "ranks",
        "seconds",
        "routing-levels",
        "Exchanges by levels of routing",
        "Seconds per simulated second of the fastest way with so many levels; modelled.",
        hue="way",
        panel="window",
        log="xy",
    )


def _costs_by_levels(brain: PlacedBrain, cycles: float) -> dict[int, float]:
    """Cost of the fastest way with each number of levels."""
    net = _net(brain.ranks)
    costs = {}
    for levels in range(1, MAX_LEVELS + 1):
        costs[levels] = brain.cost(net, brain.fastest(net, cycles, levels), cycles)
    return costs


def _replayed(case: Replay) -> dict[str, Any]:
    """Simulated and modelled seconds of an exchange on MACHINE, of messages in turn."""
    ranks = case.ranks
    sizes = most_equal(ranks, case.levels)
    words = sparse.csr_array(case.cycles * _traffic(ranks).words)  # (senders, receivers)
    sent_bytes = words * WORD_BYTES
    if case.levels > 1:  # a frame for each message that has a word, which are Poisson
        sent_bytes.data -= routed.FRAME_BYTES * np.expm1(-words.data)
    hops = Grid(ranks, sizes).hops(sent_bytes)
    strides = np.cumprod([1, *sizes[:-1]])
    messages = [
        Messages(hop.flow, int(stride), size)
        for hop, stride, size in zip(hops, strides, sizes, strict=True)
    ]
    try:
        simulated_s = replay(messages, of_nodes(assumed_profile(MACHINE), ranks))[-1]
    except ProgramFailed as error:
        raise Lacking(str(error)) from None
    net = _net(ranks)
    modelled_s = sum(net.messages(routed.alone(**hop.busiest)) for hop in hops)
    return {
        "way": RoutedWay(sizes).words,
        "modelled_s": modelled_s,
        "simulated_s": float(simulated_s),
    }


@answers_claim
def _replays(runs: Runs) -> StudyAnswer:
    """The model beside messages of the same bytes on SimGrid."""
    rows: list[dict[str, Cell]] = []
    ratios = []
    for case in REPLAYED[:1] if runs.quick else REPLAYED:
        inputs = {
            "brain": _options(case.ranks).model_dump(),
            "levels": case.levels,
            "cycles": case.cycles,
        }
        name = f"replay-{case.ranks}-{case.levels}-{case.cycles}"
        times = runs.kept(name, inputs, partial(_replayed, case))
        ratios.append(times["modelled_s"] / times["simulated_s"])
        rows.append(
            {
                "ranks": case.ranks,
                "way": times["way"],
                "cycles": case.cycles,
                "modelled": 1e6 * times["modelled_s"],
                "simulated": 1e6 * times["simulated_s"],
                "ratio": ratios[-1],
            }
        )
    columns = [
        Column("ranks", "ranks", "given"),
        Column("way", "way"),
        Column("cycles", "cycles in a window", "given"),
        Column("modelled", "model (us)", "modelled"),
        Column("simulated", "replayed messages (us)", "simulated"),
        Column("ratio", "model / replay", "simulated"),
    ]
    note = (
        "The model has the congestion that is assumed for static routes; the replay has the links."
    )
    mean = math.exp(float(np.mean(np.log(ratios))))
    value = Quantity(mean, kind="simulated")
    if len(ratios) > 1:
        value = Quantity(mean, min(ratios), max(ratios), kind="simulated")
    table = Table(columns, rows, "Replayed on SimGrid", "replayed", [note])
    return StudyAnswer(value, tables=[table])
