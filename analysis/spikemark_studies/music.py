"""Brocke & Djurfeldt, MUSIC: collective against point-to-point exchange between applications.

Every rank belongs to one of several applications; a window is 1 ms. In structure 0 all ranks of two
applications exchange, in structure 1 each has one partner, and in structure 0.5 there are
neighbours.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from spikemark.models.exchange_times import EXCHANGES, WORD_BYTES
from spikemark.models.loggp import Collectives, Traffic
from spikemark.network.presets.music import CELLS, describe
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.report import plots

from .claims import StudyAnswer
from .pick import groups, pick, rows_of
from .profiles import drawn_interconnects, interconnect_of
from .study import Lacking, Runs, answers_claim

EXPERIMENT, MACHINE = "exchange-music", "jureca-dc"
BLUE_GENE = "bluegene-q"  #: the machine of the paper, whose torus is not simulated
RANKS_PER_NODE = 16
COLLECTIVE, DIRECT = "allgatherv", "direct"
ALL_TO_ALL, ONE_TO_ONE, NEIGHBOURS = 0, 1, 0.5  #: structures
TWO_APPLICATIONS = "A<->B"  #: the default of the preset
WINDOW_US = 1e3  #: of 1 ms; makes us per window of s per simulated s
SPIKES_PER_MS = 7864  #: of an application of 10k
EVENT_BYTES = 16  #: of an event of MUSIC: a time and an index, with padding
SPIKES_PER_CELL_AND_MS = 0.030  #: at 30 Hz
#: What a message costs its sender and receiver, us; None: as the profile says.
GAPS_US = (None, 0.5, 1.0, 2.0)
MODELLED_RANKS = (32, 64, 128, 256, 512, 1024)
MOST_RANKS = MODELLED_RANKS[-1]
NODES_OF_FIGURE_9 = 64


def _series(
    runs: Runs,
    structure: float,
    applications: str = TWO_APPLICATIONS,
    ranks_per_node: int = RANKS_PER_NODE,
) -> pd.DataFrame:
    """A row per number of ranks: us per window of both exchanges, and counts of a rank and window.

    Columns: `ranks`, `collective` and `direct` (us), their `_bytes` and `_messages`, `collocate`
    (us), and `ratio`, collective over direct.
    """
    frame = pick(runs[EXPERIMENT], structure=structure)
    unswept = pd.Series(TWO_APPLICATIONS, index=frame.index)
    frame = frame[frame.get("swept.applications", unswept) == applications]
    usual = pd.Series(RANKS_PER_NODE, index=frame.index)
    frame = frame[frame.get("swept.ranks_per_node", usual) == ranks_per_node]
    rows = [_row(int(ranks), of_ranks) for ranks, of_ranks in groups(frame, "ranks")]
    series = pd.DataFrame(rows)
    if series.empty or not {"collective", "direct"} <= set(series):
        reason = "no such pair of runs is complete"
        raise Lacking(f"{reason} (not part of --quick)" if runs.quick else reason)
    series["ratio"] = series["collective"] / series["direct"]
    return series.dropna(subset=["ratio"]).sort_values("ranks")


def _row(ranks: int, frame: pd.DataFrame) -> dict[str, float]:
    """Times and counts of both exchanges on so many ranks, as far as they were run."""
    row: dict[str, float] = {"ranks": ranks}
    for name, exchange in (("collective", COLLECTIVE), ("direct", DIRECT)):
        of_exchange = pick(frame, exchange=exchange)
        if of_exchange.empty:
            continue
        run = of_exchange.iloc[0]
        windows = float(run["ranks"] * run["cycles"])  # of all ranks
        row[name] = WINDOW_US * run["part.exchange"]
        row[f"{name}_bytes"] = run["bytes_sent"] / windows
        row[f"{name}_messages"] = run["messages"] / windows
        row["collocate"] = WINDOW_US * run["part.collocate"]
    return row


def _table(series: pd.DataFrame, title: str) -> Table:
    columns = [
        Column("ranks", "ranks", "given"),
        Column("collective", f"{COLLECTIVE} (us per window)", "simulated"),
        Column("direct", "point-to-point (us per window)", "simulated"),
        Column("ratio", "collective / point-to-point", "simulated"),
        Column("collective_bytes", "bytes of a rank: collective", "counted"),
        Column("direct_bytes", "point-to-point", "counted"),
    ]
    names = [column.name for column in columns]
    return Table(columns, rows_of(series[names]), title)


def _ratio_on_most_ranks(series: pd.DataFrame, title: str) -> StudyAnswer:
    """Collective over point-to-point on the most ranks, and a table of all."""
    last = series.iloc[-1]
    value = Quantity(float(last["ratio"]), kind="simulated")
    return StudyAnswer(value, f"{last['ranks']:.0f} ranks.", tables=[_table(series, title)])


def _growth(series: pd.DataFrame, column: str) -> StudyAnswer:
    """A time on the most ranks over that on the fewest."""
    first, last = series.iloc[0], series.iloc[-1]
    value = Quantity(float(last[column] / first[column]), kind="simulated")
    return StudyAnswer(value, f"{first['ranks']:.0f} to {last['ranks']:.0f} ranks.")


@answers_claim
def _cells(runs: Runs) -> StudyAnswer:
    """Of the preset at full size."""
    populations = describe(full=True, cells="10k")["network"]["populations"]
    neurons = sum(population["size"] for population in populations)
    return StudyAnswer(Quantity(float(neurons), kind="counted"))


@answers_claim
def _neighbours(runs: Runs) -> StudyAnswer:
    """The most ranks with which a rank exchanges, counted, structure 0.5."""
    frames = runs[EXPERIMENT]
    connections = []
    for id in pick(frames, structure=NEIGHBOURS)["id"]:
        lanes = frames.records[id].record.lanes
        connections += [lane.connections for lane in lanes if lane.connections is not None]
    if not connections:
        raise Lacking("no run with neighbours is complete")
    return StudyAnswer(Quantity(float(max(connections)), kind="counted"))


@answers_claim
def _data(runs: Runs) -> StudyAnswer:
    """Events of both applications of 1k in a step, times the bytes of an event of MUSIC."""
    neurons, _ = CELLS["1k"]
    mebibytes = 2 * neurons * SPIKES_PER_CELL_AND_MS * EVENT_BYTES / 2**20
    note = f"An event holds a time and an index, {EVENT_BYTES} bytes with padding (assumed)."
    return StudyAnswer(Quantity(mebibytes, unit="MiB", kind="modelled"), note)


@answers_claim
def _searched(runs: Runs) -> StudyAnswer:
    """Bytes that a rank receives and looks through, collective over point-to-point, one to one."""
    last = _series(runs, ONE_TO_ONE).iloc[-1]
    return StudyAnswer(
        Quantity(float(last["collective_bytes"] / last["direct_bytes"]), kind="counted"),
        f"{last['ranks']:.0f} ranks.",
    )


@answers_claim
def _by_connectivity(runs: Runs) -> StudyAnswer:
    """Collective over point-to-point, one to one over all to all, on as many ranks as both have."""
    all_to_all_ratio = _series(runs, ALL_TO_ALL).set_index("ranks")["ratio"]
    one_to_one_series = _series(runs, ONE_TO_ONE)
    one_to_one_ratio = one_to_one_series.set_index("ranks")["ratio"]
    shared = all_to_all_ratio.index.intersection(one_to_one_ratio.index)
    if shared.empty:
        raise Lacking("no number of ranks has both")
    ranks = shared.max()
    value = float(one_to_one_ratio[ranks] / all_to_all_ratio[ranks])
    long = []
    for structure, ratios in (("all to all", all_to_all_ratio), ("one to one", one_to_one_ratio)):
        for count, ratio in ratios.items():
            long.append({"ranks": count, "structure": structure, "ratio": ratio})
    figure = plots.lines(
        pd.DataFrame(long),
        "ranks",
        "ratio",
        "music-10",
        "Collective over point-to-point by connectivity",
        "Ratio of exchange times, simulated on JURECA-DC; the paper has another machine.",
        hue="structure",
        log="xy",
    )
    return StudyAnswer(Quantity(value, kind="simulated"), f"{ranks:.0f} ranks.", figures=[figure])


@answers_claim
def _larger_model_scales_worse(runs: Runs) -> StudyAnswer:
    """Growth of the collective from 128 to 1024 ranks of 1k over that of 10k, by the model.

    On 64 nodes of Blue Gene/Q, as in figure 9, with 2 to 16 ranks on each, over what its profile
    leaves uncertain.
    """

    def growth(network: Collectives, cells: str) -> float:
        neurons, _ = CELLS[cells]
        spikes = neurons * SPIKES_PER_CELL_AND_MS
        seconds = []
        for ranks in (128, MOST_RANKS):
            ranks_per_node = ranks // NODES_OF_FIGURE_9
            seconds.append(_collective_s(network, ranks, spikes, ranks_per_node))
        return seconds[1] / seconds[0]

    usual = interconnect_of(BLUE_GENE, NODES_OF_FIGURE_9)
    note = (
        f"It becomes {growth(usual, '1k'):.3g} times as long with 1k, {growth(usual, '10k'):.3g}"
        " with 10k."
    )
    ratios = [growth(network, "1k") / growth(network, "10k") for network in _blue_genes()]
    return StudyAnswer(_over_networks(ratios), note)


def _blue_genes(nodes: int = NODES_OF_FIGURE_9) -> list[Collectives]:
    """The cost of exchanges on Blue Gene/Q: by its profile, then for draws of what is uncertain."""
    drawn = drawn_interconnects(BLUE_GENE, nodes)
    return [interconnect_of(BLUE_GENE, nodes), *drawn]


def _over_networks(answers: list[float]) -> Quantity:
    """The first of several modelled numbers, with an interval over the others."""
    usual, *drawn = answers
    low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    return Quantity(usual, min(usual, low), max(usual, high), kind="modelled")


@answers_claim
def _extra_link(runs: Runs) -> StudyAnswer:
    """Point-to-point exchange with one more link between four applications over that without."""
    with_link = _series(runs, ALL_TO_ALL, "A<->B->C<->D").iloc[-1]
    without_link = _series(runs, ALL_TO_ALL, "A<->B,C<->D").set_index("ranks")
    ranks = with_link["ranks"]
    if ranks not in without_link.index:
        raise Lacking("both need the same number of ranks")
    ratio = float(with_link["direct"] / without_link.loc[ranks, "direct"])
    return StudyAnswer(Quantity(ratio, kind="simulated"), f"{ranks:.0f} ranks.")


@answers_claim
def _all_to_all(runs: Runs) -> StudyAnswer:
    """Exchange times, all to all."""
    return _ratio_on_most_ranks(_series(runs, ALL_TO_ALL), "All to all")


@answers_claim
def _surplus(runs: Runs) -> StudyAnswer:
    """Bytes of the collective over those of point-to-point."""
    last = _series(runs, ALL_TO_ALL).iloc[-1]
    ratio = last["collective_bytes"] / last["direct_bytes"]
    return StudyAnswer(Quantity(float(ratio), kind="counted"))


@answers_claim
def _routing(runs: Runs) -> StudyAnswer:
    """Modelled collocation over the simulated exchange, point-to-point, most ranks."""
    last = _series(runs, ALL_TO_ALL).iloc[-1]
    buffers = last["direct_messages"]
    collocate_once_us = last["collocate"] / buffers
    collective_us = last["collective"] + collocate_once_us
    ratio = collective_us / (last["direct"] + last["collocate"])
    note = (
        f"{last['collocate']:.3g} us with {buffers:.0f} buffers for each spike,"
        f" {collocate_once_us:.2g} us with one, for a collective (modelled). With that, the"
        f" collective takes {ratio:.3g} times as long."
    )
    ratio = float(last["collocate"] / last["direct"])
    return StudyAnswer(Quantity(ratio, kind="modelled"), note)


@answers_claim
def _one_to_one(runs: Runs) -> StudyAnswer:
    """Growth of point-to-point with ranks."""
    return _growth(_series(runs, ONE_TO_ONE), "direct")


@answers_claim
def _one_to_one_ratio(runs: Runs) -> StudyAnswer:
    """Exchange times, one to one."""
    return _ratio_on_most_ranks(_series(runs, ONE_TO_ONE), "One to one")


@answers_claim
def _collective_growth(runs: Runs) -> StudyAnswer:
    """Growth of the collective with ranks."""
    return _growth(_series(runs, ALL_TO_ALL), "collective")


@answers_claim
def _per_node(runs: Runs) -> StudyAnswer:
    """64 nodes with 2 processes each."""
    return _ratio_on_most_ranks(_series(runs, ALL_TO_ALL, ranks_per_node=2), "64 nodes")


@answers_claim
def _four(runs: Runs) -> StudyAnswer:
    """Two pairs of applications."""
    return _ratio_on_most_ranks(_series(runs, ALL_TO_ALL, "A<->B,C<->D"), "Four applications")


def _ratio(network: Collectives, ranks: int, spikes: float = SPIKES_PER_MS) -> float:
    """Modelled time of the collective over that of point-to-point, all to all, both directions.

    Args:
        network: costs of exchanges on the machine.
        ranks: of both applications.
        spikes: of an application in a window.
    """
    return _collective_s(network, ranks, spikes) / _direct_s(network, ranks, spikes)


def _direct_s(network: Collectives, ranks: int, spikes: float) -> float:
    """Modelled seconds of point-to-point in both directions at once."""
    sent_bytes, node_of_rank = _all_to_all_bytes(ranks, spikes)
    both_directions = Traffic(sent_bytes, np.sign(sent_bytes), node_of_rank)
    return float(EXCHANGES[DIRECT](network, both_directions))


def _collective_s(
    network: Collectives,
    ranks: int,
    spikes: float,
    ranks_per_node: int = RANKS_PER_NODE,
) -> float:
    """Modelled seconds of the collective in both directions, one after the other."""
    sent_bytes, node_of_rank = _all_to_all_bytes(ranks, spikes, ranks_per_node)
    is_first = np.arange(ranks)[:, None] < ranks // 2
    one_direction = Traffic(np.where(is_first, sent_bytes, 0.0), np.sign(sent_bytes), node_of_rank)
    return 2 * float(EXCHANGES[COLLECTIVE](network, one_direction))


def _with_gap(network: Collectives, gap_us: float | None) -> Collectives:
    """A network on which a message costs so much; None: as it is."""
    if gap_us is None:
        return network
    gap_s = 1e-6 * gap_us
    latency_s = max(network.net.latency_s, gap_s)
    return replace(network, net=replace(network.net, gap_s=gap_s, latency_s=latency_s))


def _all_to_all_bytes(
    ranks: int,
    spikes: float,
    ranks_per_node: int = RANKS_PER_NODE,
) -> tuple[np.ndarray, np.ndarray]:
    """Bytes by sender and receiver between two applications, and the node of each rank."""
    half = ranks // 2  # of one application
    sent_bytes = np.zeros((ranks, ranks))  # (senders, receivers)
    sent_bytes[:half, half:] = WORD_BYTES * spikes / half
    sent_bytes[half:, :half] = WORD_BYTES * spikes / half
    return sent_bytes, np.arange(ranks) // ranks_per_node


@answers_claim
def _all_to_all_1024(runs: Runs) -> StudyAnswer:
    """Collective over point-to-point on 1024 ranks of Blue Gene/Q, by the model.

    The interval is over what its profile leaves uncertain, above all the cost of a message.
    """
    rows = []
    for machine in (BLUE_GENE, MACHINE):
        for ranks in MODELLED_RANKS:
            network = interconnect_of(machine, ranks // RANKS_PER_NODE)
            rows.append({"machine": machine, "ranks": ranks, "ratio": _ratio(network, ranks)})
    figure = plots.lines(
        pd.DataFrame(rows),
        "ranks",
        "ratio",
        "music-9",
        "Collective over point-to-point, all to all",
        "Ratio of modelled exchange times; the paper has 0.5 of the run time on Blue Gene/Q.",
        hue="machine",
        log="xy",
    )
    networks = _blue_genes(MOST_RANKS // RANKS_PER_NODE)
    value = _over_networks([_ratio(network, MOST_RANKS) for network in networks])
    return StudyAnswer(value, figures=[figure])


@answers_claim
def _better_by_connectivity(runs: Runs) -> StudyAnswer:
    """By how many times the better algorithm is faster, where it is so by the least.

    Collective all to all, point-to-point one to one; 1024 ranks of Blue Gene/Q, modelled, over what
    its profile leaves uncertain. Below 1: one algorithm is the better one for both.
    """
    networks = _blue_genes(MOST_RANKS // RANKS_PER_NODE)
    gains = []
    for network in networks:
        all_to_all_ratio, one_to_one_ratio = _by_structure(network)
        gains.append(min(1 / all_to_all_ratio, one_to_one_ratio))
    all_to_all_ratio, one_to_one_ratio = _by_structure(networks[0])
    note = (
        f"The collective takes {all_to_all_ratio:.3g} times as long as point-to-point all to all,"
        f" and {one_to_one_ratio:.3g} times one to one."
    )
    return StudyAnswer(_over_networks(gains), note)


def _by_structure(network: Collectives) -> tuple[float, float]:
    """Collective over point-to-point on MOST_RANKS ranks, all to all and one to one, modelled."""
    sent_bytes, node_of_rank = _all_to_all_bytes(MOST_RANKS, SPIKES_PER_MS)
    half = MOST_RANKS // 2
    partner = (np.arange(MOST_RANKS) + half) % MOST_RANKS
    to_partner = np.zeros_like(sent_bytes)
    to_partner[np.arange(MOST_RANKS), partner] = WORD_BYTES * SPIKES_PER_MS / half
    traffic = Traffic(to_partner, np.sign(to_partner), node_of_rank)
    direct_s = float(EXCHANGES[DIRECT](network, traffic))
    one_to_one_ratio = _collective_s(network, MOST_RANKS, SPIKES_PER_MS) / direct_s
    return _ratio(network, MOST_RANKS), one_to_one_ratio


@answers_claim
def _search(runs: Runs) -> StudyAnswer:
    """What looking at a received spike may cost until the collective has lost its gain.

    On 1024 ranks of Blue Gene/Q: every receiver of the collective goes through all spikes.
    """
    network = interconnect_of(BLUE_GENE, MOST_RANKS // RANKS_PER_NODE)
    direct_s = _direct_s(network, MOST_RANKS, SPIKES_PER_MS)
    gained_s = direct_s - _collective_s(network, MOST_RANKS, SPIKES_PER_MS)
    if gained_s <= 0:
        return StudyAnswer("nothing: the collective is slower without it")
    return StudyAnswer(Quantity(1e9 * gained_s / SPIKES_PER_MS, unit="ns", kind="modelled"))


@answers_claim
def _search_of_larger_model(runs: Runs) -> StudyAnswer:
    """What a look at a spike may cost with 1k over what it may cost with 10k, until the collective
    has lost its gain; 1024 ranks of Blue Gene/Q.

    The interval is over what the profile leaves uncertain.
    """
    ratios = []
    for network in _blue_genes(MOST_RANKS // RANKS_PER_NODE):
        allowed_s = []
        for cells in ("1k", "10k"):
            neurons, _ = CELLS[cells]
            spikes = neurons * SPIKES_PER_CELL_AND_MS
            direct_s = _direct_s(network, MOST_RANKS, spikes)
            allowed_s.append((direct_s - _collective_s(network, MOST_RANKS, spikes)) / spikes)
        ratios.append(allowed_s[0] / allowed_s[1])
    return StudyAnswer(_over_networks(ratios))


@answers_claim
def _collective_by_ranks(runs: Runs) -> StudyAnswer:
    """Time of the collective on 1024 ranks of Blue Gene/Q over that on 128, 10k, modelled.

    The interval is over what the profile leaves uncertain.
    """
    seconds = []  # [ranks][network]
    for ranks in (128, MOST_RANKS):
        networks = _blue_genes(ranks // RANKS_PER_NODE)
        seconds.append([_collective_s(network, ranks, SPIKES_PER_MS) for network in networks])
    few_s, many_s = seconds
    return StudyAnswer(
        _over_networks([many / few for few, many in zip(few_s, many_s, strict=True)])
    )


@answers_claim
def _crossing(runs: Runs) -> StudyAnswer:
    """The model over ranks and over what a message costs its sender and receiver."""
    columns = [Column("ranks", "ranks", "given"), Column("empty", "no spikes, 0.26 us", "modelled")]
    for gap_us in GAPS_US:
        heading = "as JURECA-DC (0.26 us)" if gap_us is None else f"{gap_us:g} us"
        columns.append(Column(f"gap {gap_us}", heading, "modelled"))
    columns.append(Column(BLUE_GENE, "Blue Gene/Q (1 us)", "modelled"))
    rows: list[dict[str, Cell]] = []
    for ranks in MODELLED_RANKS:
        nodes = ranks // RANKS_PER_NODE
        network = interconnect_of(MACHINE, nodes)
        row: dict[str, Cell] = {"ranks": ranks, "empty": _ratio(network, ranks, 1e-3)}
        for gap_us in GAPS_US:
            row[f"gap {gap_us}"] = _ratio(_with_gap(network, gap_us), ranks)
        row[BLUE_GENE] = _ratio(interconnect_of(BLUE_GENE, nodes), ranks)
        rows.append(row)
    title = "Collective / point-to-point by the cost of a message, all to all"
    network = interconnect_of(MACHINE, MOST_RANKS // RANKS_PER_NODE)
    words = "the collective is never faster"
    for gap_us in GAPS_US:
        if gap_us and _ratio(_with_gap(network, gap_us), MOST_RANKS) < 1:
            words = (
                f"the collective is faster on {MOST_RANKS} ranks if a message costs {gap_us:g} us"
            )
            break
    return StudyAnswer(words, tables=[Table(columns, rows, title, "crossing")])
