"""What a dry run says: a sentence, a table with a row per rank, and the content for JSON."""

from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE_PARTS, THREADS

#: Ranks that fit side by side on a terminal.
ABREAST = 4
#: Counts of a rank that the table shows.
COUNTS = ("neurons", "synapses", "synaptic_events")
WORDS_OF_PART = {
    "deliver": "delivery",
    "update": "update",
    THREADS: "waiting for threads",
    "collocate": "collocation",
}
COMPUTING = Column("compute_us", "computing (µs per cycle)", "measured", digits=4)
DRY_RUN_COLUMNS = (
    Column("rank", "rank"),
    Column("why", "sampled as"),
    *(Column(name, name.replace("_", " "), "counted") for name in COUNTS),
    *(
        Column(f"{part}_us", f"{WORDS_OF_PART[part]} (µs per cycle)", "measured")
        for part in COMPUTE_PARTS
    ),
    COMPUTING,
    Column("memory_gb", "memory (GB)", "measured"),
    Column("build_s", "construction (s)", "measured"),
)


def dry_run_table(run: DryRun) -> Table:
    """One row per rank that ran."""
    about = run.about
    rows = []
    for sampled, rank in zip(about.sampled, run.sampled, strict=True):
        means_us = 1e6 * rank.times.mean(axis=0, dtype="f8")
        counts = rank.counts
        peak_bytes = counts.get("peak_bytes")
        row: dict[str, Cell] = {"rank": str(sampled.rank), "why": sampled.why}
        for name in COUNTS:
            row[name] = int(counts[name])
        for part, mean_us in zip(COMPUTE_PARTS, means_us, strict=True):
            row[f"{part}_us"] = float(mean_us)
        row["compute_us"] = float(means_us.sum())
        row["memory_gb"] = None if peak_bytes is None else 1e-9 * peak_bytes
        row["build_s"] = counts.get("build_s")
        rows.append(row)
    columns = list(DRY_RUN_COLUMNS)
    if about.threads == 1:
        columns = [column for column in columns if not column.name.startswith(THREADS)]
    host = run.sampled[0].record.host.name
    setup = f"{counted(about.threads, 'thread')} per rank, {about.ranks_here} side by side"
    ranks = f"{len(rows)} of {counted(run.ranks, 'rank')}"
    return Table(columns, rows, f"Dry run of {ranks} ({setup}, {host})")


def _mean(run: DryRun) -> Quantity:
    """Computing in µs per cycle as the mean over all ranks, with its interval from sampling."""
    value = 1e6 * float(run.means().mean(axis=0).sum())
    share = run.doubt
    if share is None:
        return Quantity(value, unit="us", kind="measured")
    return Quantity(value, max(0.0, value * (1 - share)), value * (1 + share), "us", "measured")


def sentence(run: DryRun) -> str:
    """The answer: how long ranks compute."""
    measured = len(run.timed)
    text = (
        f"Mean computing over all {run.ranks} ranks: {COMPUTING.text(_mean(run))} µs per cycle,"
        f" measured on {measured}"
    )
    if measured < run.ranks:
        text += "; the other ranks take whole rows of these, scaled by expected counts"
    return f"{text}."


def lines(run: DryRun) -> list[str]:
    """What the numbers mean, and what they do not say."""
    spikes = f"were drawn; rates: {run.about.rates}"
    if run.alone.spikes == "exact":
        spikes = "are exactly those of a run of all ranks"
    sentences = [
        "Not known: waiting, exchange and the real-time factor, since each rank ran alone.",
        f"The spikes that arrive {spikes}.",
    ]
    if run.doubt is None:
        advice = "--sample 2 or more gives an interval"
        sentences.append(f"One rank does not show how ranks differ: {advice}.")
    return sentences + [f"warning: {line}" for line in run.about.warnings]


def dry_run_json(run: DryRun) -> dict[str, Any]:
    """The content for JSON."""
    about = run.about
    first = run.sampled[0].record
    ranks = [{**row, "rank": int(str(row["rank"]))} for row in dry_run_table(run).rows]
    return {
        "kind": "dry_run",
        "folder": str(run.path),
        "of": run.ranks,
        "threads": about.threads,
        "ranks_here": about.ranks_here,
        "host": first.host.name,
        "cycles": first.timing.cycles,
        "spikes": run.alone.spikes,
        "rates": about.rates,
        "ranks": ranks,
        "waiting_us": None,
        "exchange_us": None,
        "mean_over_all_ranks_us": _mean(run).content(),
        "warnings": about.warnings,
    }
