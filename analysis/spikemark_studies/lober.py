"""Answers to papers/lober.yaml: structure-aware communication (Lober, Diesmann & Kunkel 2026).

What a claim says of NEST's delivery, update or run time is asked of NEST's costs, which are fitted
to public series of others (cycles.py): intervals of computing times are over the series that are
left out and over first guesses of the costs, those of run times over what is assumed of the jitter.
What compares run times of both machines is asked of the mini-app's model, since NEST was timed on
one of them only. Messages and waiting are those of the mini-app in the experiments weak-scaling,
heterogeneity, mam and alltoall, simulated on two machines; what needs no run follows from the
equations of the paper or from presets.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from spikemark.core.errors import BadInput
from spikemark.models import access, modes, mpi_rules, serial, statistics
from spikemark.models.jitter import Jitter
from spikemark.models.loggp import Traffic
from spikemark.network.presets import cortex, mam, mam_benchmark
from spikemark.network.presets.options import choose
from spikemark.prediction import anchors, performance, points, question, spread_fit
from spikemark.prediction.draws import Z95
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.programs import Program
from spikemark.prediction.workload import Loads
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records import imported
from spikemark.records.frames import Frames
from spikemark.report import plots

from . import jitter_map, nest_delivery
from .claims import StudyAnswer
from .cycles import (
    MINI_APP,
    NEST,
    ModelledCycles,
    NestCosts,
    coefficient_of_variation,
    delivery_by_lane,
    factors_of,
    far_off,
    lists_of_multi_area_model,
    maxima_inside_percent,
    of_benchmark,
    of_multi_area_model,
    refitted,
)
from .pick import NOT_RUN, groups, levels, mean, means, order, pick, reduction, with_cv
from .profiles import assumed_profile, drawn_interconnects, interconnect_of, profile_value
from .published import papers
from .score import source_of
from .study import Lacking, Runs, answers_claim

JURECA, SUPERMUC = "jureca-dc", "supermuc-ng"
SCHEDULE_NAMES = {schedule: name for name, schedule in jitter_map.SCHEDULES.items()}
WAITING, MOVING = "part.waiting", "part.exchange"
PARTS = ["part.deliver", "part.update", "part.collocate", WAITING, MOVING]
METASTABLE_HZ = 14.7  #: mean rate in the metastable state
NODES = 32
RANKS_OF_SCALING = (2, 8, 16, 32, 64, 128)
MOST_RANKS = RANKS_OF_SCALING[-1]
CYCLES_PER_S = 1e4  #: of simulated time, 0.1 ms each
#: Options of the benchmark that allow each D up to 20, ms.
DELAYS_OF_FIGURE_8 = {"delay_inter": (2.5, 0.5), "delay_inter_min": 2.0, "delay_max": 3.0}
LARGEST_SPREAD = 0.3  #: of sizes and rates in figure 8
#: Share of the synapses of the multi-area model between areas, by the paper; its data have fewer.
BETWEEN_AREAS = 1 / 3
PROGRAM_NAMES = {NEST: "NEST", MINI_APP: "the mini-app"}
#: Published times of NEST, with those of its communication, for the multi-area model on nodes of
#: 128 cores: series of points.csv (Tiddia et al. 2022; Albers et al. 2022), and their seeds.
GROUND_SERIES, METASTABLE_SERIES = "TID-MAMG", ("BNR-MAMM", "BNP-MAMM")
SEEDS_OF_SERIES = {"TID-MAMG": 8, "BNR-MAMM": 3, "BNP-MAMM": 3}
RANKS_OF_NODE = 8  #: of these runs
#: What a process sends to another in a cycle, over the mean: at least, and as the largest of all.
BUFFER_FACTORS = (1, 10)
SEEDS_OF_MODEL = (1, 2, 3)  #: of the multi-area model, where accesses are counted
FEWEST_RANKS_OF_SLOPE = 16  #: on fewer, times do not grow in proportion
PUBLISHED_D = 10  #: cycles of a window
LARGEST_D = 20  #: of figure 8c
LONG_PHASE = 1000  #: cycles, over which slow phases persist
#: Folders of logs, by schedule.
LOG_FOLDERS = {"conventional": "conventional", "structure_aware": "structure-aware"}
#: Files of logs, by format: those of the benchmark, those of NEST from version 3.10 on.
LOG_FILES = {"structure-aware": "cycle_time_log_*", "nest": "*.npz"}
NEEDS_LOGS = "logs of cycle times from a cluster (`spikemark study lober --logs DIR`)"
BYTES_OF_SPIKE = 8  #: that NEST sends
#: Block of MPI_Alltoall beyond what NEST sends.
LARGE_BLOCK_BYTES = 16_384.0
#: The largest block with which one exchange is still no longer than ten on any of the clusters.
LAST_BLOCK_BYTES = 4096.0
ABOUT_THREAD = (
    "One thread of a rank with the in-degree of the benchmark, on a processor of today: it looks up"
    " all spikes that reach the rank, and delivers those that have synapses on it."
)
DRAWN_NETWORKS = 50  #: draws of what is not known of an interconnect
DRAWN_CYCLES = 20_000  #: that are drawn to check eqs 3 to 11
FULL = mam_benchmark.FULL_SIZE
NEAR_INDEGREE = FULL["indegree"] // 2  #: from the own area; as many come from others


def _modelled(value: float, unit: str = "") -> Quantity:
    return Quantity(float(value), unit=unit, kind="modelled")


def _simulated(value: float, unit: str = "") -> Quantity:
    return Quantity(float(value), unit=unit, kind="simulated")


# Figure 1


@answers_claim
def _scaling_of_phases(runs: Runs) -> StudyAnswer:
    """All but communication of NEST on 32 nodes over that on 4, as other papers measured it.

    The multi-area model in its ground state. The interval is over the scatter of communication,
    which the rest cannot have more of. The figure has the phases of the mini-app beside published
    ones of NEST in the metastable state (figure 5C of Albers et al. 2022).
    """
    modelled = pd.DataFrame(runs.kept("phases", {"hz": METASTABLE_HZ}, _phases))
    published = pd.DataFrame(papers.rows("nest_mam_phases")).astype(float)
    frame = pd.concat(
        [
            published.assign(program="NEST, published"),
            modelled.assign(program="mini-app, modelled"),
        ]
    )
    long = frame.melt(["program", "nodes"], var_name="phase", value_name="seconds")
    figure = plots.lines(
        long,
        "nodes",
        "seconds",
        "lober-1a",
        "Phases of the multi-area model on JURECA-DC",
        "Seconds per simulated second, metastable state; published: Albers et al. 2022, fig. 5C.",
        hue="phase",
        panel="program",
        log="y",
    )
    computing_s = modelled["deliver"] + modelled["update"]
    of_mini_app = computing_s.iloc[-1] / computing_s.iloc[0]
    table = plots.tabulated(frame, "Seconds per simulated second")
    left_out = {program.without for program in refitted()} - {()}
    ratios = [_kernel_on_most_over_fewest(sources) for sources in sorted(left_out)]
    by_model = _between(_kernel_on_most_over_fewest(), ratios)
    assert by_model.interval
    low, high = by_model.interval
    note = (
        "What is measured is the whole time less that of communication, so collocation is in it."
        f" By the model, without any run of this network: {by_model.number:.3g} ({low:.3g} to"
        f" {high:.3g}). With the kernels of the mini-app: {of_mini_app:.3g}."
    )
    few, many = (_measured_parts(GROUND_SERIES, nodes) for nodes in (4, NODES))
    ratio = many.computing_s / few.computing_s
    scatter = math.exp(math.hypot(math.log(few.scatter), math.log(many.scatter)))
    value = Quantity(ratio, ratio / scatter, ratio * scatter, kind="literature")
    return StudyAnswer(value, note, figures=[figure], tables=[table])


@answers_claim
def _collocation_share(runs: Runs) -> StudyAnswer:
    """Largest share of collocation in NEST's time on 4 to 32 nodes, as other papers measured it.

    The multi-area model in its metastable state, in which more spikes are collocated.
    """
    published = pd.DataFrame(papers.rows("nest_mam_phases")).astype(float)
    percent = 100 * published["collocate"] / published.drop(columns="nodes").sum(axis=1)
    value = Quantity(float(percent.max()), float(percent.min()), float(percent.max()), "%")
    return StudyAnswer(replace(value, kind="literature"))


def _kernel_on_most_over_fewest(without: tuple[str, ...] = ()) -> float:
    """Delivery and update of NEST on 32 nodes over those on 4, by runs of other networks.

    `without`: sources of these runs that are left out, too.
    """
    [most] = [run for run in points.published() if _is_target(run)]
    fewest = [run for run in points.published() if run.series == most.series and run.nodes == 4]
    anchored = []
    for run in points.published():
        is_other = run.network.model != most.network.model and source_of(run) not in without
        if run.program == NEST and is_other:
            anchored.append(run)
    asked = [replace(run, seconds=None) for run in (most, fewest[0])]
    predicted = anchors.predicted(asked, anchored, spread_fit.fit_spreads(tuple(anchored)))
    return float(np.median(predicted.kernel[0] / predicted.kernel[1]))


@answers_claim
def _communication_share(runs: Runs) -> StudyAnswer:
    """Share of communication in NEST's time on 32 nodes, as other papers measured it; ground state.

    The interval is over the scatter of the mean of their seeds. The table has it by nodes, the note
    the share of other measurements, that which the model anchored in NEST's runs predicts without
    them, and that of one rank on each node by NEST's costs.
    """
    shares = []
    for series in METASTABLE_SERIES:
        measured = _measured_parts(series, NODES)
        shares.append(100 * measured.communicate_s / measured.total_s)
    predicted = _predicted_communication_share()
    assert predicted.interval
    low, high = predicted.interval
    cores = round(profile_value(JURECA, "node.cores"))
    note = (
        f"Measured with {NODES * RANKS_OF_NODE} ranks, {RANKS_OF_NODE} on each of {NODES} nodes"
        f" with {cores // RANKS_OF_NODE} threads; the paper has one rank on each node. In the"
        f" metastable state: {min(shares):.3g} and {max(shares):.3g} %, measured elsewhere."
        f" What this project predicts, without any run of this network on as many nodes, is"
        f" {predicted.number:.3g} ({low:.3g} to {high:.3g}) %. With one rank on each node, by"
        f" NEST's costs and over what is assumed of the jitter: {_of_one_rank_on_a_node()} %."
    )
    rows: list[dict[str, Cell]] = []
    nodes_of_series = {run.nodes for run in points.published() if run.series == GROUND_SERIES}
    for nodes in sorted(nodes_of_series):
        rows.append({"nodes": nodes, "share": _measured_share(GROUND_SERIES, nodes)})
    columns = [
        Column("nodes", "nodes", "given"),
        Column("share", "communication (% of the time)", "literature"),
    ]
    title = f"NEST with {RANKS_OF_NODE} ranks on each node, ground state"
    return StudyAnswer(
        _measured_share(GROUND_SERIES, NODES), note, tables=[Table(columns, rows, title)]
    )


def _measured_share(series: str, nodes: int) -> Quantity:
    """Share of communication in a series of runs on so many nodes, over the scatter of seeds."""
    measured = _measured_parts(series, nodes)
    ratio = measured.communicate_s / measured.computing_s
    ends = [ratio / measured.scatter, ratio, ratio * measured.scatter]
    least, middle, most = (100 * end / (1 + end) for end in ends)
    return Quantity(middle, least, most, "%", "literature")


def _of_one_rank_on_a_node() -> str:
    """Share of communication of the multi-area model on 32 nodes by NEST's costs, in words, %."""

    def percent(program: str, jitter: Jitter) -> float:
        conventional = _of_model(program, "conventional")
        return 100 * (1 - float(conventional.compute_s.mean()) / _cycle_s(conventional, jitter))

    share = _by_nest_over_jitter(percent, "%").value
    assert isinstance(share, Quantity) and share.interval
    low, high = share.interval
    return f"{share.number:.3g} ({low:.3g} to {high:.3g})"


def _cycle_s(cycles: ModelledCycles, jitter: Jitter) -> float:
    """What a cycle takes with a jitter."""
    return cycles.cycle_s(factors_of(jitter, len(cycles.compute_s)))


@dataclass(frozen=True)
class MeasuredParts:
    """Times of NEST that others measured, s per simulated s."""

    total_s: float
    communicate_s: float  #: exchanges and waiting
    scatter: float  #: factor from a mean of seeds to either end of its interval

    @property
    def computing_s(self) -> float:
        """All but communication."""
        return self.total_s - self.communicate_s


def _measured_parts(series: str, nodes: int) -> MeasuredParts:
    """The run of a series on so many nodes.

    Its seeds differ in communication, and hardly in the rest.
    """
    seconds = {}
    scatter = 1.0
    for run in points.published():
        if run.series == series and run.nodes == nodes and run.seconds is not None:
            seconds[run.part] = run.seconds
            if run.part:
                scatter = math.exp(Z95 * run.sd / math.sqrt(SEEDS_OF_SERIES[series]))
    return MeasuredParts(seconds[""], seconds["exchange"], scatter)


def _predicted_communication_share() -> Quantity:
    """Share of communication in NEST's time on 32 nodes, by the model anchored in NEST's runs.

    The metastable state of NEST 3.9. Runs with this network on as many nodes are left out of the
    anchors.
    """
    [target] = [run for run in points.published() if _is_target(run)]
    anchored = []
    for run in points.published():
        is_same = run.network.model == target.network.model and run.nodes == NODES
        if run.program == target.program and not is_same:
            anchored.append(run)
    asked = [replace(target, seconds=None)]
    predicted = anchors.predicted(asked, anchored, spread_fit.fit_spreads(tuple(anchored)))
    exchange_s, kernel_s = predicted.exchange[0], predicted.kernel[0]
    percent = 100 * exchange_s / (exchange_s + kernel_s)
    low, middle, high = (float(value) for value in np.quantile(percent, [0.025, 0.5, 0.975]))
    return Quantity(middle, low, high, "%", "modelled")


def _is_target(run: points.PublishedRun) -> bool:
    """Whether a run is that of NEST 3.9 with the metastable multi-area model on NODES nodes."""
    is_metastable = run.network.model == "multi-area-model" and run.network.variant == "metastable"
    return run.version == "3.9" and is_metastable and run.nodes == NODES


def _population_rates_hz(description: dict[str, Any], rates_hz: dict[str, float]) -> np.ndarray:
    """Rates in the order of the populations of a description."""
    populations = description["network"]["populations"]
    return np.array([rates_hz[population["name"]] for population in populations])


def _phases() -> list[dict[str, float]]:
    """Seconds per simulated second of the mini-app, metastable state, by number of nodes.

    There is a rank on each node.
    """
    machine = assumed_profile(JURECA)
    description = mam.describe(scale=1, seed=1)
    ground_state_hz = _population_rates_hz(description, mam.rates_hz(1))
    rates_hz = METASTABLE_HZ / mam.RATE_HZ * ground_state_hz
    rows = []
    for nodes in (4, 8, 16, 32):
        layout = MachineLayout.from_machine(machine, nodes, 128)
        loads = Loads.count(description, nodes, 128, rates_hz, "conventional", "round_robin")
        parts = performance.performance(loads, machine, layout, drawn=False).parts
        seconds = {name: float(np.mean(part)) for name, part in parts.items()}
        rows.append(
            {
                "nodes": nodes,
                "deliver": seconds["deliver"],
                "communicate": seconds["waiting"] + seconds["exchange"],
                "collocate": seconds["collocate"],
                "update": seconds["update"] + seconds["thread_wait"],
            }
        )
    return rows


@answers_claim
def _inside_over_bare(runs: Runs) -> StudyAnswer:
    """Communication of NEST inside a simulation, as other papers measured it, over the bare call.

    The bare call is modelled. The multi-area model in its ground state on 32 nodes of JURECA-DC.
    The interval is over the mean of seeds, over what is not known of the network, and over the size
    of messages. The note has the mini-app's on the most ranks, with the jitter of the profile.
    """
    conventional = pick(runs["weak-scaling"], schedule="conventional")
    if pick(conventional, machine=JURECA).empty:
        raise Lacking(f"no conventional run on {JURECA} is complete")
    rows = []
    for (machine, ranks), of_ranks in groups(conventional, "machine", "ranks"):
        message_bytes = float(of_ranks["bytes_sent"].mean() / of_ranks["messages"].mean())
        rows.append(
            {
                "machine": machine,
                "ranks": int(ranks),
                "bytes": message_bytes,
                "bare_us": 1e6 * _alltoall_s(machine, int(ranks), message_bytes),
                "exchange_us": _per_cycle_us(of_ranks, MOVING),
                "waiting_us": _per_cycle_us(of_ranks, WAITING),
            }
        )
    frame = pd.DataFrame(rows)
    frame["ratio"] = (frame["exchange_us"] + frame["waiting_us"]) / frame["bare_us"]
    long = frame.melt(["machine", "ranks"], ["bare_us", "exchange_us", "waiting_us"], "what", "us")
    figure = plots.lines(
        long,
        "ranks",
        "us",
        "lober-1b",
        "Communication: the bare call, and inside a simulation",
        "µs per cycle, conventional schedule. Bare: modelled. Others: simulated.",
        hue="what",
        panel="machine",
        log="xy",
    )
    ratio = pick(frame, machine=JURECA)["ratio"].iloc[-1]
    table = plots.tabulated(frame, "Microseconds per cycle")
    simulated = _over_jitter("longer-than-bare", _simulated(ratio))
    assert simulated.interval
    low, high = simulated.interval
    note = f"Of the mini-app, simulated: {simulated.number:.3g} ({low:.3g} to {high:.3g})."
    return StudyAnswer(_measured_over_bare(), note, figures=[figure], tables=[table])


@cache
def _measured_over_bare() -> Quantity:
    """Communication of NEST in a cycle, as other papers measured it, over the bare call."""
    measured = _measured_parts(GROUND_SERIES, NODES)
    per_cycle_s = measured.communicate_s / CYCLES_PER_S
    ranks = NODES * RANKS_OF_NODE
    threads = round(profile_value(JURECA, "node.cores")) // RANKS_OF_NODE
    description = mam.describe(scale=1, seed=1)
    rates_hz = _population_rates_hz(description, mam.rates_hz(1))
    loads = Loads.count(description, ranks, threads, rates_hz, "conventional")
    others = 1.0 - np.eye(ranks)
    words = float((loads.words.sum(axis=0) * others).sum() / others.sum())
    node_of_rank = np.arange(ranks) // RANKS_OF_NODE
    networks = [interconnect_of(JURECA, NODES)]
    networks += drawn_interconnects(JURECA, NODES, DRAWN_NETWORKS)
    bare_s = []  # [message, network]
    for factor in BUFFER_FACTORS:
        traffic = Traffic(factor * BYTES_OF_SPIKE * words * others, others, node_of_rank)
        bare_s.append([float(network.alltoall(traffic)) for network in networks])
    usual_s = math.sqrt(bare_s[0][0] * bare_s[1][0])
    shortest_s, longest_s = np.quantile(bare_s[0][1:], 0.025), np.quantile(bare_s[1][1:], 0.975)
    return Quantity(
        per_cycle_s / usual_s,
        float(per_cycle_s / measured.scatter / longest_s),
        float(per_cycle_s * measured.scatter / shortest_s),
        kind="modelled",
    )


@answers_claim
def _waiting_over_exchange(runs: Runs) -> StudyAnswer:
    """Waiting over the time of exchanges, conventional, on the most ranks of JURECA-DC."""
    conventional, _ = _on_most_ranks(runs, JURECA)
    return StudyAnswer(_over_jitter("waiting-dominates", _over(conventional, WAITING, MOVING)))


def _over_jitter(id: str, ours: Quantity) -> Quantity:
    """Our answer to a claim with its interval over what is assumed of the jitter."""
    if ours.value is None:
        return ours
    low, high = (ours.value * end for end in jitter_map.interval_over_jitter(id))
    if ours.unit == "%":  # a share
        high = min(high, 100.0)
    return Quantity(ours.value, low, high, ours.unit, ours.kind)


def _over(runs: pd.DataFrame, part: str, other: str) -> Quantity:
    """One part over another, mean over runs with its interval."""
    return mean(runs.assign(ratio=runs[part] / runs[other]), "ratio")


def _per_cycle_us(runs: pd.DataFrame, part: str) -> float:
    """Mean time of a part in a cycle."""
    per_cycle_us = 1e6 * runs[part] * runs["model_s"] / runs["cycles"]
    return float(per_cycle_us.mean())


def _alltoall_s(machine: str, ranks: int, size: float) -> float:
    """Modelled time of MPI_Alltoall with so many bytes for each rank, one rank per node."""
    others = 1.0 - np.eye(ranks)
    traffic = Traffic(size * others, others, np.arange(ranks))
    return float(interconnect_of(machine, ranks).alltoall(traffic))


# Figure 4


@answers_claim
def _d_fold_exchange(runs: Runs) -> StudyAnswer:
    """One exchange of ten-fold size over ten exchanges, %, as others measured MPI_Alltoall.

    Over their clusters, for the bytes that a rank of NEST sends to another in a cycle.
    """
    size = BYTES_OF_SPIKE * FULL["neurons_per_area"] * FULL["rate"] / CYCLES_PER_S
    percent = _d_fold_percent(size)
    larger = _d_fold_percent(LARGE_BLOCK_BYTES)
    rows: list[dict[str, Cell]] = []
    for place, of_cluster in _public_alltoalls().items():
        row = of_cluster[0]
        rows.append(
            {
                "cluster": row["system"],
                "network": row["fabric"],
                "library": row["mpi"],
                "nodes": int(row["nodes"]),
                "ranks": int(row["ranks"]),
                "percent": percent[place],
                "larger": larger[place],
                "source": row["source"],
            }
        )
    columns = [
        Column("cluster", "cluster"),
        Column("network", "network"),
        Column("library", "library"),
        Column("nodes", "nodes", "given"),
        Column("ranks", "ranks", "given"),
        Column("percent", f"{size:.0f} bytes (%)", "literature"),
        Column("larger", f"{LARGE_BLOCK_BYTES:.0f} bytes (%)", "literature"),
        Column("source", "measured by"),
    ]
    ratio = _alltoall_s(JURECA, MOST_RANKS, 10 * size) / _alltoall_s(JURECA, MOST_RANKS, size)
    note = (
        f"With {size:.0f} bytes from a rank to another in a cycle. With {LARGE_BLOCK_BYTES:.0f},"
        f" one exchange takes up to {max(larger.values()):.3g} % of ten, where times jump; so the"
        f" measurements could have said otherwise, and with {LAST_BLOCK_BYTES:.0f} it already takes"
        f" up to {max(_d_fold_percent(LAST_BLOCK_BYTES).values()):.3g} %. All of them are of two"
        f" nodes with few ranks. By our model of JURECA-DC, on {MOST_RANKS} ranks:"
        f" {10 * ratio:.3g} %."
    )
    middle = float(np.exp(np.mean(np.log(list(percent.values())))))
    value = Quantity(middle, min(percent.values()), max(percent.values()), "%", "literature")
    title = "One exchange of ten-fold size over ten exchanges"
    return StudyAnswer(value, note, tables=[Table(columns, rows, title)])


def _public_alltoalls() -> dict[tuple[str, str], list[dict[str, str]]]:
    """Measured times of MPI_Alltoall between nodes, by cluster and network."""
    by_place: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in papers.rows("alltoall_public"):
        by_place.setdefault((row["system"], row["fabric"]), []).append(row)
    return by_place


def _d_fold_percent(size: float) -> dict[tuple[str, str], float]:
    """One measured exchange of ten-fold size over ten exchanges, %, by cluster and network.

    Between measured sizes, times follow a line over logarithms.
    """
    percent = {}
    for place, rows in _public_alltoalls().items():
        sizes = np.log([float(row["bytes"]) for row in rows])
        times = np.log([float(row["us"]) for row in rows])
        once, d_fold = np.exp(np.interp(np.log([size, PUBLISHED_D * size]), sizes, times))
        percent[place] = float(100 * d_fold / (PUBLISHED_D * once))
    return percent


@answers_claim
def _fewer_messages(runs: Runs) -> StudyAnswer:
    """Messages of a rank in MPI_Alltoall over those on half as many ranks, the least of them.

    Counted in Open MPI 4.1.4 for blocks as NEST sends them.
    """
    counted: dict[int, dict[int, int]] = {}
    for row in papers.rows("openmpi_messages"):
        if row["call"] == "alltoall":
            of_size = counted.setdefault(int(row["block_bytes"]), {})
            of_size[int(row["ranks"])] = int(row["most_of_a_rank"])
    ratios = []
    for of_size in counted.values():
        ratios += [later / earlier for earlier, later in pairwise(of_size.values())]
    all_ranks = sorted({ranks for of_size in counted.values() for ranks in of_size})
    rows: list[dict[str, Cell]] = []
    for ranks in all_ranks:
        of_ranks = {f"of_{size}": counted[size][ranks] for size in counted}
        rows.append({"ranks": ranks, **of_ranks})
    columns = [Column("ranks", "ranks", "given")]
    columns += [Column(f"of_{size}", f"{size} bytes", "counted") for size in counted]
    table = Table(columns, rows, "Messages that a rank sends in MPI_Alltoall, Open MPI 4.1.4")
    return StudyAnswer(Quantity(min(ratios), kind="counted"), tables=[table])


@answers_claim
def _switch_bytes(runs: Runs) -> StudyAnswer:
    """Bytes at which the library leaves Bruck's algorithm, 64 to 127 ranks.

    The figure has simulated and modelled times.
    """
    sizes = 2.0 ** np.arange(5, 17)
    others = [
        size
        for size in sizes
        if mpi_rules.algorithm_of("ompi", "alltoall", 64, size) != mpi_rules.BRUCK
    ]
    simulated = _simulated_alltoalls(runs)
    frame = pd.concat([_modelled_alltoalls(sizes), simulated], ignore_index=True)
    figure = plots.lines(
        frame,
        "bytes",
        "us",
        "lober-4",
        "MPI_Alltoall by bytes for each rank",
        "µs; dashed: simulated. The library changes its algorithm at 512 or 1024 bytes.",
        hue="ranks",
        panel="machine",
        style="kind",
        log="xy",
    )
    modelled_us = [
        1e6 * _alltoall_s(machine, int(ranks.split()[0]), size)
        for machine, ranks, size in simulated[["machine", "ranks", "bytes"]].to_numpy()
    ]
    beside = simulated.drop(columns="kind").assign(modelled_us=modelled_us)
    table = plots.tabulated(beside, "Simulated and modelled time")
    return StudyAnswer(_modelled(others[0], "B"), figures=[figure], tables=[table])


def _modelled_alltoalls(sizes: np.ndarray) -> pd.DataFrame:
    """Times by machine, ranks and bytes for each rank."""
    rows = []
    for machine in (JURECA, SUPERMUC):
        for ranks in (16, 32, 64, 128):
            for size in sizes:
                time_us = 1e6 * _alltoall_s(machine, ranks, size)
                rows.append((machine, f"{ranks} ranks", size, time_us))
    return pd.DataFrame(rows, columns=["machine", "ranks", "bytes", "us"]).assign(kind="modelled")


def _simulated_alltoalls(runs: Runs) -> pd.DataFrame:
    """The same of the experiment."""
    fields = ("machine", "ranks", "swept.neurons_per_area")
    rows = []
    for (machine, ranks, _), group in groups(runs["alltoall"].runs, *fields):
        size = float((group["bytes_sent"] / group["messages"]).mean())
        rows.append((machine, f"{ranks} ranks", size, _per_cycle_us(group, MOVING)))
    return pd.DataFrame(rows, columns=["machine", "ranks", "bytes", "us"]).assign(kind="simulated")


# Sections 2.2 and 2.3, figure 6


@answers_claim
def _delay_ratio(runs: Runs) -> StudyAnswer:
    """D of the benchmark, by its shortest delays."""
    options = choose(mam_benchmark.MamBenchmarkOptions, {}, full=True)
    within_ms, between_ms = options.shortest
    return StudyAnswer(Quantity(between_ms / within_ms, kind="given"))


@answers_claim
def _drawn_waiting(runs: Runs) -> StudyAnswer:
    """Waiting per cycle of 128 ranks, in standard deviations of independent normal cycle times."""
    return StudyAnswer(_simulated(_waiting_of_drawn_cycles(MOST_RANKS, 1)))


@answers_claim
def _drawn_waiting_saved(runs: Runs) -> StudyAnswer:
    """Waiting that windows of ten cycles save, of the same cycle times."""
    saved = 1 - _waiting_of_drawn_cycles(MOST_RANKS, 10) / _waiting_of_drawn_cycles(MOST_RANKS, 1)
    return StudyAnswer(_simulated(100 * saved, "%"))


@answers_claim
def _maximum_growth(runs: Runs) -> StudyAnswer:
    """Waiting per cycle of 128 ranks over that of 16."""
    return StudyAnswer(
        _simulated(_waiting_of_drawn_cycles(MOST_RANKS, 1) / _waiting_of_drawn_cycles(16, 1))
    )


def _waiting_of_drawn_cycles(ranks: int, delay_ratio: int) -> float:
    """Waiting per cycle if ranks meet every so many cycles, in standard deviations of a cycle.

    Cycle times are drawn, and each window lasts as long as its slowest rank (eqs 3 to 5).
    """
    cycles_s = np.random.default_rng(1).normal(size=(ranks, DRAWN_CYCLES))
    windows_s = statistics.lump(cycles_s, delay_ratio)  # (ranks, windows)
    waiting_s = windows_s.max(axis=0) - windows_s.mean(axis=0)
    return float(waiting_s.sum() / DRAWN_CYCLES)


@answers_claim
def _drawn_maxima(runs: Runs) -> StudyAnswer:
    """Share of cycles whose slowest rank is in the interval of eq. 12, independent cycle times."""
    times = np.random.default_rng(1).normal(size=(MOST_RANKS, DRAWN_CYCLES))
    return StudyAnswer(_simulated(maxima_inside_percent(times), "%"))


@answers_claim
def _irregular_drawn_conventional(runs: Runs) -> StudyAnswer:
    """Share of irregular accesses, counted in a drawn network of published size (128 ranks)."""
    return StudyAnswer(_simulated(100 * _drawn_share(MOST_RANKS, 128, by_area=False), "%"))


@answers_claim
def _irregular_drawn_aware(runs: Runs) -> StudyAnswer:
    """The same with an area on each rank."""
    return StudyAnswer(_simulated(100 * _drawn_share(MOST_RANKS, 128, by_area=True), "%"))


@answers_claim
def _irregular_16(runs: Runs) -> StudyAnswer:
    """Irregular accesses saved on 16 ranks of 48 threads, in drawn networks."""
    note = f"On 16 ranks of 128 threads, it is {100 * _drawn_saving(16, 128):.3g} %."
    return StudyAnswer(_simulated(100 * _drawn_saving(16, 48), "%"), note)


@answers_claim
def _irregular_order(runs: Runs) -> StudyAnswer:
    """Layouts by the irregular accesses that placement saves in drawn networks, beside eqs 13-17.

    The one that saves most comes first.
    """
    rows = []
    for threads in (48, 128):
        for ranks in (2, 4, 8, 16, 32, 64, 128):
            saved = 100 * _irregular(ranks, threads)
            rows.append({"ranks": ranks, "threads": f"{threads} threads", "saved": saved})
    layouts = [(16, 48), (32, 48), (32, 128), (MOST_RANKS, 48), (MOST_RANKS, 128)]
    savings = {}
    for ranks, threads in layouts:
        saving = 100 * _drawn_saving(ranks, threads)
        savings[f"{ranks} ranks of {threads} threads"] = _simulated(saving, "%")
        rows.append({"ranks": ranks, "threads": f"{threads} threads, drawn", "saved": saving})
    figure = plots.lines(
        pd.DataFrame(rows),
        "ranks",
        "saved",
        "lober-6b",
        "Irregular accesses that structure-awareness saves",
        "%, by eqs 13 to 17, and counted in drawn networks of the published size.",
        hue="threads",
        log="x",
    )
    return StudyAnswer(order(savings), figures=[figure])


def _drawn_share(ranks: int, threads: int, by_area: bool) -> float:
    """Share of irregular accesses on one thread of a network that is drawn.

    Every synapse of the thread draws its source. A source whose spike reaches the thread costs one
    irregular access, whatever the number of its synapses there.
    """
    per_rank = int(FULL["neurons_per_area"])
    neurons = per_rank * ranks
    synapses = round(FULL["indegree"] * per_rank / threads)
    rng = np.random.default_rng(ranks + threads)
    if not by_area:
        return _distinct(rng, neurons, synapses) / synapses
    of_area = _distinct(rng, per_rank, synapses // 2)
    of_others = _distinct(rng, neurons - per_rank, synapses // 2)
    return (of_area + of_others) / synapses


def _distinct(rng: np.random.Generator, sources: int, synapses: int) -> int:
    """How many sources have at least one of so many synapses, each of which draws its own."""
    has_synapse = np.zeros(sources, dtype=bool)
    has_synapse[rng.integers(sources, size=synapses)] = True
    return int(has_synapse.sum())


def _drawn_saving(ranks: int, threads: int) -> float:
    """Share of irregular accesses that placement by area saves in drawn networks."""
    aware = _drawn_share(ranks, threads, by_area=True)
    return 1 - aware / _drawn_share(ranks, threads, by_area=False)


def _irregular(ranks: int, threads: int) -> float:
    """Share of irregular accesses that structure-awareness saves, by eqs 13-17."""
    return access.reduction(FULL["neurons_per_area"], NEAR_INDEGREE, NEAR_INDEGREE, ranks, threads)


# Figure 7


@answers_claim
def _speed_up(runs: Runs) -> StudyAnswer:
    """Time of the conventional over that of the structure-aware schedule, most nodes."""
    rows = []
    for program in (NEST, MINI_APP):
        for ranks in RANKS_OF_SCALING:
            for schedule in LOG_FOLDERS:
                rows.append(
                    {
                        "program": f"kernels of {PROGRAM_NAMES[program]}",
                        "ranks": ranks,
                        "schedule": schedule,
                        "seconds": _benchmark_s(program, ranks, schedule),
                    }
                )
    figure = plots.lines(
        pd.DataFrame(rows),
        "ranks",
        "seconds",
        "lober-7a",
        "Real-time factor, one area per node of JURECA-DC",
        "Seconds per simulated second; modelled.",
        hue="schedule",
        panel="program",
        log="x",
    )

    def gain(program: str, jitter: Jitter) -> float:
        conventional_s = _benchmark_s(program, MOST_RANKS, "conventional", jitter)
        return conventional_s / _benchmark_s(program, MOST_RANKS, "structure_aware", jitter)

    answer = _by_nest_over_jitter(gain)
    return StudyAnswer(answer.value, answer.note, figures=[figure])


def _by_nest(ask: Callable[[str], float], unit: str = "") -> StudyAnswer:
    """What is asked of a program, for the kernels of NEST; the note has the mini-app's."""
    return StudyAnswer(_modelled(ask(NEST), unit), _of_mini_app(ask(MINI_APP), unit))


def _by_nest_costs(ask: Callable[[str | Program], float], unit: str = "") -> StudyAnswer:
    """A ratio of computing times by NEST's costs, over other fits of them."""
    note = _of_mini_app(ask(MINI_APP), unit)
    return StudyAnswer(_over_fits(ask, unit), note, reach=_over_far_costs(ask))


def _over_far_costs(ask: Callable[[NestCosts], float]) -> tuple[float, float]:
    """The least and the largest answer for costs that are far off."""
    answers = [ask(costs) for costs in far_off()]
    return min(answers), max(answers)


def _over_fits(ask: Callable[[NestCosts], float], unit: str = "") -> Quantity:
    """What is asked of NEST's costs, with an interval over other fits of them.

    The series left out make for one difference, and the first guess of each cost for another; they
    are independent of each other, so that the ends are roots of sums of squares.
    """
    value = ask(NestCosts())
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for costs in refitted():
        difference = ask(costs) - value
        below[costs.off] = max(below.get(costs.off, 0.0), -difference)
        above[costs.off] = max(above.get(costs.off, 0.0), difference)
    low = value - math.hypot(*below.values())
    high = value + math.hypot(*above.values())
    return Quantity(float(value), float(low), float(high), unit, "modelled")


def _by_nest_over_jitter(ask: Callable[[str, Jitter], float], unit: str = "") -> StudyAnswer:
    """A ratio of run times or waiting with NEST's kernels, over what is assumed of the jitter."""
    usual = jitter_map.usual_jitter()
    answers = np.array([ask(NEST, jitter) for jitter in jitter_map.drawn_jitters()])
    value = _between(ask(NEST, usual), np.quantile(answers, [0.025, 0.975]).tolist(), unit)
    return StudyAnswer(value, _of_mini_app(ask(MINI_APP, usual), unit))


def _between(value: float, others: Sequence[float], unit: str = "") -> Quantity:
    """A modelled number with the interval that it and others lie in."""
    low, high = min(value, *others), max(value, *others)
    return Quantity(float(value), float(low), float(high), unit, "modelled")


def _of_mini_app(value: float, unit: str) -> str:
    return f"With the kernels of the mini-app: {value:.3g} {unit}".rstrip() + "."


def _benchmark_s(
    program: str,
    ranks: int,
    schedule: str,
    jitter: Jitter | None = None,
    **options: float,
) -> float:
    """Seconds per simulated second of the MAM-benchmark; with the usual jitter for None."""
    factors = factors_of(jitter or jitter_map.usual_jitter(), ranks)
    return CYCLES_PER_S * of_benchmark(program, ranks, schedule, **options).cycle_s(factors)


def _deliver_s(program: str | Program, ranks: int, schedule: str) -> float:
    """Delivery of the mean rank in a cycle, MAM-benchmark."""
    return float(of_benchmark(program, ranks, schedule).phases_s["deliver"].mean())


def _delivery_saved(program: str | Program, ranks: int) -> float:
    """Delivery that the structure-aware schedule saves, %."""
    aware_s = _deliver_s(program, ranks, "structure_aware")
    return 100 * (1 - aware_s / _deliver_s(program, ranks, "conventional"))


@answers_claim
def _most_gain(runs: Runs) -> StudyAnswer:
    """Number of nodes on which structure-awareness saves the largest share of the run time."""

    def ranks_of_most(program: str) -> float:
        saved = {}
        for ranks in RANKS_OF_SCALING:
            aware_s = _benchmark_s(program, ranks, "structure_aware")
            saved[ranks] = 1 - aware_s / _benchmark_s(program, ranks, "conventional")
        return float(max(saved, key=lambda ranks: saved[ranks]))

    return _by_nest(ranks_of_most)


@answers_claim
def _slope_ratio(runs: Runs) -> StudyAnswer:
    """Slope of the real-time factor over ranks, structure-aware over conventional, JURECA-DC.

    From the middle of the weak scaling on, by least squares.
    """

    def slope(program: str, schedule: str, jitter: Jitter) -> float:
        ranks = [ranks for ranks in RANKS_OF_SCALING if ranks >= FEWEST_RANKS_OF_SLOPE]
        factors = [_benchmark_s(program, number, schedule, jitter) for number in ranks]
        return float(np.polyfit(ranks, factors, 1)[0])

    def ratio(program: str, jitter: Jitter) -> float:
        aware = slope(program, "structure_aware", jitter)
        return aware / slope(program, "conventional", jitter)

    return _by_nest_over_jitter(ratio)


@answers_claim
def _waiting_saved(runs: Runs) -> StudyAnswer:
    """Waiting saved on the most nodes of JURECA-DC, or in the logs."""
    if runs.logs is None:
        saved = reduction(*_on_most_ranks(runs, JURECA), WAITING)
        return StudyAnswer(_over_jitter("waiting-saved", saved))
    waiting_s = {}
    for schedule in LOG_FOLDERS:
        log = _log(runs, schedule)
        waiting_s[schedule] = float(log.waiting.sum()) / log.compute.shape[1]  # per cycle
    percent = 100 * (1 - waiting_s["structure_aware"] / waiting_s["conventional"])
    return StudyAnswer(Quantity(percent, unit="%", kind="measured"))


@answers_claim
def _exchange_saved(runs: Runs) -> StudyAnswer:
    """Time of exchanges saved on the most nodes of JURECA-DC."""
    parts = ["real_time_factor", *PARTS]
    frame = means(runs["weak-scaling"].runs, ["machine", "ranks", "schedule"], parts)
    table = plots.tabulated(frame, "Mini-app: seconds per simulated second, mean over seeds")
    return StudyAnswer(reduction(*_on_most_ranks(runs, JURECA), MOVING), tables=[table])


@answers_claim
def _exchange_saved_over_benchmark(runs: Runs) -> StudyAnswer:
    """What is saved in simulated runs over what the modelled call alone saves, JURECA-DC."""
    conventional, structure_aware = _on_most_ranks(runs, JURECA)
    saved = reduction(conventional, structure_aware, MOVING)
    ranks = int(conventional["ranks"].iloc[0])
    size = float(conventional["bytes_sent"].mean() / conventional["messages"].mean())
    ten_calls_s = 10 * _alltoall_s(JURECA, ranks, size)
    of_call = 100 * (1 - _alltoall_s(JURECA, ranks, 10 * size) / ten_calls_s)
    note = f"The call alone saves {of_call:.3g} %, by the model."
    return StudyAnswer(saved.times(1 / of_call, ""), note)


@answers_claim
def _delivery_over_irregular(runs: Runs) -> StudyAnswer:
    """Delivery that a thread of NEST saves over irregular accesses saved, most ranks, measured."""
    threads = round(profile_value(JURECA, "node.cores"))
    irregular = 100 * _irregular(MOST_RANKS, threads)
    by_costs = _by_nest_costs(lambda program: _delivery_saved(program, MOST_RANKS) / irregular)
    value = _of_measured(_thread_saves(threads, MOST_RANKS) / irregular)
    note = f"Irregular accesses fall by {irregular:.3g} % (eqs 13 to 17). {_beside(by_costs)}"
    return StudyAnswer(value, note)


@answers_claim
def _delivery_gain_growth(runs: Runs) -> StudyAnswer:
    """Delivery that a thread of NEST saves on the most ranks over the next fewer, measured."""
    fewer, most = RANKS_OF_SCALING[-2:]
    threads = round(profile_value(JURECA, "node.cores"))
    measured = _of_measured(_thread_saves(threads, most) / _thread_saves(threads, fewer))
    return StudyAnswer(measured, _beside(_gain_growth_by_costs()))


def _gain_growth_by_costs() -> StudyAnswer:
    """The same by NEST's costs, JURECA-DC."""
    fewer, most = RANKS_OF_SCALING[-2:]

    def growth(program: str | Program) -> float:
        return _delivery_saved(program, most) / _delivery_saved(program, fewer)

    return _by_nest_costs(growth)


@answers_claim
def _conventional_delivery_growth(runs: Runs) -> StudyAnswer:
    """Delivery of a thread of NEST on the most ranks over that on the fewest, measured."""
    threads = round(profile_value(JURECA, "node.cores"))
    most_ms = _thread_ms(threads, MOST_RANKS, nest_delivery.CONVENTIONAL)
    fewest_ms = _thread_ms(threads, FEWEST_RANKS_OF_SLOPE, nest_delivery.CONVENTIONAL)
    note = f"{ABOUT_THREAD} {_beside(_delivery_growth_by_costs())}"
    return StudyAnswer(_of_measured(most_ms / fewest_ms), note, tables=[_table_of_thread()])


def _delivery_growth_by_costs() -> StudyAnswer:
    """The same by NEST's costs, JURECA-DC."""

    def growth(program: str | Program) -> float:
        most_s = _deliver_s(program, MOST_RANKS, "conventional")
        return most_s / _deliver_s(program, FEWEST_RANKS_OF_SLOPE, "conventional")

    return _by_nest_costs(growth)


def _beside(by_costs: StudyAnswer) -> str:
    """What NEST's costs say, which are fitted to public series, and the kernels of the mini-app."""
    assert isinstance(by_costs.value, Quantity) and by_costs.value.interval
    low, high = by_costs.value.interval
    unit = f" {by_costs.value.unit}".rstrip()
    return (
        f"By NEST's costs, JURECA-DC: {by_costs.value.number:.3g} ({low:.3g} to {high:.3g}){unit}."
        f" {by_costs.note}"
    )


def _thread_ms(threads: int, ranks: int, placement: str) -> np.ndarray:
    """Measured delivery of a thread of NEST by seed, ms in nest_delivery.MEASURED_MS."""
    by_seed = {}
    for row in papers.rows("nest_delivery"):
        configuration = (int(row["threads"]), int(row["ranks"]), row["placement"])
        if configuration == (threads, ranks, placement):
            by_seed[int(row["seed"])] = float(row["deliver_ms"])
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def _thread_saves(threads: int, ranks: int) -> np.ndarray:
    """Delivery that a thread of NEST saves with an area on each rank by seed, %."""
    by_area_ms = _thread_ms(threads, ranks, nest_delivery.BY_AREA)
    of_conventional = by_area_ms / _thread_ms(threads, ranks, nest_delivery.CONVENTIONAL)
    saved: np.ndarray = 100 * (1 - of_conventional)
    return saved


def _update_ns(model: str, neurons: int) -> np.ndarray:
    """Measured update of a neuron of NEST in a step by seed, ns; `neurons`: that there were."""
    by_seed = {}
    for row in papers.rows("nest_update"):
        if (row["model"], int(row["neurons"])) == (model, neurons):
            updates = neurons * int(row["steps"])
            by_seed[int(row["seed"])] = 1e6 * float(row["update_ms"]) / updates
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def _of_measured(values: np.ndarray, unit: str = "") -> Quantity:
    """The mean of what was measured with each seed, with the least and the largest of them."""
    return Quantity(
        float(values.mean()), float(values.min()), float(values.max()), unit, "measured"
    )


def _table_of_thread() -> Table:
    """What was measured of a thread, mean over seeds."""
    columns = [
        Column("threads", "threads of a rank", "given"),
        Column("ranks", "ranks", "given"),
        Column("conventional", "conventional, times 16 (s / s)", "measured"),
        Column("by_area", "an area on each rank, times 16 (s / s)", "measured"),
        Column("saved", "saved (%)", "measured"),
        Column("irregular", "irregular accesses saved (%)", "modelled"),
    ]
    rows: list[dict[str, Cell]] = []
    scale = nest_delivery.PART / nest_delivery.MEASURED_MS
    for threads, ranks in nest_delivery.CONFIGURATIONS:
        row: dict[str, Cell] = {"threads": threads, "ranks": ranks}
        for placement in (nest_delivery.CONVENTIONAL, nest_delivery.BY_AREA):
            row[placement] = _of_measured(scale * _thread_ms(threads, ranks, placement))
        row["saved"] = _of_measured(_thread_saves(threads, ranks))
        row["irregular"] = 100 * _irregular(ranks, threads)
        rows.append(row)
    return Table(
        columns,
        rows,
        "Delivery of a thread of NEST 3.10 with a sixteenth of its neurons, measured on one core",
    )


@answers_claim
def _window_over_cycle(runs: Runs) -> StudyAnswer:
    """Mean time of a window of D cycles over that of a conventional cycle, most nodes."""

    def ratio(program: str | Program) -> float:
        window_s = PUBLISHED_D * _computing_s(program, "structure_aware")
        return window_s / _computing_s(program, "conventional")

    return _by_nest_costs(ratio)


def _computing_s(program: str | Program, schedule: str) -> float:
    """Computing of the mean rank in a cycle, MAM-benchmark, most nodes."""
    return float(of_benchmark(program, MOST_RANKS, schedule).compute_s.mean())


@answers_claim
def _cv_ratio(runs: Runs) -> StudyAnswer:
    """CV of the times of windows, structure-aware, over that of conventional cycles, D = 10.

    Without logs, over what is assumed of the jitter.
    """
    ratios = []
    conventional, structure_aware = (_compute_s(runs, schedule) for schedule in LOG_FOLDERS)
    for cycles_s, aware_s in zip(conventional, structure_aware, strict=False):
        windows_s = statistics.lump(statistics.times(aware_s), PUBLISHED_D)
        of_cycles = coefficient_of_variation(statistics.times(cycles_s))
        ratios.append(coefficient_of_variation(windows_s) / of_cycles)
    value = Quantity(float(np.mean(ratios)), kind=_kind(runs))
    if runs.logs is None:
        value = _over_jitter("dispersion-falls", value)
    return StudyAnswer(value)


@answers_claim
def _maxima_inside(runs: Runs) -> StudyAnswer:
    """Share of cycles whose slowest rank lies in the interval that eq. 12 gives for 95 %."""
    percents = [maxima_inside_percent(times) for times in _compute_s(runs, "conventional")]
    value = Quantity(float(np.mean(percents)), unit="%", kind=_kind(runs))
    if runs.logs is None:
        value = _over_jitter("only-part-of-maxima", value)
    return StudyAnswer(value)


@answers_claim
def _minor_mode(runs: Runs) -> StudyAnswer:
    """How many times as long as usual the cycles of the last mode are, in the logs."""
    if runs.logs is None:
        raise Lacking(NEEDS_LOGS)
    [cycles_s] = _compute_s(runs, "conventional")
    modes_of_cycles = modes.modes(cycles_s)
    usual = max(modes_of_cycles, key=lambda mode: mode.share)
    parts = [f"{1e3 * mode.at:.3g} ms ({100 * mode.share:.2g} %)" for mode in modes_of_cycles]
    note = f"Modes of the cycle times: {', '.join(parts)}."
    return StudyAnswer(Quantity(modes_of_cycles[-1].at / usual.at, kind="measured"), note)


@answers_claim
def _slow_phases(runs: Runs) -> StudyAnswer:
    """Autocorrelation of the cycle times of a rank, a thousand cycles apart, in the logs.

    Of what they are above the mean of all ranks, so that cycles that are long for all do not count.
    """
    if runs.logs is None:
        raise Lacking(NEEDS_LOGS)
    [cycles_s] = _compute_s(runs, "conventional")
    if cycles_s.shape[1] < 2 * LONG_PHASE:
        raise Lacking(f"logs of {2 * LONG_PHASE} cycles and more")
    above_others_s = cycles_s - cycles_s.mean(axis=0)
    correlation = serial.pooled_autocorrelation(above_others_s, LONG_PHASE)[LONG_PHASE]
    return StudyAnswer(Quantity(float(correlation), kind="measured"))


def _compute_s(runs: Runs, schedule: str) -> list[np.ndarray]:
    """Computing times [rank, cycle] under a schedule: the logs, or simulated runs on most ranks."""
    if runs.logs is not None:
        return [_log(runs, schedule).compute]
    conventional, structure_aware = _on_most_ranks(runs, JURECA)
    of_schedule = conventional if schedule == "conventional" else structure_aware
    return [runs["weak-scaling"].records[id].compute() for id in of_schedule["id"]]


def _kind(runs: Runs) -> str:
    """Where times of cycles come from."""
    return "simulated" if runs.logs is None else "measured"


def _log(runs: Runs, schedule: str) -> imported.CycleTimes:
    """The log of a run under a schedule. Raises BadInput where there is none."""
    assert runs.logs is not None
    folder = runs.logs / LOG_FOLDERS[schedule]
    files_of_form = {form: sorted(folder.glob(pattern)) for form, pattern in LOG_FILES.items()}
    form = next((form for form, files in files_of_form.items() if files), None)
    if form is None:
        names = " or ".join(LOG_FILES.values())
        raise BadInput(
            field="logs", file=folder, reason=f"no {names}", expected="one for each rank"
        )
    times = imported.read_times(files_of_form[form], form=form)
    assert not isinstance(times, imported.Sums)  # the format has times of cycles
    return imported.cycle_times(times, folder)


def _on_most_ranks(runs: Runs, machine: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Conventional and structure-aware runs on the most ranks of a machine."""
    on_machine = pick(runs["weak-scaling"], machine=machine)
    if on_machine.empty:
        raise Lacking(f"no run on {machine} is complete")
    largest = pick(on_machine, ranks=levels(on_machine, "ranks")[-1])
    conventional = pick(largest, schedule="conventional")
    structure_aware = pick(largest, schedule="structure_aware")
    if conventional.empty or structure_aware.empty:
        raise Lacking(f"runs of both schedules on {machine} are needed")
    return conventional, structure_aware


def _saved(runs: pd.DataFrame, column: str) -> Quantity:
    """What the structure-aware schedule saves against the conventional one, %."""
    conventional = pick(runs, schedule="conventional")
    return reduction(conventional, pick(runs, schedule="structure_aware"), column)


# Figure 8


@answers_claim
def _scatter_by_size(runs: Runs) -> StudyAnswer:
    """SD over seeds at the largest spread of sizes over that at the smallest, structure-aware."""
    return _scatter(runs, "size_cv", "8a", "area sizes")


@answers_claim
def _sizes_lengthen_runs(runs: Runs) -> StudyAnswer:
    """Time at the largest spread of sizes over that of equal areas, structure-aware."""
    return _by_nest_over_jitter(
        lambda program, jitter: _lengthened(program, jitter, size_cv=LARGEST_SPREAD)
    )


def _lengthened(program: str, jitter: Jitter, **options: float) -> float:
    """Time with unequal areas over that with equal ones, structure-aware, 32 nodes."""
    equal_s = _benchmark_s(program, NODES, "structure_aware", jitter)
    return _benchmark_s(program, NODES, "structure_aware", jitter, **options) / equal_s


@answers_claim
def _sizes_lengthen_waiting(runs: Runs) -> StudyAnswer:
    """Growth of waiting over growth of updates, at the largest spread of sizes."""

    def ratio(program: str, jitter: Jitter) -> float:
        factors = factors_of(jitter, NODES)
        equal = of_benchmark(program, NODES, "structure_aware")
        unequal = of_benchmark(program, NODES, "structure_aware", size_cv=LARGEST_SPREAD)
        update = unequal.phases_s["update"].mean() / equal.phases_s["update"].mean()
        return float(unequal.waiting_s(factors) / equal.waiting_s(factors) / update)

    return _by_nest_over_jitter(ratio)


@answers_claim
def _rates_over_sizes(runs: Runs) -> StudyAnswer:
    """Run time that unequal rates add over that which unequal sizes add, at equal spreads."""

    def ratio(program: str, jitter: Jitter) -> float:
        by_rate = _lengthened(program, jitter, area_rate_cv=LARGEST_SPREAD) - 1
        return by_rate / (_lengthened(program, jitter, size_cv=LARGEST_SPREAD) - 1)

    answer = _by_nest_over_jitter(ratio)
    shown = _scatter(runs, "area_rate_cv", "8b", "area rates")
    return StudyAnswer(answer.value, answer.note, shown.figures, shown.tables)


@answers_claim
def _active_areas_slower(runs: Runs) -> StudyAnswer:
    """How much longer the rank that fires most computes, over how much more it fires.

    Unequal rates alone: both are above the mean rank, of areas of one size.
    """
    rates_hz = _area_rates_hz()
    busiest = int(rates_hz.argmax())
    more_spikes = rates_hz[busiest] / rates_hz.mean() - 1

    def ratio(program: str | Program) -> float:
        unequal = of_benchmark(program, NODES, "structure_aware", area_rate_cv=LARGEST_SPREAD)
        longer = unequal.compute_s[busiest] / unequal.compute_s.mean() - 1
        return float(longer / more_spikes)

    return _by_nest_costs(ratio)


@answers_claim
def _others_over_own_area(runs: Runs) -> StudyAnswer:
    """Delivery of spikes from other areas over that of spikes from the own one, 32 areas, NEST."""

    def ratio(costs: NestCosts) -> float:
        own, others = delivery_by_lane(costs, NODES)
        return float(others / own)

    return StudyAnswer(_over_fits(ratio), reach=_over_far_costs(ratio))


def _area_rates_hz() -> np.ndarray:
    """Rate of each area of the benchmark with unequal rates, [area]."""
    description = mam_benchmark.describe(full=True, areas=NODES, area_rate_cv=LARGEST_SPREAD)
    return question.of_description("the MAM-benchmark", description).rates.hz


@answers_claim
def _gain_by_five(runs: Runs) -> StudyAnswer:
    """Share of the fall of communication up to the largest D that D = 5 has, equal areas.

    By NEST's costs and over the jitter; the note has the mini-app's, modelled and simulated.
    """
    by_delay = _communication_by_delay(runs)
    if 5 not in by_delay.index:
        raise Lacking("a run with D = 5 is needed")
    total = by_delay[WAITING] + by_delay[MOVING]
    fall = (total.loc[1] - total.loc[5]) / (total.loc[1] - total.iloc[-1])
    table = plots.tabulated(by_delay.reset_index(), "Communication by D, equal areas")
    long = by_delay.reset_index().melt("delay_ratio", [WAITING, MOVING], "part", "seconds")
    figure = plots.lines(
        long,
        "delay_ratio",
        "seconds",
        "lober-8c",
        "Communication by D",
        "Seconds per simulated second, 32 equal areas on JURECA-DC; simulated.",
        hue="part",
        log="x",
    )

    def gain(program: str, jitter: Jitter) -> float:
        one_s, five_s, most_s = (
            _communication_s(program, jitter, delay_ratio) for delay_ratio in (1, 5, LARGEST_D)
        )
        return 100 * (one_s - five_s) / (one_s - most_s)

    answer = _by_nest_over_jitter(gain, "%")
    note = f"{answer.note} Simulated: {100 * fall:.3g} %."
    return StudyAnswer(answer.value, note, figures=[figure], tables=[table])


def _communication_s(program: str, jitter: Jitter, delay_ratio: int) -> float:
    """Waiting and exchange of 32 equal areas in a cycle, structure-aware, modelled."""
    of_delay = _of_delay(program, delay_ratio)
    return of_delay.waiting_s(factors_of(jitter, NODES)) + of_delay.exchange_s


def _of_delay(program: str, delay_ratio: int) -> ModelledCycles:
    """32 equal areas with windows of so many cycles, structure-aware."""
    return of_benchmark(
        program, NODES, "structure_aware", delay_ratio=delay_ratio, **DELAYS_OF_FIGURE_8
    )


@answers_claim
def _fall_at_large_d(runs: Runs) -> StudyAnswer:
    """By how much communication falls from D = 10 to the largest D, equal areas, %.

    By NEST's costs and over the jitter; the note has the mini-app's, modelled and simulated.
    """

    def fall(program: str, jitter: Jitter) -> float:
        least_s = _communication_s(program, jitter, LARGEST_D)
        return 100 * (1 - least_s / _communication_s(program, jitter, PUBLISHED_D))

    answer = _by_nest_over_jitter(fall, "%")
    total = _communication_by_delay(runs).sum(axis=1)
    parts = [answer.note]
    if {5, PUBLISHED_D, LARGEST_D} <= set(total.index):
        before = 100 * (1 - total[PUBLISHED_D] / total[5])
        after = 100 * (1 - total[LARGEST_D] / total[PUBLISHED_D])
        parts.append(f"Simulated: {after:.3g} %, and {before:.3g} % from D = 5 to {PUBLISHED_D}.")
    return replace(answer, note=" ".join(parts))


@answers_claim
def _least_fall_of_parts(runs: Runs) -> StudyAnswer:
    """By how much the part of communication falls that falls least, from D = 1 to the largest D.

    By NEST's costs and over the jitter; the note has the mini-app's, modelled and simulated.
    """

    def fall(program: str, jitter: Jitter) -> float:
        factors = factors_of(jitter, NODES)
        one, most = (_of_delay(program, delay_ratio) for delay_ratio in (1, LARGEST_D))
        waiting_s = [of_delay.waiting_s(factors) for of_delay in (one, most)]
        left = max(waiting_s[1] / waiting_s[0], most.exchange_s / one.exchange_s)
        return 100 * (1 - left)

    answer = _by_nest_over_jitter(fall, "%")
    by_delay = _communication_by_delay(runs)
    falls = 100 * (1 - by_delay.iloc[-1] / by_delay.iloc[0])
    simulated = f"waiting falls by {falls[WAITING]:.3g} %, exchanges by {falls[MOVING]:.3g} %."
    return replace(answer, note=f"{answer.note} Simulated: {simulated}")


def _communication_by_delay(runs: Runs) -> pd.DataFrame:
    """Waiting and exchange by D, structure-aware, equal areas, mean over seeds."""
    equal = pick(runs["heterogeneity"], schedule="structure_aware", size_cv=0)
    frame = means(equal, ["delay_ratio"], [WAITING, MOVING]).astype(float)
    if len(frame) < 2 or frame["delay_ratio"].iloc[0] != 1:
        raise Lacking("runs with D = 1 and more are needed")
    by_delay: pd.DataFrame = frame.set_index(frame["delay_ratio"].astype(int))[[WAITING, MOVING]]
    return by_delay


@answers_claim
def _waiting_over_exchange_equal_areas(runs: Runs) -> StudyAnswer:
    """Waiting over exchange, structure-aware, 32 equal areas."""
    equal = pick(
        runs["heterogeneity"],
        schedule="structure_aware",
        size_cv=0,
        delay_ratio=10,
    )
    ratio = _over(equal, WAITING, MOVING)
    return StudyAnswer(_over_jitter("waiting-dominates-equal-areas", ratio))


def _scatter(runs: Runs, name: str, panel: str, words: str) -> StudyAnswer:
    """SD over seeds at the largest spread over that at the smallest.

    Args:
        runs: of the study.
        name: field of the grid with the spread; the other one is 0.
        panel: of figure 8.
        words: what is spread.
    """
    frames = runs["heterogeneity"]
    other = "area_rate_cv" if name == "size_cv" else "size_cv"
    frame = frames.runs[frames.runs[f"swept.{other}"].fillna(0) == 0]
    frame = frame.assign(spread=frame[f"swept.{name}"].fillna(0))
    frame = pick(frame, delay_ratio=[1, 10])
    frame = frame[(frame["schedule"] == "conventional") | (frame["delay_ratio"] == 10)]
    figure = plots.points(
        frame,
        "spread",
        "real_time_factor",
        f"lober-{panel}",
        f"Real-time factor by spread of {words}",
        "A dot is a seed, which draws its own areas; simulated.",
        hue="schedule",
    )
    by_seed = pick(frame, schedule="structure_aware").groupby("spread")["real_time_factor"]
    deviations, seeds = by_seed.std(), by_seed.count()
    value = missing("fewer than two seeds, or no scatter at all")
    if len(deviations) > 1 and deviations.iloc[0] > 0 and seeds.min() > 1:
        ratio = float(deviations.iloc[-1] / deviations.iloc[0])
        value = _of_few_seeds(ratio, int(seeds.iloc[-1]), int(seeds.iloc[0]))
    by_spread = means(frame, ["spread", "schedule"], ["real_time_factor", WAITING])
    table = plots.tabulated(by_spread, "Mean over seeds")
    return StudyAnswer(value, figures=[figure], tables=[table])


def _of_few_seeds(ratio: float, seeds: int, others: int) -> Quantity:
    """A ratio of two SDs over so many seeds, with the interval of a ratio of normal variances.

    Example:
        >>> few, many = _of_few_seeds(2.0, 2, 2), _of_few_seeds(2.0, 100, 100)
        >>> few.low < 1 < many.low
        True
    """
    low, high = (float(stats.f.ppf(q, seeds - 1, others - 1)) for q in (0.025, 0.975))
    least, most = ratio / math.sqrt(high), ratio / math.sqrt(low)
    return Quantity(ratio, least, most, kind="simulated")


# Figures 9, 11 and 12


@answers_claim
def _waits_jureca(runs: Runs) -> StudyAnswer:
    """Schedules by waiting on JURECA-DC with its profile's jitter, the longest first."""
    return _waits_over_jitter(runs, JURECA, "order-of-waiting-jureca")


@answers_claim
def _waits_supermuc(runs: Runs) -> StudyAnswer:
    """The same on SuperMUC-NG."""
    return _waits_over_jitter(runs, SUPERMUC, "order-of-waiting-supermuc")


def _waits_over_jitter(runs: Runs, machine: str, id: str) -> StudyAnswer:
    """Schedules by simulated waiting, with the orders over what is assumed of the jitter."""
    answer = _waits(runs["mam"], machine)
    ask = jitter_map.questions(MINI_APP)[id]
    orders: list[list[str]] = []
    for jitter in jitter_map.drawn_jitters():
        drawn = ask(jitter)
        assert isinstance(drawn, list)
        orders.append(drawn)
    same = sum(drawn == answer.value for drawn in orders)
    note = f"{answer.note} Of {len(orders)} draws of the jitter, {same} have this order, modelled."
    return replace(answer, note=note, drawn_orders=orders)


@answers_claim
def _waits_by_jitter(runs: Runs) -> StudyAnswer:
    """The order by the spread of compute times, for both machines."""
    frame = with_cv(runs["mam"])
    frame = means(frame, ["machine", "cv", "schedule"], [WAITING, "real_time_factor"])
    frame["schedule"] = frame["schedule"].map(SCHEDULE_NAMES)
    figure = plots.lines(
        frame,
        "cv",
        WAITING,
        "lober-9-jitter",
        "Waiting by the spread of compute times",
        "Seconds per simulated second; 32 areas on 32 nodes, mean over seeds; simulated.",
        hue="schedule",
        panel="machine",
    )
    orders = []
    for (machine, cv), schedules in groups(frame, "machine", "cv"):
        names = schedules.sort_values(WAITING, ascending=False)["schedule"]
        orders.append(f"{machine}, {cv:g}: {' > '.join(names)}")
    table = plots.tabulated(frame, "Waiting and real-time factor, mean over seeds")
    return StudyAnswer("; ".join(orders), figures=[figure], tables=[table])


def _waits(frames: Frames, machine: str, cv: float | None = None) -> StudyAnswer:
    """Schedules by waiting, the longest first.

    Args:
        frames: of an experiment.
        machine: on which it was run.
        cv: spread of compute times; None for the smallest.
    """
    on_machine = pick(with_cv(frames), machine=machine)
    if cv is None:
        cv = on_machine["cv"].min()
    runs = on_machine[on_machine["cv"] == cv]
    waits = {}
    parts = []
    for schedule, name in SCHEDULE_NAMES.items():
        waiting = mean(pick(runs, schedule=schedule), WAITING, "s / s")
        waits[name] = waiting
        if waiting:
            parts.append(f"{name} {waiting.value:.3g}")
    note = f"Waiting in seconds per simulated second: {', '.join(parts)}."
    return StudyAnswer(order(waits), note)


@answers_claim
def _map_of_jitter(runs: Runs) -> StudyAnswer:
    """Which claims about waiting hold for which jitter, with the kernels of both programs."""
    figures = []
    words = []
    for program, name in PROGRAM_NAMES.items():
        found = jitter_map.places(program)
        asked = jitter_map.questions(program)
        rows = []
        for id in asked:
            for place in found:
                holds = id in place.holding
                rows.append(
                    {
                        "claim": jitter_map.LABELS[id],
                        "spread": place.spread if holds else np.nan,
                        "long cycles": place.minor_mode,
                        "common share": f"{place.common_share:g} of the spread is common",
                    }
                )
        figures.append(
            plots.points(
                pd.DataFrame(rows).dropna(),
                "spread",
                "claim",
                f"lober-map-{program}",
                f"Which claims hold for which jitter, kernels of {name}",
                "A dot: the claim holds at this spread of ordinary cycles; modelled. Long cycles:"
                " how many of all cycles last that many times as long as usual. Common: the share"
                " of the variance that all ranks have at the same time, as if the whole machine"
                " were slower.",
                hue="long cycles",
                panel="common share",
                xlabel="SD over mean of a cycle",
                log="x",
            )
        )
        words.append(f"with the kernels of {name}, {jitter_map.conclusion(found, len(asked))}")
    return StudyAnswer("; ".join(words), figures=figures)


def _mam(runs: Runs, machine: str) -> pd.DataFrame:
    """Runs of the multi-area model with the jitter of the profile."""
    frame = pick(with_cv(runs["mam"]), machine=machine)
    of_profile: pd.DataFrame = frame[frame["cv"] == frame["cv"].min()]
    return of_profile


@answers_claim
def _placement_saves_delivery(runs: Runs) -> StudyAnswer:
    """Delivery that placement alone saves of the multi-area model on JURECA-DC."""
    return _saved_by_placement(JURECA)


@answers_claim
def _placement_saves_delivery_supermuc(runs: Runs) -> StudyAnswer:
    """The same on SuperMUC-NG."""
    return _saved_by_placement(SUPERMUC)


def _saved_by_placement(machine: str) -> StudyAnswer:
    """Delivery that placement alone saves, %; the note has it with as many synapses between areas
    as the paper says.
    """
    answer = _by_nest_costs(lambda program: _saved_percent(program, machine), "%")
    more_between = _saved_percent(NestCosts(), machine, BETWEEN_AREAS)
    note = f"With a third of the synapses between areas: {more_between:.3g} %. {answer.note}"
    return replace(answer, note=note)


def _saved_percent(program: str | Program, machine: str, between: float | None = None) -> float:
    """Delivery that placement alone saves of the multi-area model; `between` as it is there."""
    seconds = []
    for schedule in ("placement_only", "conventional"):
        of_model = of_multi_area_model(program, machine, schedule, between)
        seconds.append(float(of_model.phases_s["deliver"].mean()))
    placed_s, conventional_s = seconds
    return 100 * (1 - placed_s / conventional_s)


@answers_claim
def _placement_saves_irregular(runs: Runs) -> StudyAnswer:
    """Irregular accesses that placement alone saves of the multi-area model on JURECA-DC, counted.

    An irregular access is a list of synapses that a spike enters, as in eqs 13 to 17. The interval
    is over networks that are drawn with the public statistics, and one with a third of the synapses
    between areas.
    """
    saved = [_irregular_saved_percent(JURECA, seed=seed) for seed in SEEDS_OF_MODEL]
    on_supermuc = _irregular_saved_percent(SUPERMUC)
    equal = _irregular_saved_percent(JURECA, between=0.5)
    note = (
        f"{_share_between_percent():.3g} % of the synapses of our network connect areas, where the"
        " paper has a third. By the formulas alone, equal areas with a third of them save"
        f" {_irregular_of_equal_areas(BETWEEN_AREAS):.3g} %, and with as many as ours"
        f" {_irregular_of_equal_areas(_share_between_percent() / 100):.3g} %. Counted on"
        f" SuperMUC-NG: {on_supermuc:.3g} %. With half of the synapses between areas, as in the"
        f" benchmark, still {equal:.3g} %: most of it is that few other areas send most of them."
    )
    as_in_paper = _irregular_saved_percent(JURECA, between=BETWEEN_AREAS)
    networks = [*saved, as_in_paper]
    value = Quantity(saved[0], min(networks), max(networks), "%", "modelled")
    return StudyAnswer(value, note)


def _irregular_of_equal_areas(between: float) -> float:
    """Irregular accesses that placement saves by eqs 13 to 17, %, JURECA-DC; `between` as there."""
    cores = round(profile_value(JURECA, "node.cores"))
    of_others = between * FULL["indegree"]
    of_area = FULL["indegree"] - of_others
    per_area = FULL["neurons_per_area"]
    return 100 * float(access.reduction(per_area, of_area, of_others, NODES, cores))


def _irregular_saved_percent(machine: str, between: float | None = None, seed: int = 1) -> float:
    """Irregular accesses that placement alone saves; `between` as it is there."""
    placed, conventional = (
        lists_of_multi_area_model(machine, schedule, between, seed)
        for schedule in ("placement_only", "conventional")
    )
    return 100 * (1 - placed / conventional)


def _of_model(program: str | Program, schedule: str) -> ModelledCycles:
    """The multi-area model on JURECA-DC."""
    return of_multi_area_model(program, JURECA, schedule)


@answers_claim
def _delivery_gain_jureca_over_supermuc(runs: Runs) -> StudyAnswer:
    """Delivery that placement saves on JURECA-DC over that which it saves on SuperMUC-NG."""
    return _by_nest_costs(
        lambda program: _saved_percent(program, JURECA) / _saved_percent(program, SUPERMUC)
    )


@answers_claim
def _placement_lengthens_waiting(runs: Runs) -> StudyAnswer:
    """Waiting with placement alone over conventional waiting, multi-area model on JURECA-DC."""
    return _over_schedules(ModelledCycles.waiting_s, "placement_only", "conventional")


@answers_claim
def _placement_lengthens_communication(runs: Runs) -> StudyAnswer:
    """Waiting and exchange with placement alone over conventional ones, the same model."""

    def communicated_s(cycles: ModelledCycles, factors: np.ndarray) -> float:
        return cycles.waiting_s(factors) + cycles.exchange_s

    return _over_schedules(communicated_s, "placement_only", "conventional")


@answers_claim
def _mam_speed_up_jureca(runs: Runs) -> StudyAnswer:
    """Time, conventional over structure-aware, multi-area model on JURECA-DC."""
    return _over_schedules(ModelledCycles.cycle_s, "conventional", "structure_aware")


@answers_claim
def _jureca_change(runs: Runs) -> StudyAnswer:
    """By how much the structure-aware scheme changes the run time of the multi-area model."""
    speed_up = _mam_speed_up_jureca(runs).value
    assert isinstance(speed_up, Quantity) and speed_up.interval
    low, high = speed_up.interval
    return StudyAnswer(
        f"{_longer_or_shorter(speed_up.number)} ({_longer_or_shorter(low)} to"
        f" {_longer_or_shorter(high)})"
    )


def _longer_or_shorter(speed_up: float) -> str:
    """By how much a run becomes longer or shorter, in words.

    Example:
        >>> _longer_or_shorter(0.8), _longer_or_shorter(1.25)
        ('25 % longer', '20 % shorter')
    """
    if speed_up < 1:
        return f"{100 * (1 / speed_up - 1):.0f} % longer"
    return f"{100 * (1 - 1 / speed_up):.0f} % shorter"


def _over_schedules(
    ask: Callable[[ModelledCycles, np.ndarray], float], schedule: str, other: str
) -> StudyAnswer:
    """A time of the multi-area model under one schedule over that under another one, JURECA-DC.

    `ask`: what takes that time, for factors of cycles.
    """

    def ratio(program: str, jitter: Jitter) -> float:
        factors = factors_of(jitter, NODES)
        return ask(_of_model(program, schedule), factors) / ask(_of_model(program, other), factors)

    return _by_nest_over_jitter(ratio)


@answers_claim
def _mam_speed_up_supermuc(runs: Runs) -> StudyAnswer:
    """The same on SuperMUC-NG, by the model of the mini-app."""
    conventional_s = _drawn_s(SUPERMUC, "conventional")
    aware_s = _drawn_s(SUPERMUC, "structure_aware")
    total_s = np.sum(list(conventional_s.values()), axis=0)
    total_aware_s = np.sum(list(aware_s.values()), axis=0)
    return StudyAnswer(_of_draws(total_s / total_aware_s))


@answers_claim
def _supermuc_over_jureca(runs: Runs) -> StudyAnswer:
    """Real-time factor on SuperMUC-NG over that on JURECA-DC, under the schedule with the least."""
    return _least_of_draws({name: _ratio_of_drawn(schedule) for schedule, name in _schedules()})


def _schedules() -> list[tuple[str, str]]:
    """Schedules with their names in figure 9."""
    return list(SCHEDULE_NAMES.items())


def _ratio_of_drawn(schedule: str, *parts: str) -> np.ndarray:
    """Seconds on SuperMUC-NG over those on JURECA-DC, [draw]: of some parts, or of all."""
    seconds = []
    for machine in (SUPERMUC, JURECA):
        drawn_s = _drawn_s(machine, schedule)
        seconds.append(np.sum([drawn_s[part] for part in parts or drawn_s], axis=0))
    ratio: np.ndarray = seconds[0] / seconds[1]
    return ratio


@cache
def _drawn_s(machine: str, schedule: str) -> dict[str, np.ndarray]:
    """Parts of a cycle of the multi-area model, mini-app, over what is uncertain, [draw]."""
    profile = assumed_profile(machine)
    cores = round(profile_value(machine, "node.cores"))
    description = mam.describe(scale=1, seed=1)
    rates_hz = _population_rates_hz(description, mam.rates_hz(1))
    loads = Loads.count(description, NODES, cores, rates_hz, schedule)
    layout = MachineLayout.from_machine(profile, NODES, cores)
    return dict(performance.performance(loads, profile, layout).parts)


def _of_draws(draws: np.ndarray) -> Quantity:
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return _between(middle, (low, high))


def _least_of_draws(ratios: dict[str, np.ndarray]) -> StudyAnswer:
    """The ratio with the least median; the note has all."""
    quantities = {name: _of_draws(draws) for name, draws in ratios.items()}
    parts = [f"{name} {quantity.number:.3g}" for name, quantity in quantities.items()]
    least = min(quantities.values(), key=lambda quantity: quantity.number)
    return StudyAnswer(least, f"Of each: {'; '.join(parts)}.")


@answers_claim
def _mam_delivery_over_benchmark(runs: Runs) -> StudyAnswer:
    """Delivery of the multi-area model over that of the MAM-benchmark, conventional, 32 nodes."""
    factors = factors_of(jitter_map.usual_jitter(), NODES)
    rows = []
    for schedule, name in SCHEDULE_NAMES.items():
        by_network = {
            "MAM": _of_model(NEST, schedule),
            "MAM-benchmark": of_benchmark(NEST, NODES, schedule),
        }
        for network, of_network in by_network.items():
            parts = {
                "deliver": float(of_network.phases_s["deliver"].mean()),
                "update": float(of_network.phases_s["update"].mean()),
                "waiting": of_network.waiting_s(factors),
                "exchange": of_network.exchange_s,
            }
            row = {f"part.{part}": CYCLES_PER_S * seconds for part, seconds in parts.items()}
            rows.append({"schedule": f"{network}, {name}", **row})
    frame = pd.DataFrame(rows)
    figure = plots.bars(
        frame,
        "schedule",
        [name for name in PARTS if name in frame],
        "lober-11",
        "Parts of the real-time factor, 32 nodes of JURECA-DC",
        "Kernels of NEST, modelled.",
        xlabel="s per simulated s",
        unit="s / s",
    )
    answer = _by_nest_costs(lambda program: _model_over_benchmark(program, "deliver"))
    table = plots.tabulated(frame, "Seconds per simulated second")
    return replace(answer, figures=[figure], tables=[table])


@answers_claim
def _mam_collocation_over_benchmark(runs: Runs) -> StudyAnswer:
    """Collocation of the multi-area model over that of the benchmark, by the mini-app's kernels."""
    return StudyAnswer(_modelled(_model_over_benchmark(MINI_APP, "collocate")))


def _model_over_benchmark(program: str | Program, phase: str) -> float:
    """A phase of the multi-area model over that of the benchmark, conventional, 32 nodes."""
    of_model_s = _of_model(program, "conventional").phases_s[phase].mean()
    return float(of_model_s / of_benchmark(program, NODES, "conventional").phases_s[phase].mean())


@answers_claim
def _mam_communication_over_benchmark(runs: Runs) -> StudyAnswer:
    """Waiting and exchange of the multi-area model over those of the benchmark, conventional.

    By NEST's costs and over the jitter; the note has the mini-app's, modelled and simulated.
    """

    def ratio(program: str, jitter: Jitter) -> float:
        factors = factors_of(jitter, NODES)
        seconds = []
        for of_network in (
            _of_model(program, "conventional"),
            of_benchmark(program, NODES, "conventional"),
        ):
            seconds.append(of_network.waiting_s(factors) + of_network.exchange_s)
        return seconds[0] / seconds[1]

    answer = _by_nest_over_jitter(ratio)
    simulated = _of_means(*_model_and_benchmark(runs), [WAITING, MOVING])
    of_mini_app = f" Simulated: {simulated.number:.3g}." if simulated else ""
    return replace(answer, note=f"{answer.note}{of_mini_app}")


@answers_claim
def _mam_update_over_benchmark(runs: Runs) -> StudyAnswer:
    """Update of the neuron of the multi-area model over that of the benchmark's, measured.

    Of neurons in a cache and beyond it, with each seed.
    """
    ratios, parts = [], []
    for neurons in nest_delivery.UPDATED_MS:
        of_model_ns = _update_ns(nest_delivery.INTEGRATE_AND_FIRE, neurons)
        of_benchmark_ns = _update_ns(nest_delivery.IGNORE_AND_FIRE, neurons)
        ratios.append(of_model_ns / of_benchmark_ns)
        parts.append(
            f"{of_model_ns.mean():.3g} and {of_benchmark_ns.mean():.3g} ns with {neurons} neurons"
        )
    by_costs = _model_over_benchmark(NEST, "update")
    of_mini_app = _of_mini_app(_model_over_benchmark(MINI_APP, "update"), "")
    note = (
        f"A neuron takes {' and '.join(parts)} on one core, without input; more of them do not fit"
        f" into a cache. By NEST's costs, where the random input from outside makes the"
        f" difference: {by_costs:.3g}. {of_mini_app}"
    )
    return StudyAnswer(_of_measured(np.concatenate(ratios)), note)


def _model_and_benchmark(runs: Runs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Runs of both networks on 32 nodes of JURECA-DC."""
    bench = pick(runs["weak-scaling"], machine=JURECA, ranks=NODES)
    return _mam(runs, JURECA), bench


def _of_means(model: pd.DataFrame, bench: pd.DataFrame, parts: list[str]) -> Quantity:
    """Some parts of the model's conventional runs over those of the benchmark's."""
    model = pick(model, schedule="conventional")
    bench = pick(bench, schedule="conventional")
    if model.empty or bench.empty:
        return missing(NOT_RUN)
    model_us = model[parts].sum(axis=1).mean()
    bench_us = bench[parts].sum(axis=1).mean()
    return _simulated(model_us / bench_us)


@answers_claim
def _delivery_of_propagation(runs: Runs) -> StudyAnswer:
    """Share of delivery in all phases of the benchmark, conventional, 32 nodes of JURECA-DC.

    By NEST's costs and over the jitter; collocation, which NEST's costs do not have, is not in it.
    """

    def percent(program: str, jitter: Jitter) -> float:
        cycles = of_benchmark(program, NODES, "conventional")
        return 100 * float(cycles.phases_s["deliver"].mean()) / _cycle_s(cycles, jitter)

    return _by_nest_over_jitter(percent, "%")


@answers_claim
def _delivery_of_thread(runs: Runs) -> StudyAnswer:
    """Share of delivery in computing of the benchmark, where it is least, measured in NEST.

    Over the weak scaling from FEWEST_RANKS_OF_SLOPE on, under both placements; of delivery and
    update of a thread, with updates of neurons that are in no cache.
    """
    threads = round(profile_value(JURECA, "node.cores"))
    of_thread, beyond_cache = sorted(nest_delivery.UPDATED_MS)
    update_ns = _update_ns(nest_delivery.IGNORE_AND_FIRE, beyond_cache)
    update_s = 1e-9 * CYCLES_PER_S * of_thread * update_ns
    scale = nest_delivery.PART / nest_delivery.MEASURED_MS
    shares = []
    for of_threads, ranks in nest_delivery.CONFIGURATIONS:
        if of_threads != threads:
            continue
        for placement in (nest_delivery.CONVENTIONAL, nest_delivery.BY_AREA):
            deliver_s = scale * _thread_ms(threads, ranks, placement)
            shares.append(100 * deliver_s / (deliver_s + update_s))
    least = min(shares, key=lambda of_seeds: float(of_seeds.mean()))
    asked = []
    for ranks in RANKS_OF_SCALING:
        if ranks >= FEWEST_RANKS_OF_SLOPE:
            asked += [(ranks, schedule) for schedule in LOG_FOLDERS]

    def percent(program: str | Program) -> float:
        return min(_delivery_percent(of_benchmark(program, *given)) for given in asked)

    value = _of_measured(least, "%")
    others = value.number / (100 - value.number)
    of_model = _delivery_percent(_of_model(NEST, "conventional"))
    note = (
        f"Updates are those of neurons that come from beyond the caches in each step; collocation"
        f" is not in it. Delivery would be the largest part even if all else took {others:.2g}"
        f" times as long as these updates. Of the multi-area model by NEST's costs:"
        f" {of_model:.3g} %. {_beside(_by_nest_costs(percent, '%'))}"
    )
    return StudyAnswer(value, note)


def _delivery_percent(cycles: ModelledCycles) -> float:
    """Share of delivery in computing."""
    return 100 * float(cycles.phases_s["deliver"].mean() / cycles.compute_s.mean())


@answers_claim
def _busiest_jureca_over_supermuc(runs: Runs) -> StudyAnswer:
    """What the rank that fires most computes more than the mean rank, JURECA-DC over SuperMUC-NG.

    Rates of areas are drawn, so the area that fires most is not V2.
    """
    return _by_nest_costs(lambda program: _excess(program, JURECA) / _excess(program, SUPERMUC))


def _excess(program: str | Program, machine: str) -> float:
    """How much longer the rank that fires most computes than the mean rank."""
    compute_s = of_multi_area_model(program, machine, "structure_aware").compute_s
    return float(compute_s[_spikes_of_ranks().argmax()] / compute_s.mean() - 1)


@answers_claim
def _phases_longer_on_supermuc(runs: Runs) -> StudyAnswer:
    """Phases on SuperMUC-NG over those on JURECA-DC, the least of all strategies.

    Delivery, update and communication.
    """
    phases = {
        "deliver": ("deliver",),
        "update": ("update",),
        "communicate": ("waiting", "exchange"),
    }
    ratios = {}
    for schedule, name in _schedules():
        for phase, parts in phases.items():
            ratios[f"{phase}, {name}"] = _ratio_of_drawn(schedule, *parts)
    return _least_of_draws(ratios)


@answers_claim
def _collocation_on_supermuc(runs: Runs) -> StudyAnswer:
    """Collocation on SuperMUC-NG over that on JURECA-DC, conventional."""
    return StudyAnswer(_of_draws(_ratio_of_drawn("conventional", "collocate")))


@answers_claim
def _update_gain_of_placement(runs: Runs) -> StudyAnswer:
    """Update of the multi-area model, conventional over placement by area, JURECA-DC."""

    def gain(program: str) -> float:
        conventional_s = _of_model(program, "conventional").phases_s["update"].mean()
        return float(
            conventional_s / _of_model(program, "placement_only").phases_s["update"].mean()
        )

    return _by_nest(gain)


@answers_claim
def _least_active_over_fastest(runs: Runs) -> StudyAnswer:
    """Computing of the rank that fires least over that of the rank that computes least."""
    least_active = int(_spikes_of_ranks().argmin())

    def ratio(program: str) -> float:
        compute_s = _of_model(program, "structure_aware").compute_s
        return float(compute_s[least_active] / compute_s.min())

    return _by_nest(ratio)


@cache
def _spikes_of_ranks() -> np.ndarray:
    """Spikes of each area of the multi-area model in a cycle, [rank]."""
    description = mam.describe(scale=1, seed=1)
    rates_hz = _population_rates_hz(description, mam.rates_hz(1))
    cores = round(profile_value(JURECA, "node.cores"))
    spikes = Loads.count(description, NODES, cores, rates_hz, "structure_aware").spikes
    return spikes


@answers_claim
def _excess_of_most_active(runs: Runs) -> StudyAnswer:
    """How much longer the rank that fires most computes than the mean rank, JURECA-DC."""
    answer = _by_nest_costs(lambda program: 100 * _excess(program, JURECA), "%")
    spikes = _spikes_of_ranks()
    more = spikes.max() / spikes.mean()
    return replace(answer, note=f"It fires {more:.2f} times the spikes. {answer.note}")


# Section 4.2


@answers_claim
def _area_neurons(runs: Runs) -> StudyAnswer:
    """Mean number of neurons of an area of the MAM-benchmark."""
    return StudyAnswer(Quantity(float(FULL["neurons_per_area"]), kind="given"))


@answers_claim
def _indegree(runs: Runs) -> StudyAnswer:
    """Synapses per neuron of the MAM-benchmark."""
    return StudyAnswer(Quantity(float(FULL["indegree"]), kind="given"))


@answers_claim
def _size_spread(runs: Runs) -> StudyAnswer:
    """Spread of the area sizes of the multi-area model."""
    areas = mam.draw(1)
    sizes = np.bincount(areas.area, areas.neurons)
    return StudyAnswer(_modelled(sizes.std() / sizes.mean()))


def _synapses_by_source(areas: cortex.Areas) -> np.ndarray:
    """Synapses by target and source population, (targets, sources)."""
    synapses: np.ndarray = areas.neurons[:, None] * areas.indegrees[:, :-1]
    return synapses


@answers_claim
def _share_between(runs: Runs) -> StudyAnswer:
    """Share of synapses between areas, of the multi-area model as drawn."""
    return StudyAnswer(_modelled(_share_between_percent(), "%"))


def _share_between_percent() -> float:
    areas = mam.draw(1)
    same_area = areas.area[:, None] == areas.area
    synapses = _synapses_by_source(areas)
    between_areas = synapses[~same_area].sum()
    return 100 * float(between_areas / synapses.sum())


@answers_claim
def _neurons_of_both_kinds(runs: Runs) -> StudyAnswer:
    """Neurons of the multi-area model that have synapses in their own area and in another one."""
    areas = mam.draw(1)
    same_area = areas.area[:, None] == areas.area
    synapses = _synapses_by_source(areas)
    has_both = np.ones(len(areas.neurons))
    for is_of_kind in (same_area, ~same_area):
        of_neuron = np.where(is_of_kind, synapses, 0.0).sum(axis=0) / areas.neurons
        has_both *= -np.expm1(-of_neuron)  # synapses draw their sources
    percent = 100 * float(areas.neurons @ has_both / areas.neurons.sum())
    fired = areas.neurons * areas.rates_hz
    of_spikes = 100 * float(fired @ has_both / fired.sum())
    return StudyAnswer(_modelled(percent, "%"), f"They fire {of_spikes:.3g} % of the spikes.")


@answers_claim
def _short_delays(runs: Runs) -> StudyAnswer:
    """Share of delays between areas that would be below 1 ms without the cut."""
    areas = mam.draw(1)
    synapses = np.zeros((mam.AREAS, mam.AREAS))  # (target areas, source areas)
    np.add.at(synapses, (areas.area[:, None], areas.area), _synapses_by_source(areas))
    np.fill_diagonal(synapses, 0)
    mean_ms = areas.distances_mm / cortex.SPEED_MM_PER_MS + np.eye(mam.AREAS)
    below_step = stats.norm.cdf(0.1, mean_ms, 0.5 * mean_ms)
    below_1_ms = stats.norm.cdf(1.0, mean_ms, 0.5 * mean_ms)
    shares = (below_1_ms - below_step) / (1 - below_step)
    weighted = (shares * synapses).sum()
    return StudyAnswer(_modelled(100 * weighted / synapses.sum(), "%"))
