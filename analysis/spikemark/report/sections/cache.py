"""Cache misses of delivery against the counted share of first accesses, if there are hardware counters."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spikemark.caches import misses, simulated_caches
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, number, span
from spikemark.records.cases import View, timed
from spikemark.records.gather import Measured
from spikemark.records.results import Results
from spikemark.report.columns import RANKS, SCHEDULE, THREADS, known
from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, markup, schedule_colour

TITLE = "Cache misses of delivery"
COUNTER, PHASE = "last_level_misses", "deliver"
EXPLAINED = (
    "Is it the first access that misses the cache? If so, misses per synaptic event grow with the share of "
    "first accesses, which the mini-app counts. Where the processor's counters can be read "
    "(record.counters), the misses in the phase deliver show how far this is true."
)
WITHOUT = (
    "On a machine whose counters can be read, this section shows the misses per synaptic event of every "
    "run, and how many of them belong to a first access. On other machines, `spikemark cachesim RUN` "
    "simulates the caches and predicts the misses from the counted lists. Its results for runs of this "
    "sweep are shown here as simulated caches."
)


def _per_event(name: str) -> Callable[[tuple], float | Quantity]:
    def cell(row: tuple) -> float | Quantity:
        events = row[1].synaptic_events
        return known(getattr(row[1], name) / events if events else None, "no synaptic event")

    return cell


#: Cells of a run and what `spikemark cachesim` found of it.
SIMULATED = {
    Column("configuration", "configuration", "given"): lambda row: row[0].configuration.label,
    RANKS: lambda row: len(row[1].ranks),
    THREADS: lambda row: row[1].threads,
    Column("time", "simulated time (ms)", "given"): lambda row: row[1].simulate_ms,
    Column("caches", "first and last cache (bytes)", "given"): lambda row: (
        f"{integer(row[1].d1.size)}, {integer(row[1].ll.size)}"
    ),
    Column("first", "first accesses per event", "counted", digits=4): _per_event("first_accesses"),
    Column("predicted", "last-level misses per event", "modelled", digits=4): _per_event("predicted"),
    Column("misses", "last-level misses per event", "simulated", digits=4): _per_event("misses"),
}


@dataclass(frozen=True)
class Point:
    """One run: first accesses and last-level misses, both per synaptic event."""

    schedule: str
    ranks: int
    share: float
    misses: float
    event: str


def prepare(runs: list[Measured]) -> tuple[list[Point], list[str]]:
    """Returns the runs whose misses of delivery were counted, and each reason why others were not."""
    points, reasons = [], {}
    for m in runs:
        totals = m.run.record.totals
        asked = [meter for meter in m.run.record.meters if meter.name == COUNTER]
        found = next(
            (x for x in asked if x.phase == PHASE and x.status == "ok" and x.value is not None), None
        )
        if found and totals.synaptic_events:
            share = totals.first_accesses / totals.synaptic_events
            misses = found.value / totals.synaptic_events
            points.append(Point(m.run.schedule, m.run.record.ranks, share, misses, found.event or COUNTER))
        elif found:
            reasons["no synaptic event occurred"] = None
        else:
            reasons |= dict.fromkeys([_reason(x) for x in asked] or ["the run did not ask for counters"])
    return points, list(reasons)


def _reason(meter) -> str:
    if meter.status == "ok":
        return f"not by phase ({meter.source})"
    return f"{meter.status}: {meter.reason or 'no reason given'} ({meter.source})"


def section(view: View) -> Section:
    """Shows misses over shares or what could not be read, and the results of simulated caches."""
    if not view.sweep.runs:
        return Section("cache", TITLE, missing=["Cache misses: no run is complete."])
    found = _counted(view)
    tables, complaints = _simulated(view)
    return replace(found, tables=tables, missing=[*found.missing, *complaints])


def _counted(view: View) -> Section:
    points, reasons = prepare(timed(view.sweep.runs))
    missing = [f"{COUNTER} of some runs: {reason}." for reason in reasons]
    if not points:
        missing = [f"{COUNTER} in {PHASE}: {reason}." for reason in reasons]
        return Section("cache", TITLE, text=[EXPLAINED, WITHOUT], missing=missing)
    try:
        line = misses.fit([p.share for p in points], [p.misses for p in points])
    except BadInput as reason:
        line, missing = None, [*missing, f"The line through the runs: {reason}."]
    text = [EXPLAINED, *([_words(line)] if line else [])]
    return Section("cache", TITLE, text=text, figures=[_figure(points, line, view.kind)], missing=missing)


def _simulated(view: View) -> tuple[list[Table], list[str]]:
    """Returns a table of the runs that `spikemark cachesim` has simulated, and complaints about its files."""
    rows, complaints = [], []
    for m in view.sweep.runs:
        try:
            found = simulated_caches.read(Results(view.sweep.path).cachesim(m.planned.id))
        except BadInput as error:
            complaints.append(f"Simulated caches: {error}.")
            continue
        if found is not None:
            rows.append((m, found))
    title = "Delivery in simulated caches (Valgrind), and what the counted lists predict"
    return [Table.of(SIMULATED, rows, title)] if rows else [], complaints


def _words(line: misses.Line) -> str:
    first, following = (
        f"{number(value)} ({span([value - half, value + half])})"
        for value, half in ((line.first, line.first_half), (line.following, line.following_half))
    )
    return (
        f"A first access causes {first} misses more than a following synapse, and every synapse causes "
        f"{following} (least squares over runs, 95 % intervals; correlation {number(line.correlation)})."
    )


def _figure(points: list[Point], line: misses.Line | None, kind: str) -> Figure:
    columns = {
        SCHEDULE: lambda p: p.schedule.replace("_", " "),
        RANKS: lambda p: p.ranks,
        Column("share", "first accesses per event", "counted", digits=4): lambda p: p.share,
        Column("misses", "last-level misses per event", kind, digits=4): lambda p: p.misses,
        Column("event", "counter"): lambda p: p.event,
    }
    table = Table.of(columns, sorted(points, key=lambda p: p.share))
    alt = f"Last-level misses per synaptic event of {counted(len(points), 'run')}: " + "; ".join(
        f"{number(p.misses)} at a share of first accesses of {number(p.share)}" for p in points
    )
    caption = (
        "One dot for each run: misses counted by the processor in the phase deliver. Dashed: least squares."
    )
    svg = _draw(points, line, "cache", alt)
    return Figure("cache-figure", "Misses by first accesses", svg, alt, caption, table)


def _draw(points: list[Point], line: misses.Line | None, name: str, alt: str) -> str:
    """Draws last-level misses over the share of first accesses: a dot per run, and the line."""
    with drawing(height=3.0) as (figure, (axes,)):
        for p in points:
            axes.plot(
                p.share, p.misses, "o", color=schedule_colour(p.schedule), markersize=5, markeredgewidth=0
            )
            tell(axes, p.schedule.replace("_", "-"), [p.share], [p.misses], "measured")
        ends = np.array([0.0, 1.1 * max(p.share for p in points)])
        if line is not None:
            axes.plot(ends, line.following + line.first * ends, "--", color=COLOUR["model"], linewidth=1.2)
        axes.set_xlim(ends)
        axes.set_ylim(bottom=0)
        axes.grid()
        axes.set(xlabel="first accesses per synaptic event", ylabel="last-level misses per event")
        return markup(figure, name, alt, zoom=axes)
