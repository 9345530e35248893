"""Beyond the papers: when does routing spikes in levels pay? A map over ranks, bytes and D, and replays.

Words can travel through other ranks, their bridges, so that a rank sends fewer and larger messages. Every
level adds a latency and the bytes of one more hop. A longer window (a larger D) also makes messages fewer and
larger, at no cost of bytes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from spikemark import machines
from spikemark.launch.process import ProgramFailed
from spikemark.machines.values import Values
from spikemark.models.loggp import WORD_BYTES, Collectives
from spikemark.network.exchanges import most_equal
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph, routed
from spikemark.prediction.partition.methods import divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.traffic import Traffic
from spikemark.prediction.performance import sampled
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.running.simulation.platform import of_nodes
from spikemark.running.simulation.smpirun import Messages, replay

from .study import Answer, Lacking, Runs

MACHINE, BACK_END, METHOD = "jureca-dc", "p2p", "greedy_swap"
RANKS, QUICK_RANKS, NEURONS_PER_RANK = (256, 512, 1000, 2000, 4000), (256, 512), 5_000_000
MOST_LEVELS, SHOWN = 4, (1, 10)  # levels, and cycles of a window in the table of levels
SCAN = np.logspace(-2, 4, 31)  # D for which the fastest way is looked for
REPLAYED = ((256, 2, 1), (256, 2, 10), (512, 2, 1), (512, 3, 1))  # ranks, levels and cycles


@dataclass(frozen=True)
class _Way:
    """How spikes travel, with bridges on the sender's side; one size is one level: directly."""

    sizes: tuple[int, ...]
    merged: bool = False

    @property
    def words(self) -> str:
        if len(self.sizes) == 1:
            return "direct"
        return "x".join(map(str, self.sizes)) + ", merged" * self.merged


def _ways(ranks: int) -> list[_Way]:
    """Levels 1 to MOST_LEVELS, as equal as can be, merged and not."""
    found = [_Way((ranks,))]
    for count in range(2, MOST_LEVELS + 1):
        found += [_Way(most_equal(ranks, count), merged) for merged in (False, True)]
    return found


@dataclass(frozen=True, eq=False)
class _Placed:
    """A brain on ranks: words that a route carries in a cycle, the most routes that begin on a rank, and the
    sums of each way."""

    ranks: int
    words: float
    cycle_ms: float
    peak: float
    sums: dict[_Way, list[dict[str, float]]]

    def cost(self, net: Collectives, way: _Way, cycles: float) -> float:
        """Seconds of exchange per simulated second, of ranks that have a node each."""
        return routed.seconds_alone(net, self.sums[way], self.words * cycles) / (
            1e-3 * self.cycle_ms * cycles
        )

    def fastest(self, net: Collectives, cycles: float, count: int | None = None) -> _Way:
        """The way with the least cost, of those with so many levels."""
        ways = [way for way in self.sums if count in (None, len(way.sizes))]
        return min(ways, key=lambda way: (self.cost(net, way, cycles), len(way.sizes)))

    def border(self, net: Collectives) -> float:
        """The D from which no way with levels costs less than sending directly, interpolated in SCAN."""
        direct = _Way((self.ranks,))
        ways = [way for way in self.sums if way != direct]
        least = np.array([min(self.cost(net, way, d) for way in ways) for d in SCAN])
        behind = np.log([self.cost(net, direct, d) for d in SCAN] / least)
        more = np.flatnonzero(behind > 0)
        if not len(more) or more[-1] == len(SCAN) - 1:
            return float(SCAN[-1] if len(more) else SCAN[0])
        at = int(more[-1])
        share = behind[at] / (behind[at] - behind[at + 1])
        return float(SCAN[at] * (SCAN[at + 1] / SCAN[at]) ** share)


def _options(ranks: int) -> voxels.Options:
    return choose(voxels.Options, {**voxels.FULL, "neurons": NEURONS_PER_RANK * ranks})


@lru_cache(maxsize=1)  # two do not fit side by side everywhere
def _traffic(ranks: int) -> Traffic:
    brain = graph.of_voxels(_options(ranks))
    return Traffic(brain, divide(brain, ranks, METHOD))


def _loads(ranks: int) -> dict[str, Any]:
    traffic, found = _traffic(ranks), {}
    for way in _ways(ranks):
        found[way.words] = [*(hop.busiest for hop in traffic.hops(Grid(ranks, way.sizes), way.merged))]
    words, cycle_ms = float(traffic.per_cycle[0]), traffic.graph.cycle_ms
    return {"words": words, "cycle_ms": cycle_ms, "peak": float(traffic.sent.max()), "ways": found}


def _brains(runs: Runs) -> list[_Placed]:
    found = []
    for ranks in QUICK_RANKS if runs.quick else RANKS:
        kept = runs.kept(f"loads-{ranks}", _options(ranks).model_dump(), lambda n=ranks: _loads(n))
        sums = {way: kept["ways"][way.words] for way in _ways(ranks)}
        found.append(_Placed(ranks, kept["words"], kept["cycle_ms"], kept["peak"], sums))
    return found


def _net(ranks: int) -> Collectives:
    return Collectives.of(Values(machines.filled(machines.load(MACHINE))), ranks)


def thresholds(runs: Runs) -> Answer:
    """From which bytes and which D on sending directly is fastest, by ranks."""
    profile, rows = machines.filled(machines.load(MACHINE)), []
    for brain in _brains(runs):

        def evaluate(inputs: Values, brain: _Placed = brain) -> dict[str, float]:
            net = Collectives.of(inputs, brain.ranks)
            direct, best = brain.cost(net, _Way((brain.ranks,)), 1), brain.fastest(net, 1)
            return {"d": brain.border(net), "gain": direct / brain.cost(net, best, 1)}

        known = sampled(profile, evaluate)
        d, size = known["d"], 1e-6 * WORD_BYTES * brain.words * brain.peak
        rows.append(
            {
                "ranks": brain.ranks, "d": d, "mb": d.times(size), "gain": known["gain"],
                "way": brain.fastest(_net(brain.ranks), 1).words,
            }
        )  # fmt: skip
    columns = [
        Column("ranks", "ranks", "given"),
        Column("d", "directly is fastest from D on", "modelled"),
        Column("mb", "MB that a rank sends then", "modelled"),
        Column("gain", "direct / fastest way at D = 1", "modelled"),
        Column("way", "fastest way at D = 1"),
    ]
    note = f"{MACHINE}, a rank on each node, {BACK_END}, cycles of 0.1 ms. Intervals: unknown values."
    mb = rows[-1]["mb"]
    value = Quantity(mb.value, mb.low, mb.high, "MB", "modelled")
    return Answer(
        value,
        f"{rows[-1]['ranks']} ranks.",
        tables=[Table(columns, rows, "When levels pay", "thresholds", [note])],
    )


def by_levels(runs: Runs) -> Answer:
    """Seconds per simulated second of the fastest way with so many levels, by ranks and D."""
    rows = []
    for brain in _brains(runs):
        net = _net(brain.ranks)
        for cycles in SHOWN:
            best = [brain.fastest(net, cycles, count) for count in range(1, MOST_LEVELS + 1)]
            times = {f"s{k}": brain.cost(net, way, cycles) for k, way in enumerate(best, 1)}
            rows.append({"ranks": brain.ranks, "cycles": cycles, **times})
    columns = [Column("ranks", "ranks", "given"), Column("cycles", "D", "given")]
    columns += [
        Column(f"s{k}", "direct" if k == 1 else f"{k} levels", "modelled") for k in range(1, MOST_LEVELS + 1)
    ]
    last = rows[-2]
    best = min(range(1, MOST_LEVELS + 1), key=lambda k: last[f"s{k}"])
    words = f"{best} {'level' if best == 1 else 'levels'} on {last['ranks']} ranks at D = 1 (modelled)"
    return Answer(words, tables=[Table(columns, rows, "One to four levels, s per simulated s", "by-levels")])


def _replayed(ranks: int, count: int, cycles: int) -> dict[str, Any]:
    """Simulated and modelled seconds of an exchange on MACHINE, of messages in turn."""
    profile, sizes = machines.filled(machines.load(MACHINE)), most_equal(ranks, count)
    words = sparse.csr_array(cycles * _traffic(ranks).words)
    framed = words * WORD_BYTES
    framed.data -= (routed.FRAME_BYTES if count > 1 else 0.0) * np.expm1(-words.data)
    hops = Grid(ranks, sizes).hops(framed)
    strides = np.cumprod([1, *sizes[:-1]])
    messages = [Messages(hop.flow, int(s), g) for hop, s, g in zip(hops, strides, sizes, strict=True)]
    try:
        simulated = replay(messages, of_nodes(profile, ranks))[-1]
    except ProgramFailed as why:
        raise Lacking(str(why)) from None
    modelled = sum(_net(ranks).messages(routed.alone(**hop.busiest)) for hop in hops)
    return {"way": _Way(sizes).words, "modelled_s": modelled, "simulated_s": float(simulated)}


def replays(runs: Runs) -> Answer:
    """The model beside messages of the same bytes on SimGrid."""
    rows = []
    for ranks, count, cycles in REPLAYED[: 1 if runs.quick else None]:
        given = {"brain": _options(ranks).model_dump(), "levels": count, "cycles": cycles}
        name = f"replay-{ranks}-{count}-{cycles}"
        found = runs.kept(name, given, lambda at=(ranks, count, cycles): _replayed(*at))
        rows.append({
            "ranks": ranks, "way": found["way"], "cycles": cycles, "modelled": 1e6 * found["modelled_s"],
            "simulated": 1e6 * found["simulated_s"], "ratio": found["modelled_s"] / found["simulated_s"],
        })  # fmt: skip
    columns = [
        Column("ranks", "ranks", "given"),
        Column("way", "way"),
        Column("cycles", "cycles in a window", "given"),
        Column("modelled", "model (us)", "modelled"),
        Column("simulated", "replayed messages (us)", "simulated"),
        Column("ratio", "model / replay", "simulated"),
    ]
    note = "The model has the congestion that is assumed for static routes; the replay has the links."
    ratios = [row["ratio"] for row in rows]
    mean = math.exp(float(np.mean(np.log(ratios))))
    value = (
        Quantity(mean, min(ratios), max(ratios), kind="simulated")
        if len(rows) > 1
        else Quantity(mean, kind="simulated")
    )
    return Answer(value, tables=[Table(columns, rows, "Replayed on SimGrid", "replayed", [note])])
