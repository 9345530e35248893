"""Du et al. 2022: traffic of partitions and of two levels of routing, as expectations over all networks.

Nothing is drawn and nothing is run: the parametric brain of the preset voxels has the published numbers of
neurons, voxels and GPUs. Each placement is kept in a file, so that an interrupted study goes on.
"""

from typing import Any

import numpy as np
import pandas as pd

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models.loggp import WORD_BYTES, Collectives
from spikemark.models.published import papers
from spikemark.network.exchanges import SIDES, most_equal
from spikemark.network.placement_file import Placement
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph, routed
from spikemark.prediction.partition.methods import METHODS, Problem, divide, evolved
from spikemark.prediction.partition.routing import Grid, grouped
from spikemark.prediction.partition.traffic import Traffic
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.report import plots

from .study import Answer, Lacking, Runs

RANKS, DOUBLE, NEURONS_PER_RANK, MILLION = 2000, 4000, 5_000_000, 1e6
MACHINE, POINTS = "jureca-dc", 50  # points of a curve over ranks
NONE, PRINTED, RUN, GENETIC = "random", "greedy_affinity", "greedy_swap", "genetic"
FITTER = "genetic_traffic"  # beyond the paper: its fitness is traffic instead of neurons
SHOWN = (NONE, "sequential", GENETIC, FITTER, PRINTED, RUN, "metis")
SEEDS = {NONE: 5, GENETIC: 3, FITTER: 3}
INDEGREES = (100, 200, 400, 1000)
#: Readings of "level 2": ways through two levels, see `_levels`.
WAYS = PLAIN, TABLE, GROUPED, EVEN, MERGED = (
    "forwarded by bridges", "forwarded, balanced table", "forwarded, groups by traffic",
    "forwarded, genetic groups", "between groups, merged",
)  # fmt: skip


def _brain(ranks: int, indegree: int = 100) -> dict[str, Any]:
    given = {**voxels.FULL, "neurons": NEURONS_PER_RANK * ranks, "indegree": indegree}
    return choose(voxels.Options, given).model_dump()


class _Brains:
    """The last graph that was asked for: two do not fit side by side everywhere."""

    key, found = None, None

    @classmethod
    def of(cls, ranks: int, indegree: int) -> graph.Graph:
        if cls.key != (ranks, indegree):
            cls.found = None
            cls.found = graph.of_voxels(voxels.Options(**_brain(ranks, indegree)))
            cls.key = ranks, indegree
        return cls.found


def _placed(runs: Runs, method: str, ranks: int = 0, seed: int = 1, indegree: int = 100) -> dict:
    """Loads of one placement, in routes: pairs of a neuron and another rank with a synapse of it.

    `ranks`: 0 for RANKS.
    """
    ranks = ranks or RANKS
    if not _possible(method):
        raise Lacking(f"{method} needs: pip install {METHODS[method].library}")
    name = f"{method}-{ranks}-ranks-indegree-{indegree}-seed-{seed}"
    return runs.kept(name, _brain(ranks, indegree), lambda: _loads(method, ranks, seed, indegree))


def _possible(method: str) -> bool:
    return method == FITTER or METHODS[method].here


def _divided(brain: graph.Graph, ranks: int, method: str, seed: int) -> Placement:
    if method != FITTER:
        return divide(brain, ranks, method, seed)
    problem = Problem(brain, ranks, seed)
    loads = np.rint(MILLION * problem.loads[:, 1]).astype(np.int64)
    return problem.placement(evolved(loads, ranks, seed))


def _loads(method: str, ranks: int, seed: int, indegree: int) -> dict:
    brain = _Brains.of(ranks, indegree)
    traffic = Traffic(brain, _divided(brain, ranks, method, seed))
    quantiles = np.linspace(0, 1, POINTS)
    ways = {RUN: WAYS, GENETIC: (PLAIN, EVEN)}.get(method, (PLAIN,))
    ways = ways if indegree == INDEGREES[0] else (MERGED,)
    return {
        "peak": float(traffic.sent.max()),
        "mean": float(traffic.sent.mean()),
        "connections": float(traffic.partners.mean()),
        "sent": np.quantile(traffic.sent, quantiles).tolist(),
        "partners": np.quantile(traffic.partners, quantiles).tolist(),
        "words": float(traffic.per_cycle[0]) / brain.cycle_ms * 1e3,  # along a route, per second
        "direct": traffic.hops(Grid(ranks, (ranks,)))[0].busiest,
        "levels": _levels(traffic, seed, ways),
    }


def _levels(traffic: Traffic, seed: int, ways: tuple[str, ...]) -> dict[str, dict]:
    """What the second of two levels carries, by reading.

    Words go by a bridge in the sender's group of 40 (or 50) ranks; `forwarded` is what a bridge sends on for
    others. `balanced table`: destinations go to the bridge with the least. `merged`: the copies for all ranks
    of a group travel between groups as one.
    """
    sizes = most_equal(traffic.ranks, 2)
    plain, receiver = (Grid(traffic.ranks, sizes, side) for side in SIDES)

    def forwarded(of: Traffic, grid: Grid = plain) -> dict:
        hops = of.hops(grid)
        return {
            **_peak(hops[1].forwarded),
            "connections": float(sum(hop.partners for hop in hops).mean()),
            "hops": [hop.busiest for hop in hops],
        }

    made = {
        PLAIN: lambda: forwarded(traffic),
        TABLE: lambda: forwarded(traffic, plain.balanced(traffic.pairs)),
        GROUPED: lambda: forwarded(_regrouped(traffic, sizes[0], None)),
        EVEN: lambda: forwarded(_regrouped(traffic, sizes[0], seed)),
        MERGED: lambda: _peak(traffic.hops(receiver, merged=True)[0].sent),
    }
    return {way: made[way]() for way in ways}


def _peak(loads: np.ndarray) -> dict[str, Any]:
    curve = np.quantile(loads, np.linspace(0, 1, POINTS)).tolist()
    return {"peak": float(loads.max()), "mean": float(loads.mean()), "curve": curve}


def _regrouped(traffic: Traffic, group: int, seed: int | None) -> Traffic:
    """Ranks renumbered: by what they exchange, or with a seed by a genetic algorithm that evens groups."""
    placed = traffic.placement
    if seed is None:
        return Traffic(traffic.graph, grouped(placed, traffic.pairs, group))
    of_rank = evolved(np.rint(traffic.sent).astype(np.int64), traffic.ranks // group, seed)
    number = np.argsort(np.argsort(of_rank, kind="stable"))
    return Traffic(
        traffic.graph, Placement.of(placed.ranks, placed.end, number[placed.rank], method=placed.method)
    )


def _all(runs: Runs, method: str) -> list[dict]:
    seeds = 1 if runs.quick else SEEDS.get(method, 1)
    return [_placed(runs, method, seed=seed) for seed in range(1, seeds + 1)]


def _here(runs: Runs) -> dict[str, list[dict]]:
    """All placements that can be made on RANKS, by method; the slowest are not part of --quick."""
    return {m: _all(runs, m) for m in SHOWN if _possible(m) and not (runs.quick and m in (FITTER, "metis"))}


def _change(first: list[float], second: list[float]) -> Quantity:
    """From `second` to `first` in %, with the extremes over all pairs of seeds."""
    changes = [100 * (a / b - 1) for a in first for b in second]
    ends = (min(changes), max(changes)) if len(changes) > 1 else (None, None)
    return Quantity(float(100 * (np.mean(first) / np.mean(second) - 1)), *ends, "%", "modelled")


def _peaks(found: list[dict]) -> list[float]:
    return [one["peak"] for one in found]


def swap_against_random(runs: Runs) -> Answer:
    """What is run: in sequence, then swaps."""
    return Answer(_change(_peaks(_all(runs, RUN)), _peaks(_all(runs, NONE))))


def printed_against_random(runs: Runs) -> Answer:
    """Algorithm 1 as printed, beside all methods."""
    own, rows = _here(runs), []
    for method, found in own.items():
        rows.append(
            {
                "method": method,
                "peak": float(np.mean(_peaks(found))) / MILLION,
                "change": _change(_peaks(found), _peaks(own[NONE])),
                "uneven": found[0]["peak"] / found[0]["mean"],
                "connections": found[0]["connections"],
            }
        )
    columns = [
        Column("method", "method"),
        Column("peak", "peak (million routes)", "modelled", 4),
        Column("change", "against random (%)", "modelled"),
        Column("uneven", "peak / mean", "modelled"),
        Column("connections", "connections, mean", "modelled", 4),
    ]
    note = f"{RANKS} ranks. A route: a neuron and another rank with a synapse of it. In parentheses: seeds."
    table = Table(columns, rows, "Partition methods", "peaks", [note])
    return Answer(_change(_peaks(own[PRINTED]), _peaks(own[NONE])), tables=[table])


def swap_against_genetic(runs: Runs) -> Answer:
    """Both as the public code has them."""
    return Answer(_change(_peaks(_all(runs, RUN)), _peaks(_all(runs, GENETIC))))


def swap_against_fitter(runs: Runs) -> Answer:
    """A genetic algorithm whose fitness is the largest traffic."""
    if runs.quick:
        raise Lacking("not part of --quick: a genetic partition by traffic")
    return Answer(_change(_peaks(_all(runs, RUN)), _peaks(_all(runs, FITTER))))


def printed_against_genetic(runs: Runs) -> Answer:
    """Algorithm 1 as printed."""
    return Answer(_change(_peaks(_all(runs, PRINTED)), _peaks(_all(runs, GENETIC))))


def curves(runs: Runs) -> Answer:
    """Traffic of every rank, sorted, without levels and as forwarded on the second."""
    frames, rows = [], []
    for method, found in _here(runs).items():
        for panel, values in {
            "without levels": found[0]["sent"],
            "level 2": found[0]["levels"][PLAIN]["curve"],
        }.items():
            at = np.linspace(1, RANKS, POINTS)
            frames.append(
                pd.DataFrame({"rank": at, "routes": np.array(values) / MILLION}).assign(
                    method=method, panel=panel
                )
            )
            low, middle, high = np.quantile(np.array(values) / MILLION, [0, 0.5, 0.9])
            rows.append(
                {
                    "method": method, "panel": panel, "low": low, "middle": middle, "high": high,
                    "peak": max(values) / MILLION,
                }
            )  # fmt: skip
    figure = plots.lines(
        pd.concat(frames), "rank", "routes", "du-curves", f"Traffic of {RANKS} ranks, sorted",
        "Million routes (modelled), seed 1.", hue="method", panel="panel", xlabel="ranks, sorted",
        ylabel="million routes", markers=False,
    )  # fmt: skip
    columns = [
        Column("method", "method"),
        Column("panel", "routing"),
        *(Column(n, h, "modelled") for n, h in zip(("low", "middle", "high", "peak"),
                                                   ("least", "median", "90 % below", "peak"), strict=True)),
    ]  # fmt: skip
    table = Table(columns, rows, "Traffic per rank, million routes", "curves")
    spread = {row["method"]: row["peak"] / row["middle"] for row in rows if row["panel"] == "without levels"}
    words = ", ".join(f"{method} {value:.2f}" for method, value in spread.items())
    return Answer(f"peak over median: {words} (modelled)", figures=[figure], tables=[table])


def level_two(runs: Runs) -> Answer:
    """The peak on level 2 against the same placement without levels, in every reading that we know."""
    own, none, rows = _placed(runs, RUN), _placed(runs, NONE), []
    for way, loads in own["levels"].items():
        rows.append({"way": way, "indegree": 100, **_compared(loads, own, none)})
    if not runs.quick:
        for indegree in INDEGREES[1:]:
            dense, random = (_placed(runs, m, indegree=indegree) for m in (RUN, NONE))
            rows.append(
                {"way": MERGED, "indegree": indegree, **_compared(dense["levels"][MERGED], dense, random)}
            )
    columns = [
        Column("way", "traffic of level 2"),
        Column("indegree", "in-degree", "given"),
        Column("peak", "peak (million routes)", "modelled", 4),
        Column("same", "against the same placement (%)", "modelled"),
        Column("mean", "of it: mean (%)", "modelled"),
        Column("random", "against random (%)", "modelled"),
    ]
    table = Table(columns, rows, f"Two levels, {RUN}", "levels")
    return Answer(_change([own["levels"][PLAIN]["peak"]], [own["peak"]]), tables=[table])


def _compared(loads: dict, own: dict, none: dict) -> dict[str, Any]:
    return {
        "peak": loads["peak"] / MILLION,
        "same": 100 * (loads["peak"] / own["peak"] - 1),
        "mean": 100 * (loads["mean"] / own["mean"] - 1),
        "random": 100 * (loads["peak"] / none["peak"] - 1),
    }


def level_two_genetic(runs: Runs) -> Answer:
    """The peak on level 2 with groups by a genetic algorithm, against groups as they come, same placement."""
    own = _placed(runs, RUN)["levels"]
    return Answer(_change([own[PLAIN]["peak"]], [own[EVEN]["peak"]]))


def connections_before(runs: Runs) -> Answer:
    """Voxels in sequence, as the published partition begins."""
    return Answer(Quantity(_placed(runs, "sequential")["connections"], kind="modelled"))


def connections_after(runs: Runs) -> Answer:
    """With two levels of 40 and 50."""
    return Answer(Quantity(_placed(runs, RUN)["levels"][PLAIN]["connections"], kind="modelled"))


def traffic_demand(runs: Runs) -> Answer:
    """Of all GPUs, a word of 32 bits for each spike and route."""
    own = _placed(runs, RUN)
    return Answer(
        Quantity(own["mean"] * own["words"] * 8 * WORD_BYTES * RANKS / 1e12, unit="Tbit/s", kind="modelled")
    )


def _seconds(found: dict, hops: list[dict], ranks: int) -> float:
    """Of exchanges per simulated second on MACHINE, one each 1 ms, a rank on each node, point to point."""
    net = Collectives.of(Values(machines.filled(machines.load(MACHINE))), ranks)
    return 1e3 * routed.seconds_alone(net, hops, 1e-3 * found["words"])


def latency(runs: Runs) -> Answer:
    """Predicted exchanges beside Table II: random directly, and proposed with two levels."""
    rows, times = [], {}
    for method, way, ranks in ((NONE, "direct", RANKS), (GENETIC, EVEN, RANKS), (RUN, TABLE, RANKS)):
        own = _placed(runs, method, ranks)
        hops = [own["direct"]] if way == "direct" else own["levels"][way]["hops"]
        times[method] = _seconds(own, hops, ranks)
        theirs = {NONE: "Random", GENETIC: "GA", RUN: "proposed"}[method]
        printed = dict.fromkeys(
            r["as_printed"]
            for r in papers.rows("du_table2")
            if r["partition"] == theirs and r["gpus"] == str(ranks)
        )
        rows.append({"method": method, "way": way, "predicted": times[method], "printed": ", ".join(printed)})
    columns = [
        Column("method", "partition"),
        Column("way", "routing"),
        Column("predicted", f"exchanges on {MACHINE} (s per simulated s)", "modelled"),
        Column("printed", "Table II, noise 0.1 to 0.6", "literature"),
    ]
    table = Table(columns, rows, f"Predicted exchanges beside Table II, {RANKS} ranks", "latency")
    return Answer(Quantity(times[NONE] / times[RUN], kind="modelled"), tables=[table])


def latency_growth(runs: Runs) -> Answer:
    """4000 GPUs over 2000, both as proposed."""
    if runs.quick:
        raise Lacking("not part of --quick: the brain of 4000 GPUs")
    small, large = (_placed(runs, RUN, ranks) for ranks in (RANKS, DOUBLE))
    times = [
        _seconds(one, one["levels"][TABLE]["hops"], ranks) for one, ranks in ((small, RANKS), (large, DOUBLE))
    ]
    return Answer(Quantity(times[1] / times[0], kind="modelled"))
