"""Compute time of every rank over time: a map of cells whose colour grows stronger with it.

The cells are drawn as a few paths, one per level, of horizontal strokes: a map of 128 x 200 cells takes less
than 250 kB, and its colours follow the scheme of the page.
"""

from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .style import COLOUR, canvas, markup

LEVELS = 8
COLOUR_NAME = "deliver"
FAINTEST = 0.06  # opacity of the lowest level


def draw(course, name: str, alt: str) -> str:
    """`course`: sections.evolution.Course."""
    rows = len(course.cells_s)
    with canvas(height=1.45 + min(3.2, max(0.6, 0.25 * rows))) as figure:
        axes, bar = figure.subplots(2, 1, height_ratios=[max(4, min(20, 1.6 * rows)), 1])
        axes.set_xlim(0, course.seconds)
        axes.set_ylim(course.ranks - 0.5, -0.5)
        axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel("simulated time (s)")
        axes.set_ylabel("rank")
        low, high = (1e6 * t for t in course.limits_s)
        bar.set_xlim(low, high)
        bar.set_yticks([])
        bar.set_xlabel("compute time per cycle (µs)")
        for a in (axes, bar):
            a.spines[:].set_visible(False)
        axes.tick_params(color=COLOUR["rule"])
        svg = markup(figure, name, alt)  # lays the axes out
        scale = np.arange(LEVELS)[None, :]
        drawn = _cells(figure, axes, levels(course.cells_s, course.limits_s)) + _cells(figure, bar, scale)
    return svg.removesuffix("</svg>") + drawn + "</svg>"


def levels(values: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Number of the level of each value, 0 ... LEVELS - 1; what lies beyond the limits has the last one."""
    low, high = limits
    if not high > low:
        return np.zeros(values.shape, dtype=int)
    return np.clip((LEVELS * (values - low) / (high - low)).astype(int), 0, LEVELS - 1)


def _cells(figure: Figure, axes: Axes, numbers: np.ndarray) -> str:
    """Cells [row, column] that fill the axes, from the upper left, as markup in the figure's points."""
    rows, columns = numbers.shape
    width, height = 72 * figure.get_size_inches()
    box = axes.get_position()
    paths: list[list[str]] = [[] for _ in range(LEVELS)]
    for y, row in enumerate(numbers.tolist()):
        x = 0
        for level, cells in groupby(row):
            n = len(list(cells))
            paths[level].append(f"M{x} {y}h{n}")
            x += n
    place = f"translate({box.x0 * width:.2f} {(1 - box.y1) * height:.2f})"
    scale = f"scale({box.width * width / columns:.5f} {box.height * height / rows:.5f})"
    strokes = "".join(
        f'<path stroke-opacity="{opacity:.2f}" d="{"".join(parts)}"/>'
        for opacity, parts in zip(np.linspace(FAINTEST, 1, LEVELS), paths, strict=True)
        if parts
    )
    return (
        f'<g transform="{place} {scale} translate(0 .5)" fill="none" shape-rendering="crispEdges"'
        f' style="stroke: var(--{COLOUR_NAME})">{strokes}</g>'
    )
