"""Shehzad & Bozkus 2016: MPI_Allgather against recursive doubling by one-sided puts, Tables 1 to 3."""

from collections.abc import Callable

from spikemark.models.published import papers
from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cells, Column, Table
from spikemark.quantities.words import counted, number, span
from spikemark.records.gather import Measured, Sweep
from spikemark.records.phases import COMPUTE
from spikemark.report.columns import RANKS

from .runs import (
    NOT_RUN,
    connections,
    exchange,
    exchange_us,
    group,
    mean_time,
    per_window,
    reduction_percent,
    say_crowded,
    share_percent,
    simulated_ms,
)
from .study import Findings, Study

BASE, OTHER = "allgather", "rma_doubling"
NOT_PRINTED = missing("the paper has no such row")
TSTOP_MS, CELLS = 5000, 2525  # simulated time of Tables 1 and 3, cells of Table 2
EXPLAINED = (
    "Is recursive doubling by one-sided puts faster than MPI_Allgather? Shehzad & Bozkus replaced "
    "MPI_Allgather by recursive doubling in NEURON: each spike goes to every rank, in log2(ranks) steps. "
    "Here both are exchanges of "
    "one program, rma_doubling and allgather. Numbers of cells and simulated times are those of the paper; "
    "the cell model, its connections and the machine are not. So compare shares and reductions, not seconds."
)
SIZE = Column("cells", "cells", "given")
Key = tuple[int, int, int, str]  # cells, simulated time in ms, ranks, exchange
Runs = dict[Key, list[Measured]]


def read(sweep: Sweep) -> Findings:
    """Shares, run times and counts, with the published figures beside ours."""
    found, kind = group(sweep.runs, _key), sweep.kind
    shares, by_time, by_cells = (table(found, kind) for table in (_shares, _by_time, _by_cells))
    for table in (shares, by_time, by_cells):
        say_crowded(table.rows, sweep.runs)
    parts = [
        Section("run-time", "Run time with both, and what is saved", [EXPLAINED], [_verdict(by_cells)],
                tables=[by_cells, by_time]),
        Section("share", "Share of communication", tables=[shares]),
        Section("counts", "What is sent", tables=[_counts(found, kind)]),
        Section("published", "The published figures", boxes=[Box("wary", line) for line in slips()]),
    ]  # fmt: skip
    return Findings(_sentence(sweep, by_cells, by_time), _key_figures(found, by_cells, kind), parts)


def _key(m: Measured) -> Key:
    record = m.run.record
    return record.totals.neurons, simulated_ms(m), record.ranks, exchange(m)


def slips() -> list[str]:
    """What does not fit together in the published tables; computed from them."""
    exceeding, compared = _savings_above_share()
    sums = [row["sum"] for row in papers.rows("shehzad_table1")]
    low = sum(float(x) != 100 for x in sums)
    return [
        f"In {exceeding} of the {compared} cells that Tables 1 and 3 share, the published saving exceeds "
        "the whole published share of MPI_Allgather: more is saved than there was to save, so part of the "
        "reduction must come from something else.",
        f"In {low} of the {len(sums)} rows of Table 1 the two shares do not add up to 100 % "
        f"({span([float(x) for x in sums], 4)} %).",
        "The text claims almost 10 % once for the run time and once for the time of the spike exchange "
        "alone.",
    ]


def _savings_above_share() -> tuple[int, int]:
    shares = {(r["cells"], r["procs"]): float(r["mpi_allgather_pct"]) for r in papers.rows("shehzad_table1")}
    pairs = [
        (float(r["reduction_pct"]), shares[r["cells"], r["procs"]])
        for r in papers.rows("shehzad_table3")
        if (r["cells"], r["procs"]) in shares
    ]
    return sum(saving > share for saving, share in pairs), len(pairs)


def _rows_of(table: str, first: str, found: Runs, ours: list[tuple[int, int]]) -> list[tuple[int, int, dict]]:
    """(value of column `first`, ranks, published row), and our rows that the paper does not have."""
    rows = {(int(r[first]), int(r["procs"])): r for r in papers.rows(table)}
    return [(*key, rows.get(key, {})) for key in sorted({*rows, *ours})]


def _shares(found: Runs, kind: str) -> Table:
    ours = [(c, r) for c, t, r, e in found if t == TSTOP_MS and e == BASE and c != CELLS]

    def share(*parts: str) -> Callable[[tuple], Quantity]:
        return lambda row: mean_time(
            found.get((row[0], TSTOP_MS, row[1], BASE), []), lambda m: share_percent(m, *parts)
        )

    columns = {
        SIZE: lambda row: row[0],
        RANKS: lambda row: row[1],
        Column("exchange_percent", "allgather (%)", kind): share("exchange"),
        Column("waiting_percent", "waiting (%)", kind): share("waiting"),
        Column("computation_percent", "computation (%)", kind): share(*COMPUTE),
        Column("published_allgather_percent", "MPI_Allgather (%)", "literature"): _theirs(
            "mpi_allgather_pct"
        ),
        Column("published_computation_percent", "computation (%)", "literature"): _theirs("computation_pct"),
    }
    rows = _rows_of("shehzad_table1", "cells", found, ours)
    note = (
        "These are shares of the run time with allgather, 5000 ms simulated, as in Table 1. Ours separate "
        "waiting for the slowest rank from the exchange. The published share of MPI_Allgather includes both."
    )
    return Table.of(columns, rows, "Table 1: share of communication and computation", "share", [note])


def _by_time(found: Runs, kind: str) -> Table:
    ours = [(t, r) for c, t, r, _ in found if c == CELLS]
    rows = _rows_of("shehzad_table2", "tstop_ms", found, ours)
    time = Column("simulated_ms", "simulated (ms)", "given")
    columns = _times(time, kind, lambda row, name: found.get((CELLS, *row[:2], name), []))
    return Table.of(columns, rows, f"Table 2: run time, {CELLS} cells", "run_time_by_simulated_time")


def _by_cells(found: Runs, kind: str) -> Table:
    ours = [(c, r) for c, t, r, _ in found if t == TSTOP_MS and c != CELLS]
    rows = _rows_of("shehzad_table3", "cells", found, ours)
    columns = _times(SIZE, kind, lambda row, name: found.get((row[0], TSTOP_MS, row[1], name), []))
    return Table.of(columns, rows, f"Table 3: run time, {TSTOP_MS} ms simulated", "run_time_by_cells")


def _times(first: Column, kind: str, runs: Callable[[tuple, str], list[Measured]]) -> Cells:
    """`first`: what the first number of a row is. `runs`: those of a row with one of the exchanges."""

    def share(m: Measured) -> float | None:
        return share_percent(m, "exchange", "waiting")

    return {
        first: lambda row: row[0],
        RANKS: lambda row: row[1],
        Column("allgather_s", "allgather (s)", kind): lambda row: mean_time(runs(row, BASE), _simulate_s),
        Column("rma_doubling_s", "rma_doubling (s)", kind): lambda row: mean_time(
            runs(row, OTHER), _simulate_s
        ),
        Column("reduction_percent", "reduction (%)", kind, 2): lambda row: reduction_percent(
            runs(row, BASE), runs(row, OTHER), _simulate_s
        ),
        Column("communication_percent", "allgather and waiting (%)", kind, 2): lambda row: mean_time(
            runs(row, BASE), share
        ),
        Column("published_mpi_s", "MPI (s)", "literature", 5): _theirs("mpi_s"),
        Column("published_rma_s", "RMA (s)", "literature", 5): _theirs("rma_s"),
        Column("published_reduction_percent", "reduction (%)", "literature"): _theirs("reduction_pct"),
    }


def _counts(found: Runs, kind: str) -> Table:
    """One row per cells, ranks and exchange, of the shortest simulated time: counts are per window."""
    chosen = {(c, r, e): found[c, t, r, e] for c, t, r, e in sorted(found, reverse=True) if r > 1}
    columns = {
        SIZE: lambda at: at[0],
        RANKS: lambda at: at[1],
        Column("exchange", "exchange", "given"): lambda at: at[2],
        Column("connections", "connections per rank", "counted"): lambda at: connections(chosen[at][0]),
        Column("messages", "messages per rank and window", "counted"): lambda at: per_window(
            chosen[at][0], "messages"
        ),
        Column("bytes", "bytes per rank and window", "counted"): lambda at: per_window(
            chosen[at][0], "bytes_sent"
        ),
        Column("exchange_us", "exchange per window (µs)", kind): lambda at: mean_time(
            chosen[at], exchange_us
        ),
    }
    note = (
        "These counts show what the exchange hands to MPI for other ranks. An allgather counts one message "
        "to every other rank, although the library may forward it in log2(ranks) steps as rma_doubling does "
        "itself."
    )
    return Table.of(columns, sorted(chosen), "Messages, bytes and connections", "counts", [note])


def _simulate_s(m: Measured) -> float:
    return m.run.record.timing.simulate_s


def _theirs(name: str) -> Callable[[tuple], float | Quantity]:
    """The published number of a row."""
    return lambda row: float(row[2][name]) if row[2] else NOT_PRINTED


def _compared(*tables: Table) -> list[tuple[Quantity, Quantity]]:
    """Reduction and share of communication of every row on several ranks that has both."""
    return [
        (row["reduction_percent"], row["communication_percent"])
        for table in tables
        for row in table.rows
        if row["ranks"] > 1 and all(row[n] for n in ("reduction_percent", "communication_percent"))
    ]


def _verdict(table: Table) -> Box:
    """Says whether our runs could save as much as the paper says."""
    pairs = _compared(table)
    if not pairs:
        return Box("plain", "No pair of runs on several ranks is complete.")
    above = sum(saving.value > share.value for saving, share in pairs)
    return Box(
        "plain" if not above else "wary",
        f"Ours: in {above} of {counted(len(pairs), 'cell')} the saving exceeds the share of allgather and "
        f"waiting; published: in {_savings_above_share()[0]} of {_savings_above_share()[1]}.",
    )


def _sentence(sweep: Sweep, *tables: Table) -> str:
    pairs = _compared(*tables)
    theirs = [float(r["reduction_pct"]) for t in ("2", "3") for r in papers.rows(f"shehzad_table{t}")]
    if not pairs:
        return f"Nothing to compare yet; published reductions of run time: {span(theirs)} %."
    less = sum(s.low is not None and s.low > 0 for s, _ in pairs)
    more = sum(s.high is not None and s.high < 0 for s, _ in pairs)
    ours = span([1 - s.value / 100 for s, _ in pairs])
    return (
        f"On two ranks of {sweep.where} a run with recursive doubling by one-sided puts lasts {ours} times "
        f"as long as with MPI_Allgather; shorter in {less}, longer in {more} of "
        f"{counted(len(pairs), 'setup')}, undecided in the others; published, on 2 to 32: "
        f"{span([1 - x / 100 for x in theirs])} times."
    )


def _key_figures(found: Runs, table: Table, kind: str) -> list[KeyFigure]:
    figures = []
    for name in (BASE, OTHER):
        cases = [runs for (_, t, r, e), runs in found.items() if e == name and r > 1 and t == TSTOP_MS]
        times = [t.value for runs in cases if (t := mean_time(runs, exchange_us))]
        if times:
            figures.append(KeyFigure(f"Exchange by {name}", f"{span(times)} µs", kind, "per window"))
        else:
            figures.append(KeyFigure.lacking(f"Exchange by {name}", NOT_RUN.reason))
    shares = [share.value for _, share in _compared(table)]
    if shares:
        figures.append(
            KeyFigure("Share of allgather and waiting", f"{number(max(shares), 2)} %", kind, "at most")
        )
    exceeding, compared = _savings_above_share()
    note = "cells in which the published saving exceeds the published share"
    return [*figures, KeyFigure("Published slips", f"{exceeding} of {compared}", "literature", note)]


STUDY = Study(
    "exchange-shehzad",
    "MPI_Allgather against recursive doubling by one-sided puts (Shehzad & Bozkus 2016, Tables 1-3)",
    "exchange-shehzad",
    read,
)
