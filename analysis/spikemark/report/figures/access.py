"""First accesses per synaptic event: a dot for the count, a ring for the expectation."""

from collections import defaultdict

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..values import counted
from .style import COLOUR, drawing, legend_above, markup, schedule_colour


def draw(shares: list, name: str, alt: str) -> str:
    """`shares`: sections.access.Share, in the order of ranks."""
    lines = _lines(shares)
    ring = {
        "marker": "o",
        "markersize": 10,
        "linestyle": "",
        "color": "none",
        "markeredgecolor": COLOUR["model"],
        "markeredgewidth": 1.3,
    }
    dot = {"marker": "o", "markersize": 5.5, "linestyle": "", "markeredgewidth": 0}
    with drawing(height=1.15 + 0.31 * len(lines)) as (figure, (axes,)):
        for y, (_, members) in enumerate(lines):
            for mean in {round(float(np.mean(s.expected)), 6) for s in members if s.expected}:
                axes.plot(mean, -y, **ring)
            for share in members:
                axes.plot(
                    np.mean(share.counted), -y, color=schedule_colour(share.configuration.schedule), **dot
                )
        axes.set_yticks([-y for y in range(len(lines))], [text for text, _ in lines])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_ylim(-len(lines) + 0.5, 0.5)
        axes.set_xlim(0, 1.1 * max(max(s.counted + s.expected) for s in shares))
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.grid(axis="x")
        axes.set_xlabel("first accesses / synaptic event (no unit)")
        handles = [
            Line2D([], [], label="counted", color=COLOUR["muted"], **dot),
            Line2D([], [], label="expected", **ring),
        ]
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)


def _lines(shares: list) -> list[tuple[str, list]]:
    """Label and shares of every line; those that differ in D only share one: D does not change the lists."""
    lines = defaultdict(list)
    for share in shares:
        schedule = share.configuration.label.split(",")[0]
        lines[f"{schedule}, {counted(share.ranks, 'rank')}"].append(share)
    return list(lines.items())
