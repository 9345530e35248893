"""What the networks did: rates, irregularity and slow waves, where spikes were recorded."""

from contextlib import suppress

import pandas as pd

from spikemark import activity
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.records.recording import Recording
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer

TITLE = "Activity: what did the networks do?"
BIN_MS = 5.0
MAX_GROUPS = 12  # populations, before areas are shown instead
MAX_NETWORKS = 5  # of which activity is shown
MAX_FIGURES = 2
MAX_BINS = 2000  # of the rate over time


def section(sweep: SweepAnswer) -> Section:
    """Activity of one run per network that recorded its spikes; all of a network fire alike.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).title
        'Activity: what did the networks do?'
    """
    tables: list[Table] = []
    figures: list[Figure] = []
    text = []
    networks = sweep.frames.runs.drop_duplicates("network")
    for run in networks.to_dict("records"):
        record = sweep.frames.records[run["id"]]
        if record.spikes is None or not len(record.spikes):
            continue
        recording = activity.recording_of(record)
        groups = activity.by_population(recording)
        if len(groups) > MAX_GROUPS:
            groups = activity.by_area(recording)
        seed = run["seed"]
        cv = activity.isi_cv(recording, groups)
        rows = []
        for name, rate in activity.rates_hz(recording, groups).items():
            rows.append({"population": name, "rate_hz": rate, "isi_cv": cv[name].cv})
        tables.append(plots.tabulated(pd.DataFrame(rows), title=f"Network of seed {seed}"))
        rhythm, figure = _wave(recording, f"rate-{len(figures)}")
        spikes_per_s = number(len(record.spikes) / recording.seconds)
        text.append(f"Seed {seed}: {spikes_per_s} spikes a second; {rhythm}.")
        if len(figures) < MAX_FIGURES:
            figures.append(figure)
    if not tables:
        return Section(
            "activity", TITLE, missing=["Activity: no run recorded spikes (`record.spikes`)."]
        )
    return Section(
        "activity", TITLE, text[:MAX_NETWORKS], figures=figures, tables=tables[:MAX_NETWORKS]
    )


def _wave(recording: Recording, name: str) -> tuple[str, Figure]:
    """Whether the population rate has a rhythm or up and down states, and the rate over time."""
    rate = activity.population_rate(recording, BIN_MS)
    states = activity.up_down_states(rate)
    rhythm = "no up and down states"
    if states.frequency_hz is not None:
        rhythm = f"up states at {number(states.frequency_hz)} Hz"
    with suppress(BadInput):
        peak_hz = activity.spectrum(rate).peak_hz
        if peak_hz:
            rhythm += f", a rhythm of {number(peak_hz)} Hz"
    time_s = [1e-3 * BIN_MS * number_of_bin for number_of_bin in range(len(rate.hz))]
    frame = pd.DataFrame({"time_s": time_s, "rate_hz": rate.hz})
    caption = f"All neurons together, in bins of {BIN_MS:g} ms (counted)."
    figure = plots.lines(
        frame.iloc[:MAX_BINS],
        "time_s",
        "rate_hz",
        name,
        "Population rate",
        caption,
        markers=False,
        xlabel="time (s)",
        ylabel="rate (Hz)",
    )
    return rhythm, figure
