"""What the published equations say about the published network, which no laptop can hold (L26, figure 6b)."""

from dataclasses import dataclass

from spikemark.models import access
from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, number, percent
from spikemark.report.columns import RANKS, THREADS, share
from spikemark.report.look import tell
from spikemark.report.style import drawing, legend_above, markup, schedule_colour

NEURONS, INDEGREE = 130_000, 6000  # per area and rank; synapses, half of them within the area
THREADS_EACH = (48, 128)  # per rank, of SuperMUC-NG and JURECA-DC
TRIED = (2, 4, 8, 16, 32, 64, 128)  # ranks
LINES = ("-", "--", ":")


@dataclass(frozen=True)
class Point:
    """First accesses per synaptic event on so many ranks and threads, by eqs 14 and 17."""

    ranks: int
    threads: int
    conventional: float
    structure_aware: float

    @property
    def saved(self) -> float:
        """Share of the conventional schedule's irregular accesses that the other one saves."""
        return 1 - self.structure_aware / self.conventional


COLUMNS = {
    RANKS: lambda p: p.ranks,
    THREADS: lambda p: p.threads,
    Column("conventional", "conventional", "modelled"): lambda p: p.conventional,
    Column("aware", "structure-aware", "modelled"): lambda p: p.structure_aware,
    share("saved", "saved", "modelled"): lambda p: p.saved,
}


def point(ranks: int, threads: int) -> Point:
    """Applies eqs 13-17 to NEURONS and INDEGREE."""
    plain = access.f_conventional(NEURONS, INDEGREE, ranks, threads)
    aware = access.f_structure_aware(NEURONS, INDEGREE / 2, INDEGREE / 2, ranks, threads)
    return Point(ranks, threads, plain, aware)


def figure() -> Figure:
    """Returns the figure with its table; it is the same on every page."""
    points = [point(ranks, threads) for threads in THREADS_EACH for ranks in TRIED]
    most, few = TRIED[-1], max(p.saved for p in points if p.ranks == 8)
    saved = " and ".join(f"{percent(p.saved, 1)} with {p.threads} threads" for p in points if p.ranks == most)
    alt = (
        f"First accesses per synaptic event against ranks, 2 to {most}: rising from "
        f"{number(points[0].conventional, 2)}, least for the structure-aware schedule, which saves {saved} "
        f"on {counted(most, 'rank')}."
    )
    caption = (
        f"The equations for the network of Lober et al. 2026 (figure 6b): {integer(NEURONS)} neurons per "
        f"area, one area and T threads per rank, {integer(INDEGREE)} synapses per neuron, half of them "
        f"within the area (modelled). On {counted(most, 'rank')} the structure-aware schedule saves {saved} "
        f"of the irregular accesses; on up to 8 at most {percent(few, 1)}, since nearly every list there "
        "holds a synapse."
    )
    title = "In the published network, on up to 128 ranks"
    svg = _draw(points, "published", alt)
    return Figure("access-published", title, svg, alt, caption, Table.of(COLUMNS, points))


def _draw(points: list[Point], name: str, alt: str) -> str:
    """Draws irregular accesses against the number of ranks, one line style per number of threads."""
    handles = []
    with drawing(height=3.1) as (figure, (axes,)):
        for line, threads in zip(LINES, THREADS_EACH, strict=False):
            look = {"linestyle": line, "marker": "o", "markersize": 3}
            for of in ("conventional", "structure_aware"):
                shares = [getattr(p, of) for p in points if p.threads == threads]
                label = f"{of.replace('_', '-')}, T = {threads}"
                handles += axes.plot(TRIED, shares, color=schedule_colour(of), label=label, **look)
                tell(axes, label, TRIED, shares, "modelled", [str(m) for m in TRIED])
        axes.set_xscale("log", base=2)
        axes.set_xticks(TRIED, [str(m) for m in TRIED])
        axes.minorticks_off()
        axes.grid(axis="y")
        axes.set(ylim=(0, 1), xlabel="ranks, one area each", ylabel="first accesses per event")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)
