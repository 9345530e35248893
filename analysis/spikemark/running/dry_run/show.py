"""What a dry run found, as a table, lines and JSON."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spikemark.prediction import phases
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
COLUMNS = (
    Column("rank", "rank"),
    Column("why", "sampled as"),
    Column("neurons", "neurons", "counted"),
    Column("synapses", "synapses", "counted"),
    Column("synaptic_events", "synaptic events", "counted"),
    *(Column(f"{part}_us", f"{PARTS[part]} (µs per cycle)", "measured") for part in COMPUTE),
    Column("compute_us", "computing (µs per cycle)", "measured", digits=4),
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
NO_SYNAPSES = missing("the rank has no synapses", mark="null")
NOTHING = missing("the model has nothing to do in this part", mark="null")
ALONE = "the rank had no neighbour"


@dataclass(frozen=True)
class Modelled:
    """What the kernel times of a machine predict: `mean_s` [rank, part of COMPUTE], s per cycle."""

    machine: str
    mean_s: np.ndarray

    @classmethod
    def of(cls, found: DryRun, profile: Any) -> "Modelled":
        """The prediction for ranks that lie on nodes of the profile as they lay on this one."""
        about = found.about
        times = phases.phase_times(
            about.description, profile, found.ranks, about.threads, ranks_per_node=about.ranks_here,
            hz=about.rate_hz,
        )  # fmt: skip
        return cls(profile.name, np.stack(times.parts, axis=1))

    def cells(self, rank: int, times: np.ndarray) -> dict[str, Any]:
        """The prediction for one rank with these times [cycle, part], and measured over predicted."""
        medians, own = np.median(times, axis=0), self.mean_s[rank]
        ratios = {
            f"{part}_ratio": float(medians[i] / own[i]) if own[i] > 0 else NOTHING
            for i, part in enumerate(COMPUTE)
        }
        return {f"{part}_modelled_us": 1e6 * float(own[i]) for i, part in enumerate(COMPUTE)} | ratios

    @property
    def columns(self) -> list[Column]:
        """Columns for `cells`."""
        of = f"by {self.machine}"
        each = (
            (
                Column(f"{part}_modelled_us", f"{PARTS[part]} {of} (µs per cycle)", "modelled"),
                Column(f"{part}_ratio", f"{PARTS[part]}, measured (median cycle) over modelled"),
            )
            for part in COMPUTE
        )
        return [column for pair in each for column in pair]


def table(found: DryRun, modelled: Modelled | None = None) -> Table:
    """One row per rank that ran."""
    about, rows = found.about, []
    for row, one in enumerate(found.about.sampled):
        times = found.rows[row].astype("f8")
        total, counts = times.sum(axis=1), found.table.iloc[row]
        synapses, peak = _number(counts, "synapses"), _number(counts, "peak_bytes")
        rows.append({
            "rank": str(one.rank), "why": one.why,
            **{name: _number(counts, name, whole=True) for name in COUNTS},
            **{f"{part}_us": 1e6 * float(times[:, i].mean()) for i, part in enumerate(COMPUTE)},
            "compute_us": 1e6 * float(total.mean()),
            "median_us": 1e6 * float(np.median(total)),
            "cv": float(total.std() / total.mean()) if total.mean() > 0 else missing("nothing was computed"),
            "longest_us": 1e6 * float(total.max()),
            "waiting_us": missing(about.null["waiting"], mark="null"),
            "exchange_us": missing(about.null["exchange"], mark="null"),
            "memory_gb": missing("not known", mark="null") if peak is None else 1e-9 * peak,
            "bytes_per_synapse": peak / synapses if peak and synapses else NO_SYNAPSES,
            "build_s": _number(counts, "build_s"),
            "beside": missing(ALONE, mark="null") if one.beside is None else one.beside,
            **({f"{THREADS}_us": missing(HELD, mark="null")} if found.mixed else {}),
            **({} if modelled is None else modelled.cells(one.rank, times)),
        })  # fmt: skip
    how = f"{counted(about.threads, 'thread')} per rank, {about.ranks_here} side by side"
    sampled = f"{len(rows)} of {counted(found.ranks, 'rank')}"
    columns = [*COLUMNS, *([] if modelled is None else modelled.columns)]
    if about.threads == 1:
        columns = [column for column in columns if not column.name.startswith(THREADS)]
    return Table(columns, rows, f"Dry run of {sampled} ({how}, {about.host.get('name')})")


def _number(row: Any, name: str, whole: bool = False) -> float | int | None:
    value = row.get(name)
    if value is None or value != value:  # of pandas, for an empty cell
        return None
    return int(value) if whole else float(value)


def mean(found: DryRun) -> dict[str, Quantity]:
    """Computing in µs per cycle, by part and in all, as means over all R ranks."""
    times = 1e6 * found.means().mean(axis=0)
    parts = {**dict(zip(COMPUTE, times.tolist(), strict=True)), "compute": float(times.sum())}
    doubt = found.doubt
    if doubt is None:
        return {name: Quantity(value, unit="us", kind="measured") for name, value in parts.items()}
    within = dict(zip(parts, [*found.doubts, doubt], strict=True))
    return {
        name: Quantity(
            value, max(0.0, value * (1 - within[name])), value * (1 + within[name]), "us", "measured"
        )
        for name, value in parts.items()
    }


def lines(found: DryRun) -> list[str]:
    """What the numbers mean, and what they do not say."""
    about, ranks = found.about, len(found.timed)
    made = [
        "Measured: delivery, update, collocation, construction and memory of ranks with their true synapses."
        " Counted: neurons, synapses and synaptic events. Memory includes the program and made-up spikes.",
        f"Not known (null): waiting, exchange and the real-time factor, since {about.null['waiting']}.",
    ]
    if about.spikes == "exact":
        made.append("The spikes that arrive are exactly those of a run of all ranks.")
    else:
        made.append(f"The spikes that arrive were drawn; rates: {about.rates}.")
    if ranks < found.ranks:
        computing = COMPUTING.text(mean(found)["compute"])
        made.append(
            f"Mean computing over all {found.ranks} ranks: {computing} µs per cycle, measured on {ranks};"
            " the other ranks take whole rows of these, scaled by expected counts."
        )
    if found.doubt is None:
        made.append("One rank does not show how ranks differ: --sample 2 or more gives an interval.")
    made += [f"warning: {line}" for line in found.warnings]
    return made


COMPUTING = Column("compute", "computing", digits=4)


def content(found: DryRun, modelled: Modelled | None = None) -> dict[str, Any]:
    """The content for JSON: a number that is not known is null, and `null` has the reasons."""
    about = found.about
    ranks = [
        {name: None if isinstance(cell, Quantity) and not cell else cell for name, cell in row.items()}
        | {"rank": int(row["rank"])}
        for row in table(found, modelled).rows
    ]
    return {
        "kind": "dry_run", "folder": str(found.path), "of": found.ranks, "threads": about.threads,
        "ranks_here": about.ranks_here, "cores": about.cores, "bound": about.bound, "host": about.host,
        "cycles": about.cycles, "spikes": about.spikes,
        "routes": about.routes, "rates": about.rates, "kinds": about.kinds,
        "null": about.null, "ranks": ranks, "waiting_us": None, "exchange_us": None,
        "mean_over_all_ranks_us": {name: figure.content() for name, figure in mean(found).items()},
        "warnings": found.warnings, "modelled_by": None if modelled is None else modelled.machine,
    }  # fmt: skip
