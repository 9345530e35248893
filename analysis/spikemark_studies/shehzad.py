"""Shehzad & Bozkus 2016: MPI_Allgather against recursive doubling by one-sided puts.

Ranks are simulated on four nodes of a cluster of that time. A window is 1 ms, after which every
rank sends its spikes to all others.
"""

import math
from collections import defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd

from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import Traffic
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import listed
from spikemark.report import plots

from .claims import StudyAnswer
from .pick import groups, levels, means, pick, rows_of
from .profiles import drawn_interconnects, interconnect_of
from .published import papers
from .study import Lacking, Runs, answers_claim

EXPERIMENT = "exchange-shehzad"
MACHINE, NODES = "bl460c-ddr", 4
ALLGATHER = "allgather"
DOUBLING = "rma_doubling"  #: pairs of ranks put into each other's windows
RING = "rma_bruck"
CELLS = "neurons_per_area"
RATE_OF_LARGE_BLOCKS = 640  #: Hz, of the runs that are not of the tables
STEPS_PER_MS = 40  #: steps of 0.025 ms, the default of NEURON
WINDOW_US = 1e3  #: of 1 ms; makes us per window of s per simulated s
COMMUNICATION = ("part.exchange", "part.waiting")
LITERAL_RANKS = (2, 4, 8, 16, 32)  #: for which algorithm 1 is followed
READINGS = ("step", "rank")  #: of its "previous power of two"
#: Data files of Tables 2 and 3.
TABLES_OF_TIMES = ("shehzad_table2", "shehzad_table3")
BYTES_OF_BLOCK = 64  #: of a rank with few spikes


def _runs_of_tables(runs: Runs) -> pd.DataFrame:
    """Runs at the cells of the tables."""
    frame = runs[EXPERIMENT].runs
    if "swept.rate" in frame:
        return frame[frame["swept.rate"] != RATE_OF_LARGE_BLOCKS]
    return frame


def _on_most_ranks(runs: Runs) -> pd.DataFrame:
    frame = _runs_of_tables(runs)
    return pick(frame, ranks=levels(frame, "ranks")[-1])


def _communication_percent(frame: pd.DataFrame) -> pd.Series:
    """Share of exchange and waiting in the run time."""
    spent = frame["part.exchange"] + frame["part.waiting"]
    return 100 * spent / frame["real_time_factor"]


def _simulated(value: float, unit: str = "") -> Quantity:
    return Quantity(float(value), unit=unit, kind="simulated")


def _published_shares() -> dict[tuple[int, int], float]:
    """Share of MPI_Allgather by cells and ranks, % (Table 1)."""
    return {
        (int(row["cells"]), int(row["procs"])): float(row["mpi_allgather_pct"])
        for row in papers.rows("shehzad_table1")
    }


@answers_claim
def _share_growth(runs: Runs) -> StudyAnswer:
    """Share of exchange and waiting on the most ranks over that on the fewest.

    Both are means over numbers of cells.
    """
    published = _published_shares()
    frame = pick(_runs_of_tables(runs), exchange=ALLGATHER)
    frame = frame.assign(share=_communication_percent(frame))
    rows: list[dict[str, Cell]] = []
    shares = defaultdict(list)  # by ranks
    for cells, ranks, share in means(frame, [f"swept.{CELLS}", "ranks"], ["share"]).to_numpy():
        theirs = published.get((int(cells), int(ranks)))
        if theirs is not None:
            rows.append(
                {"cells": int(cells), "ranks": int(ranks), "share": share, "theirs": theirs}
            )
            shares[int(ranks)].append(share)
    if not rows:
        raise Lacking("no run has the cells of table 1")
    columns = [
        Column("cells", "cells", "given"),
        Column("ranks", "ranks", "given"),
        Column("share", "exchange and waiting (% of run time)", "simulated"),
        Column("theirs", "MPI_Allgather (%)", "literature"),
    ]
    growth = np.mean(shares[max(shares)]) / np.mean(shares[min(shares)])
    table = Table(columns, rows, "Table 1", "share")
    return StudyAnswer(_simulated(growth), tables=[table])


@answers_claim
def _largest_share(runs: Runs) -> StudyAnswer:
    """The most that MPI_Allgather itself can take of a published run, 1000 cells on most ranks, %.

    Modelled time of an exchange without any waiting, at most one for each step of NEURON, over the
    published time of the run. The interval is over what the profile leaves uncertain.
    """
    published = _published_shares()
    rows: list[dict[str, Cell]] = []
    for row in papers.rows("shehzad_table3"):
        place = (int(row["cells"]), int(row["procs"]))
        if place in published:
            exchanges = STEPS_PER_MS * float(row["tstop_ms"])
            seconds = np.array(_allgather_s(place[1])) * exchanges
            share = _of_networks(100 * seconds / float(row["mpi_s"]))
            rows.append(
                {
                    "cells": place[0],
                    "ranks": place[1],
                    "share": share,
                    "theirs": published[place],
                }
            )
    columns = [
        Column("cells", "cells", "given"),
        Column("ranks", "ranks", "given"),
        Column("share", "exchange alone, at most (% of run time)", "modelled"),
        Column("theirs", "MPI_Allgather (%)", "literature"),
    ]
    table = Table(columns, rows, "What an exchange itself can take", "largest")
    [asked] = [row for row in rows if row["cells"] == 1000 and row["ranks"] == LITERAL_RANKS[-1]]
    value = asked["share"]
    assert isinstance(value, Quantity)
    return StudyAnswer(value, tables=[table])


@cache
def _allgather_s(ranks: int) -> list[float]:
    """Modelled seconds of an exchange of one spike: by the profile, then by draws of its costs."""
    nodes = min(ranks, NODES)
    networks = [interconnect_of(MACHINE, nodes)]
    networks += drawn_interconnects(MACHINE, nodes)
    traffic = _one_spike(ranks)
    return [float(EXCHANGES[ALLGATHER](network, traffic)) for network in networks]


def _of_networks(values: np.ndarray) -> Quantity:
    """A share by the profile, and its interval over draws."""
    middle, *drawn = values.tolist()
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Quantity(middle, min(middle, float(low)), max(middle, float(high)), "%", "modelled")


def _one_spike(ranks: int) -> Traffic:
    """One spike of each rank to all others, on NODES nodes; blocks have room for 15."""
    node_of_rank = np.arange(ranks) // max(1, ranks // NODES)
    partners = 1.0 - np.eye(ranks)
    return Traffic(4.0 * partners, partners, node_of_rank)


@answers_claim
def _meetings(runs: Runs) -> StudyAnswer:
    """Messages of a rank in the fences of an exchange by puts, over those in MPI_Allgather.

    On 32 ranks, counted in Open MPI; the interval is over its ways to have one-sided communication
    and over sizes of blocks.
    """
    ranks = LITERAL_RANKS[-1]
    steps = round(math.log2(ranks))
    of_allgather = _counted_messages("allgather", ranks, "messages_of_all")
    ratios = []
    for component in ("rdma", "pt2pt"):
        (of_fence,) = _counted_messages(f"fence_{component}", ranks, "messages_of_all").values()
        for size in [BYTES_OF_BLOCK, *of_allgather]:
            ratios.append(steps * of_fence / of_allgather[size])
    sizes = listed([f"{size} bytes" for size in of_allgather])
    note = (
        f"{steps} fences, against one MPI_Allgather of {of_allgather[BYTES_OF_BLOCK]} messages with"
        f" blocks of {BYTES_OF_BLOCK} bytes; the interval is over blocks of {sizes}, too. Open MPI"
        " 4.1.4. What the puts send is not in it."
    )
    return StudyAnswer(Quantity(ratios[0], min(ratios), max(ratios), kind="counted"), note)


@answers_claim
def _shorter_with_ranks(runs: Runs) -> StudyAnswer:
    """Steps from one number of ranks to the next that make a published run shorter, %."""
    times: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for name in TABLES_OF_TIMES:
        for row in papers.rows(name):
            times[row["cells"], row["tstop_ms"]].append((int(row["procs"]), float(row["mpi_s"])))
    shorter = []
    for of_network in times.values():
        seconds = [time_s for _, time_s in sorted(of_network)]
        shorter += [later < earlier for earlier, later in pairwise(seconds)]
    return StudyAnswer(Quantity(100 * float(np.mean(shorter)), unit="%", kind="literature"))


@answers_claim
def _speed_up_over_ranks(runs: Runs) -> StudyAnswer:
    """Speed-up of published runs over that of the ranks, from the fewest to the most, the median.

    The interval is from the least row to the most. Of a network that ran for several simulated
    times, the mean counts in the median.
    """
    times: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for name in TABLES_OF_TIMES:
        for row in papers.rows(name):
            run = row["cells"], row["tstop_ms"]
            times[run][int(row["procs"])] = float(row["mpi_s"])
    of_network: dict[str, list[float]] = defaultdict(list)
    for (cells, _), seconds in times.items():
        fewest, most = min(seconds), max(seconds)
        of_network[cells].append(seconds[fewest] / seconds[most] / (most / fewest))
    ratios = [float(np.mean(ratios_of_network)) for ratios_of_network in of_network.values()]
    of_rows = [ratio for of_one in of_network.values() for ratio in of_one]
    value = Quantity(float(np.median(ratios)), min(of_rows), max(of_rows), kind="literature")
    return StudyAnswer(value, f"{len(ratios)} networks.")


def _published_savings() -> dict[tuple[int, int], float]:
    """Run time saved by puts, by cells and ranks, % (Tables 2 and 3, 5000 ms)."""
    savings = {}
    for name in TABLES_OF_TIMES:
        for row in papers.rows(name):
            if row["tstop_ms"] == "5000":
                place = (int(row["cells"]), int(row["procs"]))
                savings[place] = float(row["reduction_pct"])
    return savings


def _exchange_times(runs: Runs, cells: list[int], one_sided: str) -> pd.DataFrame:
    """A row per number of cells and ranks.

    Columns: us of an exchange by its name, and the run time `saved` by the one-sided one in %,
    beside `theirs`.
    """
    frame = pick(_runs_of_tables(runs), neurons_per_area=cells, exchange=[ALLGATHER, one_sided])
    if not {ALLGATHER, one_sided} <= set(frame["exchange"]):
        raise Lacking("runs of both exchanges with the cells of this table are needed")
    values = ["part.exchange", "real_time_factor"]
    by_exchange = frame.pivot_table(values, [f"swept.{CELLS}", "ranks"], "exchange")
    times = WINDOW_US * pd.DataFrame(by_exchange["part.exchange"])
    factors = by_exchange["real_time_factor"]
    times["saved"] = 100 * (1 - factors[one_sided] / factors[ALLGATHER])
    published = _published_savings()
    times["theirs"] = [published.get((int(n), int(ranks))) for n, ranks in times.index]
    return times.reset_index(names=["cells", "ranks"])


def _one_sided_over_allgather(
    runs: Runs, cells: list[int], one_sided: str = DOUBLING
) -> StudyAnswer:
    """Ratio of the times of an exchange on the most ranks; the interval is over cells."""
    frame = _exchange_times(runs, cells, one_sided)
    on_most_ranks = frame[frame["ranks"] == frame["ranks"].max()]
    ratios = on_most_ranks[one_sided] / on_most_ranks[ALLGATHER]
    low, high = None, None
    if len(ratios) > 1:
        low, high = float(ratios.min()), float(ratios.max())
    columns = [
        Column("cells", "cells", "given", words="{:.0f}".format),
        Column("ranks", "ranks", "given", words="{:.0f}".format),
        Column(ALLGATHER, f"{ALLGATHER} (us per window)", "simulated"),
        Column(one_sided, f"{one_sided} (us per window)", "simulated"),
        Column("saved", f"run time saved by {one_sided} (%)", "simulated"),
        Column("theirs", "published, 5000 ms (%)", "literature"),
    ]
    ratio = Quantity(float(ratios.mean()), low, high, kind="simulated")
    return StudyAnswer(ratio, tables=[Table(columns, rows_of(frame))])


@answers_claim
def _table2(runs: Runs) -> StudyAnswer:
    """2525 cells."""
    return _one_sided_over_allgather(runs, [2525])


@answers_claim
def _table3(runs: Runs) -> StudyAnswer:
    """1000 to 5000 cells."""
    return _one_sided_over_allgather(runs, [1000, 2000, 5000])


@answers_claim
def _bruck(runs: Runs) -> StudyAnswer:
    """The ring of Bruck instead of pairs."""
    return _one_sided_over_allgather(runs, [1000], RING)


@answers_claim
def _steps_over_allgather(runs: Runs) -> StudyAnswer:
    """Steps of recursive doubling over the messages of a rank in MPI_Allgather of Open MPI.

    Most ranks of the tables. Messages are counted; where the library takes more of them for larger
    blocks, the interval is over sizes.
    """
    ranks = LITERAL_RANKS[-1]
    messages = _counted_messages("allgather", ranks, "most_of_a_rank")
    ratios = [math.log2(ranks) / number for number in messages.values()]
    sizes = listed([f"{size} bytes" for size in messages])
    note = f"Blocks of {sizes}, Open MPI 4.1.4 with its own rules."
    value = Quantity(float(np.mean(ratios)), min(ratios), max(ratios), kind="counted")
    return StudyAnswer(value, note)


@answers_claim
def _allgather_over_gather_and_broadcast(runs: Runs) -> StudyAnswer:
    """Messages of all ranks in MPI_Allgather over those in MPI_Gather and MPI_Bcast, Open MPI."""
    ranks = LITERAL_RANKS[-1]
    ((size, together),) = _counted_messages("gather_bcast", ranks, "messages_of_all").items()
    of_allgather = _counted_messages("allgather", ranks, "messages_of_all")[size]
    note = f"{of_allgather} and {together} messages with blocks of {size} bytes, Open MPI 4.1.4."
    return StudyAnswer(Quantity(of_allgather / together, kind="counted"), note)


def _counted_messages(call: str, ranks: int, column: str) -> dict[int, int]:
    """Messages that were counted in Open MPI, by bytes of a block (count_messages.py)."""
    counted = {}
    for row in papers.rows("openmpi_messages"):
        if row["call"] == call and int(row["ranks"]) == ranks:
            counted[int(row["block_bytes"])] = int(row[column])
    return counted


@answers_claim
def _doubled_bytes(runs: Runs) -> StudyAnswer:
    """Bytes that a rank puts per window over those of MPI_Allgather, 1000 cells, most ranks."""
    frame = pick(_on_most_ranks(runs), neurons_per_area=1000)
    sent = {}
    for exchange in (ALLGATHER, DOUBLING):
        of_exchange = pick(frame, exchange=exchange)
        if of_exchange.empty:
            raise Lacking(f"no run of {exchange} is complete")
        sent[exchange] = float((of_exchange["bytes_sent"] / of_exchange["cycles"]).mean())
    ranks = int(frame["ranks"].iloc[0])
    own_alone = np.log2(ranks) / (ranks - 1)
    note = f"A rank that sent its own block alone in each step would put {own_alone:.3g} times."
    return StudyAnswer(Quantity(sent[DOUBLING] / sent[ALLGATHER], kind="counted"), note)


@answers_claim
def _steps(runs: Runs) -> StudyAnswer:
    """Messages of a rank and window on the most ranks, over log2 of the ranks."""
    frame = pick(_on_most_ranks(runs), exchange=DOUBLING)
    if frame.empty:
        raise Lacking(f"no run of {DOUBLING} is complete")
    ranks = int(frame["ranks"].iloc[0])
    messages = (frame["messages"] / (frame["ranks"] * frame["cycles"])).mean()
    value = Quantity(float(messages / np.log2(ranks)), kind="counted")
    return StudyAnswer(value, f"{ranks} ranks put {messages:.3g} times per window.")


@answers_claim
def _sizes(runs: Runs) -> StudyAnswer:
    """One-sided over allgather with blocks of up to 16 KiB of a rank."""
    frame = runs[EXPERIMENT].runs
    has_large_blocks = "swept.rate" in frame
    large = pick(frame, rate=RATE_OF_LARGE_BLOCKS) if has_large_blocks else frame[:0]
    if large.empty:
        raise Lacking("not part of --quick: runs with larger blocks")
    rows: list[dict[str, Cell]] = []
    ratios = []
    for cells, of_cells in groups(large, f"swept.{CELLS}"):
        run = pick(of_cells, exchange=DOUBLING).iloc[0]
        block = run["bytes_sent"] / run["ranks"] / run["cycles"] / (run["ranks"] - 1)
        times = {}
        for exchange in (ALLGATHER, DOUBLING, RING):
            seconds = pick(of_cells, exchange=exchange)["part.exchange"].mean()
            times[exchange] = WINDOW_US * seconds
        ratios.append(times[DOUBLING] / times[ALLGATHER])
        rows.append({"cells": int(cells), "block": float(block), **times, "ratio": ratios[-1]})
    columns = [
        Column("block", "bytes of a rank's block", "counted"),
        Column(ALLGATHER, f"{ALLGATHER} (us per window)", "simulated"),
        Column(DOUBLING, f"{DOUBLING} (us per window)", "simulated"),
        Column(RING, f"{RING} (us per window)", "simulated"),
        Column("ratio", f"{DOUBLING} / {ALLGATHER}", "simulated"),
    ]
    table = Table(columns, rows, "32 ranks by bytes", "sizes")
    return StudyAnswer(_simulated(ratios[-1]), tables=[table])


def _fence_costs(ranks: int) -> dict[str, float]:
    """Modelled us of an exchange of one spike, by what a fence costs."""
    collectives = interconnect_of(MACHINE, min(ranks, NODES))
    traffic = _one_spike(ranks)
    fences_s = np.log2(ranks) * collectives.barrier(traffic)
    doubling_s = EXCHANGES[DOUBLING](collectives, traffic)
    return {
        "ranks": ranks,
        "allgather": 1e6 * EXCHANGES[ALLGATHER](collectives, traffic),
        "ring": 1e6 * (ranks - 1) * collectives.net.latency_s,
        "none": 1e6 * (doubling_s - fences_s),
        "one": 1e6 * doubling_s,
        "two": 1e6 * (doubling_s + fences_s),
    }


@answers_claim
def _fences(runs: Runs) -> StudyAnswer:
    """What the fences cost: the model with no barrier in a fence, with one, and with two.

    SimGrid has two.
    """
    simulated = _on_most_ranks(runs)
    simulated_us = WINDOW_US * pick(simulated, exchange=DOUBLING)["part.exchange"].mean()
    rows = {ranks: _fence_costs(ranks) for ranks in (2, 4, 8, 16, 32)}
    largest = rows[int(simulated["ranks"].iloc[0])]
    columns = [
        Column("ranks", "ranks", "given"),
        Column("allgather", "MPI_Allgather, doubling (us)", "modelled"),
        Column("ring", "MPI_Allgather, a ring: at least (us)", "modelled"),
        Column("none", "puts alone (us)", "modelled"),
        Column("one", "fence = one barrier (us)", "modelled"),
        Column("two", "fence = two barriers (us)", "modelled"),
    ]
    title = "What a fence costs, blocks of 64 bytes"
    table = Table(columns, [dict(row) for row in rows.values()], title, "fences")
    note = (
        f"On {largest['ranks']} ranks SimGrid takes {simulated_us:.3g} us, with two barriers in a"
        f" fence (model: {largest['two']:.3g}). With one it would be {largest['one']:.3g}, with"
        f" none {largest['none']:.3g}; MPI_Allgather takes {largest['allgather']:.3g}."
    )
    saved = 100 * (1 - largest["none"] / largest["two"])
    return StudyAnswer(Quantity(saved, unit="%", kind="modelled"), note, tables=[table])


@answers_claim
def _saved(runs: Runs) -> StudyAnswer:
    """The least that the paper saves per exchange, over a whole simulated allgather.

    Exchanges are at most one per step of 0.025 ms, and those simulated include their waiting.
    """
    frame = pick(_runs_of_tables(runs), exchange=ALLGATHER)
    of_ranks = means(frame, ["ranks"], COMMUNICATION).set_index("ranks")
    simulated_us = of_ranks.sum(axis=1) * WINDOW_US
    published = _least_savings_us()
    published = published[published["ranks"].isin(simulated_us.index)]
    rows: list[dict[str, Cell]] = []
    larger = 0
    for ranks, of_ranks in groups(published, "ranks"):
        exceeding = int((of_ranks["least"] / simulated_us[ranks] > 1).sum())
        larger += exceeding
        rows.append(
            {
                "ranks": int(ranks),
                "rows": len(of_ranks),
                "least": float(of_ranks["least"].min()),
                "most": float(of_ranks["least"].max()),
                "ours": float(simulated_us[ranks]),
                "above": exceeding,
            }
        )
    columns = [
        Column("ranks", "ranks", "given"),
        Column("rows", "published rows"),
        Column("least", "saved per exchange, least (us)", "literature"),
        Column("most", "largest of them (us)", "literature"),
        Column("ours", "allgather and waiting here (us)", "simulated"),
        Column("above", "rows that save more than that"),
    ]
    title = "Saved per exchange at least: if ranks exchange in every step of 0.025 ms"
    words = f"in {larger} of {len(published)} rows more is saved than the whole exchange takes here"
    return StudyAnswer(words, tables=[Table(columns, rows, title, "saved")])


def _least_savings_us() -> pd.DataFrame:
    """Published rows with their `ranks` and the `least` that they save per exchange, us."""
    rows = []
    for name in TABLES_OF_TIMES:
        for row in papers.rows(name):
            saved_us = 1e6 * (float(row["mpi_s"]) - float(row["rma_s"]))
            exchanges = STEPS_PER_MS * int(row["tstop_ms"])
            rows.append({"ranks": int(row["procs"]), "least": saved_us / exchanges})
    return pd.DataFrame(rows)


@answers_claim
def _slips(runs: Runs) -> StudyAnswer:
    """Rows of tables 1 and 3 in which more is saved than MPI_Allgather took."""
    shares = _published_shares()
    pairs = 0
    impossible = 0
    for row in papers.rows("shehzad_table3"):
        taken = shares.get((int(row["cells"]), int(row["procs"])))
        if taken is not None:
            pairs += 1
            impossible += float(row["reduction_pct"]) > taken
    count = Quantity(float(impossible), kind="literature")
    return StudyAnswer(count, f"Of {pairs} pairs of cells and ranks.")


@answers_claim
def _mean_saving(runs: Runs) -> StudyAnswer:
    """Mean share of the run time that puts save, over the rows of Tables 2 and 3."""
    savings = []
    for name in TABLES_OF_TIMES:
        for row in papers.rows(name):
            savings.append(100 * (1 - float(row["rma_s"]) / float(row["mpi_s"])))
    note = f"{len(savings)} rows, {min(savings):.3g} to {max(savings):.3g} %."
    return StudyAnswer(Quantity(float(np.mean(savings)), unit="%", kind="literature"), note)


@answers_claim
def _largest_exchange_saving(runs: Runs) -> StudyAnswer:
    """Saving over the share of MPI_Allgather, where it is least: the share of it that was saved.

    Of the pairs of cells and ranks that Tables 1 and 3 share.
    """
    shares = _published_shares()
    ratios = []
    for row in papers.rows("shehzad_table3"):
        taken = shares.get((int(row["cells"]), int(row["procs"])))
        if taken is not None:
            ratios.append(100 * float(row["reduction_pct"]) / taken)
    note = (
        f"This is the least of {len(ratios)} pairs of cells and ranks; the largest is"
        f" {max(ratios):.3g} %, more than the whole exchange."
    )
    return StudyAnswer(Quantity(min(ratios), unit="%", kind="literature"), note)


@answers_claim
def _targets_outside(runs: Runs) -> StudyAnswer:
    """Targets of algorithm 1 that are no ranks, %, where they are most.

    The "previous power of two" is that of the step; the table has that of the rank, too.
    """
    rows: list[dict[str, Cell]] = []
    of_step = []
    for ranks in LITERAL_RANKS:
        row: dict[str, Cell] = {"ranks": ranks}
        for reading in READINGS:
            targets = literal_targets(ranks, reading)
            outside = sum(not 0 <= target < ranks for target in targets.values())
            row["targets"] = len(targets)
            row[f"outside of {reading}"] = 100 * outside / len(targets)
        of_step.append(float(str(row["outside of step"])))
        rows.append(row)
    columns = [Column("ranks", "ranks", "given"), Column("targets", "ranks x steps", "counted")]
    for reading in READINGS:
        heading = f"targets that are no ranks, power of two of the {reading} (%)"
        columns.append(Column(f"outside of {reading}", heading, "counted"))
    value = Quantity(max(of_step), unit="%", kind="counted")
    return StudyAnswer(value, tables=[Table(columns, rows, "Algorithm 1 as printed", "literal")])


def literal_targets(ranks: int, reading: str = "step") -> dict[tuple[int, int], int]:
    """Target by rank and step, as algorithm 1 is printed.

    Args:
        ranks: how many there are.
        reading: what the "previous power of two" is that of, `step` or `rank`: the largest power of
            two that is no larger, and 1 for rank 0.

    Example:
        >>> literal_targets(2)
        {(0, 1): 1, (1, 1): 0}
    """
    targets = {}
    for rank in range(ranks):
        for step in range(1, ranks.bit_length()):
            number = step if reading == "step" else rank
            targets[rank, step] = _literal_target(rank, step, number)
    return targets


def _literal_target(rank: int, step: int, number: int) -> int:
    """The target of a rank in a step, line by line; `number` has the previous power of two."""
    flag = rank >> (step - 1)
    sign = 1 if flag % 2 == 0 else -1
    step_is_power_of_two = step & (step - 1) == 0
    if step_is_power_of_two:
        return rank + sign * (1 << (step - 1))
    previous_power = 1 << (max(number, 1).bit_length() - 1)
    difference = step - previous_power
    if difference > 0:
        return rank + sign * (1 << (difference + previous_power - 1))
    return rank + sign * (1 << previous_power)


@answers_claim
def _blocks_before_reading(runs: Runs) -> StudyAnswer:
    """Blocks of all ranks that have surely arrived when algorithm 2 ends, % (32 ranks).

    A put has surely arrived after the next fence; the printed loop has a fence before each put, and
    none after the last. Targets are those that must be meant.
    """
    ranks = 32
    arrived = {rank: {rank} for rank in range(ranks)}
    under_way: dict[int, set[int]] = {rank: set() for rank in range(ranks)}
    for step in range(1, ranks.bit_length()):
        for rank in range(ranks):  # the fence
            arrived[rank] |= under_way[rank]
        for rank in range(ranks):  # the put
            under_way[rank ^ 2 ** (step - 1)] = set(arrived[rank])
    complete = np.mean([len(blocks) for blocks in arrived.values()])
    percent = float(100 * complete / ranks)
    return StudyAnswer(Quantity(percent, unit="%", kind="counted"))


@answers_claim
def _exchange_figure(runs: Runs) -> StudyAnswer:
    """Run time that puts save, by ranks: published (Tables 2 and 3) and simulated."""
    long = []
    for cells in (2525, 1000):
        for row in _exchange_times(runs, [cells], DOUBLING).to_dict("records"):
            common = {"ranks": int(row["ranks"]), "network": f"{cells} cells"}
            long.append({**common, "who": "simulated", "saved": float(row["saved"])})
            if row["theirs"] is not None and not np.isnan(row["theirs"]):
                long.append({**common, "who": "published", "saved": float(row["theirs"])})
    frame = pd.DataFrame(long)
    figure = plots.lines(
        frame,
        "ranks",
        "saved",
        "shehzad-6",
        "Run time that one-sided exchange saves",
        "%, by ranks: published (figures 6 and 7), and simulated with cells that cost less.",
        hue="who",
        panel="network",
        log="x",
    )
    less = frame[frame["who"] == "simulated"]["saved"]
    words = f"simulated runs save {less.min():.3g} to {less.max():.3g} %"
    return StudyAnswer(words, figures=[figure])
