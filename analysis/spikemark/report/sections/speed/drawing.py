"""Rates, memory and speed-up as rows by ranks and threads; delivery and its bound over the list length."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from spikemark.bench import kernels
from spikemark.quantities.quantity import Quantity
from spikemark.report.look import between, tell
from spikemark.report.style import (
    COLOUR,
    drawing,
    label_rows,
    legend_above,
    markup,
    phase_colour,
    plain_ticks,
    rows_height,
    schedule_colour,
)

LONG_TAIL = 20  # ratio of largest to smallest rate above which the axis is logarithmic
DOT = {"marker": "o", "linestyle": "", "markersize": 5.5, "markeredgewidth": 0}
RING = {"marker": "o", "linestyle": "", "markersize": 6.5, "color": "none", "markeredgewidth": 1.4}

# A part of memory has the colour of the phase that works on it.
PARTS = {
    "synapses": COLOUR["deliver"],
    "neurons": COLOUR["update"],
    "routes": COLOUR["collocate"],
    "buffers": COLOUR["exchange"],
    "ring": COLOUR["synchronise"],
    "lists": COLOUR["other-1"],
    "log": COLOUR["other-3"],
}
CURVES = {
    kernels.BOUND_PLAIN: ("bound without prefetch", COLOUR["muted"], ":"),
    kernels.BOUND: ("bound", COLOUR["ink"], "--"),
    kernels.DELIVER: ("deliver", COLOUR["deliver"], "-"),
}


def rates(groups: dict[str, list], kind: str, name: str, alt: str) -> str:
    """Draws million synaptic events per second and core. `groups`: setups.Setup by ranks and threads."""
    everything = [x / 1e6 for setups in groups.values() for s in setups for x in s.delivery + s.whole]
    with _panels(_labels(groups)) as (figure, panels):
        for axes, setups in zip(panels, groups.values(), strict=True):
            for y, setup in enumerate(setups):
                for what, values, style in (
                    ("delivery alone", setup.delivery, {**DOT, "color": COLOUR["deliver"]}),
                    ("whole run", setup.whole, {**RING, "markeredgecolor": COLOUR["ink"]}),
                ):
                    millions, rows = [x / 1e6 for x in values], [-y] * len(values)
                    axes.plot(millions, rows, **style)
                    tell(axes, what, millions, rows, kind, y_says=[setup.configuration.label] * len(rows))
        if max(everything) > LONG_TAIL * min(everything):
            panels[-1].set_xscale("log")
            _plain_numbers(panels[-1].xaxis)
        else:
            panels[-1].set_xlim(0, 1.08 * max(everything))
        panels[-1].set_xlabel("million synaptic events / s / core")
        handles = [
            Line2D([], [], label="delivery alone", color=COLOUR["deliver"], **DOT),
            Line2D([], [], label="whole run", markeredgecolor=COLOUR["ink"], **RING),
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)


def memory(groups: dict[str, list], rest: str, name: str, alt: str) -> str:
    """Draws memory by part; `groups`: setups with synapses; `rest`: what belongs to no part."""
    parts = list(dict.fromkeys(n for setups in groups.values() for s in setups for n in s.memory))
    parts = [*(n for n in parts if n != rest), rest]
    unknown = [n for n in parts if n not in PARTS and n != rest]
    handles = {}
    with _panels(_labels(groups)) as (figure, panels):
        for axes, setups in zip(panels, groups.values(), strict=True):
            left = np.zeros(len(setups))
            for part in parts:
                widths = np.array([s.memory.get(part) or 0 for s in setups])
                colour = COLOUR["rule"] if part == rest else PARTS.get(part)
                handles[part] = axes.barh(
                    -np.arange(len(setups)), widths, 0.66, left=left, label=part,
                    color=colour or phase_colour(part, unknown),
                )  # fmt: skip
                words = [setup.configuration.label for setup in setups]
                tell(axes, part, left + widths / 2, -np.arange(len(setups)), "", widths.tolist(), words)
                left += widths
        panels[-1].set_xlim(left=0)
        panels[-1].set_xlabel("bytes / synapse")
        legend_above(figure, list(handles.values()), columns=4)
        return markup(figure, name, alt)


def speed_up(gains: dict, kind: str, name: str, alt: str) -> str:
    """Draws setups.Gain by configuration."""
    ideal = {"marker": "|", "markersize": 15, "linestyle": "", "color": COLOUR["model"]}
    largest = max(max(g.ideal, g.ratio.value) for group in gains.values() for g in group)
    rows = {c.label: [g.setup.where for g in group] for c, group in gains.items()}
    with _panels(rows) as (figure, panels):
        for axes, (configuration, group) in zip(panels, gains.items(), strict=True):
            colour = schedule_colour(configuration.schedule)
            for y, gain in enumerate(group):
                axes.plot(gain.ideal, -y, **ideal)
                if gain.ratio.low is not None:
                    axes.plot([gain.ratio.low, gain.ratio.high], [-y, -y], color=colour)
                axes.plot(gain.ratio.value, -y, color=colour, **DOT)
                found = Quantity(gain.ratio.value, gain.ratio.low, gain.ratio.high)
                tell(axes, configuration.label, [found], [-y], kind, y_says=[gain.setup.where])
        panels[-1].set_xlim(0, 1.25 * largest)  # intervals from few runs can be absurdly wide
        panels[-1].set_xlabel("speed-up against the smallest (no unit)")
        handles = [
            Line2D([], [], label=kind, color=COLOUR["muted"], **DOT),
            Line2D([], [], label="proportional to cores", **{**ideal, "markersize": 10}),
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)


def bound(table, setups: list, kind: str, name: str, alt: str) -> str:
    """Draws kernels.parquet, and setups that have a list length and a time of delivery."""
    handles = []
    with drawing(height=3.3) as (figure, (axes,)):
        for kernel, (label, colour, line) in CURVES.items():
            curve = table[table["kernel"] == kernel].sort_values("size")
            if len(curve):
                axes.fill_between(
                    curve["size"], curve["q1_ns"], curve["q3_ns"], color=colour, alpha=0.2, linewidth=0
                )
                handles += axes.plot(curve["size"], curve["median_ns"], line, color=colour, label=label)
                quartiles = between(curve["median_ns"], curve["q1_ns"], curve["q3_ns"])
                tell(axes, f"{label} (quartiles)", curve["size"], quartiles, "measured")
        for setup in setups:
            colour = schedule_colour(setup.configuration.schedule)
            mean = 1e9 * np.mean(setup.deliver_s)
            axes.plot(setup.length, mean, markeredgecolor=colour, **RING)
            tell(axes, f"runs, {setup.configuration.label}", [setup.length], [mean], kind)
        handles.append(Line2D([], [], label="runs", markeredgecolor=COLOUR["muted"], **RING))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        plain_ticks(axes.xaxis, base=4)
        _plain_numbers(axes.yaxis)
        axes.grid()
        axes.set(xlabel="list length L (synapses)", ylabel="ns / synapse")
        legend_above(figure, handles, columns=4 if len(handles) < 4 else 2)
        return markup(figure, name, alt, zoom=axes)


@contextmanager
def _panels(rows: dict[str, list[str]]) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yields one panel per title with a line, 0, -1, …, for each label; all panels share the axis below."""
    counts = [len(labels) for labels in rows.values()]
    height = rows_height(sum(counts), titles=len(counts))
    ratios = {"height_ratios": [0.2 + n for n in counts]}
    with drawing(len(counts), height, sharex=True, gridspec_kw=ratios) as (figure, panels):
        figure.get_layout_engine().set(h_pad=0.07)
        for axes, (title, labels) in zip(panels, rows.items(), strict=True):
            axes.set_title(title, pad=7)
            label_rows(axes, [-y for y in range(len(labels))], labels)
            axes.set_ylim(-len(labels) + 0.4, 0.6)
            axes.xaxis.set_major_locator(MaxNLocator(5))
        yield figure, panels


def _labels(groups: dict[str, list]) -> dict[str, list[str]]:
    return {title: [s.configuration.label for s in setups] for title, setups in groups.items()}


def _plain_numbers(axis) -> None:
    low, high = axis.get_view_interval()
    plain_ticks(axis, subs=(1, 2, 5) if high < 50 * low else (1,))
