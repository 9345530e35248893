"""What a dry run found: a sentence, a table, lines and JSON."""

from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE, THREADS

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
    Column("memory_gb", "memory (GB)", "measured"),
    Column("build_s", "construction (s)", "measured"),
)


def table(found: DryRun) -> Table:
    """One row per rank that ran."""
    about, rows, host = found.about, [], found.sampled[0].record.host.name
    for one, ran in zip(about.sampled, found.sampled, strict=True):
        means = 1e6 * ran.times.mean(axis=0, dtype="f8")
        counts, peak = ran.counts, ran.counts.get("peak_bytes")
        rows.append(
            {"rank": str(one.rank), "why": one.why, **{name: int(counts[name]) for name in COUNTS}}
            | {f"{part}_us": float(mean) for part, mean in zip(COMPUTE, means, strict=True)}
            | {"compute_us": float(means.sum()), "memory_gb": None if peak is None else 1e-9 * peak}
            | {"build_s": counts.get("build_s")}
        )
    columns = [c for c in COLUMNS if about.threads > 1 or not c.name.startswith(THREADS)]
    how = f"{counted(about.threads, 'thread')} per rank, {about.ranks_here} side by side"
    sampled = f"{len(rows)} of {counted(found.ranks, 'rank')}"
    return Table(columns, rows, f"Dry run of {sampled} ({how}, {host})")


def mean(found: DryRun) -> Quantity:
    """Computing in µs per cycle as the mean over all R ranks, with its interval from sampling."""
    value, share = 1e6 * float(found.means().mean(axis=0).sum()), found.doubt
    if share is None:
        return Quantity(value, unit="us", kind="measured")
    return Quantity(value, max(0.0, value * (1 - share)), value * (1 + share), "us", "measured")


def sentence(found: DryRun) -> str:
    """The answer: how long ranks compute."""
    measured = len(found.timed)
    scaled = "; the other ranks take whole rows of these, scaled by expected counts"
    return (
        f"Mean computing over all {found.ranks} ranks: {COMPUTING.text(mean(found))} µs per cycle, measured"
        f" on {measured}{scaled if measured < found.ranks else ''}."
    )


def lines(found: DryRun) -> list[str]:
    """What the numbers mean, and what they do not say."""
    exact = "are exactly those of a run of all ranks"
    spikes = exact if found.alone.spikes == "exact" else f"were drawn; rates: {found.about.rates}"
    made = [
        "Not known: waiting, exchange and the real-time factor, since each rank ran alone.",
        f"The spikes that arrive {spikes}.",
    ]
    if found.doubt is None:
        made.append("One rank does not show how ranks differ: --sample 2 or more gives an interval.")
    return made + [f"warning: {line}" for line in found.about.warnings]


def content(found: DryRun) -> dict[str, Any]:
    """The content for JSON."""
    about, first = found.about, found.sampled[0].record
    return {
        "kind": "dry_run", "folder": str(found.path), "of": found.ranks, "threads": about.threads,
        "ranks_here": about.ranks_here, "host": first.host.name, "cycles": first.timing.cycles,
        "spikes": found.alone.spikes, "rates": about.rates,
        "ranks": [row | {"rank": int(row["rank"])} for row in table(found).rows],
        "waiting_us": None, "exchange_us": None,
        "mean_over_all_ranks_us": mean(found).content(), "warnings": about.warnings,
    }  # fmt: skip
