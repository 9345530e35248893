"""Waiting against D: one dot per run, the theory as a dashed line."""

import itertools
import math
from collections import Counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from spikemark.report.look import between, tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, plain_ticks, schedule_colour

MARKERS = {"conventional": "s", "placement_only": "^", "overlapped": "D", "hierarchical": "v"}
INDEPENDENT = "independent cycles"
APART = 0.035  # of the axis, between the dots of two configurations with one D
DECADE = 10  # times as much waiting in one point as in another deserves a logarithmic axis


def draw(waiting, kind: str, name: str, alt: str) -> str:
    """Draws the `Waiting` of the section; `kind` is that of the dots."""
    handles = []
    with drawing(height=3.2) as (figure, (axes,)):
        if waiting.curve:
            ratios, fits = _smooth(waiting.curve)
            axes.fill_between(ratios, fits.min(axis=1), fits.max(axis=1), color=COLOUR["band"], linewidth=0)
            mean = np.exp(np.log(fits).mean(axis=1))
            axes.plot(ratios, mean, "--", color=COLOUR["model"])
            known = np.isin(ratios, list(waiting.curve))
            limits = between(mean[known], fits.min(axis=1)[known], fits.max(axis=1)[known])
            tell(axes, INDEPENDENT, ratios[known], limits, "modelled", [str(d) for d in waiting.curve])
        shown, places = set(), side_by_side([p.configuration.delay_ratio for p in waiting.points])
        for point, at in zip(waiting.points, places, strict=True):
            schedule = point.configuration.schedule
            look = {
                "marker": MARKERS.get(schedule, "o"), "markersize": 6, "linestyle": "", "alpha": 0.8,
                "color": schedule_colour(schedule), "markeredgewidth": 0,
            }  # fmt: skip
            axes.plot([at] * len(point.measured), point.measured, **look)
            says = [str(point.configuration.delay_ratio)] * len(point.measured)
            tell(axes, point.configuration.name, [at] * len(says), point.measured, kind, x_says=says)
            if schedule not in shown:
                shown.add(schedule)
                handles.append(Line2D([], [], label=point.configuration.name, **look))
        if waiting.curve:
            handles.append(Line2D([], [], linestyle="--", color=COLOUR["model"], label=INDEPENDENT))
        ticks = sorted({p.configuration.delay_ratio for p in waiting.points})
        axes.set(
            xscale="log", xlim=(min(0.85, 0.95 * min(places)), max(1.18 * max(ticks), 1.05 * max(places)))
        )
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.grid(axis="y")
        _scale(axes, [x for p in waiting.points for x in p.measured + p.expected])
        axes.set(xlabel="D (cycles between exchanges)", ylabel="waiting (s / s simulated)")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)


def side_by_side(ratios: list[int]) -> list[float]:
    """Returns where the dots of configurations with these D stand: those with one D beside one another."""
    each = sorted(set(ratios))
    crowd = max(ratios.count(d) for d in each)
    step = APART * (math.log(each[-1] / each[0]) + 0.35)
    if crowd > 1:
        gaps = [math.log(b / a) for a, b in itertools.pairwise(each)]
        step = min([step, *(0.8 * gap / (crowd - 1) for gap in gaps)])
    seen, found = Counter(), []
    for d in ratios:
        found.append(d * math.exp(step * (seen[d] - (ratios.count(d) - 1) / 2)))
        seen[d] += 1
    return found


def _scale(axes: Axes, values: list[float]) -> None:
    """Scales the axis of waiting so that the least can be read beside the most."""
    least, most = min(values), max(values)
    if least > 0 and most > DECADE * least:
        axes.set(yscale="log", ylim=(least / 1.5, 1.5 * most))
        plain_ticks(axes.yaxis, base=10, subs=(1, 3) if most < 1000 * least else (1,))
    else:
        axes.set_ylim(0, 1.12 * most or 1)


def _smooth(curve: dict[int, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Interpolates the theory between whole D, [D] and [D, run]; in logarithms, exact for a power of D."""
    known = np.array(list(curve), dtype=float)
    fits = np.maximum(np.array(list(curve.values())), np.finfo(float).tiny)
    ratios = np.union1d(np.geomspace(known[0], known[-1], 60), known)
    logs = [np.interp(np.log(ratios), np.log(known), column) for column in np.log(fits).T]
    return ratios, np.exp(logs).T
