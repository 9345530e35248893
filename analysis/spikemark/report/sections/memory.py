"""Irregular access of delivery: counted, expected by theory, and the cache misses that they
cause.
"""

import json
from contextlib import suppress

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring import cachesim
from spikemark.models import access, caches
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import number, percent
from spikemark.records.frames import Frames
from spikemark.records.recording import of_populations
from spikemark.records.results import Results
from spikemark.records.schema import Meter
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer

TITLE = "Memory access: how irregular is delivery?"
EXACT = 5e-4  # relative difference, below which numbers of one digit agree
MISSES = "last_level_misses"  # name of the counter


def section(sweep: SweepAnswer) -> Section:
    """Counted first accesses per synaptic event beside eqs 13-17, and misses where there are
    any.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).title
        'Memory access: how irregular is delivery?'
    """
    rows, reasons = _shares(sweep)
    if rows.empty:
        return Section(
            "memory", TITLE, missing=[f"Memory access: {'; '.join(reasons) or 'no run'}."]
        )
    text = [_sentence(rows)]
    caption = (
        "First accesses per synaptic event: counted, and to be expected of the network and its"
        " placement (theory of Lober et al. 2026)."
    )
    long = rows.melt(
        ["configuration", "ranks"], ["first_per_event", "theory"], "item", "share"
    ).dropna()
    long["item"] = long["item"].map({"first_per_event": "counted", "theory": "theory"})
    several = plots.if_several(rows, "ranks")
    figure = plots.points(
        long,
        "share",
        "configuration",
        "access",
        "First accesses per synaptic event",
        caption,
        hue="item",
        panel=several,
        xlabel="first accesses per synaptic event",
    )
    figures = [figure]
    lacking = [f"Expectation for some runs: {reason}." for reason in reasons]
    counted, why_not_counted = _counted_misses(sweep)
    if counted is None:
        lacking.append(why_not_counted)
    else:
        figures.append(counted)
    simulated = _simulated_misses(sweep.frames)
    tables = [plots.tabulated(simulated, "In simulated caches")] if len(simulated) else []
    return Section("memory", TITLE, text, figures=figures, tables=tables, missing=lacking)


def _sentence(rows: pd.DataFrame) -> str:
    """The share of first accesses, and how far theory is off; `rows`: as of `_shares`."""
    share = percent(float(rows["first_per_event"].mean()), 1)
    text = f"{share} of all synaptic events were first accesses"
    expected = rows[rows["theory"].notna()]
    if expected.empty:
        return f"{text}."
    off = float((expected["theory"] / expected["first_per_event"] - 1).abs().max())
    if off < EXACT:
        return f"{text}, as theory says."
    return f"{text}; theory is off by at most {percent(off, 1)}."


def _shares(sweep: SweepAnswer) -> tuple[pd.DataFrame, list[str]]:
    """A row per configuration and ranks of the case, and why theory is missing for some."""
    rows = []
    reasons = set()
    expected: dict[str, float | None] = {}  # by what it depends on
    for run in sweep.runs.to_dict("records"):
        if not run["synaptic_events"]:
            continue
        record = sweep.frames.records[run["id"]]
        theory = None
        try:
            rates_hz = of_populations(record)
            content = {**record.record.description, "seed": None}
            asked = json.dumps([content, run["ranks"], run["threads"], rates_hz], sort_keys=True)
            if asked not in expected:
                described = record.record.described
                expected[asked] = access.expected(
                    described, run["ranks"], run["threads"], rates_hz=rates_hz
                ).ratio
            theory = expected[asked]
        except BadInput as error:
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
    means = frame.groupby(["configuration", "ranks"], sort=False).mean().reset_index()
    return means, sorted(reasons)


def _counted_misses(sweep: SweepAnswer) -> tuple[Figure | None, str]:
    """Last-level misses of delivery over first accesses, per event, where counters were read."""
    rows = []
    reasons = set()
    for run in sweep.frames.runs.to_dict("records"):
        meters = sweep.frames.records[run["id"]].record.meters
        counters = [meter for meter in meters if meter.name == MISSES]
        read = [meter.value for meter in counters if _is_read(meter)]
        events = run["synaptic_events"]
        if not read or not events:
            reasons |= {meter.reason or meter.status for meter in counters}
            if not counters:
                reasons.add("no run asked for counters")
            continue
        rows.append(
            {
                "schedule": run["schedule"],
                "ranks": run["ranks"],
                "first_per_event": run["first_accesses"] / events,
                "misses_per_event": read[0] / events,
            }
        )
    if not rows:
        return None, f"Cache misses: {'; '.join(sorted(reasons))}."
    frame = pd.DataFrame(rows)
    caption = "A dot per run: misses of the last-level cache in deliver (counted)."
    with suppress(BadInput):
        more = caches.fit(frame["first_per_event"].to_numpy(), frame["misses_per_event"].to_numpy())
        caption += f" A first access causes {number(more)} misses more than a following synapse."
    return plots.points(
        frame,
        "first_per_event",
        "misses_per_event",
        "misses",
        "Cache misses",
        caption,
        hue="schedule",
        xlabel="first accesses per event",
        ylabel="misses per event",
    ), ""


def _is_read(meter: Meter) -> bool:
    """Whether a counter of delivery was read."""
    return meter.phase == "deliver" and meter.status == "ok" and meter.value is not None


def _simulated_misses(frames: Frames) -> pd.DataFrame:
    """What `spikemark cachesim` found of runs of this folder."""
    rows = []
    for run in frames.runs.to_dict("records"):
        try:
            misses = cachesim.read_totals(Results(frames.path).cachesim(run["id"]))
        except BadInput:
            continue
        if misses is None or not misses.synaptic_events:
            continue
        rows.append(
            {
                "label": run["label"],
                "first_per_event": misses.first_accesses / misses.synaptic_events,
                "misses_per_event": misses.misses / misses.synaptic_events,
                "predicted": misses.predicted / misses.synaptic_events,
            }
        )
    return pd.DataFrame(rows)
