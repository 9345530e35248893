"""Lines over one axis, one colour per schedule: what was simulated, and what a model says."""

from dataclasses import dataclass, field

from matplotlib.lines import Line2D

from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour


@dataclass(frozen=True)
class Line:
    """Points (x, y) of one schedule; `model` is dashed, `marks` are crosses without a line."""

    label: str
    schedule: str
    points: list[tuple[float, float]]
    marker: str = "o"
    model: list[tuple[float, float]] = field(default_factory=list)
    marks: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Axis:
    """`places`: positions of the ticks, evenly spaced with `even`, else as far apart as their numbers."""

    head: str
    places: list[float]
    even: bool = True

    def at(self, x: float) -> float:
        return self.places.index(x) if self.even else x


def draw(
    lines: list[Line],
    across: Axis,
    up: str,
    kind: str,
    name: str,
    alt: str,
    words: dict[str, str],
    log: bool = True,
) -> str:
    """Inline SVG; `kind` is that of the points.

    `words` names in the legend what `model` (dashed) and `marks` (crosses) are, if any.
    """
    handles = []
    with drawing(height=3.8) as (figure, (axes,)):
        for line in lines:
            colour = schedule_colour(line.schedule)
            dots = {"marker": line.marker, "markersize": 5, "color": colour, "markeredgewidth": 0}
            solid = "" if line.model else "-"
            axes.plot(*_at(line.points, across), linestyle=solid, linewidth=1.2, **dots)
            axes.plot(*_at(line.model, across), "--", color=colour, linewidth=1)
            axes.plot(*_at(line.marks, across), "x", color=COLOUR["ink"], markersize=6)
            handles.append(Line2D([], [], label=line.label, linestyle=solid, **dots))
            for points, what, of in (
                (line.points, "", kind), (line.model, words.get("model", ""), "modelled"),
                (line.marks, words.get("marks", ""), ""),
            ):  # fmt: skip
                said, series = [f"{x:g}" for x, _ in points], ", ".join(filter(None, [line.label, what]))
                tell(axes, series, *_at(points, across), of, said)
        if any(line.marks for line in lines):
            cross = {"marker": "x", "markersize": 6, "linestyle": "", "color": COLOUR["ink"]}
            handles.append(Line2D([], [], label=words["marks"], **cross))
        if any(line.model for line in lines):
            handles.append(Line2D([], [], linestyle="--", color=COLOUR["model"], label=words["model"]))
        axes.set_xticks([across.at(x) for x in across.places], [f"{x:g}" for x in across.places])
        if log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(axis="y")
        axes.set_xlabel(across.head)
        axes.set_ylabel(up)
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)


def _at(points: list[tuple[float, float]], across: Axis) -> tuple[list[float], list[float]]:
    return [across.at(x) for x, _ in points], [y for _, y in points]
