"""What the networks did: rates, irregularity and slow waves, where spikes were recorded."""

import pandas as pd

from spikemark import activity
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import number
from spikemark.report import plots
from spikemark.report.answer import Answer

TITLE = "Activity: what did the networks do?"
BIN_MS = 5.0
MOST_GROUPS = 12  # populations, before areas are shown instead


def section(found: Answer) -> Section:
    """Activity of one run per network that recorded its spikes; all of a network fire alike."""
    tables, figures, text = [], [], []
    networks = found.frames.runs.drop_duplicates("network")
    for run in networks.to_dict("records"):
        record = found.frames.records[run["id"]]
        if record.spikes is None or not len(record.spikes):
            continue
        recording = activity.of(record)
        groups = activity.by_population(recording)
        groups = activity.by_area(recording) if len(groups) > MOST_GROUPS else groups
        rates, cv = activity.rates_hz(recording, groups), activity.isi_cv(recording, groups)
        rows = [{"population": n, "rate_hz": rate, "isi_cv": cv[n].mean} for n, rate in rates.items()]
        tables.append(plots.tabulated(pd.DataFrame(rows), title=f"Network of seed {run['seed']}"))
        said, figure = wave(recording, f"rate-{len(figures)}")
        text.append(
            f"Seed {run['seed']}: {number(len(record.spikes) / recording.seconds)} spikes a second; {said}."
        )
        figures += [figure] if len(figures) < 2 else []
    if not tables:
        return Section("activity", TITLE, missing=["Activity: no run recorded spikes (`record.spikes`)."])
    return Section("activity", TITLE, text[:5], figures=figures, tables=tables[:5])


def wave(recording, name: str) -> tuple[str, Figure]:
    """Whether the population rate has a rhythm or up and down states, and the rate over time."""
    rate = activity.population_rate(recording, BIN_MS)
    states = activity.up_down_states(rate)
    said = "no up and down states"
    if states.frequency_hz is not None:
        said = f"up states at {number(states.frequency_hz)} Hz"
    try:
        peak = activity.spectrum(rate).peak_hz
        said += f", a rhythm of {number(peak)} Hz" if peak else ""
    except BadInput:
        pass
    frame = pd.DataFrame({"time_s": [1e-3 * BIN_MS * i for i in range(len(rate.hz))], "rate_hz": rate.hz})
    caption = f"All neurons together, in bins of {BIN_MS:g} ms (counted)."
    figure = plots.lines(
        frame.iloc[:2000], "time_s", "rate_hz", name, "Population rate", caption, markers=False,
        xlabel="time (s)", ylabel="rate (Hz)",
    )  # fmt: skip
    return said, figure
