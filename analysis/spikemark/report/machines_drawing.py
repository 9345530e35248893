"""Machines beside each other: time against nodes, energy against time, and where their time goes."""

from textwrap import shorten, wrap

from .look import between, tell
from .style import COLOUR, drawing, legend_above, markup, phase_colour, plain_ticks, rows_height, stacked

NARROW, WIDE = 22, 44  # characters of a label beside the bars, and above a drawing
LOOKS = (
    "deliver",
    "conventional",
    "exchange",
    "structure-aware",
    "synchronise",
    "overlapped",
    "collocate",
    "other-1",
)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<")


def ranges(
    curves: dict[str, list[tuple[int, float, float, float]]], target: float, name: str, alt: str
) -> str:
    """Time against nodes with bands. `curves`: machine -> nodes, and the factor: low, middle, high."""
    height = 0.7 + 1.75 * len(curves)
    with drawing(rows=len(curves), height=height, sharex=True, sharey=True) as (figure, rows):
        for number, (axes, (machine, points)) in enumerate(zip(rows, curves.items(), strict=True)):
            nodes, low, middle, high = zip(*points, strict=True)
            colour = COLOUR[LOOKS[number % len(LOOKS)]]
            axes.fill_between(nodes, low, high, color=colour, alpha=0.3, linewidth=0)
            axes.plot(nodes, middle, color=colour, marker=MARKERS[number % len(MARKERS)], markersize=4)
            says = [str(n) for n in nodes]
            tell(axes, machine, nodes, between(middle, low, high), "modelled", says)
            axes.axhline(target, color=COLOUR["ink"], linestyle="--", linewidth=1)
            axes.set(xscale="log", yscale="log", title=shorten(machine, WIDE, placeholder=" …"))
            plain_ticks(axes.xaxis, base=2)
            plain_ticks(axes.yaxis, base=10, subs=(1, 2, 5))
            axes.grid()
        rows[len(rows) // 2].set_ylabel("real-time factor")
        rows[-1].set_xlabel("nodes")
        return markup(figure, name, alt, zoom=rows)


def pareto(
    curves: dict[str, list[tuple[float, float]]], best: list, target: float, name: str, alt: str
) -> str:
    """Energy against time. `curves`: machine -> (real-time factor, J) by nodes; `best`: points not beaten."""
    with drawing(height=3.0 + 0.2 * len(curves)) as (figure, (axes,)):
        handles = []
        for number, (machine, points) in enumerate(curves.items()):
            tell(axes, machine, *zip(*points, strict=True), "modelled")
            handles += axes.plot(
                *zip(*points, strict=True), marker=MARKERS[number % len(MARKERS)], markersize=4.5,
                linewidth=1, markeredgewidth=0, color=COLOUR[LOOKS[number % len(LOOKS)]],
                label=shorten(machine, WIDE, placeholder=" …"),
            )  # fmt: skip
        handles += axes.plot(
            *zip(*best, strict=True), "o", markersize=9, markerfacecolor="none", label="not beaten",
            markeredgecolor=COLOUR["ink"],
        )  # fmt: skip
        handles.append(axes.axvline(target, color=COLOUR["ink"], linestyle="--", linewidth=1, label="target"))
        axes.set(xscale="log", yscale="log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("{x:g}")
        axes.grid()
        axes.set(xlabel="real-time factor (s / s simulated)", ylabel="energy (J / s simulated)")
        legend_above(figure, handles, columns=1)
        return markup(figure, name, alt, zoom=axes)


def parts(bars: dict[str, dict[str, float]], target: float | None, name: str, alt: str) -> str:
    """Where the time goes. `bars`: machine -> seconds per simulated second by part."""
    names = list(next(iter(bars.values())))
    with drawing(height=rows_height(2 * len(bars))) as (figure, (axes,)):
        colours = {n: phase_colour("synchronise" if n == "waiting" else n, names) for n in names}
        parts = {n: ([bar[n] for bar in bars.values()], colours[n]) for n in names}
        handles = stacked(axes, ["\n".join(wrap(bar, NARROW)) for bar in bars], parts, "modelled")
        axes.set_xlabel("real-time factor (s / s simulated)")
        if target is not None:
            axes.axvline(target, color=COLOUR["ink"], linestyle="--", linewidth=1)
            axes.set_xlabel("real-time factor (s / s simulated); dashed: target")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)
