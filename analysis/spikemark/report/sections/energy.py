"""What the runs cost in energy, where a meter was read."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import Energy, of_run
from spikemark.models.power import thinned
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import number
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer, compared

TITLE = "Energy: what did it cost?"
MAX_POINTS = 600  # of the course of power
FIGURES = ["energy_j", "net_j", "energy_per_event_uj"]
OUTSIDE = (
    "`spikemark energy RUN_DIR --machine NAME` models it; `--power FILE.csv --keep` reads an"
    " external meter"
)


def section(sweep: SweepAnswer) -> Section:
    """Energy per synaptic event of every run of the case that has one, and power over time of the
    largest.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).missing[0].split(". ")[0]  # no meter was read
        'Energy: no meter was read'
    """
    rows = []
    reasons: set[str] = set()
    largest: tuple[dict[Hashable, Any], Energy] | None = None
    for run in compared(sweep).to_dict("records"):
        try:
            energy = of_run(sweep.frames.records[run["id"]])
        except BadInput as error:
            reasons.add(str(error))
            continue
        if energy.kind is None:
            reasons.add(str(energy.reason))
            continue
        rows.append(
            {
                "configuration": run["configuration"],
                "ranks": run["ranks"],
                "energy_j": energy.gross_j.value,
                "net_j": energy.net_j.value,
                "energy_per_event_uj": energy.per_event[-1].gross_uj.value,
            }
        )
        if largest is None or run["ranks"] > largest[0]["ranks"]:
            largest = run, energy
    if largest is None:
        reason = "no meter was read" if reasons else "no run is complete"
        meters = [f"Meters of the nodes: {line}." for line in sorted(reasons)]
        return Section("energy", TITLE, missing=[f"Energy: {reason}. {OUTSIDE}.", *meters])
    frame = pd.DataFrame(rows).astype(dict.fromkeys(FIGURES, float))
    means = frame.groupby(["configuration", "ranks"], sort=False)[FIGURES].mean().reset_index()
    tables = [plots.tabulated(means)]
    with_events = means.dropna(subset="energy_per_event_uj")
    if with_events.empty:
        text = ["No run has a synaptic event, so that there is no energy of one."]
        return Section("energy", TITLE, text, figures=_power(*largest), tables=tables)
    best = with_events.iloc[int(with_events["energy_per_event_uj"].argmin())]
    least_uj = number(best["energy_per_event_uj"])
    text = [
        f"The least energy per synaptic event is {least_uj}\u202fµJ (gross, {largest[1].kind}):"
        f" {best['configuration']} on {best['ranks']} ranks."
    ]
    caption = (
        "Gross energy of all nodes over recurrent and external synaptic events; a dot per run."
    )
    figure = plots.points(
        frame.dropna(subset="energy_per_event_uj"),
        "energy_per_event_uj",
        "configuration",
        "energy-event",
        "Energy per synaptic event",
        caption,
        panel=plots.if_several(frame, "ranks"),
        xlabel="energy per synaptic event (µJ)",
    )
    return Section("energy", TITLE, text, figures=[figure, *_power(*largest)], tables=tables)


def _power(run: dict[Hashable, Any], energy: Energy) -> list[Figure]:
    """Power over time of one run; none for a modelled energy, which has no course."""
    source = getattr(energy, "source", None)
    if source is None:
        return []
    times, watts = source.trace.points()
    times, watts = thinned(times, watts, MAX_POINTS)
    zero, end = source.timeline.measured
    frame = pd.DataFrame({"time_s": times - zero, "power_w": watts})
    where = f"{run['configuration']}, {run['ranks']} ranks, read by {source.name}"
    caption = f"{where}. Measured from 0 to {number(end - zero)} s."
    return [
        plots.lines(
            frame,
            "time_s",
            "power_w",
            "power",
            "Power over time",
            caption,
            xlabel="time (s)",
            ylabel="power (W)",
        )
    ]
