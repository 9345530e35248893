"""Time and energy of all mixes, as one drawing."""

from typing import Any

from matplotlib.lines import Line2D

from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Table
from spikemark.quantities.words import number
from spikemark.report.look import tell
from spikemark.report.style import drawing, legend_above, markup, plain_ticks, schedule_colour

from .mixes import BALANCED, EQUAL, Mix, mixes

NAME = "bath-mixes"
#: Kinds of mixes: who is in them, how they share, and the colour and marker that they have.
KINDS = {
    "x86 alone": ("conventional", "o", lambda m: not m.arm),
    "ARM alone": ("structure_aware", "s", lambda m: not m.x86),
    "both, equal shares": ("overlapped", "x", lambda m: len(m.on) == 2 and m.shares == EQUAL),
    "both, balanced shares": ("hierarchical", "D", lambda m: len(m.on) == 2 and m.shares == BALANCED),
}


def figures(found: dict[str, Any], program: str, energy: str, table: Table) -> list[Figure]:
    """Energy over time of all mixes of a program; none where nothing has been computed."""
    if program not in found:
        return []
    numbers = found[program]["numbers"]

    def at(mix: Mix) -> tuple[float, float]:
        return numbers[f"time {mix.key}"][0], numbers[f"{energy} {mix.key}"][0]

    handles, said = [], []
    with drawing(height=3.8) as (drawn, (axes,)):
        for label, (colour, marker, inside) in KINDS.items():
            own = [mix for mix in mixes() if inside(mix)]
            x, y = map(list, zip(*map(at, own), strict=True))
            dots = {"marker": marker, "markersize": 6, "color": schedule_colour(colour), "linestyle": ""}
            axes.plot(x, y, **dots)
            tell(axes, [mix.words for mix in own], x, y, "modelled", label)
            handles.append(Line2D([], [], label=label, **dots))
            least = min(range(len(own)), key=lambda i: y[i])
            said.append(f"{label}: least energy {number(y[least])} J in {number(x[least])} s.")
        axes.set(xscale="log", yscale="log", xlabel="time (s)", ylabel=f"{energy} (J)")
        axes.minorticks_off()
        for axis in (axes.xaxis, axes.yaxis):
            plain_ticks(axis, subs=(1, 2, 5))
        legend_above(drawn, handles, columns=2)
        alt = f"{energy.capitalize()} over time of mixes of x86 and ARM cores, {program}. {' '.join(said)}"
        svg = markup(drawn, NAME, alt, zoom=axes)
    caption = "Modelled. Towards the lower left is better. Middles; the table has the intervals."
    return [Figure(NAME, f"Energy over time, {program}", svg, alt, caption, table)]
