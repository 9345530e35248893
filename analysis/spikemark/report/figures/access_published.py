"""Figure 6b of Lober et al. 2026 from the equations: irregular accesses against the number of ranks."""

from .style import drawing, legend_above, markup, schedule_colour

STYLES = ("-", "--", ":")


def draw(growth: list, name: str, alt: str) -> str:
    """`growth`: sections.access_published.Growth, one per number of threads."""
    handles = []
    with drawing(height=3.1) as (figure, (axes,)):
        for line, g in zip(STYLES, growth, strict=False):
            look = {"linestyle": line, "marker": "o", "markersize": 3}
            for of, shares in (("conventional", g.conventional), ("structure-aware", g.structure_aware)):
                label = f"{of}, T = {g.threads}"
                handles += axes.plot(g.ranks, shares, color=schedule_colour(of), label=label, **look)
        axes.set_xscale("log", base=2)
        axes.set_xticks(growth[0].ranks, [str(m) for m in growth[0].ranks])
        axes.minorticks_off()
        axes.set_ylim(0, 1)
        axes.grid(axis="y")
        axes.set_xlabel("ranks, one area each")
        axes.set_ylabel("first accesses per event")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt)
