"""Brocke & Djurfeldt, MUSIC: collective against point-to-point exchange between applications."""

from dataclasses import replace

import numpy as np
import pandas as pd

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models.loggp import EXCHANGES, Collectives, Traffic
from spikemark.network.presets.music import CELLS, describe
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table

from .pick import pick
from .study import Answer, Lacking, Runs

STUDY, MACHINE, PER_NODE = "exchange-music", "jureca-dc", 16
COLLECTIVE, DIRECT = "allgatherv", "direct"
ALL, ONE, NEAR = 0, 1, 0.5  # structures
WINDOW_US = 1e3  # of a window of 1 ms in us, for s per simulated s
SPIKES_PER_MS, WORD = 7864, 4  # of an application of 10k; bytes
GAPS_US, MOST = (None, 0.5, 1.0, 2.0), 1024  # None: that of the profile


def _series(runs: Runs, structure: float, apps: str | None = None, per_node: int = PER_NODE) -> pd.DataFrame:
    """A row per number of ranks: us per window of both, and their counts per rank and window."""
    found, rows = pick(runs[STUDY], structure=structure), []
    given = found.get("swept.applications", pd.Series(pd.NA, index=found.index))
    found = found[given.isna() if apps is None else (given == apps).fillna(False).astype(bool)]
    found = found[found.get("swept.ranks_per_node", pd.Series(PER_NODE, index=found.index)) == per_node]
    for ranks, own in found.groupby("ranks"):
        row = {"ranks": int(ranks)}
        for name, exchange in (("collective", COLLECTIVE), ("direct", DIRECT)):
            one = pick(own, exchange=exchange)
            if one.empty:
                continue
            one = one.iloc[0]
            windows = float(one["ranks"] * one["cycles"])
            row[name] = WINDOW_US * one["part.exchange"]
            row[f"{name}_bytes"], row[f"{name}_messages"] = (
                one["bytes_sent"] / windows,
                one["messages"] / windows,
            )
            row["collocate"] = WINDOW_US * one["part.collocate"]
        rows.append(row)
    frame = pd.DataFrame(rows)
    if frame.empty or not {"collective", "direct"} <= set(frame):
        raise Lacking("no such pair of runs is complete" + " (not part of --quick)" * runs.quick)
    frame["ratio"] = frame["collective"] / frame["direct"]
    return frame.dropna(subset=["ratio"]).sort_values("ranks")


def _table(frame: pd.DataFrame, title: str) -> Table:
    columns = [
        Column("ranks", "ranks", "given"),
        Column("collective", f"{COLLECTIVE} (us per window)", "simulated"),
        Column("direct", "point-to-point (us per window)", "simulated"),
        Column("ratio", "collective / point-to-point", "simulated"),
        Column("collective_bytes", "bytes of a rank: collective", "counted"),
        Column("direct_bytes", "point-to-point", "counted"),
    ]
    names = [column.name for column in columns]
    return Table(columns, frame[names].to_dict("records"), title)


def _last(frame: pd.DataFrame, column: str = "ratio", title: str = "") -> Answer:
    value = Quantity(float(frame.iloc[-1][column]), kind="simulated")
    return Answer(
        value, f"{frame.iloc[-1]['ranks']:.0f} ranks.", tables=[_table(frame, title)] if title else []
    )


def _growth(frame: pd.DataFrame, column: str) -> Answer:
    first, last = frame.iloc[0], frame.iloc[-1]
    return Answer(
        Quantity(float(last[column] / first[column]), kind="simulated"),
        f"{first['ranks']:.0f} to {last['ranks']:.0f} ranks.",
    )


def cells(runs: Runs) -> Answer:
    """Of the preset at full size."""
    found = describe(full=True, cells="10k")
    return Answer(Quantity(float(sum(p["size"] for p in found["network"]["populations"])), kind="counted"))


def neighbours(runs: Runs) -> Answer:
    """Counted, structure 0.5."""
    found = pick(runs[STUDY], structure=NEAR)
    if found.empty:
        raise Lacking("no run with neighbours is complete")
    most = max(lane.connections for id in found["id"] for lane in runs[STUDY].records[id].record.lanes)
    return Answer(Quantity(float(most), kind="counted"))


def data(runs: Runs) -> Answer:
    """Spikes of both applications times the bytes of a word."""
    cells, _ = CELLS["1k"]
    return Answer(Quantity(2 * cells * 0.030 * WORD / 2**20, unit="MiB", kind="modelled"))


def all_to_all(runs: Runs) -> Answer:
    """Exchange times, all to all."""
    return _last(_series(runs, ALL), title="All to all")


def surplus(runs: Runs) -> Answer:
    """Bytes of the collective over those of point-to-point."""
    last = _series(runs, ALL).iloc[-1]
    return Answer(Quantity(float(last["collective_bytes"] / last["direct_bytes"]), kind="counted"))


def routing(runs: Runs) -> Answer:
    """Modelled collocation over the simulated exchange, point-to-point, most ranks."""
    last = _series(runs, ALL).iloc[-1]
    targets = last["direct_messages"]
    once = last["collocate"] / targets
    both = (last["collective"] + once) / (last["direct"] + last["collocate"])
    note = (
        f"{last['collocate']:.3g} us with {targets:.0f} buffers for each spike, {once:.2g} us with one, for a"
        f" collective (modelled). With that, the collective takes {both:.3g} times as long."
    )
    return Answer(Quantity(float(last["collocate"] / last["direct"]), kind="modelled"), note)


def one_to_one(runs: Runs) -> Answer:
    """Growth of point-to-point with ranks."""
    return _growth(_series(runs, ONE), "direct")


def one_to_one_ratio(runs: Runs) -> Answer:
    """Exchange times, one to one."""
    return _last(_series(runs, ONE), title="One to one")


def collective_growth(runs: Runs) -> Answer:
    """Growth of the collective with ranks."""
    return _growth(_series(runs, ALL), "collective")


def per_node(runs: Runs) -> Answer:
    """64 nodes with 2 processes each."""
    return _last(_series(runs, ALL, per_node=2), title="64 nodes")


def four(runs: Runs) -> Answer:
    """Two pairs of applications."""
    return _last(_series(runs, ALL, "A<->B,C<->D"), title="Four applications")


def _modelled(ranks: int, gap_us: float | None, spikes: float = SPIKES_PER_MS) -> float:
    """Collective over point-to-point, both directions, if a message costs so many us."""
    net = Collectives.of(Values(machines.filled(machines.load(MACHINE))), max(2, ranks // PER_NODE))
    if gap_us is not None:
        gap = 1e-6 * gap_us
        net = replace(net, net=replace(net.net, gap_s=gap, latency_s=max(net.net.latency_s, gap)))
    half, node = ranks // 2, np.arange(ranks) // PER_NODE
    both = np.zeros((ranks, ranks))
    both[:half, half:] = both[half:, :half] = WORD * spikes / half
    lane = Traffic(np.where(np.arange(ranks)[:, None] < half, both, 0.0), np.sign(both), node)
    return 2 * EXCHANGES[COLLECTIVE](net, lane) / EXCHANGES[DIRECT](net, Traffic(both, np.sign(both), node))


def crossing(runs: Runs) -> Answer:
    """The model over ranks and over what a message costs its sender and receiver."""
    columns = [Column("ranks", "ranks", "given"), Column("empty", "no spikes, 0.26 us", "modelled")]
    for gap in GAPS_US:
        head = "as JURECA-DC (0.26 us)" if gap is None else f"{gap:g} us"
        columns.append(Column(f"gap {gap}", head, "modelled"))
    rows = [
        {"ranks": ranks, "empty": _modelled(ranks, None, 1e-3)}
        | {f"gap {gap}": _modelled(ranks, gap) for gap in GAPS_US}
        for ranks in (32, 64, 128, 256, 512, MOST)
    ]
    title = "Collective / point-to-point by the cost of a message, all to all"
    value = Quantity(rows[-1]["gap None"], kind="modelled")
    return Answer(value, tables=[Table(columns, rows, title, "crossing")])
