"""Brocke & Djurfeldt (MUSIC): collective against point-to-point communication, by who sends to whom."""

from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, span
from spikemark.records.gather import Measured, Sweep

from .runs import NOT_RUN, connections, exchange, exchange_us, factor, group, mean_time, per_window
from .study import Findings, Study

COLLECTIVE, DIRECT = "allgatherv", "p2p"
#: By the structure parameter s; 0.5 reaches as far as one patch on each side, so nine patches of the 16.
CONNECTIVITY = {0: "all to all", 1: "one to one", 0.5: "nearest neighbours"}
EXPLAINED = (
    "When is a collective exchange faster than point-to-point messages? MUSIC connected applications by "
    "point-to-point messages. Brocke & Djurfeldt added collective communication: an allgather of sizes, "
    "then "
    "of spikes, so every rank gets everything. Here, two applications of 16 processes each send to each "
    "other. They are areas of one program. Each direction is a lane of its own with the exchange allgatherv "
    "or p2p. With p2p, a rank sends to those ranks that have synapses of its neurons, and receives from any "
    "source."
)
DIFFERS = (
    "What differs from the published benchmark: there are 4096 cells of 100 connections instead of 2 097 152 "
    "of 1000 or 262 144 of 10 000. Every cell receives the same number of connections, drawn with "
    "repetition, instead of sending 1000 or 10 000 ± 50. Cells only fire (30 Hz, delay 1 ms: as published). "
    "The applications are parts of one program; they advance together, and both directions wait for each "
    "other. With fewer than 32 ranks several processes share one, so with two ranks each application has one."
)
# quantity, published figure, place in the paper, how it compares with ours
CLAIMS = (
    ("all to all, 10 000 connections", "collective twice as fast as point-to-point", "3.1"),
    ("one to one", "point-to-point scales to 8192 processes", "3.2"),
    ("nearest neighbours", "at most 9 ranks to send to", "2.3"),
    ("collective", "scales linearly to 1024 processes", "3.1"),
)
PLACE = (Column("connectivity", "connectivity", "given"), Column("ranks", "ranks", "given"))
Key = tuple[str, int, str]  # connectivity, ranks, exchange
Runs = dict[Key, list[Measured]]


def read(sweep: Sweep) -> Findings:
    """Times on as many ranks as there are cores, counts on all."""
    found = group(sweep.runs, _key)
    main = _main(found, sweep.kind)
    parts = [
        Section("exchange", "Time, messages and bytes", [EXPLAINED],
                [Box("plain", line) for line in _sends_more(main)], tables=[main, _sent(main)]),
        Section("published", "The published claims", [DIFFERS], tables=[_claims(main)]),
    ]  # fmt: skip
    return Findings(_sentence(main, sweep.where), _key_figures(found, sweep.kind), parts)


def _key(m: Measured) -> Key:
    return connectivity(m), m.run.record.ranks, exchange(m)


def connectivity(m: Measured) -> str:
    """Name of the connectivity, by the structure parameter."""
    return CONNECTIVITY.get(m.planned.fields.get("preset.structure"), "other")


def _main(found: Runs, kind: str) -> Table:
    rows = []
    for name, ranks in sorted(
        {key[:2] for key in found}, key=lambda k: ([*CONNECTIVITY.values(), "other"].index(k[0]), k)
    ):
        collective, direct = (found.get((name, ranks, e), []) for e in (COLLECTIVE, DIRECT))
        row = {"connectivity": name, "ranks": ranks}
        for prefix, runs in (("collective", collective), ("p2p", direct)):
            row[f"{prefix}_us"] = mean_time(runs, exchange_us)
            row[f"{prefix}_connections"] = connections(runs[0]) if runs else NOT_RUN
            row[f"{prefix}_messages"] = per_window(runs[0], "messages") if runs else NOT_RUN
            row[f"{prefix}_bytes"] = per_window(runs[0], "bytes_sent") if runs else NOT_RUN
        row["time_ratio"] = factor(collective, direct, exchange_us)
        row["bytes_ratio"] = (
            row["collective_bytes"] / row["p2p_bytes"]
            if collective and direct and row["p2p_bytes"]
            else NOT_RUN
        )
        rows.append(row)
    columns = [
        *PLACE,
        Column("collective_us", "allgatherv (µs per window)", kind),
        Column("p2p_us", "p2p (µs per window)", kind),
        Column("time_ratio", "time, allgatherv / p2p", kind),
        Column("bytes_ratio", "bytes, allgatherv / p2p", "counted"),
    ]
    return Table(columns, rows, "Collective and point-to-point exchange", "exchange")


def _sent(main: Table) -> Table:
    """The counts of the same rows."""
    columns = [
        *PLACE,
        *(
            Column(f"{prefix}_{count}", f"{count}: {name}", "counted")
            for count in ("connections", "messages", "bytes")
            for prefix, name in (("collective", COLLECTIVE), ("p2p", DIRECT))
        ),
        Column("bytes_ratio", "bytes, allgatherv / p2p", "counted"),
    ]
    note = (
        "All counts are per rank, both directions together. Connections are the maximum over ranks. "
        "Messages and bytes are means per window of 1 ms simulated time."
    )
    return Table(columns, main.rows, "What is sent", "sent", [note])


def _claims(main: Table) -> Table:
    two = {row["connectivity"]: row for row in main.rows if row["collective_us"]}
    ours = []
    for structure in (0, 1):
        row = two.get(CONNECTIVITY[structure])
        ours.append(
            f"{row['ranks']} ranks: p2p {number(row['p2p_us'].value)} µs, collective "
            f"{number(row['collective_us'].value)} µs"
            if row and row["p2p_us"]
            else "missing: no such run is complete"
        )
    near = [row for row in main.rows if row["connectivity"] == CONNECTIVITY[0.5]]
    most = max(near, key=lambda row: row["ranks"], default=None)
    ours.append(
        f"{most['p2p_connections']} connections on {most['ranks']} ranks (counted)"
        if most and isinstance(most["p2p_connections"], int)
        else "missing: no such run is complete"
    )
    ours.append("not shown: needs a cluster")
    columns = {
        Column("quantity", "what"): lambda pair: pair[0][0],
        Column("published", "published", "literature"): lambda pair: pair[0][1],
        Column("where", "section"): lambda pair: pair[0][2],
        Column("here", "here"): lambda pair: pair[1],
    }
    return Table.of(columns, zip(CLAIMS, ours, strict=True), "Published claims", "published")


def _sends_more(main: Table) -> list[str]:
    """Says where every rank gets what it does not need."""
    more = [
        f"{row['connectivity']}, {row['ranks']} ranks: {number(row['bytes_ratio'], 2)} times the bytes and "
        f"{row['collective_connections']} instead of {row['p2p_connections']} connections"
        for row in main.rows
        if isinstance(row["bytes_ratio"], float) and row["bytes_ratio"] > 1.05
    ]
    return [f"The collective sends more than is needed: {'; '.join(more)}."] if more else []


def _times(ratio: Quantity) -> str:
    """Says how many times as long, with the interval; an interval that contains 1 leaves it undecided."""
    if ratio.low is None:
        return f"{number(ratio.value, 2)} times as long"
    open_ = ", undecided" if ratio.low <= 1 <= ratio.high else ""
    return f"{number(ratio.value, 2)} times as long, {span([ratio.low, ratio.high], 2)}{open_}"


def _sentence(main: Table, where: str) -> str:
    timed = [row for row in main.rows if row["time_ratio"]]
    if not timed:
        return "Nothing to compare yet: no pair of runs with as many ranks as cores is complete."
    words = [f"{_times(row['time_ratio'])} ({row['connectivity']})" for row in timed]
    sent = [row for row in main.rows if isinstance(row["bytes_ratio"], float)]
    most = max(sent, key=lambda row: row["bytes_ratio"], default=None)
    bytes_ = (
        f" At worst, it sends {number(most['bytes_ratio'], 2)} times the bytes: {most['connectivity']}, "
        f"{most['ranks']} ranks."
        if most
        else ""
    )
    return (
        f"On {timed[0]['ranks']} ranks of {where}, compared with point-to-point, the collective takes "
        f"{', '.join(words)}; published, all to all on many ranks: half as long.{bytes_}"
    )


def _key_figures(found: Runs, kind: str) -> list[KeyFigure]:
    figures = []
    for name in (COLLECTIVE, DIRECT):
        times = [
            t.value for (_, _, e), runs in found.items() if e == name and (t := mean_time(runs, exchange_us))
        ]
        title = f"Exchange by {name}"
        figures.append(
            KeyFigure(title, f"{span(times)} µs", kind, "per window")
            if times
            else KeyFigure.lacking(title, NOT_RUN.reason)
        )
    return figures


STUDY = Study(
    "exchange-music",
    "collective against point-to-point exchange, by connectivity (Brocke & Djurfeldt, MUSIC)",
    "exchange-music",
    read,
)
