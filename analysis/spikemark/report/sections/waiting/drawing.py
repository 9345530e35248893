"""Waiting against D: one dot per run, the theory as a dashed line."""

import numpy as np
from matplotlib.lines import Line2D

from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour

MARKERS = {"conventional": "s", "placement_only": "^"}
ASIDE = {"conventional": 0.94, "placement_only": 1.0}  # the dots of all schedules at D = 1, side by side


def draw(waiting, name: str, alt: str) -> str:
    """Draws the `Waiting` of the section."""
    handles = []
    with drawing(height=3.2) as (figure, (axes,)):
        if waiting.curve:
            ratios, fits = _smooth(waiting.curve)
            axes.fill_between(ratios, fits.min(axis=1), fits.max(axis=1), color=COLOUR["band"], linewidth=0)
            axes.plot(ratios, np.exp(np.log(fits).mean(axis=1)), "--", color=COLOUR["model"])
        shown = set()
        for point in waiting.points:
            schedule = point.configuration.schedule
            look = {
                "marker": MARKERS.get(schedule, "o"), "markersize": 6, "linestyle": "", "alpha": 0.8,
                "color": schedule_colour(schedule), "markeredgewidth": 0,
            }  # fmt: skip
            at = point.configuration.delay_ratio
            at *= ASIDE.get(schedule, 1.06) if at == 1 else 1
            axes.plot([at] * len(point.measured), point.measured, **look)
            if schedule not in shown:
                shown.add(schedule)
                handles.append(Line2D([], [], label=point.configuration.name, **look))
        if waiting.curve:
            handles.append(Line2D([], [], linestyle="--", color=COLOUR["model"], label="independent cycles"))
        ticks = sorted({p.configuration.delay_ratio for p in waiting.points})
        axes.set(xscale="log", xlim=(0.85, 1.18 * max(ticks)))
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.grid(axis="y")
        axes.set_ylim(0, 1.12 * max(max(p.measured + p.expected) for p in waiting.points) or 1)
        axes.set(xlabel="D (cycles between exchanges)", ylabel="waiting (s / s simulated)")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)


def _smooth(curve: dict[int, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Interpolates the theory between whole D, [D] and [D, run]; in logarithms, exact for a power of D."""
    known = np.array(list(curve), dtype=float)
    fits = np.maximum(np.array(list(curve.values())), np.finfo(float).tiny)
    ratios = np.geomspace(known[0], known[-1], 60)
    logs = [np.interp(np.log(ratios), np.log(known), column) for column in np.log(fits).T]
    return ratios, np.exp(logs).T
