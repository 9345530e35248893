"""What the networks did: rates, irregularity, synchrony, rhythms, beside published values."""

from spikemark.activity.trains import SYNCHRONY_BIN_MS
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records.cases import View
from spikemark.report.columns import known

from . import drawing
from .networks import Alternation, Group, Network, networks

TITLE = "Activity of the networks"
MOST_NETWORKS = 12
NO_SYNCHRONY, UNPUBLISHED = "no spike, or a run shorter than a bin", "nothing is published"
PUBLISHED = {
    Column("published_hz", "published (Hz)", "literature"): lambda g: known(g.published_hz, UNPUBLISHED),
    Column("ratio", "rate / published"): lambda g: known(g.over_published, UNPUBLISHED),
}
EXPLAINED = (
    "What did the networks do? All numbers are computed from the spikes of whole runs (counted). Rate: "
    "spikes per neuron and second. CV: SD over mean of the intervals between the spikes of a neuron, "
    "averaged over the neurons with at least three intervals; it is 0 for clocks and 1 for Poisson "
    "processes. Synchrony: "
    f"variance over mean of the spike count in bins of {SYNCHRONY_BIN_MS:g} ms (Potjans & Diesmann 2014); "
    "it is 1 for independent Poisson processes. Where neurons fire together it is larger, and it grows with "
    "their number. Clocks have peaks in their spectrum at multiples of their rate."
)
NOTHING = "Activity of the networks: no run recorded its spikes; set `record.spikes: true` in the experiment."


def section(view: View) -> Section:
    """Shows one picture and one table per network; one line if no run recorded spikes."""
    found = networks(view.sweep.runs, view.sweep.title)
    if not found:
        return Section("activity", TITLE, missing=[NOTHING])
    shown = found[:MOST_NETWORKS]
    lacking = [line for network in shown for line in reasons(network)]
    if len(found) > len(shown):
        lacking.append(f"{counted(len(found) - len(shown), 'further network')} of this sweep are not shown.")
    return Section(
        "activity",
        TITLE,
        text=[EXPLAINED],
        figures=[figure(network, i) for i, network in enumerate(shown) if network.recording.spikes.size],
        tables=[table(network) for network in shown],
        missing=lacking,
    )


def figure(network: Network, position: int) -> Figure:
    """Returns the picture of a network that fires."""
    alt = f"Activity of {network.title}: raster, rates, rate over time, spectrum. " + " ".join(
        f"{g.label}: {number(g.rate_hz)} Hz"
        + (f", {number(g.published_hz)} Hz published." if g.published_hz is not None else ".")
        for g in network.groups
    )
    name = f"activity-{position}"
    return Figure(
        name, network.title, drawing.draw(network, name, alt), alt, _caption(network), summary(network)
    )


def _caption(network: Network) -> str:
    words = (
        "From above: spikes of some neurons of each population, mean rates, rate of all neurons over time, "
        "and its power spectral density. "
    )
    if network.inhibitory:
        words += "Inhibitory populations are those with negative weights. "
    if any(g.published_hz is not None for g in network.groups):
        words += f"Diamonds: published rates (literature): {network.published.source}. "
    if network.published and network.published.mean_hz is not None:
        words += (
            f"Published mean rate: {number(network.published.mean_hz)} Hz (literature: "
            f"{network.published.source}). "
        )
    found = _alternation(network)
    if found and found.states.reason is None:
        words += "Shaded: up states" + ("" if found.label is None else f" of {found.label}, its rate in blue")
        words += ". "
    return f"{words}{network.folding}".strip()


def table(network: Network) -> Table:
    """Tabulates groups of populations beside published rates, where there are any."""
    columns = {
        Column("population", "population", "given"): lambda g: g.label,
        Column("neurons", "neurons", "given"): lambda g: g.neurons,
        Column("rate_hz", "rate (Hz)", "counted"): lambda g: g.rate_hz,
    }
    if any(g.published_hz is not None for g in network.groups):
        columns |= PUBLISHED
    columns |= {
        Column("cv", "CV of intervals", "counted"): _cv,
        Column("firing", "neurons that count", "counted"): lambda g: g.irregularity.neurons,
        Column("synchrony", "synchrony", "counted"): lambda g: known(g.synchrony, NO_SYNCHRONY),
    }
    return Table.of(columns, network.groups, network.title)


def _cv(g: Group) -> float | Quantity:
    return known(g.irregularity.cv, "no neuron fired four times")


def summary(network: Network) -> Table:
    """Tabulates what all neurons did together: names and values."""
    everyone = network.everyone
    values: dict[str, Cell] = {
        "neurons": everyone.neurons,
        "recorded (s)": network.recording.seconds,
        "runs of this network, all seeds": len(network.runs),
        "mean rate (Hz)": everyone.rate_hz,
    }
    if everyone.published_hz is not None:
        values["published mean rate (Hz, literature)"] = everyone.published_hz
    values |= {"CV of intervals": _cv(everyone), **_spectrum(network), **_states(network)}
    columns = {
        Column("what", ""): lambda row: row[0],
        Column("value", "value", "counted"): lambda row: row[1],
    }
    return Table.of(columns, values.items())


def _spectrum(network: Network) -> dict[str, Cell]:
    what = "peak of the spectrum (Hz)"
    try:
        found = network.spectrum
    except BadInput as error:
        return {what: missing(str(error))}
    cells: dict[str, Cell] = {what: "none above noise" if found.peak_hz is None else found.peak_hz}
    if found.prominence is not None:
        cells["density at the peak / beside it"] = found.prominence
    return cells


def _states(network: Network) -> dict[str, Cell]:
    what = "up and down states"
    try:
        found = network.alternation
    except BadInput as error:
        return {what: missing(str(error))}
    states = found.states
    if states.reason is not None:
        return {what: f"none: {states.reason}"}
    return {
        "neurons with up and down states": found.label or "all",
        "alternation of up and down states (Hz)": states.frequency_hz,
        "up states, mean (ms)": float(states.up_ms.mean()),
        "down states, mean (ms)": float(states.down_ms.mean()),
        "share of the variance between the states": states.bimodality,
    }


def reasons(network: Network) -> list[str]:
    """Says why numbers of a network are missing."""
    lines = []
    if not network.recording.spikes.size:
        return [f"{network.title}: no neuron fired in {number(network.recording.seconds)} s."]
    without = [g.label for g in network.groups if g.irregularity.cv is None]
    if without:
        lines.append(f"{network.title}: CV of {', '.join(without)}: no neuron fired four times.")
    if any(g.synchrony is None and g.rate_hz for g in network.groups):
        lines.append(f"{network.title}: synchrony: the recording is shorter than a bin.")
    for attribute, what in (("spectrum", "spectrum"), ("alternation", "up and down states")):
        try:
            getattr(network, attribute)
        except BadInput as error:
            lines.append(f"{network.title}: {what}: {error}.")
    return lines


def _alternation(network: Network) -> Alternation | None:
    try:
        return network.alternation
    except BadInput:
        return None
