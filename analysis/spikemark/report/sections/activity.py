"""What the networks did: rates, irregularity, synchrony, rhythms, beside published values."""

from spikemark.activity.trains import SYNCHRONY_BIN_MS
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, integer, number
from spikemark.records.cases import View
from spikemark.report.figures import activity as drawing
from spikemark.report.networks import Alternation, Group, Network, networks

TITLE = "Activity of the networks"
MOST_NETWORKS = 12
EXPLAINED = (
    "Spikes of whole runs (counted). Rate: spikes per neuron and second. CV: SD over mean of the intervals "
    "between the spikes of a neuron, mean over the neurons with at least three; 0 for clocks, 1 for Poisson "
    f"processes. Synchrony: variance over mean of the spike count in bins of {SYNCHRONY_BIN_MS:g} ms "
    "(Potjans & Diesmann 2014); 1 for independent Poisson processes, more where neurons fire together, and "
    "then also with the number of neurons. Clocks have peaks in their spectrum at multiples of their rate."
)
NOTHING = "Activity of the networks: no run recorded its spikes: set `record.spikes: true` in the experiment."


def section(view: View) -> Section:
    """One picture and one table per network; a line if no run recorded spikes."""
    found = networks(view.sweep.runs, view.sweep.title)
    if not found:
        return Section("activity", TITLE, missing=[NOTHING])
    shown = found[:MOST_NETWORKS]
    missing = [line for network in shown for line in reasons(network)]
    if len(found) > len(shown):
        missing.append(f"{counted(len(found) - len(shown), 'further network')} of this sweep are not shown.")
    return Section(
        "activity",
        TITLE,
        text=[EXPLAINED],
        figures=[figure(network, i) for i, network in enumerate(shown) if network.recording.spikes.size],
        tables=[(network.title, table(network)) for network in shown],
        missing=missing,
    )


def figure(network: Network, position: int) -> Figure:
    """The picture of a network that fires."""
    alt = f"Activity of {network.title}: raster, rates, rate over time, spectrum. " + " ".join(
        f"{g.label}: {number(g.rate_hz)} Hz"
        + (f", {number(g.published_hz)} Hz published." if g.published_hz is not None else ".")
        for g in network.groups
    )
    name = f"activity-{position}"
    values = Table(["", "value"], summary(network), ["", "counted"])
    return Figure(name, network.title, drawing.draw(network, name, alt), alt, _caption(network), values)


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
    """Groups of populations, beside published rates where there are any."""
    beside = any(g.published_hz is not None for g in network.groups)
    heads = ["population", "neurons", "rate (Hz)"]
    kinds = ["given", "given", "counted"]
    if beside:
        heads += ["published (Hz)", "rate / published"]
        kinds += ["literature", ""]
    heads += ["CV of intervals", "neurons that count", "synchrony"]
    kinds += ["counted", "counted", "counted"]
    return Table(heads, [_row(g, beside) for g in network.groups], kinds)


def _row(g: Group, beside: bool) -> list[str]:
    row = [g.label, integer(g.neurons), number(g.rate_hz)]
    if beside:
        ratio = g.rate_hz / g.published_hz if g.published_hz else None
        row += [_or_missing(g.published_hz), _or_missing(ratio)]
    return [
        *row,
        _or_missing(g.irregularity.cv),
        integer(g.irregularity.neurons),
        _or_missing(g.synchrony),
    ]


def summary(network: Network) -> list[list[str]]:
    """Of all neurons together: name and value."""
    everyone, recording = network.everyone, network.recording
    rows = [
        ["neurons", integer(everyone.neurons)],
        ["recorded (s)", number(recording.seconds)],
        ["runs of this network, all seeds", str(len(network.runs))],
        ["mean rate (Hz)", number(everyone.rate_hz)],
        *(
            [["published mean rate (Hz, literature)", number(everyone.published_hz)]]
            if everyone.published_hz is not None
            else []
        ),
        ["CV of intervals", _or_missing(everyone.irregularity.cv)],
    ]
    try:
        spectrum = network.spectrum
        peak = "none above noise" if spectrum.peak_hz is None else number(spectrum.peak_hz)
        rows.append(["peak of the spectrum (Hz)", peak])
        if spectrum.prominence is not None:
            rows.append(["density at the peak / beside it", number(spectrum.prominence)])
    except BadInput:
        rows.append(["peak of the spectrum (Hz)", "missing"])
    found = _alternation(network)
    if found is None:
        return [*rows, ["up and down states", "missing"]]
    states = found.states
    if states.reason is not None:
        return [*rows, ["up and down states", f"none: {states.reason}"]]
    return [
        *rows,
        ["neurons with up and down states", found.label or "all"],
        ["alternation of up and down states (Hz)", number(states.frequency_hz)],
        ["up states, mean (ms)", number(states.up_ms.mean())],
        ["down states, mean (ms)", number(states.down_ms.mean())],
        ["share of the variance between the states", number(states.bimodality)],
    ]


def reasons(network: Network) -> list[str]:
    """Why numbers of a network are missing."""
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


def _or_missing(value: float | None) -> str:
    return "missing" if value is None else number(value)
