"""What the runs cost in energy, where a meter was read."""

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import of_run
from spikemark.models.power import thinned
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import number
from spikemark.records.frames import configurations
from spikemark.report import plots
from spikemark.report.answer import Answer, timed

TITLE = "Energy: what did it cost?"
POINTS = 600
OUTSIDE = (
    "`spikemark energy RUN_DIR --machine NAME` models it; `--power FILE.csv --keep` reads an external meter"
)


def section(found: Answer) -> Section:
    """Energy per synaptic event of every run that has one, and power over time of the largest."""
    runs = timed(found.frames.runs)
    runs = runs.assign(configuration=configurations(runs)) if len(runs) else runs
    rows, reasons, largest = [], set(), None
    for run in runs.to_dict("records"):
        try:
            energy = of_run(found.frames.records[run["id"]])
        except BadInput as error:
            reasons.add(str(error))
            continue
        if energy.kind is None:
            reasons.add(energy.reason)
            continue
        per = energy.per_event[-1]
        rows.append(
            {
                "configuration": run["configuration"],
                "ranks": run["ranks"],
                "energy_j": energy.gross_j.value,
                "net_j": energy.net_j.value,
                "energy_per_event_uj": per.gross_uj.value,
            }
        )
        if largest is None or run["ranks"] > largest[0]["ranks"]:
            largest = run, energy
    if not rows:
        why = "no meter was read" if reasons else "no run is complete"
        return Section(
            "energy",
            TITLE,
            missing=[
                f"Energy: {why}. {OUTSIDE}.",
                *(f"Meters of the nodes: {one}." for one in sorted(reasons)),
            ],
        )
    frame = pd.DataFrame(rows)
    means = frame.groupby(["configuration", "ranks"], sort=False).mean().reset_index()
    best = means.loc[means["energy_per_event_uj"].astype(float).idxmin()]
    text = [
        f"The least energy per synaptic event is {number(best['energy_per_event_uj'])}\u202fµJ"
        f" (gross, {largest[1].kind}):"
        f" {best['configuration']} on {best['ranks']} ranks."
    ]
    caption = "Gross energy of all nodes over recurrent and external synaptic events; a dot per run."
    figure = plots.points(
        frame, "energy_per_event_uj", "configuration", "energy-event", "Energy per synaptic event", caption,
        panel="ranks" if frame["ranks"].nunique() > 1 else None, xlabel="energy per synaptic event (µJ)",
    )  # fmt: skip
    return Section("energy", TITLE, text, figures=[figure, *power(*largest)], tables=[plots.tabulated(means)])


def power(run: dict, energy) -> list[Figure]:
    """Power over time of one run; none for a modelled energy, which has no course."""
    source = getattr(energy, "source", None)
    if source is None:
        return []
    times, watts = thinned(*source.trace.points(), POINTS)
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
