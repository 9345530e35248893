"""What the published equations say about the published network, which no laptop holds (L26, figure 6b)."""

from dataclasses import dataclass

from spikemark.models import access
from spikemark.quantities.elements import Figure, Table
from spikemark.quantities.words import counted, integer, number, percent
from spikemark.report.figures import access_published as drawing

NEURONS, INDEGREE = 130_000, 6000  # per area and rank; synapses, half of them within the area
THREADS = (48, 128)  # per rank, of SuperMUC-NG and JURECA-DC
RANKS = (2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Growth:
    """First accesses per synaptic event by eqs 14 and 17, for each of `ranks`."""

    threads: int
    ranks: tuple[int, ...]
    conventional: list[float]
    structure_aware: list[float]

    @property
    def reductions(self) -> list[float]:
        """Share of the conventional schedule's irregular accesses that the other one saves."""
        return [1 - b / a for a, b in zip(self.conventional, self.structure_aware, strict=True)]


def growth(threads: int) -> Growth:
    """Eqs 13-17 for NEURONS and INDEGREE."""
    half = INDEGREE / 2
    return Growth(
        threads,
        RANKS,
        [access.f_conventional(NEURONS, INDEGREE, m, threads) for m in RANKS],
        [access.f_structure_aware(NEURONS, half, half, m, threads) for m in RANKS],
    )


def figure() -> Figure:
    """The figure and its table; the same on every page."""
    lines = [growth(threads) for threads in THREADS]
    most, few = RANKS[-1], max(g.reductions[RANKS.index(8)] for g in lines)
    saved = " and ".join(f"{percent(g.reductions[-1], 1)} with {g.threads} threads" for g in lines)
    alt = (
        f"First accesses per synaptic event against ranks, 2 to {most}: rising from "
        f"{number(lines[0].conventional[0], 2)}, least for the structure-aware schedule, which saves {saved} "
        f"on {counted(most, 'rank')}."
    )
    caption = (
        f"The equations for the network of Lober et al. 2026 (figure 6b): {integer(NEURONS)} neurons per "
        f"area, one area and T threads per rank, {integer(INDEGREE)} synapses per neuron, half of them "
        f"within the area (modelled). On {counted(most, 'rank')} the structure-aware schedule saves {saved} "
        f"of the irregular accesses; on up to 8 at most {percent(few, 1)}, since nearly every list there "
        "holds a synapse."
    )
    table = Table(
        ["ranks", "threads", "conventional", "structure-aware", "saved"],
        [
            [str(m), str(g.threads), number(a), number(b), percent(saving, 1)]
            for g in lines
            for m, a, b, saving in zip(RANKS, g.conventional, g.structure_aware, g.reductions, strict=True)
        ],
        ["given", "given", "modelled", "modelled", "modelled"],
    )
    title = "In the published network, on up to 128 ranks"
    svg = drawing.draw(lines, "published", alt)
    return Figure("access-published", title, svg, alt, caption, table)
