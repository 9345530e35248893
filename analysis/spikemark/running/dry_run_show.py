"""What a dry run found: a sentence, a table, lines and JSON."""

from typing import Any

import numpy as np

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE, HELD, THREADS

ABREAST = 4  # ranks that fit side by side on a terminal
COUNTS = "neurons", "synapses", "synaptic_events"
PARTS = {
    "deliver": "delivery", "update": "update", THREADS: "waiting for threads", "collocate": "collocation",
}  # fmt: skip
COMPUTING = Column("compute_us", "computing (µs per cycle)", "measured", digits=4)
COLUMNS = (
    Column("rank", "rank"),
    Column("why", "sampled as"),
    *(Column(name, name.replace("_", " "), "counted") for name in COUNTS),
    *(Column(f"{part}_us", f"{PARTS[part]} (µs per cycle)", "measured") for part in COMPUTE),
    COMPUTING,
    Column("median_us", "computing, median cycle (µs)", "measured", digits=4),
    Column("cv", "SD of a cycle over its mean", "measured"),
    Column("longest_us", "longest cycle (µs)", "measured"),
    Column("waiting_us", "waiting (µs per cycle)"),
    Column("exchange_us", "exchange (µs per cycle)"),
    Column("memory_gb", "memory (GB)", "measured"),
    Column("bytes_per_synapse", "memory per synapse (B)", "measured"),
    Column("build_s", "construction (s)", "measured"),
    Column("beside", "neighbours at work", "measured", words=percent),
)
#: Fields of a dry run that its JSON repeats.
SAME = (
    "threads", "ranks_here", "cores", "bound", "host", "cycles", "spikes", "routes", "rates", "kinds", "null",
)  # fmt: skip


def _null(reason: str) -> Quantity:
    return missing(reason, mark="null")


def table(found: DryRun) -> Table:
    """One row per rank that ran."""
    about, rows = found.about, []
    for row, one in enumerate(about.sampled):
        times = 1e6 * found.rows[row].astype("f8")
        counts, total = found.table.iloc[row].dropna(), times.sum(axis=1)
        synapses, peak = counts.get("synapses"), counts.get("peak_bytes")
        values = {
            "rank": str(one.rank), "why": one.why,
            **{name: int(counts[name]) for name in COUNTS if name in counts},
            **{f"{part}_us": float(times[:, i].mean()) for i, part in enumerate(COMPUTE)},
            "compute_us": float(total.mean()), "median_us": float(np.median(total)),
            "cv": float(total.std() / total.mean()) if total.mean() > 0 else missing("nothing was computed"),
            "longest_us": float(total.max()),
            "waiting_us": _null(about.null["waiting"]), "exchange_us": _null(about.null["exchange"]),
            "memory_gb": _null("not known") if peak is None else 1e-9 * peak,
            "bytes_per_synapse": peak / synapses if peak and synapses else _null("the rank has no synapses"),
            "build_s": counts.get("build_s"),
            "beside": _null("the rank had no neighbour") if one.beside is None else one.beside,
        }  # fmt: skip
        rows.append(values | ({f"{THREADS}_us": _null(HELD)} if found.mixed else {}))
    columns = [c for c in COLUMNS if about.threads > 1 or not c.name.startswith(THREADS)]
    how = f"{counted(about.threads, 'thread')} per rank, {about.ranks_here} side by side"
    sampled = f"{len(rows)} of {counted(found.ranks, 'rank')}"
    return Table(columns, rows, f"Dry run of {sampled} ({how}, {about.host.get('name')})")


def mean(found: DryRun) -> dict[str, Quantity]:
    """Computing in µs per cycle, by part and in all, as means over all R ranks."""
    times = 1e6 * found.means().mean(axis=0)
    shares = [None] * (len(COMPUTE) + 1) if found.doubt is None else [*found.doubts, found.doubt]
    return {
        name: Quantity(value, unit="us", kind="measured")
        if share is None
        else Quantity(value, max(0.0, value * (1 - share)), value * (1 + share), "us", "measured")
        for name, value, share in zip([*COMPUTE, "compute"], [*times, times.sum()], shares, strict=True)
    }


def sentence(found: DryRun) -> str:
    """The answer: how long ranks compute."""
    computing, measured = COMPUTING.text(mean(found)["compute"]), len(found.timed)
    scaled = "; the other ranks take whole rows of these, scaled by expected counts"
    return (
        f"Mean computing over all {found.ranks} ranks: {computing} µs per cycle, measured on {measured}"
        f"{scaled if measured < found.ranks else ''}."
    )


def lines(found: DryRun) -> list[str]:
    """What the numbers mean, and what they do not say."""
    about = found.about
    exact = "are exactly those of a run of all ranks"
    spikes = exact if about.spikes == "exact" else f"were drawn; rates: {about.rates}"
    made = [
        "Measured: delivery, update, collocation, construction and memory of ranks with their true synapses."
        " Counted: neurons, synapses and synaptic events. Memory includes the program and made-up spikes.",
        f"Not known (null): waiting, exchange and the real-time factor, since {about.null['waiting']}.",
        f"The spikes that arrive {spikes}.",
    ]
    if found.doubt is None:
        made.append("One rank does not show how ranks differ: --sample 2 or more gives an interval.")
    return made + [f"warning: {line}" for line in found.warnings]


def content(found: DryRun) -> dict[str, Any]:
    """The content for JSON: a number that is not known is null, and `null` has the reasons."""
    ranks = [
        {name: None if isinstance(cell, Quantity) and not cell else cell for name, cell in row.items()}
        | {"rank": int(row["rank"])}
        for row in table(found).rows
    ]
    return {
        "kind": "dry_run", "folder": str(found.path), "of": found.ranks,
        **{name: getattr(found.about, name) for name in SAME}, "ranks": ranks,
        "waiting_us": None, "exchange_us": None,
        "mean_over_all_ranks_us": {name: figure.content() for name, figure in mean(found).items()},
        "warnings": found.warnings,
    }  # fmt: skip
