"""Stacked horizontal bars of the waiting, by cause."""

import numpy as np

from .style import COLOUR, drawing, legend_above, markup


def draw(bars: list, name: str, alt: str) -> str:
    """`bars`: sections.budget.Bar. A part below 0 is not drawn."""
    with drawing(height=1.1 + 0.36 * len(bars)) as (figure, (axes,)):
        at = np.arange(len(bars))[::-1]
        left = np.zeros(len(bars))
        handles = []
        for part in bars[0].parts:
            widths = np.array([max(bar.parts[part][0], 0.0) for bar in bars])
            handles.append(axes.barh(at, widths, 0.66, left=left, color=COLOUR[part], label=part))
            left += widths
        axes.set_yticks(at, [bar.configuration.label for bar in bars])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_ylim(-0.6, len(bars) - 0.4)
        axes.grid(axis="x")
        axes.set_xlabel("waiting (s / s simulated)")
        legend_above(figure, handles, columns=5)
        return markup(figure, name, alt)
