"""The energy of a run as a table and as JSON."""

from dataclasses import asdict
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent

from .analysis import ADVICE, Energy
from .levels import SOURCE
from .source import Source
from .trace import thinned

MOST_POINTS = 2000
VALUES = ("gross_j", "idle_w", "idle_j", "net_j", "mean_w", "gross_delay_js", "net_delay_js")
SHORTEST_S = 1e-9  # a shorter phase did not take place


def rows(energy: Energy) -> list[tuple[str, Quantity]]:
    """Every value with its name, gross energy first."""
    found = [
        ("gross energy", energy.gross_j),
        ("mean power", energy.mean_w),
        ("idle power", energy.idle_w),
        ("idle energy", energy.idle_j),
        ("net energy", energy.net_j),
    ]
    for kind in ("gross", "net"):
        found += [
            (f"{kind} energy per synaptic event, {e.definition}", getattr(e, f"{kind}_uj"))
            for e in energy.per_event
        ]
    found += [
        ("energy-delay product, gross", energy.gross_delay_js),
        ("energy-delay product, net", energy.net_delay_js),
    ]
    return found


def without(energy: Energy) -> str:
    """One line for a run that has none."""
    return f"{energy.run.path}: no energy: {energy.reason}; {ADVICE}"


def table(energy: Energy) -> Table:
    """One line per value of `rows`, with its unit."""
    columns = {
        Column("what", ""): lambda row: row[0],
        Column("value", "value, and interval of 95 %", energy.kind or "", digits=4): lambda row: row[1],
        Column("unit", "unit"): lambda row: row[1].unit.replace("u", "µ"),
    }
    return Table.of(columns, rows(energy), f"Energy of the measured part, {number(energy.duration_s)} s")


def lines(energy: Energy) -> list[str]:
    """Says where the readings come from, how good they are, and what is missing."""
    found = []
    if energy.source:
        channels = ", ".join(energy.source.traces)
        found.append(f"source: {energy.source.name} ({channels})")
        found += [f"note: {note}" for note in energy.source.notes]
    if energy.model:
        found.append(f"power of: {energy.model.name}")
        found += [f"  {line}" for line in energy.model.sources.values()]
    if energy.sampling:
        s = energy.sampling
        found.append(
            f"sampling: {s.readings} readings, {number(s.rate_hz)} Hz, at most {number(s.longest_s)} s apart,"
            f" cover {percent(s.coverage, 1)}"
        )
    if energy.source:
        found.append(f"power over time: {phases(energy.source)} (--json has the curve)")
    if energy.before and energy.before.span:
        first, last = (t - energy.source.timeline.measured[0] for t in energy.before.span)
        found.append(
            f"idle power from: {energy.before.where}, {number(-first)} to {number(-last)} s before its start"
        )
    if energy.after and energy.after.watts:
        found.append(f"idle power after the run: {number(energy.after.watts.value, 4)} W")
    if energy.level:
        found.append(f"EE HPC WG: {energy.level.words}")
        found += [
            f"  level {c.level} requires {c.aspect}: {c.needed}; here: {c.found}"
            for c in energy.level.lacking
        ]
        found.append(f"  criteria: {SOURCE}")
    reasons = dict.fromkeys(value.reason for _, value in rows(energy) if not value)
    return [*found, *(f"missing: {reason}" for reason in reasons)]


def phases(source: Source) -> str:
    """Mean power of each phase, as far as the readings cover it."""
    at, trace = source.timeline, source.trace
    spans = {
        "pause": at.idle_before,
        "warm-up": (at.busy[0], at.measured[0]),
        "measured part": at.measured,
        "pause after": at.idle_after,
    }
    read = {n: (max(span[0], trace.first), min(span[1], trace.last)) for n, span in spans.items() if span}
    return ", ".join(
        f"{name} {number(trace.mean_w(*span), 4)} W"
        for name, span in read.items()
        if span[1] - span[0] > SHORTEST_S
    )


def content(energy: Energy) -> dict[str, Any]:
    """The content for JSON. Times of `power` and `phases` are in s from the begin of the measured part."""
    made = {
        "run": str(energy.run.path),
        "kind": energy.kind,
        "source": energy.source.name if energy.source else None,
        "reason": energy.reason,
        "duration_s": energy.duration_s,
        **{name: getattr(energy, name).content() for name in VALUES},
        "per_event": [
            {"definition": e.definition, "events": e.events, "gross_uj": e.gross_uj.content(),
             "net_uj": e.net_uj.content()} for e in energy.per_event
        ],
        "sampling": energy.sampling and {**asdict(energy.sampling), "rate_hz": energy.sampling.rate_hz},
        "level": energy.level and {
            "reached": energy.level.words, "criteria": [asdict(c) for c in energy.level.criteria],
            "source": SOURCE,
        },
        "advice": None if energy.kind else ADVICE,
        "model": energy.model and asdict(energy.model),
    }  # fmt: skip
    if energy.source:
        made |= {"notes": energy.source.notes, **_over_time(energy)}
    return made


def _over_time(energy: Energy) -> dict[str, Any]:
    source, (zero, end) = energy.source, energy.source.timeline.measured
    times, watts = thinned(*source.trace.points(), MOST_POINTS)
    spans = {
        "idle_before": source.timeline.idle_before,
        "busy": source.timeline.busy,
        "measured": source.timeline.measured,
        "idle_after": source.timeline.idle_after,
        "plateau": energy.before.span,
    }
    return {
        "channels": [
            {"name": name, "gross_j": trace.energy_j(zero, end)} for name, trace in source.traces.items()
        ],
        "phases": {name: at and [t - zero for t in at] for name, at in spans.items()},
        "power": {"time_s": (times - zero).tolist(), "power_w": watts.tolist()},
    }
