"""Machines beside each other: energy against the real-time factor, and where their time goes."""

from .style import COLOUR, drawing, legend_above, markup, phase_colour, stacked

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


def pareto(
    curves: dict[str, list[tuple[float, float]]], best: list, target: float, name: str, alt: str
) -> str:
    """Energy against time. `curves`: machine -> (real-time factor, J) by nodes; `best`: points not beaten."""
    with drawing(height=3.4) as (figure, (axes,)):
        handles = []
        for number, (machine, points) in enumerate(curves.items()):
            handles += axes.plot(
                *zip(*points, strict=True), marker=MARKERS[number % len(MARKERS)], markersize=4.5,
                linewidth=1,
                color=COLOUR[LOOKS[number % len(LOOKS)]], label=machine, markeredgewidth=0,
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
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)


def parts(bars: dict[str, dict[str, float]], target: float, name: str, alt: str) -> str:
    """Where the time goes. `bars`: machine -> seconds per simulated second by part."""
    names = list(next(iter(bars.values())))
    with drawing(height=1.25 + 0.4 * len(bars)) as (figure, (axes,)):
        colours = {n: phase_colour("synchronise" if n == "waiting" else n, names) for n in names}
        parts = {n: ([bar[n] for bar in bars.values()], colours[n]) for n in names}
        handles = stacked(axes, list(bars), parts)
        axes.axvline(target, color=COLOUR["ink"], linestyle="--", linewidth=1)
        axes.set_xlabel("real-time factor (s / s simulated); dashed: target")
        legend_above(figure, handles, columns=3)
        return markup(figure, name, alt)
