"""Du et al. 2022: traffic of partitions and of two levels of routing, as expectations.

Nothing is drawn and nothing is run: the parametric brain of the preset voxels has the published
numbers of neurons, voxels and GPUs, and traffic is the expectation over all networks. A route is a
pair of a neuron and another rank with a synapse of it: what a spike is sent along. Each placement
takes minutes, and its loads are kept in a file, so that an interrupted study goes on.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from spikemark.models.exchange_times import WORD_BYTES
from spikemark.network.exchanges import SIDES, most_equal
from spikemark.network.placement_file import Placement
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph, routed
from spikemark.prediction.partition.methods import Problem, divide, evolved
from spikemark.prediction.partition.routing import Grid, grouped
from spikemark.prediction.partition.traffic import ExpectedTraffic
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.report import plots

from .claims import StudyAnswer
from .pick import order
from .profiles import interconnect_of
from .published import papers
from .study import Lacking, Runs, answers_claim

RANKS, DOUBLE_RANKS = 2000, 4000
NEURONS_PER_RANK = 5_000_000
MACHINE = "jureca-dc"
MILLION = 1e6
NEURONS_OF_A_BRAIN = 86e9  #: human, section I
SYNAPSES_OF_A_BRAIN = 86e12  #: the same
CURVE_POINTS = 50  #: of a curve over ranks
#: Methods of partition.
RANDOM, PRINTED, SWAPPED, GENETIC = "random", "greedy_affinity", "greedy_swap", "genetic"
LITERAL = "algorithm 1, literally"  #: see `_literal_partition`
GENETIC_BY_TRAFFIC = "genetic_traffic"  #: beyond the paper: its fitness is traffic, not neurons
SHOWN_METHODS = (
    RANDOM,
    "sequential",
    GENETIC,
    GENETIC_BY_TRAFFIC,
    PRINTED,
    SWAPPED,
    "metis",
)
SLOW_METHODS = (GENETIC_BY_TRAFFIC, "metis")  #: not part of --quick
FILE_NAMES = {LITERAL: "literal"}  #: of methods whose names do not suit a file
SEEDS = {RANDOM: 5, GENETIC: 3, GENETIC_BY_TRAFFIC: 3}  #: numbers of them; others have one
INDEGREES = (100, 200, 400, 1000)
#: Readings of "level 2": ways through two levels, see `_levels`.
PLAIN = "forwarded by bridges"
BALANCED = "forwarded, balanced table"
GROUPED = "forwarded, groups by traffic"
EVEN = "forwarded, genetic groups"
MERGED = "between groups, merged"
ALL_WAYS = (PLAIN, BALANCED, GROUPED, EVEN, MERGED)
#: Ways that are computed for a method; for the others, only PLAIN.
WAYS_OF_METHOD = {SWAPPED: ALL_WAYS, GENETIC: (PLAIN, EVEN)}

#: Loads of one placement, as `_loads` makes them.
Loads = dict[str, Any]


def _brain_options(ranks: int, indegree: int) -> voxels.VoxelsOptions:
    values = {**voxels.FULL_BRAIN, "neurons": NEURONS_PER_RANK * ranks, "indegree": indegree}
    return choose(voxels.VoxelsOptions, values)


#: The brain that was asked for last, by ranks and in-degree.
_last_brain: dict[tuple[int, int], graph.Graph] = {}


def _brain_of(ranks: int, indegree: int) -> graph.Graph:
    """The brain for so many ranks, as a graph of voxels."""
    if (ranks, indegree) not in _last_brain:
        _last_brain.clear()  # before the next one is made: two do not fit side by side everywhere
        _last_brain[ranks, indegree] = graph.of_voxels(_brain_options(ranks, indegree))
    return _last_brain[ranks, indegree]


def _placed(
    runs: Runs,
    method: str,
    ranks: int | None = None,
    seed: int = 1,
    indegree: int = 100,
) -> Loads:
    """Loads of one placement, computed once; on RANKS where nothing is stated."""
    ranks = ranks or RANKS
    name = f"{FILE_NAMES.get(method, method)}-{ranks}-ranks-indegree-{indegree}-seed-{seed}"
    inputs = _brain_options(ranks, indegree).model_dump()
    loads: Loads = runs.kept(name, inputs, partial(_loads, method, ranks, seed, indegree))
    return loads


def _divided(brain: graph.Graph, ranks: int, method: str, seed: int) -> Placement:
    if method == LITERAL:
        problem = Problem(brain, ranks, seed)
        return problem.placement(_literal_partition(problem))
    if method != GENETIC_BY_TRAFFIC:
        return divide(brain, ranks, method, seed)
    problem = Problem(brain, ranks, seed)
    traffic = np.rint(MILLION * problem.loads[:, 1]).astype(np.int64)
    return problem.placement(evolved(traffic, ranks, seed))


def _loads(method: str, ranks: int, seed: int, indegree: int) -> Loads:
    """What the answers need of a placement, in routes, as plain data.

    `peak` and `mean` of the routes that begin on a rank, `sent` and `partners` as curves over
    ranks, `words` along a route per second, sums of the busiest rank where all is sent `direct`,
    and the second level by way (`levels`).
    """
    brain = _brain_of(ranks, indegree)
    traffic = ExpectedTraffic(brain, _divided(brain, ranks, method, seed))
    ways = WAYS_OF_METHOD.get(method, (PLAIN,))
    if indegree != INDEGREES[0]:
        ways = (MERGED,)
    return {
        "peak": float(traffic.sent.max()),
        "mean": float(traffic.sent.mean()),
        "connections": float(traffic.partners.mean()),
        "sent": _curve(traffic.sent),
        "partners": _curve(traffic.partners),
        "words": float(traffic.per_cycle[0]) / brain.cycle_ms * 1e3,
        "direct": traffic.hops(Grid(ranks, (ranks,)))[0].busiest,
        "levels": {way: _level(way, traffic, seed) for way in ways},
    }


def _curve(values: np.ndarray) -> list[float]:
    """Values of ranks, the least first, at CURVE_POINTS of them."""
    curve: list[float] = np.quantile(values, np.linspace(0, 1, CURVE_POINTS)).tolist()
    return curve


def _level(way: str, traffic: ExpectedTraffic, seed: int) -> dict[str, Any]:
    """What the second of two levels carries, by reading of it.

    Words go by a bridge in the sender's group of 40 (or 50) ranks. FORWARDED is what a bridge sends
    on for others: with BALANCED, destinations go to the bridge with the least; with GROUPED and
    EVEN, ranks are in other groups. MERGED: the copies for all ranks of a group travel between
    groups as one.
    """
    sizes = most_equal(traffic.ranks, 2)
    by_sender, by_receiver = (Grid(traffic.ranks, sizes, side) for side in SIDES)
    if way == MERGED:
        return _spread(traffic.hops(by_receiver, merged=True)[0].sent)
    if way == BALANCED:
        return _forwarded(traffic, by_sender.balanced(traffic.pairs))
    if way == GROUPED:
        return _forwarded(_grouped_by_traffic(traffic, sizes[0]), by_sender)
    if way == EVEN:
        return _forwarded(_evenly_grouped(traffic, sizes[0], seed), by_sender)
    return _forwarded(traffic, by_sender)


def _forwarded(traffic: ExpectedTraffic, grid: Grid) -> dict[str, Any]:
    hops = traffic.hops(grid)
    return {
        **_spread(hops[1].forwarded),
        "connections": float(np.sum([hop.partners for hop in hops], axis=0).mean()),
        "hops": [hop.busiest for hop in hops],
    }


def _spread(loads: np.ndarray) -> dict[str, Any]:
    return {"peak": float(loads.max()), "mean": float(loads.mean()), "curve": _curve(loads)}


def _grouped_by_traffic(traffic: ExpectedTraffic, group_size: int) -> ExpectedTraffic:
    """Ranks numbered so that those that exchange much are in one group."""
    placement = grouped(traffic.placement, traffic.pairs, group_size)
    return ExpectedTraffic(traffic.graph, placement)


def _evenly_grouped(traffic: ExpectedTraffic, group_size: int, seed: int) -> ExpectedTraffic:
    """Ranks numbered so that groups send alike, by a genetic algorithm."""
    placed = traffic.placement
    sent = np.rint(traffic.sent).astype(np.int64)
    group_of_rank = evolved(sent, traffic.ranks // group_size, seed)
    number_of_rank = np.argsort(np.argsort(group_of_rank, kind="stable"))
    rank_of_part = number_of_rank[placed.rank]
    placement = Placement.from_ranges(placed.ranks, placed.end, rank_of_part, method=placed.method)
    return ExpectedTraffic(traffic.graph, placement)


def _of_all_seeds(runs: Runs, method: str) -> list[Loads]:
    seeds = 1 if runs.quick else SEEDS.get(method, 1)
    return [_placed(runs, method, seed=seed) for seed in range(1, seeds + 1)]


def _by_method(runs: Runs) -> dict[str, list[Loads]]:
    """All placements on RANKS, by method, a list over seeds."""
    loads = {}
    for method in SHOWN_METHODS:
        if not (runs.quick and method in SLOW_METHODS):
            loads[method] = _of_all_seeds(runs, method)
    return loads


def _change(values: list[float], base: list[float]) -> Quantity:
    """From the mean of `base` to that of `values` in %, with the extremes over all pairs."""
    low, high = None, None
    if len(values) * len(base) > 1:
        low = 100 * (min(values) / max(base) - 1)
        high = 100 * (max(values) / min(base) - 1)
    change = 100 * (np.mean(values) / np.mean(base) - 1)
    return Quantity(float(change), low, high, "%", "modelled")


def _peaks(loads: Iterable[Loads]) -> list[float]:
    return [placed["peak"] for placed in loads]


def _change_of_peaks(runs: Runs, method: str, base: str) -> StudyAnswer:
    """Peak of a method against that of another one, %."""
    peaks = _peaks(_of_all_seeds(runs, method))
    return StudyAnswer(_change(peaks, _peaks(_of_all_seeds(runs, base))))


@answers_claim
def _partitions_by_peak(runs: Runs) -> StudyAnswer:
    """Partitions by the traffic of the busiest GPU, the most first."""
    peaks = {}
    for name, method in (("random", RANDOM), ("genetic", GENETIC), ("proposed", SWAPPED)):
        peaks[name] = Quantity(float(np.mean(_peaks(_of_all_seeds(runs, method)))))
    return StudyAnswer(order(peaks))


@answers_claim
def _cut_against_balance(runs: Runs) -> StudyAnswer:
    """Peak where the total traffic is least (METIS) over that where it is balanced."""
    if runs.quick:
        raise Lacking("not part of --quick: METIS on the full brain")
    least_total = _placed(runs, "metis")
    balanced = _placed(runs, SWAPPED)
    total = 100 * (least_total["mean"] / balanced["mean"] - 1)
    note = f"The total traffic of METIS differs by {total:.3g} %."
    return StudyAnswer(Quantity(least_total["peak"] / balanced["peak"], kind="modelled"), note)


@answers_claim
def _total_traffic(runs: Runs) -> StudyAnswer:
    """Total traffic between GPUs against a random partition, %."""
    random = [placed["mean"] for placed in _of_all_seeds(runs, RANDOM)]
    swapped = [placed["mean"] for placed in _of_all_seeds(runs, SWAPPED)]
    return StudyAnswer(_change(swapped, random))


@answers_claim
def _printed_against_random(runs: Runs) -> StudyAnswer:
    """Voxels one by one to the GPU with which they exchange most and that has room; all methods."""
    loads = _by_method(runs)
    random_peaks = _peaks(loads[RANDOM])
    rows: list[dict[str, Cell]] = []
    for method, of_method in loads.items():
        first = of_method[0]
        peaks = _peaks(of_method)
        rows.append(
            {
                "method": method,
                "peak": float(np.mean(peaks)) / MILLION,
                "change": _change(peaks, random_peaks),
                "uneven": first["peak"] / first["mean"],
                "connections": first["connections"],
            }
        )
    columns = [
        Column("method", "method"),
        Column("peak", "peak (million routes)", "modelled", 4),
        Column("change", "against random (%)", "modelled"),
        Column("uneven", "peak / mean", "modelled"),
        Column("connections", "connections, mean", "modelled", 4),
    ]
    note = (
        f"{RANKS} ranks. A route: a neuron and another rank with a synapse of it. In parentheses:"
        " seeds."
    )
    table = Table(columns, rows, "Partition methods", "peaks", [note])
    return StudyAnswer(_change(_peaks(loads[PRINTED]), random_peaks), tables=[table])


@answers_claim
def _swap_against_random(runs: Runs) -> StudyAnswer:
    """What is run: in sequence, then swaps."""
    return _change_of_peaks(runs, SWAPPED, RANDOM)


@answers_claim
def _swap_against_genetic(runs: Runs) -> StudyAnswer:
    """Both as the public code has them."""
    return _change_of_peaks(runs, SWAPPED, GENETIC)


@answers_claim
def _swap_against_fitter(runs: Runs) -> StudyAnswer:
    """A genetic algorithm whose fitness is the largest traffic."""
    if runs.quick:
        raise Lacking("not part of --quick: a genetic partition by traffic")
    return _change_of_peaks(runs, SWAPPED, GENETIC_BY_TRAFFIC)


@answers_claim
def _literal_against_random(runs: Runs) -> StudyAnswer:
    """Algorithm 1 literally: in turn, each GPU takes the voxel with which it exchanges most."""
    if runs.quick:
        raise Lacking("not part of --quick: algorithm 1 on the full brain")
    return _change_of_peaks(runs, LITERAL, RANDOM)


@answers_claim
def _groups_by_traffic(runs: Runs) -> StudyAnswer:
    """The peak on level 2 with groups as algorithm 2 makes them, against no levels."""
    swapped = _placed(runs, SWAPPED)
    grouped = swapped["levels"][GROUPED]
    return StudyAnswer(_change([grouped["peak"]], [swapped["peak"]]))


def _literal_partition(problem: Problem) -> np.ndarray:
    """The rank of each piece by algorithm 1 of the paper, line by line, [Q].

    In each iteration every rank that has less than its share of neurons takes the piece with which
    its own pieces exchange most; where they exchange with none, the first that is left.
    """
    exchanged = sparse.csr_array(problem.exchanged)
    sizes = problem.sizes
    share = sizes.sum() / problem.ranks
    rank_of_piece = np.full(len(sizes), -1)
    affinity = np.zeros((problem.ranks, len(sizes)), dtype=np.float32)
    load = np.zeros(problem.ranks)
    is_left = np.ones(len(sizes), dtype=bool)
    while is_left.any():
        taking = np.flatnonzero(load < share)
        if not taking.size:  # rounding: all have their share, and a piece is left
            taking = np.array([int(load.argmin())])
        for rank in taking:
            if not is_left.any():
                break
            piece = int(np.where(is_left, affinity[rank], -1).argmax())
            rank_of_piece[piece] = rank
            is_left[piece] = False
            load[rank] += sizes[piece]
            begin, end = exchanged.indptr[piece : piece + 2]
            affinity[rank, exchanged.indices[begin:end]] += exchanged.data[begin:end]
    return rank_of_piece


@answers_claim
def _curves(runs: Runs) -> StudyAnswer:
    """Traffic of every rank, sorted, without levels and as forwarded on the second."""
    frames = []
    rows: list[dict[str, Cell]] = []
    spreads = []
    for method, (first, *_) in _by_method(runs).items():
        without_levels = np.array(first["sent"]) / MILLION
        on_level_2 = np.array(first["levels"][PLAIN]["curve"]) / MILLION
        for panel, routes in {"without levels": without_levels, "level 2": on_level_2}.items():
            ranks = np.linspace(1, RANKS, CURVE_POINTS)
            frame = pd.DataFrame({"rank": ranks, "routes": routes})
            frames.append(frame.assign(method=method, panel=panel))
            low, middle, high = np.quantile(routes, [0, 0.5, 0.9])
            cells = {"low": low, "middle": middle, "high": high, "peak": routes.max()}
            rows.append({"method": method, "panel": panel, **cells})
        spread = without_levels.max() / np.quantile(without_levels, 0.5)
        spreads.append(f"{method} {spread:.2f}")
    figure = plots.lines(
        pd.concat(frames),
        "rank",
        "routes",
        "du-curves",
        f"Traffic of {RANKS} ranks, sorted",
        "Million routes (modelled), seed 1.",
        hue="method",
        panel="panel",
        xlabel="ranks, sorted",
        ylabel="million routes",
        markers=False,
    )
    columns = [
        Column("method", "method"),
        Column("panel", "routing"),
        Column("low", "least", "modelled"),
        Column("middle", "median", "modelled"),
        Column("high", "90 % below", "modelled"),
        Column("peak", "peak", "modelled"),
    ]
    table = Table(columns, rows, "Traffic per rank, million routes", "curves")
    words = f"peak over median: {', '.join(spreads)} (modelled)"
    return StudyAnswer(words, figures=[figure], tables=[table])


@answers_claim
def _level_two(runs: Runs) -> StudyAnswer:
    """The peak on level 2 against the same placement without levels, in every reading we know."""
    swapped = _placed(runs, SWAPPED)
    random = _placed(runs, RANDOM)
    rows: list[dict[str, Cell]] = []
    for way, level in swapped["levels"].items():
        rows.append({"way": way, "indegree": 100, **_compared(level, swapped, random)})
    for indegree in () if runs.quick else INDEGREES[1:]:
        dense = _placed(runs, SWAPPED, indegree=indegree)
        dense_random = _placed(runs, RANDOM, indegree=indegree)
        cells = _compared(dense["levels"][MERGED], dense, dense_random)
        rows.append({"way": MERGED, "indegree": indegree, **cells})
    columns = [
        Column("way", "traffic of level 2"),
        Column("indegree", "in-degree", "given"),
        Column("peak", "peak (million routes)", "modelled", 4),
        Column("same", "against the same placement (%)", "modelled"),
        Column("mean", "of it: mean (%)", "modelled"),
        Column("random", "against random (%)", "modelled"),
    ]
    table = Table(columns, rows, f"Two levels, {SWAPPED}", "levels")
    change = _change([swapped["levels"][PLAIN]["peak"]], [swapped["peak"]])
    return StudyAnswer(change, tables=[table])


def _compared(level: dict[str, Any], same_placement: Loads, random: Loads) -> dict[str, float]:
    """Cells of a reading of level 2: its peak, and changes in %."""
    return {
        "peak": level["peak"] / MILLION,
        "same": 100 * (level["peak"] / same_placement["peak"] - 1),
        "mean": 100 * (level["mean"] / same_placement["mean"] - 1),
        "random": 100 * (level["peak"] / random["peak"] - 1),
    }


@answers_claim
def _level_two_genetic(runs: Runs) -> StudyAnswer:
    """The peak on level 2 with groups as they come, against groups by a genetic algorithm.

    The placement is the same.
    """
    levels = _placed(runs, SWAPPED)["levels"]
    return StudyAnswer(_change([levels[PLAIN]["peak"]], [levels[EVEN]["peak"]]))


@answers_claim
def _connections_before(runs: Runs) -> StudyAnswer:
    """Voxels in sequence, as the published partition begins."""
    return StudyAnswer(Quantity(_placed(runs, "sequential")["connections"], kind="modelled"))


@answers_claim
def _connections_after(runs: Runs) -> StudyAnswer:
    """With two levels of 40 and 50."""
    connections = _placed(runs, SWAPPED)["levels"][PLAIN]["connections"]
    return StudyAnswer(Quantity(connections, kind="modelled"))


@answers_claim
def _connections_curve(runs: Runs) -> StudyAnswer:
    """Connections of every GPU without levels, sorted (figure 4a)."""
    curve = np.array(_placed(runs, "sequential")["partners"])
    low, middle, high = np.quantile(curve, [0, 0.5, 1])
    frame = pd.DataFrame({"rank": np.linspace(1, RANKS, CURVE_POINTS), "connections": curve})
    figure = plots.lines(
        frame,
        "rank",
        "connections",
        "du-4",
        "Connections of a GPU without levels, sorted",
        "Modelled, voxels in sequence.",
        xlabel="ranks, sorted",
        ylabel="connections",
        markers=False,
    )
    words = f"{low:.0f} to {high:.0f}, median {middle:.0f} (modelled)"
    return StudyAnswer(words, figures=[figure])


@answers_claim
def _traffic_in_petabytes(runs: Runs) -> StudyAnswer:
    """Traffic of a brain of 86e9 neurons, petabytes per second: a word for each spike and GPU.

    The interval is over what the text may mean, up to a word for each spike and synapse.
    """
    tbit_per_s = _traffic_demand(runs).value
    assert isinstance(tbit_per_s, Quantity)
    of_routes = tbit_per_s.times(1 / 8 / 1e3, "PB/s")
    events_per_s = SYNAPSES_OF_A_BRAIN * _placed(runs, SWAPPED)["words"]
    of_synapses = WORD_BYTES * events_per_s / 1e15
    low, high = min(of_routes.number, of_synapses), max(of_routes.number, of_synapses)
    note = f"With a word for each spike and synapse: {of_synapses:.3g} PB/s."
    return StudyAnswer(Quantity(of_routes.number, low, high, "PB/s", "modelled"), note)


@answers_claim
def _synapses_per_neuron(runs: Runs) -> StudyAnswer:
    """Synapses of a neuron of the human brain, by section I, over those of the parametric brain."""
    of_text = SYNAPSES_OF_A_BRAIN / NEURONS_OF_A_BRAIN
    return StudyAnswer(Quantity(of_text / INDEGREES[0], kind="literature"))


@answers_claim
def _traffic_demand(runs: Runs) -> StudyAnswer:
    """Of all GPUs, a word of 32 bits for each spike and route; a brain of 86e9 neurons.

    In proportion to that of 1e10, which is on RANKS GPUs.
    """
    loads = _placed(runs, SWAPPED)
    bits_per_s = loads["mean"] * loads["words"] * 8 * WORD_BYTES * RANKS
    neurons = NEURONS_PER_RANK * RANKS
    scale = NEURONS_OF_A_BRAIN / neurons
    note = (
        f"In proportion to the {bits_per_s / 1e12:.3g} Tbit/s of {neurons:.3g} neurons on"
        f" {RANKS} GPUs."
    )
    return StudyAnswer(Quantity(scale * bits_per_s / 1e12, unit="Tbit/s", kind="modelled"), note)


def _exchange_s(loads: Loads, hops: list[dict[str, float]], ranks: int) -> float:
    """Seconds of exchanges per simulated second on MACHINE, point to point.

    There is an exchange each 1 ms, and a rank on each node.
    """
    words_per_ms = 1e-3 * loads["words"]
    return 1e3 * routed.seconds_alone(interconnect_of(MACHINE, ranks), hops, words_per_ms)


def _printed_times(partition: str, ranks: int) -> str:
    """Times of Table II over channel noise, as printed."""
    times = {
        row["as_printed"]: None
        for row in papers.rows("du_table2")
        if row["partition"] == partition and row["gpus"] == str(ranks)
    }
    return ", ".join(times)


@answers_claim
def _noise_growth(runs: Runs) -> StudyAnswer:
    """What the most channel noise adds to the time, on the most GPUs over the fewest (Table II)."""
    times_s: dict[int, dict[float, float]] = {}  # by GPUs and noise
    for row in papers.rows("du_table2"):
        if row["partition"] == "proposed":
            of_gpus = times_s.setdefault(int(row["gpus"]), {})
            of_gpus[float(row["channel_noise"])] = float(row["simulation_time_s"])
    added_s = {gpus: of[max(of)] - of[min(of)] for gpus, of in times_s.items()}
    growth = added_s[max(added_s)] / added_s[min(added_s)]
    return StudyAnswer(Quantity(growth, kind="literature"))


@answers_claim
def _random_over_genetic(runs: Runs) -> StudyAnswer:
    """Predicted exchanges, random and direct over genetic with genetic groups."""
    random = _placed(runs, RANDOM)
    genetic = _placed(runs, GENETIC)
    random_s = _exchange_s(random, [random["direct"]], RANKS)
    genetic_s = _exchange_s(genetic, genetic["levels"][EVEN]["hops"], RANKS)
    return StudyAnswer(Quantity(random_s / genetic_s, kind="modelled"))


@answers_claim
def _latency(runs: Runs) -> StudyAnswer:
    """Predicted exchanges beside Table II: random directly, and proposed with two levels."""
    random = _placed(runs, RANDOM)
    genetic = _placed(runs, GENETIC)
    swapped = _placed(runs, SWAPPED)
    random_s = _exchange_s(random, [random["direct"]], RANKS)
    genetic_s = _exchange_s(genetic, genetic["levels"][EVEN]["hops"], RANKS)
    swapped_s = _exchange_s(swapped, swapped["levels"][BALANCED]["hops"], RANKS)
    rows: list[dict[str, Cell]] = []
    for method, way, seconds, printed in (
        (RANDOM, "direct", random_s, "Random"),
        (GENETIC, EVEN, genetic_s, "GA"),
        (SWAPPED, BALANCED, swapped_s, "proposed"),
    ):
        times = _printed_times(printed, RANKS)
        rows.append({"method": method, "way": way, "predicted": seconds, "printed": times})
    columns = [
        Column("method", "partition"),
        Column("way", "routing"),
        Column("predicted", f"exchanges on {MACHINE} (s per simulated s)", "modelled"),
        Column("printed", "Table II, noise 0.1 to 0.6", "literature"),
    ]
    table = Table(columns, rows, f"Predicted exchanges beside Table II, {RANKS} ranks", "latency")
    return StudyAnswer(Quantity(random_s / swapped_s, kind="modelled"), tables=[table])


@answers_claim
def _latency_growth(runs: Runs) -> StudyAnswer:
    """4000 GPUs over 2000, both as proposed."""
    if runs.quick:
        raise Lacking("not part of --quick: the brain of 4000 GPUs")
    seconds = []
    for ranks in (RANKS, DOUBLE_RANKS):
        loads = _placed(runs, SWAPPED, ranks)
        seconds.append(_exchange_s(loads, loads["levels"][BALANCED]["hops"], ranks))
    return StudyAnswer(Quantity(seconds[1] / seconds[0], kind="modelled"))
