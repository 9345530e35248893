"""Time per synaptic event over the length of lists, from runs and predicted, in one colour for each setup."""

from matplotlib.lines import Line2D

from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup

from .timing import Point

COLOURS = ("deliver", "exchange", "update", "synchronise", "collocate", "other-1", "other-2", "other-3")


def draw(shown: list[tuple[Point, float, float]], kind: str, name: str, alt: str) -> str:
    """`shown`: a point, its time and the predicted one, both in nanoseconds per synaptic event."""
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        for i, label in enumerate(dict.fromkeys(p.label for p, _, _ in shown)):
            colour = COLOUR[COLOURS[i % len(COLOURS)]]
            dot = {"marker": "o", "markersize": 5.5, "linestyle": "", "color": colour}
            for p, actual, predicted in (entry for entry in shown if entry[0].label == label):
                filled = "none" if p.held_out else colour
                axes.plot(p.length, actual, **dot, markerfacecolor=filled, markeredgewidth=1.2)
                axes.plot(p.length, predicted, "x", color=colour, markersize=5)
                tell(axes, label, [p.length], [actual], kind)
                tell(axes, f"{label}, predicted", [p.length], [predicted], "modelled")
            handles.append(Line2D([], [], label=label, **dot))
        cross = {"marker": "x", "markersize": 5, "linestyle": "", "color": COLOUR["model"]}
        handles.append(Line2D([], [], label="predicted", **cross))
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:.1g}" if f"{value:e}"[0] in "25" else "")
        axes.grid()
        axes.set_xlabel("mean length of the lists entered (synapses)")
        axes.set_ylabel("ns per synaptic event")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)
