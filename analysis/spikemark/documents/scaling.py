"""What look-ups cost as a network grows with its machine: real-time factors with delivery as it was measured.

`build/bench_growth` delivers to the part that one of 128 threads has on one of M ranks, by the lists of the
mini-app and by a start for every list, as it had them before; the two take turns. Update, collocation,
waiting and exchange are those of `predict` for JURECA-DC, where delivery takes as long as measured: the
profile's times of delivery are multiplied by one factor for each M. What a ring of input takes that does not
fit into the caches is modelled and comes on top: the parts have small ones. Threads that are at work beside
this one are left out.
"""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.prediction.predict import Prediction, predict
from spikemark.presets import mam, mam_benchmark
from spikemark.quantities.table import Column, Table

from . import growth

PROFILE, THREADS = "jureca-dc", 128
TIMES = "kernels.full_node.t_"  # of delivery
MODEL_RANKS = (16, 32, 64, 128)  # of the multi-area model
HZ = 2.5
TURNS = 3
LISTS = {"before": True, "now": False}  # whether every list has a start
FACTOR, DELIVERY = "real_time_factor", "deliver"


@dataclass(frozen=True)
class Delivered:
    """Lengths of lists, ascending, and ns per synaptic event, by LISTS."""

    lengths: np.ndarray
    ns: dict[str, np.ndarray]

    def at(self, length: float, lists: str) -> float:
        """ns per event of lists of this length, linear between logarithms. Raises BadInput beyond them."""
        if not self.lengths[0] * 0.99 <= length <= self.lengths[-1] * 1.01:
            raise BadInput(
                f"lists of {length:g} synapses were not measured; allowed: {self.lengths[0]:g} to"
                f" {self.lengths[-1]:g}"
            )
        return float(np.exp(np.interp(math.log(length), np.log(self.lengths), np.log(self.ns[lists]))))


def tables() -> Iterator[Table]:
    """Real-time factors by nodes, and their slopes.

    Raises BadInput for a program that is missing or fails.
    """
    measured = measure()
    benchmarks = {m: mam_benchmark.describe(full=True, areas=m) for m in growth.SIZES}
    models = dict.fromkeys(MODEL_RANKS, mam.describe(full=True))
    rows = [
        _row(network, description, ranks, measured)
        for network, by_ranks in (("MAM-benchmark", benchmarks), ("multi-area model", models))
        for ranks, description in by_ranks.items()
    ]
    columns = [
        Column("network", "network"),
        Column("ranks", "nodes"),
        Column("length", "synapses of a list", "modelled"),
        *(
            Column(f"{name}_{lists}", f"{title}, {lists}", kind)
            for name, title, kind in (
                ("ns", "ns per event", "measured"),
                ("factor", "real-time factor", "modelled"),
                ("share", "of which delivery", "modelled"),
            )
            for lists in LISTS
        ),
    ]
    yield Table(columns, rows, "Real-time factor over nodes", "factors")
    yield _slopes(rows)


def measure() -> Delivered:
    """Medians over turns, in each of which every part is delivered to by both kinds of lists."""
    found = {lists: {m: [] for m in growth.SIZES} for lists in LISTS}
    lengths = {}
    for _ in range(TURNS):
        for m in growth.SIZES:
            for lists, starts in LISTS.items():
                one = growth.delivered(m, THREADS, starts=starts)
                found[lists][m].append(one["ns"])
                lengths[m] = one["length"]
    order = sorted(growth.SIZES, key=lengths.get)
    return Delivered(
        np.array([lengths[m] for m in order]),
        {lists: np.array([statistics.median(by[m]) for m in order]) for lists, by in found.items()},
    )


def _row(network: str, description: dict, ranks: int, measured: Delivered) -> dict:
    profile = machines.filled(machines.load(PROFILE))
    plain = predict(description, profile, ranks, THREADS, "conventional", hz=HZ)
    loads = plain.loads
    events = float(loads.of_rank(loads.events).mean()) / THREADS
    length = events / float(loads.arriving.mean())
    row = {"network": network, "ranks": ranks, "length": length}
    for lists in LISTS:
        ns = measured.at(length, lists)
        made = _with_delivery(1e-9 * ns * events / loads.cycle_s, plain, description, profile, ranks)
        row[f"ns_{lists}"] = ns
        row[f"factor_{lists}"] = made.figures[FACTOR].value
        row[f"share_{lists}"] = made.figures[DELIVERY].value
    return row


def _with_delivery(wanted: float, plain: Prediction, description: dict, profile, ranks: int) -> Prediction:
    """The prediction whose delivery takes `wanted` s per simulated second, beside misses of the ring."""

    def by(factor: float) -> Prediction:
        return predict(description, profile, ranks, THREADS, "conventional", hz=HZ, factors={TIMES: factor})

    of_times = by(2.0).figures[DELIVERY].value - plain.figures[DELIVERY].value
    return by(wanted / of_times)


def _slopes(rows: list[dict]) -> Table:
    """Straight lines through real-time factors over nodes."""
    found = []
    for network in dict.fromkeys(row["network"] for row in rows):
        own = [row for row in rows if row["network"] == network]
        nodes = [row["ranks"] for row in own]
        before, now = (
            100 * float(np.polyfit(nodes, [row[f"factor_{lists}"] for row in own], 1)[0]) for lists in LISTS
        )
        found.append({"network": network, "before": before, "now": now, "gone": 100 * (1 - now / before)})
    columns = [
        Column("network", "network"),
        Column("before", "slope per 100 nodes, before", "modelled"),
        Column("now", "now", "modelled"),
        Column("gone", "of which look-ups were (%)", "modelled"),
    ]
    return Table(columns, found, "Growth of the real-time factor over nodes", "slopes")
