"""How the compute time of every rank develops over a run: a map for every network.

The cells of a map are drawn as a few paths of horizontal strokes, one per level of colour. So a map of 128 x
200 cells takes less than 250 kB, and its colours follow the scheme of the page.
"""

from dataclasses import dataclass
from itertools import groupby

import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes

from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, span
from spikemark.records.cases import View, network_title, timed
from spikemark.records.gather import Measured
from spikemark.report.columns import share
from spikemark.report.look import whole
from spikemark.report.style import COLOUR, canvas, markup

TITLE = "Every rank over time"
ROWS, COLUMNS = 128, 200  # most cells of a map
MOST_MAPS = 4
LEVELS = 8
COLOUR_NAME = "deliver"
FAINTEST = 0.06  # opacity of the lowest level
EXPLAINED = (
    "Which ranks are slow, and when? A row is a rank, a column a stretch of time. The stronger the colour, "
    "the longer the rank computed per cycle (as in the appendix of Lober et al. 2026). A row of strong "
    "colour is a rank that is always slow, a column of strong colour is a time when all ranks were slow, "
    "and a stretch of strong colour is a drift of one rank."
)
NOTHING = "Every rank over time: no conventional run on several ranks recorded its cycles."


@dataclass(frozen=True)
class Course:
    """One run; times in s per cycle."""

    title: str
    run: str  # ranks, seed, repetition in words
    seconds: float  # simulated
    cells_s: np.ndarray  # [row, column], mean compute time
    compute_s: np.ndarray  # [rank, cycle]

    @property
    def limits_s(self) -> tuple[float, float]:
        """Limits of the colour scale; a hundredth of the cells lies beyond each."""
        low, high = np.quantile(self.cells_s, (0.01, 0.99))
        return float(low), float(max(high, low * (1 + 1e-6)))


def course(m: Measured, title: str) -> Course:
    """Averages over neighbouring cycles, and over neighbouring ranks where there are more than ROWS."""
    compute = m.run.compute()
    ranks, cycles = compute.shape
    cells = _means(_means(compute, min(COLUMNS, cycles)).T, min(ROWS, ranks)).T
    run = f"{counted(ranks, 'rank')}, seed {m.planned.seed}, repetition {m.planned.repetition}"
    return Course(title, run, m.run.record.timing.model_s, cells, compute)


def _means(values: np.ndarray, parts: int) -> np.ndarray:
    """Averages over `parts` nearly equal stretches of the last axis."""
    edges = np.arange(parts + 1) * values.shape[-1] // parts
    return np.add.reduceat(values, edges[:-1], axis=-1) / np.diff(edges)


def section(view: View) -> Section:
    """Shows, for every network, the conventional run on the most ranks."""
    chosen: dict[str, Measured] = {}
    for m in timed(view.sweep.runs):
        if m.run.schedule == "conventional" and m.run.cycles is not None and m.run.record.ranks > 1:
            title = network_title(m, view.sweep.title)
            chosen[title] = min(m, chosen.get(title, m), key=_order)
    if not chosen:
        return Section("evolution", TITLE, missing=[NOTHING])
    shown = list(chosen.items())[:MOST_MAPS]
    rest = len(chosen) - len(shown)
    missing = [f"{counted(rest, 'further network')} of this sweep are not shown."] if rest else []
    figures = [_figure(course(m, title), i, view.kind) for i, (title, m) in enumerate(shown)]
    return Section("evolution", TITLE, text=[EXPLAINED], figures=figures, missing=missing)


def _order(m: Measured) -> tuple:
    return -m.run.record.ranks, m.run.record.threads, m.planned.seed, m.planned.repetition, m.planned.id


def _figure(c: Course, position: int, kind: str) -> Figure:
    means = c.compute_s.mean(axis=1)
    fast, slow = int(means.argmin()), int(means.argmax())
    stretch = c.cells_s.mean(axis=0)
    alt = (
        f"Map of compute time per cycle, {c.run}, over {number(c.seconds)} s. Rank {slow} is the slowest on "
        f"average, {number(1e6 * means[slow])} µs, rank {fast} the fastest, {number(1e6 * means[fast])} µs. "
        f"The mean over all ranks varies over time: {span(1e6 * stretch)} µs."
    )
    low, high = (number(1e6 * t) for t in c.limits_s)
    ranks, cycles = np.array(c.compute_s.shape) / c.cells_s.shape  # in a cell
    caption = (
        f"Compute time per cycle, conventional schedule on {c.run} ({kind}). A cell is the mean over "
        f"{cycles:.3g} cycles"
        + (f" and {ranks:.3g} ranks" if ranks > 1 else "")
        + f". The colour grows from {low} to {high} µs; one cell in a hundred lies below, one above."
    )
    name = f"evolution-{position}"
    return Figure(name, c.title, _draw(c, name, alt), alt, caption, table(c.compute_s, kind))


def table(compute: np.ndarray, kind: str) -> Table:
    """Makes one row per rank of `compute` (s, [rank, cycle]), with how often it is the slowest."""
    slowest = np.bincount(compute.argmax(axis=0), minlength=len(compute)) / compute.shape[1]
    columns = {
        Column("rank", "rank"): lambda rank: rank,
        Column("mean_us", "mean (µs)", kind): lambda rank: 1e6 * float(compute[rank].mean()),
        Column("sd_us", "SD (µs)", kind): lambda rank: 1e6 * float(compute[rank].std()),
        Column("longest_us", "longest (µs)", kind): lambda rank: 1e6 * float(compute[rank].max()),
        share("slowest", "slowest of all", kind): lambda rank: float(slowest[rank]),
    }
    return Table.of(columns, range(len(compute)))


def _draw(course: Course, name: str, alt: str) -> str:
    """Draws the map and, below it, the key to its colours."""
    rows = len(course.cells_s)
    with canvas(height=1.45 + min(3.2, max(0.6, 0.25 * rows))) as figure:
        axes, bar = figure.subplots(2, 1, height_ratios=[max(4, min(20, 1.6 * rows)), 1])
        axes.set(xlim=(0, course.seconds), ylim=(len(course.compute_s) - 0.5, -0.5))
        whole(axes.yaxis, 8)
        axes.set(xlabel="simulated time (s)", ylabel="rank")
        low, high = (1e6 * t for t in course.limits_s)
        bar.set_xlim(low, high)
        bar.set_yticks([])
        bar.set_xlabel("compute time per cycle (µs)")
        for a in (axes, bar):
            a.spines[:].set_visible(False)
        axes.tick_params(color=COLOUR["rule"])
        svg = markup(figure, name, alt, zoom=axes)  # lays the axes out
        scale = np.arange(LEVELS)[None, :]
        drawn = _cells(figure, axes, levels(course.cells_s, course.limits_s), "cells")
        drawn += _cells(figure, bar, scale, "key")
    return svg.removesuffix("</svg>") + drawn + "</svg>"


def levels(values: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Returns the level of each value, 0 ... LEVELS - 1; values beyond the limits get the nearest level."""
    low, high = limits
    if not high > low:
        return np.zeros(values.shape, dtype=int)
    return np.clip((LEVELS * (values - low) / (high - low)).astype(int), 0, LEVELS - 1)


def _cells(figure: matplotlib.figure.Figure, axes: Axes, numbers: np.ndarray, name: str) -> str:
    """Returns cells [row, column] as markup of class `name`; they fill the axes from the upper left."""
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
        f'<g class="{name}" transform="{place} {scale} translate(0 .5)" fill="none"'
        f' shape-rendering="crispEdges" style="stroke: var(--{COLOUR_NAME})">{strokes}</g>'
    )
