"""A network at work: raster, rates, the population rate over time and its spectrum."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from spikemark.core.errors import BadInput
from spikemark.report.style import COLOUR, canvas, legend_above, markup

ROWS = 1600  # neurons in the raster, at most
STROKE = 1 / 110  # height of a spike in the raster
MOST_SPIKES = 3500  # in the raster, which is most of the size of the drawing
WINDOW_MS, PERIODS = 500.0, 2.5  # of the raster; with up states, at least this many periods
MOST_BINS = 400  # of the rate over time
LEAST_SHARE = 0.55  # of the raster for a group, over equal shares
LABEL = 12  # characters


def draw(network, name: str, alt: str) -> str:
    """Draws a networks.Network that has at least one spike."""
    groups = network.groups
    with canvas(6.6) as figure:
        grid = figure.add_gridspec(3, 2, height_ratios=[2.7, 1, 1.2], width_ratios=[2.1, 1])
        raster = figure.add_subplot(grid[0, 0])
        bars = figure.add_subplot(grid[0, 1], sharey=raster)
        time, power = figure.add_subplot(grid[1, :]), figure.add_subplot(grid[2, :])
        edges = _edges(np.array([g.neurons for g in groups]))
        _raster(raster, network, edges)
        _bars(bars, groups, edges)
        _rate(time, network)
        _spectrum(power, network)
        patch = {"marker": "s", "linestyle": "", "markersize": 7, "markeredgewidth": 0}
        handles = []
        if network.inhibitory:
            handles = [
                Line2D([], [], label="excitatory", color=_colour(False), **patch),
                Line2D([], [], label="inhibitory", color=_colour(True), **patch),
            ]
        if any(g.published_hz is not None for g in groups):
            handles.append(Line2D([], [], label="published", **_DIAMOND))
        if handles:
            legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)


_DIAMOND = {
    "marker": "D",
    "linestyle": "",
    "markersize": 5,
    "color": "none",
    "markeredgecolor": COLOUR["model"],
    "markeredgewidth": 1.3,
}


def _colour(inhibitory: bool) -> str:
    return COLOUR["exchange" if inhibitory else "deliver"]


def _edges(neurons: np.ndarray) -> np.ndarray:
    """Divides 0 (above) to 1 among the groups by the square roots of their sizes, [group + 1]."""
    shares = np.sqrt(neurons) / np.sqrt(neurons).sum()
    shares = np.maximum(shares, LEAST_SHARE / len(neurons))
    return np.r_[0, np.cumsum(shares / shares.sum())]


def _raster(axes: Axes, network, edges: np.ndarray) -> None:
    recording = network.recording
    window = _window_ms(network)
    last = np.searchsorted(recording.steps_since_start, round(window / recording.resolution_ms))
    gids = recording.gids[:last].astype(np.int64)
    at_ms = recording.steps_since_start[:last] * recording.resolution_ms
    row = _sample(network, edges, gids)
    inhibits = np.concatenate([np.full(p.size, p.name in network.inhibitory) for p in recording.populations])
    for inhibitory in (False, True):
        shown = (row[gids] >= 0) & (inhibits[gids] == inhibitory)
        _ticks(axes, at_ms[shown], row[gids[shown]], _colour(inhibitory))
    centres = (edges[1:] + edges[:-1]) / 2
    axes.set_yticks(centres, [_short(g.label) for g in network.groups])
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(1, 0), xlim=(0, window))
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_xlabel("time (ms)")
    for edge in edges[1:-1]:
        axes.axhline(edge, color=COLOUR["rule"], linewidth=0.8)


def _window_ms(network) -> float:
    """Returns the length of time to show, in ms: long enough to see the up states."""
    whole = 1e3 * network.recording.seconds
    try:
        frequency = network.alternation.states.frequency_hz
    except BadInput:
        frequency = None
    return min(whole, max(WINDOW_MS, PERIODS * 1e3 / frequency if frequency else 0))


def _sample(network, edges: np.ndarray, gids: np.ndarray) -> np.ndarray:
    """Returns the place of each neuron in the raster, 0 to 1, or -1 where it is not shown, [neuron].

    Neurons of a group are taken at equal distances; fewer of them if they had too many of the spikes `gids`.
    """
    recording = network.recording
    place = {p.name: np.arange(p.first, p.first + p.size) for p in recording.populations}
    members = [np.concatenate([place[name] for name in names]) for names in network.members.values()]
    fired = np.bincount(gids, minlength=sum(p.size for p in recording.populations))
    rows = ROWS
    while True:
        row = np.full(len(fired), -1.0)
        for i, own in enumerate(members):
            count = min(len(own), max(1, round(rows * (edges[i + 1] - edges[i]))))
            chosen = own[np.linspace(0, len(own) - 1, count).astype(int)]
            row[chosen] = edges[i] + (np.arange(count) + 0.5) / count * (edges[i + 1] - edges[i])
        if fired[row >= 0].sum() <= MOST_SPIKES or rows < 2 * len(members):
            return row
        rows = int(0.8 * rows)


def _ticks(axes: Axes, x: np.ndarray, y: np.ndarray, colour: str) -> None:
    """Draws one path of short vertical strokes, which takes far fewer bytes than as many markers."""
    ends = np.stack([np.column_stack([x, y - STROKE / 2]), np.column_stack([x, y + STROKE / 2])], axis=1)
    path = Path(ends.reshape(-1, 2), np.tile([Path.MOVETO, Path.LINETO], len(x)))
    path.should_simplify = False
    if len(x):
        axes.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, linewidth=1))


def _bars(axes: Axes, groups: list, edges: np.ndarray) -> None:
    centres, heights = (edges[1:] + edges[:-1]) / 2, 0.62 * np.diff(edges).min()
    rates = [g.rate_hz for g in groups]
    axes.barh(centres, rates, heights, color=[_colour(g.inhibitory) for g in groups])
    for y, g in zip(centres, groups, strict=True):
        if g.published_hz is not None:
            axes.plot(g.published_hz, y, **_DIAMOND)
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.set_xlim(0, 1.12 * max([*rates, *(g.published_hz or 0 for g in groups)]) or 1)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.grid(axis="x")
    axes.set_xlabel("rate (Hz)")


def _rate(axes: Axes, network) -> None:
    axes.set(ylabel="rate (Hz)", xlabel="time (s)")
    try:
        found = network.alternation
    except BadInput:
        return
    lines = [(network.rate, COLOUR["ink"])]
    if found.label is not None:
        lines.insert(0, (found.rate, COLOUR["deliver"]))
    top = 0.0
    for rate, colour in lines:
        together = max(1, len(rate.hz) // MOST_BINS)
        bins = len(rate.hz) // together
        hz = rate.hz[: bins * together].reshape(bins, together).mean(axis=1)
        axes.plot(1e-3 * rate.bin_ms * together * (np.arange(bins) + 0.5), hz, color=colour, linewidth=1)
        top = max(top, 1.05 * hz.max())
    spans = [(1e-3 * start, 1e-3 * (end - start)) for start, end in found.states.ups_ms]
    axes.broken_barh(spans, (0, top), color=COLOUR["band"], linewidth=0, zorder=0)
    axes.set(xlim=(0, network.recording.seconds), ylim=(0, top or 1))
    axes.yaxis.set_major_locator(MaxNLocator(3))


def _spectrum(axes: Axes, network) -> None:
    axes.set(xlabel="frequency (Hz)", ylabel="Hz²/Hz")
    try:
        found = network.spectrum
    except BadInput:
        return
    axes.plot(found.frequencies_hz, found.density, color=COLOUR["ink"], linewidth=1)
    axes.set_xscale("log")
    if found.density.max() > 0:
        axes.set_yscale("log")
    axes.set_xlim(found.frequencies_hz[0], found.frequencies_hz[-1])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    if found.peak_hz is not None:
        at = found.density[np.searchsorted(found.frequencies_hz, found.peak_hz)]
        axes.plot(found.peak_hz, at, "o", color=COLOUR["exchange"], markersize=5)
        axes.annotate(
            f"{found.peak_hz:.3g} Hz", (found.peak_hz, at), (6, -2), textcoords="offset points", fontsize=10
        )
    axes.grid(axis="x")
    axes.minorticks_off()


def _short(label: str) -> str:
    return label if len(label) <= LABEL else f"{label[: LABEL - 1]}…"
