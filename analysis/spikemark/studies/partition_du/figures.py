"""Figures like those of Du et al.: traffic over ranks, and how many connections ranks have."""

from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from spikemark.prediction.partition.levels import most_equal
from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.report.look import tell
from spikemark.report.style import drawing, legend_above, markup, schedule_colour

from .tables import MILLION, of

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
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        for method, r in own.items():
            colour = schedule_colour(DRAWN[method])
            values = np.array(r["sent"]) / MILLION
            at = np.linspace(0, ranks, len(values))
            axes.plot(at, values, color=colour, linewidth=1.3)
            tell(axes, method, at.tolist(), values.tolist(), "modelled")
            handles.append(Line2D([], [], color=colour, label=method))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_xlabel("ranks, sorted by traffic")
        axes.set_ylabel("million routes")
        legend_above(figure, handles, columns=3)
        svg = markup(figure, name, alt, zoom=axes)
    return Figure(name, f"Traffic of {ranks} ranks", svg, alt, "What each rank sends, seed 1.", table)


def _connections(own: dict[str, dict], ranks: int, table: Table) -> Figure:
    name = f"partition-connections-{ranks}"
    sizes = most_equal(ranks, 2)
    levels = sum(sizes) - 2
    said = "; ".join(f"{m}: mean {number(r['connections'], 4)}" for m, r in own.items())
    alt = f"How many other ranks each of {ranks} ranks sends to. {said}; two levels: {levels}."
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        for method, r in own.items():
            colour = schedule_colour(DRAWN[method])
            edges = np.linspace(0, ranks, 41)
            share = np.interp(edges, r["partners"], np.linspace(0, 1, len(r["partners"])), left=0, right=1)
            counts = ranks * np.diff(share)
            axes.stairs(counts, edges, color=colour, linewidth=1.3)
            middle = (edges[1:] + edges[:-1]) / 2
            tell(axes, method, middle.tolist(), counts.tolist(), "modelled")
            handles.append(Line2D([], [], color=colour, label=method))
        axes.axvline(levels, color=schedule_colour("two-level"), linestyle="--", linewidth=1.3)
        handles.append(
            Line2D([], [], color=schedule_colour("two-level"), linestyle="--", label=f"two levels: {levels}")
        )
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        axes.set_xlabel("connections of a rank")
        axes.set_ylabel("ranks")
        legend_above(figure, handles, columns=3)
        svg = markup(figure, name, alt, zoom=axes)
    caption = "Ranks by the number of others that they send to without levels, and with two levels (dashed)."
    return Figure(name, f"Connections of {ranks} ranks", svg, alt, caption, table)
