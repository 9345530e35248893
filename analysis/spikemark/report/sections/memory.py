"""Irregular access of delivery: counted, expected by theory, and the cache misses that they cause."""

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring import cachesim
from spikemark.models import access, caches
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import number, percent
from spikemark.records.frames import Frames
from spikemark.records.recording import of_populations
from spikemark.records.results import Results
from spikemark.report import plots
from spikemark.report.answer import Answer, timed

TITLE = "Memory access: how irregular is delivery?"
MISSES = "last_level_misses"  # name of the counter


def section(found: Answer) -> Section:
    """Counted first accesses per synaptic event beside eqs 13-17, and misses where there are any."""
    rows, reasons = shares(found)
    if rows.empty:
        return Section("memory", TITLE, missing=[f"Memory access: {'; '.join(reasons) or 'no run'}."])
    known = rows[rows["theory"].notna()]
    text = [
        f"{percent(float(rows['first_per_event'].mean()), 1)} of all synaptic events were first accesses."
    ]
    if len(known):
        off = float((known["theory"] / known["first_per_event"] - 1).abs().max())
        text = [f"{text[0][:-1]}; theory is off by at most {percent(off, 1)}."]
    caption = (
        "First accesses per synaptic event: counted, and expected from the description (L26, eqs 13-17)."
    )
    long = rows.melt(["configuration", "ranks"], ["first_per_event", "theory"], "item", "share").dropna()
    long["item"] = long["item"].map({"first_per_event": "counted", "theory": "theory"})
    several = "ranks" if rows["ranks"].nunique() > 1 else None
    figure = plots.points(
        long, "share", "configuration", "access", "First accesses per synaptic event", caption, hue="item",
        panel=several, xlabel="first accesses per synaptic event",
    )  # fmt: skip
    counted, why = counted_misses(found)
    simulated = simulated_misses(found.frames)
    tables = [plots.tabulated(simulated, "In simulated caches")] if len(simulated) else []
    lacking = [f"Expectation for some runs: {one}." for one in reasons] + ([why] if why else [])
    figures = [figure, *filter(None, [counted])]
    return Section("memory", TITLE, text, figures=figures, tables=tables, missing=lacking)


def shares(found: Answer) -> tuple[pd.DataFrame, list[str]]:
    """A row per configuration and ranks of the case, and why theory is missing for some."""
    rows, reasons = [], set()
    for run in found.runs.to_dict("records"):
        if not run["synaptic_events"]:
            continue
        record = found.frames.records[run["id"]]
        try:
            rates = of_populations(record)
            description = record.record.description
            theory = access.expected(description, run["ranks"], run["threads"], rates_hz=rates).ratio
        except BadInput as error:
            theory = None
            reasons.add(str(error))
        rows.append(
            {
                "configuration": run["configuration"],
                "ranks": run["ranks"],
                "first_per_event": run["first_accesses"] / run["synaptic_events"],
                "theory": theory,
            }
        )
    frame = pd.DataFrame(rows, columns=["configuration", "ranks", "first_per_event", "theory"])
    frame["theory"] = frame["theory"].astype(float)
    return frame.groupby(["configuration", "ranks"], sort=False).mean().reset_index(), sorted(reasons)


def counted_misses(found: Answer) -> tuple[Figure | None, str]:
    """Last-level misses of delivery over first accesses, per event, where counters were read."""
    rows, reasons = [], set()
    for run in timed(found.frames.runs).to_dict("records"):
        meters = [m for m in found.frames.records[run["id"]].record.meters if m.name == MISSES]
        one = next(
            (m for m in meters if m.phase == "deliver" and m.status == "ok" and m.value is not None), None
        )
        if one is None or not run["synaptic_events"]:
            reasons |= {m.reason or m.status for m in meters} or {"no run asked for counters"}
            continue
        events = run["synaptic_events"]
        shares = {"first_per_event": run["first_accesses"] / events, "misses_per_event": one.value / events}
        rows.append({"schedule": run["schedule"], "ranks": run["ranks"], **shares})
    if not rows:
        return None, f"Cache misses: {'; '.join(sorted(reasons))}."
    frame = pd.DataFrame(rows)
    try:
        more = caches.fit(frame["first_per_event"].to_numpy(), frame["misses_per_event"].to_numpy())
        said = f" A first access causes {number(more)} misses more than a following synapse."
    except BadInput:
        said = ""
    caption = f"A dot per run: misses of the last-level cache in deliver (counted).{said}"
    return plots.points(
        frame, "first_per_event", "misses_per_event", "misses", "Cache misses", caption, hue="schedule",
        xlabel="first accesses per event", ylabel="misses per event",
    ), ""  # fmt: skip


def simulated_misses(frames: Frames) -> pd.DataFrame:
    """What `spikemark cachesim` found of runs of this folder."""
    rows = []
    for run in frames.runs.to_dict("records"):
        try:
            one = cachesim.read(Results(frames.path).cachesim(run["id"]))
        except BadInput:
            continue
        if one is not None and one.synaptic_events:
            per = {
                "misses_per_event": one.misses / one.synaptic_events,
                "predicted": one.predicted / one.synaptic_events,
            }
            rows.append(
                {"label": run["label"], "first_per_event": one.first_accesses / one.synaptic_events, **per}
            )
    return pd.DataFrame(rows)
