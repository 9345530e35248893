"""Stacked horizontal bars of the real-time factor."""

import numpy as np

from .style import COLOUR, drawing, legend_above, markup, phase_colour

DOT = {"markersize": 4.2, "color": COLOUR["paper"], "markeredgecolor": COLOUR["ink"], "markeredgewidth": 1}


def draw(bars: list, longest: float, name: str, alt: str) -> str:
    """`bars`: sections.phases.Bar; `longest`: the largest real-time factor of all figures, for one axis."""
    names = list(dict.fromkeys(n for bar in bars for n, value in bar.phases.items() if value is not None))
    with drawing(height=1.25 + 0.36 * len(bars)) as (figure, (axes,)):
        at = np.arange(len(bars))[::-1]
        left = np.zeros(len(bars))
        handles = []
        for phase in names:
            widths = np.array([bar.phases.get(phase) or 0 for bar in bars])
            handles.append(
                axes.barh(at, widths, 0.66, left=left, color=phase_colour(phase, names), label=phase)
            )
            left += widths
        for y, bar in zip(at, bars, strict=True):
            axes.plot(bar.real_time_factors, [y] * len(bar.real_time_factors), "o", **DOT)
        axes.set_yticks(at, [bar.configuration.label for bar in bars])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(0, 1.05 * longest)
        axes.set_ylim(-0.6, len(bars) - 0.4)
        axes.grid(axis="x")
        axes.set_xlabel("real-time factor (s / s simulated)")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)
