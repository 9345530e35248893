"""Figures like those of Du et al.: traffic over ranks, and how many connections ranks have."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from spikemark.prediction.partition.levels import most_equal
from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.report.look import tell
from spikemark.report.style import drawing, legend_above, markup, schedule_colour

from .tables import MILLION, of

WIDTH = 1.3  # of lines, points
Course = tuple[np.ndarray, np.ndarray]  # positions, values
#: Methods in the figures and the colours that they take.
DRAWN = {
    "random": "conventional",
    "genetic": "overlapped",
    "greedy_swap": "structure_aware",
    "space_filling": "hierarchical",
    "peak_search": "placement_only",
}


def figures(results: list[dict[str, Any]], ranks: int, table: Table) -> list[Figure]:
    """Both figures for a number of ranks, or none where nothing has been computed."""
    own = {m: min(found, key=_place) for m in DRAWN if (found := of(results, ranks, m))}
    if not own:
        return []
    return [_traffic(own, ranks, table), _connections(own, ranks, table)]


def _place(result: dict[str, Any]) -> tuple[int, float]:
    """The first seed, and of it the longest search."""
    return result["seed"], -(result["limit_s"] or np.inf)


def _traffic(own: dict[str, dict], ranks: int, table: Table) -> Figure:
    name = f"partition-traffic-{ranks}"
    said = "; ".join(f"{m}: peak {number(r['peak'] / MILLION, 4)}" for m, r in own.items())
    alt = f"Traffic of {ranks} ranks in million routes, ranks sorted by traffic. {said}."

    def line(axes: Axes, result: dict, colour: str) -> Course:
        values = np.array(result["sent"]) / MILLION
        at = np.linspace(0, ranks, len(values))
        axes.plot(at, values, color=colour, linewidth=WIDTH)
        return at, values

    svg = _drawn(own, name, alt, ("ranks, sorted by traffic", "million routes"), line)
    return Figure(name, f"Traffic of {ranks} ranks", svg, alt, "What each rank sends, seed 1.", table)


def _connections(own: dict[str, dict], ranks: int, table: Table) -> Figure:
    name = f"partition-connections-{ranks}"
    levels = sum(most_equal(ranks, 2)) - 2
    said = "; ".join(f"{m}: mean {number(r['connections'], 4)}" for m, r in own.items())
    alt = f"How many other ranks each of {ranks} ranks sends to. {said}; two levels: {levels}."
    edges = np.linspace(0, ranks, 41)

    def line(axes: Axes, result: dict, colour: str) -> Course:
        of_ranks = result["partners"]
        share = np.interp(edges, of_ranks, np.linspace(0, 1, len(of_ranks)), left=0, right=1)
        counts = ranks * np.diff(share)
        axes.stairs(counts, edges, color=colour, linewidth=WIDTH)
        return (edges[1:] + edges[:-1]) / 2, counts

    svg = _drawn(own, name, alt, ("connections of a rank", "ranks"), line, levels)
    caption = "Ranks by the number of others that they send to without levels, and with two levels (dashed)."
    return Figure(name, f"Connections of {ranks} ranks", svg, alt, caption, table)


def _drawn(
    own: dict[str, dict],
    name: str,
    alt: str,
    labels: tuple[str, str],
    line: Callable[[Axes, dict, str], Course],
    levels: int | None = None,
) -> str:
    """The SVG of a line for each method, which `line` draws and returns; `levels`: where two levels stand."""
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        for method, result in own.items():
            colour = schedule_colour(DRAWN[method])
            at, values = line(axes, result, colour)
            tell(axes, method, at.tolist(), values.tolist(), "modelled")
            handles.append(Line2D([], [], color=colour, label=method))
        if levels is not None:
            dashed = {"color": schedule_colour("two-level"), "linestyle": "--"}
            axes.axvline(levels, linewidth=WIDTH, **dashed)
            handles.append(Line2D([], [], label=f"two levels: {levels}", **dashed))
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt, zoom=axes)
