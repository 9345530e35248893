"""Shehzad & Bozkus 2016: MPI_Allgather against recursive doubling by one-sided puts, on simulated ranks."""

import numpy as np
import pandas as pd

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models.loggp import EXCHANGES, Collectives, Traffic
from spikemark.models.published import papers
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table

from .pick import levels, means, pick
from .study import Answer, Lacking, Runs

STUDY, MACHINE, NODES = "exchange-shehzad", "dpsnn-westmere-ib", 4
BASE, PRINTED, RING = "allgather", "rma_doubling", "rma_bruck"
CELLS, RATE, STEPS_PER_MS = "neurons_per_area", 640, 40  # steps of 0.025 ms, the default of NEURON
WINDOW_US = 1e3  # of a window of 1 ms in us, for s per simulated s
COMMUNICATION = ("part.exchange", "part.waiting")


def _tables(runs: Runs) -> pd.DataFrame:
    """Runs at the cells of the tables."""
    found = runs[STUDY].runs
    return found[found["swept.rate"] != RATE] if "swept.rate" in found else found


def _largest(runs: Runs) -> pd.DataFrame:
    found = _tables(runs)
    return pick(found, ranks=levels(found, "ranks")[-1])


def _share(found: pd.DataFrame) -> pd.Series:
    return 100 * (found["part.exchange"] + found["part.waiting"]) / found["real_time_factor"]


def share_growth(runs: Runs) -> Answer:
    """Share of exchange and waiting on the most ranks over that on the fewest, mean over numbers of cells."""
    theirs = {
        (int(r["cells"]), int(r["procs"])): float(r["mpi_allgather_pct"])
        for r in papers.rows("shehzad_table1")
    }
    found = pick(_tables(runs), exchange=BASE)
    found = found.assign(share=_share(found))
    rows = []
    for cells, ranks, share in means(found, [f"swept.{CELLS}", "ranks"], ["share"]).itertuples(index=False):
        rows.append(
            {"cells": int(cells), "ranks": int(ranks), "share": share, "theirs": theirs.get((cells, ranks))}
        )
    rows = [row for row in rows if row["theirs"] is not None]
    if not rows:
        raise Lacking("no run has the cells of table 1")
    columns = [
        Column("cells", "cells", "given"),
        Column("ranks", "ranks", "given"),
        Column("share", "exchange and waiting (% of run time)", "simulated"),
        Column("theirs", "MPI_Allgather (%)", "literature"),
    ]
    ends = [
        np.mean([r["share"] for r in rows if r["ranks"] == n])
        for n in (min(r["ranks"] for r in rows), max(r["ranks"] for r in rows))
    ]
    return Answer(
        Quantity(float(ends[1] / ends[0]), kind="simulated"),
        tables=[Table(columns, rows, "Table 1", "share")],
    )


def share(runs: Runs) -> Answer:
    """The share on the most ranks."""
    found = pick(_largest(runs), exchange=BASE, neurons_per_area=1000)
    return Answer(Quantity(float(_share(found).mean()), unit="%", kind="simulated"))


def _cells(runs: Runs, cells: list[int], other: str) -> pd.DataFrame:
    """A row per number of cells and ranks: us of an exchange, and the run time saved in % beside theirs."""
    found = pick(_tables(runs), neurons_per_area=cells, exchange=[BASE, other])
    if found.empty:
        raise Lacking("no run has the cells of this table")
    theirs = {
        (int(r["cells"]), int(r["procs"])): float(r["reduction_pct"])
        for name in ("shehzad_table2", "shehzad_table3")
        for r in papers.rows(name)
        if r["tstop_ms"] == "5000"
    }
    frame = found.pivot_table(["part.exchange", "real_time_factor"], [f"swept.{CELLS}", "ranks"], "exchange")
    times, whole = WINDOW_US * frame["part.exchange"], frame["real_time_factor"]
    times["saved"] = 100 * (1 - whole[other] / whole[BASE])
    times["theirs"] = [theirs.get((int(n), int(ranks))) for n, ranks in times.index]
    return times.reset_index(names=["cells", "ranks"])


def _times(runs: Runs, cells: list[int], other: str = PRINTED) -> Answer:
    """Time of an exchange, one-sided over allgather, on the most ranks; the interval is over cells."""
    frame = _cells(runs, cells, other)
    most = frame[frame["ranks"] == frame["ranks"].max()]
    ratios = most[other] / most[BASE]
    ends = (float(ratios.min()), float(ratios.max())) if len(ratios) > 1 else (None, None)
    columns = [
        Column("cells", "cells", "given", words=lambda x: f"{x:.0f}"),
        Column("ranks", "ranks", "given", words=lambda x: f"{x:.0f}"),
        *(Column(name, f"{name} (us per window)", "simulated") for name in (BASE, other)),
        Column("saved", f"run time saved by {other} (%)", "simulated"),
        Column("theirs", "published, 5000 ms (%)", "literature"),
    ]
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return Answer(Quantity(float(ratios.mean()), *ends, kind="simulated"), tables=[Table(columns, rows)])


def table2(runs: Runs) -> Answer:
    """2525 cells."""
    return _times(runs, [2525])


def table3(runs: Runs) -> Answer:
    """1000 to 5000 cells."""
    return _times(runs, [1000, 2000, 5000])


def bruck(runs: Runs) -> Answer:
    """The ring of Bruck instead of pairs."""
    return _times(runs, [1000], RING)


def steps(runs: Runs) -> Answer:
    """Messages of a rank and window on the most ranks."""
    found = pick(_largest(runs), exchange=PRINTED)
    ranks = int(found["ranks"].iloc[0])
    value = float((found["messages"] / (found["ranks"] * found["cycles"])).mean() / np.log2(ranks))
    return Answer(
        Quantity(value, kind="counted"), f"{ranks} ranks put {np.log2(ranks) * value:.3g} times per window."
    )


def sizes(runs: Runs) -> Answer:
    """One-sided over allgather with blocks of up to 16 KiB of a rank."""
    found = runs[STUDY].runs
    found = pick(found, rate=RATE) if "swept.rate" in found else found[:0]
    if found.empty:
        raise Lacking("not part of --quick: runs with larger blocks")
    rows = []
    for number, own in found.groupby(f"swept.{CELLS}"):
        one = pick(own, exchange=PRINTED).iloc[0]
        time = {
            name: WINDOW_US * pick(own, exchange=name)["part.exchange"].mean()
            for name in (BASE, PRINTED, RING)
        }
        block = one["bytes_sent"] / one["ranks"] / one["cycles"] / (one["ranks"] - 1)
        rows.append(
            {"cells": int(number), "block": float(block), **time, "ratio": time[PRINTED] / time[BASE]}
        )
    columns = [
        Column("block", "bytes of a rank's block", "counted"),
        *(Column(name, f"{name} (us per window)", "simulated") for name in (BASE, PRINTED, RING)),
        Column("ratio", f"{PRINTED} / {BASE}", "simulated"),
    ]
    return Answer(
        Quantity(rows[-1]["ratio"], kind="simulated"),
        tables=[Table(columns, rows, "32 ranks by bytes", "sizes")],
    )


def fences(runs: Runs) -> Answer:
    """What the fences cost: the model with no barrier in a fence, with one, and with SimGrid's two."""
    profile, rows = machines.filled(machines.load(MACHINE)), []
    simulated = _largest(runs)
    for ranks in (2, 4, 8, 16, 32):
        net = Collectives.of(Values(profile), min(ranks, NODES))
        node = np.arange(ranks) // max(1, ranks // NODES)
        other = 1.0 - np.eye(ranks)
        traffic = Traffic(4.0 * other, other, node)  # one spike: blocks have room for 15
        barrier, one = net.barrier(traffic), EXCHANGES[PRINTED](net, traffic)
        count = np.log2(ranks)
        rows.append({
            "ranks": ranks, "allgather": 1e6 * EXCHANGES[BASE](net, traffic),
            "ring": 1e6 * (ranks - 1) * net.net.latency_s,
            "none": 1e6 * (one - count * barrier), "one": 1e6 * one, "two": 1e6 * (one + count * barrier),
        })  # fmt: skip
    ours = WINDOW_US * pick(simulated, exchange=PRINTED)["part.exchange"].mean()
    last = next(row for row in rows if row["ranks"] == int(simulated["ranks"].iloc[0]))
    columns = [
        Column("ranks", "ranks", "given"),
        Column("allgather", "MPI_Allgather, doubling (us)", "modelled"),
        Column("ring", "MPI_Allgather, a ring: at least (us)", "modelled"),
        Column("none", "puts alone (us)", "modelled"),
        Column("one", "fence = one barrier (us)", "modelled"),
        Column("two", "fence = two barriers (us)", "modelled"),
    ]
    table = Table(columns, rows, "What a fence costs, blocks of 64 bytes", "fences")
    note = (
        f"On {last['ranks']} ranks SimGrid takes {ours:.3g} us, with two barriers in a fence (model:"
        f" {last['two']:.3g}). With one it would be {last['one']:.3g}, with none {last['none']:.3g};"
        f" MPI_Allgather takes {last['allgather']:.3g}."
    )
    return Answer(
        Quantity(100 * (1 - last["none"] / last["two"]), unit="%", kind="modelled"), note, tables=[table]
    )


def saved(runs: Runs) -> Answer:
    """The least that the paper saves per exchange, over a whole simulated allgather with its waiting.

    Exchanges are at most one per step of 0.025 ms.
    """
    found, rows = pick(_tables(runs), exchange=BASE), []
    spent = means(found, ["ranks"], COMMUNICATION).set_index("ranks").sum(axis=1) * WINDOW_US
    for name in ("shehzad_table2", "shehzad_table3"):
        for r in papers.rows(name):
            if (ranks := int(r["procs"])) in spent.index:
                least = 1e6 * (float(r["mpi_s"]) - float(r["rma_s"])) / (STEPS_PER_MS * int(r["tstop_ms"]))
                rows.append({"ranks": ranks, "least": least, "ratio": least / spent[ranks]})
    shown = [
        {
            "ranks": int(ranks),
            "rows": len(own),
            "least": float(own["least"].min()),
            "most": float(own["least"].max()),
            "ours": float(spent[ranks]),
            "above": int((own["ratio"] > 1).sum()),
        }
        for ranks, own in pd.DataFrame(rows).groupby("ranks")
    ]
    columns = [
        Column("ranks", "ranks", "given"),
        Column("rows", "published rows"),
        Column("least", "saved per exchange, least (us)", "literature"),
        Column("most", "largest of them (us)", "literature"),
        Column("ours", "allgather and waiting here (us)", "simulated"),
        Column("above", "rows that save more than that"),
    ]
    above = sum(row["above"] for row in shown)
    words = f"in {above} of {len(rows)} rows more is saved than the whole exchange takes here"
    return Answer(words, tables=[Table(columns, shown, "Saved per exchange", "saved")])


def slips(runs: Runs) -> Answer:
    """Rows of tables 1 and 3 in which more is saved than MPI_Allgather took."""
    shares = {(r["cells"], r["procs"]): float(r["mpi_allgather_pct"]) for r in papers.rows("shehzad_table1")}
    pairs = [
        (float(r["reduction_pct"]), shares[r["cells"], r["procs"]])
        for r in papers.rows("shehzad_table3")
        if (r["cells"], r["procs"]) in shares
    ]
    above = sum(saving > taken for saving, taken in pairs)
    return Answer(Quantity(float(above), kind="literature"), f"Of {len(pairs)} pairs of cells and ranks.")
