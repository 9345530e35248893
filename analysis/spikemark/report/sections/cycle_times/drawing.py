"""Histograms of cycle times and of the maxima over ranks, one below the other on a common axis."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from spikemark.report.style import COLOUR, drawing, legend_above, markup, plain_ticks, schedule_colour

BINS = 60


def draw(distributions: list, limits_s: tuple[float, float], logarithmic: bool, name: str, alt: str) -> str:
    """Draws distributions.Distribution, in µs within `limits_s`."""
    edges = (np.geomspace if logarithmic else np.linspace)(*limits_s, BINS + 1) * 1e6
    schedules = dict.fromkeys(d.schedule for d in distributions)
    # One swatch of every colour: a single grey one would be the conventional schedule's.
    swatches = tuple(Patch(facecolor=schedule_colour(s), alpha=0.55, label="all ranks") for s in schedules)
    handles = [swatches]
    if any(d.maxima_s is not None for d in distributions):
        handles.append(Line2D([], [], color=COLOUR["ink"], linewidth=1.2, label="slowest rank"))
        handles.append(Patch(color=COLOUR["band"], label="99 % of maxima (eq 12)"))
    with drawing(len(distributions), 0.8 + 1.25 * len(distributions), sharex=True) as (figure, panels):
        for axes, d in zip(panels, distributions, strict=True):
            if d.maxima_s is not None:
                band = np.clip(1e6 * np.array(d.interval_s), edges[0], edges[-1])
                axes.axvspan(*band, color=COLOUR["band"], linewidth=0)
            colour = schedule_colour(d.schedule)
            _histogram(axes, d.times_s, edges, color=colour, alpha=0.55, histtype="stepfilled")
            if d.maxima_s is not None:
                _histogram(axes, d.maxima_s, edges, color=COLOUR["ink"], histtype="step", linewidth=1.2)
            inside = [1e6 * m.at for m in d.modes if edges[0] <= 1e6 * m.at <= edges[-1]]
            for at in inside:
                axes.plot(at, 1.1, "v", color=COLOUR["ink"], markersize=5, clip_on=False)
            axes.set_title(d.label)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.set_ylabel("rel. frequency", color=COLOUR["muted"], fontsize=9)
        if logarithmic:
            panels[-1].set_xscale("log")
            plain_ticks(panels[-1].xaxis, subs=(1, 2, 5) if edges[-1] < 300 * edges[0] else (1,))
        panels[-1].set(xlim=(edges[0], edges[-1]), xlabel="compute time per cycle (µs)")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)


def _histogram(axes, times_s: np.ndarray, edges: np.ndarray, **options) -> None:
    """Scales to the highest bin, since the shapes are compared, not the numbers of values."""
    heights, _ = np.histogram(times_s * 1e6, edges)
    axes.hist(edges[:-1], edges, weights=heights / max(1, heights.max()), **options)
