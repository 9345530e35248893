"""Last-level misses per synaptic event over the share of first accesses: dots per run, and the line."""

import numpy as np

from .style import COLOUR, drawing, markup, schedule_colour


def draw(points: list, line, name: str, alt: str) -> str:
    """`points`: sections.cache.Point; `line`: models.cache_misses.Line, or None."""
    with drawing(height=3.0) as (figure, (axes,)):
        for p in points:
            axes.plot(
                p.share, p.misses, "o", color=schedule_colour(p.schedule), markersize=5, markeredgewidth=0
            )
        ends = np.array([0.0, 1.1 * max(p.share for p in points)])
        if line is not None:
            axes.plot(ends, line.following + line.first * ends, "--", color=COLOUR["model"], linewidth=1.2)
        axes.set_xlim(ends)
        axes.set_ylim(bottom=0)
        axes.grid()
        axes.set_xlabel("first accesses per synaptic event")
        axes.set_ylabel("last-level misses per event")
        return markup(figure, name, alt)
