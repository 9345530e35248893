"""Histograms of compute times in simulated runs, one schedule below the other."""

from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.quantities.words import microseconds, percent
from spikemark.records.gather import Measured
from spikemark.report.sections.cycle_times import drawing
from spikemark.report.sections.cycle_times.distributions import LEVEL, axis, distribution

CAPTION = (
    "Compute time per cycle of all ranks (simulated), that of windows divided by their length, each "
    "histogram scaled to its highest bin; triangles: modes. Line: the slowest rank alone. "
    f"Shaded: where {percent(LEVEL)} of the slowest would lie if times were independent and normal "
    "(modelled: Lober et al. 2026, eq 12). Inside it are: "
)


def figure(runs: list[Measured], title: str, name: str, table: Table) -> Figure:
    """`runs`: one of each schedule, on as many ranks; `name`: unique on the page."""
    drawn = [distribution(m) for m in runs]
    limits, logarithmic = axis(drawn)
    alt = f"{title}, histograms. " + " ".join(
        f"{d.label}: mean {microseconds(d.mean_s)}, standard deviation {microseconds(d.sd_s)}." for d in drawn
    )
    inside = "; ".join(f"{percent(d.inside, 1)} ({d.name})" for d in drawn if d.inside is not None)
    svg = drawing.draw(drawn, limits, logarithmic, name, alt)
    return Figure(name, title, svg, alt, f"{CAPTION}{inside or 'none: one rank'}.", table)
