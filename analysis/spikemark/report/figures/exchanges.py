"""Times of exchanges over bytes, with their fits, and what one larger exchange takes beside D small ones."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from .style import COLOUR, drawing, legend_above, markup

COLOURS = ("deliver", "synchronise", "collocate", "exchange", "update", "other-1", "other-2", "other-3")
LINES = ("-", "--", ":")
HIGHEST = 2  # ratio at which the axis is cut


def times(curves: list, name: str, alt: str) -> str:
    """`curves`: exchange_times.Curve. Dots: medians; lines: the pieces of the fit."""
    with drawing(height=3.3 + 0.2 * ((len(curves) + 2) // 3)) as (figure, (axes,)):
        for curve, style in zip(curves, _styles(len(curves)), strict=True):
            dots = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0, "linestyle": ""}
            axes.plot(curve.sizes, 1e6 * curve.medians_s, color=style["color"], **dots)
            for piece in curve.fit.pieces if curve.fit else []:
                ends = np.geomspace(piece.first, piece.last, 40)
                line = piece.latency_s.value + piece.seconds_per_byte.value * ends
                axes.plot(ends, 1e6 * line, linewidth=1.2, **style)
        axes.set_yscale("log")
        _bytes(axes)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.grid()
        axes.set_ylabel("time of an exchange (µs)")
        legend_above(figure, _handles(curves), columns=3)
        return markup(figure, name, alt)


def growth(curves: list, windows: tuple[int, ...], name: str, alt: str) -> str:
    """`curves`: exchange_times.Curve. One panel for each D of `windows`: t(D n) / (D t(n)) over n."""
    height = 0.9 + 1.5 * len(windows) + 0.2 * ((len(curves) + 2) // 3)
    with drawing(len(windows), height, sharex=True) as (figure, panels):
        for axes, window in zip(panels, windows, strict=True):
            axes.set_title(f"D = {window}")
            for level in (1, 1 / window):
                axes.axhline(level, color=COLOUR["model"], linewidth=0.9, linestyle=(0, (2, 2)))
            for curve, style in zip(curves, _styles(len(curves)), strict=True):
                found = curve.ratios(window)
                axes.plot([r.bytes for r in found], [r.value for r in found], linewidth=1.3, **style)
            axes.set_ylim(0, min(axes.get_ylim()[1], HIGHEST))
            axes.grid(axis="x")
        _bytes(panels[-1])
        panels[len(panels) // 2].set_ylabel("one exchange of D n bytes / D exchanges of n bytes")
        legend_above(figure, _handles(curves), columns=3)
        return markup(figure, name, alt)


def _styles(count: int) -> list[dict]:
    return [
        {
            "color": COLOUR[COLOURS[i % len(COLOURS)]],
            "linestyle": LINES[i // len(COLOURS) % len(LINES)],
        }
        for i in range(count)
    ]


def _handles(curves: list) -> list:
    styles = _styles(len(curves))
    return [Line2D([], [], label=c.exchange, **style) for c, style in zip(curves, styles, strict=True)]


def _bytes(axes) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}" if x < 1024 else f"{x / 1024:g} Ki"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("n, bytes from one rank to another")
