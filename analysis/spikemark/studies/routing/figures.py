"""The map: how many levels are fastest, over ranks and bytes, and where the traffic of a brain lies."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, plain_ticks, schedule_colour

from .loads import MOST_LEVELS, Placed
from .verdicts import SCHEDULES

#: The colour of the area in which so many levels are fastest.
LEVELS = {1: "conventional", 2: "structure_aware", 3: "overlapped", 4: "hierarchical"}
LOW, HIGH = 1e-4, 1e3  # MB of a rank in an exchange that are drawn
STYLES = ("-", "--", ":", "-.")


def figure(table: Table, machine: str, brains: list[Placed]) -> list[Figure]:
    """The map for a machine, with the thresholds of the others as lines; none without two numbers of ranks.

    `table` is that of the thresholds, `brains` are those of one placement.
    """
    methods = {p.item.method for p in brains}
    rows = [r for r in table.rows if r["method"] in methods]
    own = [r for r in rows if r["machine"] == machine]
    if len(own) < 2:
        return []
    name, ranks = "routing-map", [r["ranks"] for r in own]
    said = " ".join(f"{r['ranks']} ranks: direct from {_words(r)} on." for r in own)
    alt = f"Fastest number of levels over ranks and bytes of a rank in an exchange, on {machine}. {said}"
    handles = [
        Patch(color=schedule_colour(LEVELS[k]), alpha=0.45, label="direct" if k == 1 else f"{k} levels")
        for k in LEVELS
    ]
    with drawing(height=4.4) as (drawn, (axes,)):
        _areas(axes, own, ranks)
        others = list(dict.fromkeys(r["machine"] for r in rows))
        for style, other in zip(STYLES, others, strict=False):
            line = [(r["ranks"], r["mb1"].value) for r in rows if r["machine"] == other and r["mb1"]]
            if line:
                axes.plot(*zip(*line, strict=True), style, color=COLOUR["ink"], linewidth=1.2)
                tell(axes, f"direct from here on, {other}", *map(list, zip(*line, strict=True)), "modelled")
                handles.append(Line2D([], [], linestyle=style, color=COLOUR["ink"], label=f"direct, {other}"))
        for row in (r for r in own if r["mb1"]):
            at, side = (row["ranks"], row["mb1"].value), "left" if row is own[0] else "right"
            axes.text(*at, f"D = {row['d1'].value:.2g}", ha=side, va="bottom", color=COLOUR["ink"])
        for schedule in SCHEDULES:
            line = [(p.item.ranks, 1e-6 * p.bytes(schedule.window)) for p in brains]
            axes.plot(*zip(*line, strict=True), marker="o", markersize=3, color=COLOUR["muted"], linewidth=1)
            tell(axes, f"the brain, {schedule.words}", *map(list, zip(*line, strict=True)), "modelled")
            axes.text(*line[-1], f"at {schedule.words}", ha="right", va="top", color=COLOUR["ink"])
        axes.set(xscale="log", yscale="log", xlim=(ranks[0], ranks[-1]), ylim=(LOW, HIGH))
        axes.set(xlabel="ranks", ylabel="MB of a rank in an exchange")
        axes.set_xticks(ranks, [str(n) for n in ranks])
        axes.minorticks_off()
        plain_ticks(axes.yaxis)
        legend_above(drawn, handles, columns=2)
        svg = markup(drawn, name, alt, zoom=axes)
    caption = (
        f"Areas: {machine}, the traffic of the brain scaled. Lines in ink: above them, sending directly is"
        f" fastest. Beside that of {machine}: from which D on the brain sends so much. Grey: what the brain"
        " sends, with cycles of 0.1 ms."
    )
    return [Figure(name, "How many levels are fastest", svg, alt, caption, table)]


def _words(row: dict) -> str:
    return f"{number(row['mb1'].value)} MB, D = {number(row['d1'].value)}" if row["mb1"] else row["mb1"].mark


def _areas(axes: Axes, rows: list[dict], ranks: list[int]) -> None:
    """Fills the area of each number of levels, the most levels below."""
    below = np.full(len(ranks), LOW)
    for k in range(MOST_LEVELS, 0, -1):
        above = np.full(len(ranks), HIGH) if k == 1 else np.array([_end(r[f"mb{k - 1}"]) for r in rows])
        above = np.maximum(above, below)
        axes.fill_between(ranks, below, above, color=schedule_colour(LEVELS[k]), alpha=0.45, linewidth=0)
        below = above


def _end(border) -> float:
    if border:
        return float(np.clip(border.value, LOW, HIGH))
    return LOW if border.mark == "never" else HIGH
