"""Cache misses of delivery against the counted share of first accesses, where there are hardware counters."""

from dataclasses import dataclass, replace

from spikemark.caches import misses, simulated_caches
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, integer, number, span
from spikemark.records.cases import View, timed
from spikemark.records.gather import Measured
from spikemark.records.results import Results
from spikemark.report.figures import cache as drawing

TITLE = "Cache misses of delivery"
COUNTER, PHASE = "last_level_misses", "deliver"
EXPLAINED = (
    "If a first access misses the last cache and the following synapses do not, misses per synaptic event "
    "grow with the share of first accesses, which the mini-app counts. Where the processor's counters can be "
    "read (record.counters), the misses of the phase deliver show how far that holds."
)
WITHOUT = (
    "A machine whose counters can be read would add the misses per synaptic event of every run, and how many "
    "a first access has. Without, `spikemark cachesim RUN` simulates the caches and predicts misses from the "
    "counted lists; what it finds is simulated, not measured, and for a run of this sweep it stands here."
)


@dataclass(frozen=True)
class Point:
    """A run: first accesses and last-level misses, both per synaptic event."""

    schedule: str
    ranks: int
    share: float
    misses: float
    event: str


def prepare(runs: list[Measured]) -> tuple[list[Point], list[str]]:
    """The runs whose misses of delivery were counted, and why the others' were not, each reason once."""
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
    """Misses over shares, or what was not there to be read; and what simulated caches have."""
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
    return Section("cache", TITLE, text=text, figures=[_figure(points, line)], missing=missing)


def _simulated(view: View) -> tuple[list[tuple[str, Table]], list[str]]:
    """The runs that `spikemark cachesim` has simulated, and files that cannot be used."""
    rows, complaints = [], []
    for m in view.sweep.runs:
        try:
            found = simulated_caches.read(Results(view.sweep.path).cachesim(m.planned.id))
        except BadInput as error:
            complaints.append(f"Simulated caches: {error}.")
            continue
        if found is None:
            continue
        events = found.synaptic_events
        each = [number(x / events, 4) if events else "missing" for x in (
            found.first_accesses, found.predicted, found.misses)]  # fmt: skip
        rows.append([
            m.configuration.label, str(len(found.ranks)), str(found.threads), number(found.simulate_ms),
            f"{integer(found.d1.size)}, {integer(found.ll.size)}", *each,
        ])  # fmt: skip
    heads = [
        "configuration", "ranks", "threads", "simulated time (ms)", "first and last cache (bytes)",
        "first accesses per event", "last-level misses per event", "last-level misses per event",
    ]  # fmt: skip
    kinds = [*["given"] * 5, "counted", "modelled", "simulated"]
    title = "Delivery in simulated caches (Valgrind), and what the counted lists predict"
    return [(title, Table(heads, rows, kinds, words=(0, 4)))] if rows else [], complaints


def _words(line: misses.Line) -> str:
    first, following = (
        f"{number(value)} ({span([value - half, value + half])})"
        for value, half in ((line.first, line.first_half), (line.following, line.following_half))
    )
    return (
        f"A first access has {first} misses more than a following synapse, and every synapse {following} "
        f"(least squares over runs, 95 % intervals; correlation {number(line.correlation)})."
    )


def _figure(points: list[Point], line: misses.Line | None) -> Figure:
    rows = [
        [p.schedule.replace("_", " "), str(p.ranks), number(p.share, 4), number(p.misses, 4), p.event]
        for p in sorted(points, key=lambda p: p.share)
    ]
    table = Table(
        ["schedule", "ranks", "first accesses per event", "last-level misses per event", "counter"],
        rows,
        ["given", "given", "counted", "measured", ""],
        words=(0, 4),
    )
    alt = f"Last-level misses per synaptic event of {counted(len(points), 'run')}: " + "; ".join(
        f"{number(p.misses)} at a share of first accesses of {number(p.share)}" for p in points
    )
    caption = (
        "One dot for each run: misses counted by the processor in the phase deliver. Dashed: least squares."
    )
    svg = drawing.draw(points, line, "cache", alt)
    return Figure("cache-figure", "Misses by first accesses", svg, alt, caption, table)
