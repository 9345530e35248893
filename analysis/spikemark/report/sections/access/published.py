"""What the published equations say about the published network, which no laptop can hold (L26, figure 6b)."""

from dataclasses import dataclass

from spikemark.models import access
from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, number, percent
from spikemark.report.columns import RANKS, THREADS, share
from spikemark.report.style import drawing, legend_above, markup, schedule_colour

NEURONS, INDEGREE = 130_000, 6000  # per area and rank; synapses, half of them within the area
THREADS_EACH = (48, 128)  # per rank, of SuperMUC-NG and JURECA-DC
TRIED = (2, 4, 8, 16, 32, 64, 128)  # ranks
LINES = ("-", "--", ":")
COLUMNS = [
    *(RANKS, THREADS),
    Column("conventional", "conventional", "modelled"),
    Column("aware", "structure-aware", "modelled"),
    share("saved", "saved", "modelled"),
]


@dataclass(frozen=True)
class Growth:
    """First accesses per synaptic event for each of `ranks`, by eqs 14 and 17."""

    threads: int
    ranks: tuple[int, ...]
    conventional: list[float]
    structure_aware: list[float]

    @property
    def reductions(self) -> list[float]:
        """Share of the conventional schedule's irregular accesses that the other one saves."""
        return [1 - b / a for a, b in zip(self.conventional, self.structure_aware, strict=True)]


def growth(threads: int) -> Growth:
    """Applies eqs 13-17 to NEURONS and INDEGREE."""
    half = INDEGREE / 2
    return Growth(
        threads,
        TRIED,
        [access.f_conventional(NEURONS, INDEGREE, m, threads) for m in TRIED],
        [access.f_structure_aware(NEURONS, half, half, m, threads) for m in TRIED],
    )


def figure() -> Figure:
    """Returns the figure with its table; it is the same on every page."""
    lines = [growth(threads) for threads in THREADS_EACH]
    most, few = TRIED[-1], max(g.reductions[TRIED.index(8)] for g in lines)
    saved = " and ".join(f"{percent(g.reductions[-1], 1)} with {g.threads} threads" for g in lines)
    alt = (
        f"First accesses per synaptic event against ranks, 2 to {most}: rising from "
        f"{number(lines[0].conventional[0], 2)}, least steeply with the structure-aware schedule, which "
        f"saves {saved} "
        f"on {counted(most, 'rank')}."
    )
    caption = (
        f"The equations for the network of Lober et al. 2026 (figure 6b): {integer(NEURONS)} neurons per "
        f"area, one area and T threads per rank, {integer(INDEGREE)} synapses per neuron, half of them "
        f"within the area (modelled). On {counted(most, 'rank')} the structure-aware schedule saves {saved} "
        f"of the irregular accesses; on up to 8 at most {percent(few, 1)}, since nearly every list there "
        "holds a synapse."
    )
    rows = [
        {"ranks": m, "threads": g.threads, "conventional": a, "aware": b, "saved": saving}
        for g in lines
        for m, a, b, saving in zip(TRIED, g.conventional, g.structure_aware, g.reductions, strict=True)
    ]
    title = "In the published network, on up to 128 ranks"
    svg = _draw(lines, "published", alt)
    return Figure("access-published", title, svg, alt, caption, Table(COLUMNS, rows))


def _draw(growth: list[Growth], name: str, alt: str) -> str:
    """Draws irregular accesses against the number of ranks, one line style per number of threads."""
    handles = []
    with drawing(height=3.1) as (figure, (axes,)):
        for line, g in zip(LINES, growth, strict=False):
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
