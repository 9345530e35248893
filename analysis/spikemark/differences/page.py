"""The page of two results side by side: the answer, a picture of the phases, tables, what else differs."""

from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number
from spikemark.report import page
from spikemark.report.style import (
    axis_end,
    drawing,
    legend_above,
    markup,
    phase_colour,
    rows_height,
    stacked,
)

from . import show
from .compare import Comparison, Setup
from .gate import FAILS, Gate
from .times import WAITING

MICRO, MOST = 1e6, 12  # setups in the picture
CAPTION = "Time per cycle by phase, mean over ranks and runs (measured, or simulated as the table says)."


def write(made: Comparison, decided: Gate | None, path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(path, render(made, decided))


def render(made: Comparison, decided: Gate | None = None) -> str:
    """The page as one HTML document that loads nothing."""
    several = len(made.setups) > 1
    tables, apart = [show.detail(made, setup) for setup in made.setups], show.apart(made)
    first = show.overview(made) if several else tables[0]
    boxes = [Box("bad" if decided.state == FAILS else "plain", decided.sentence)] if decided else []
    sections = [Section("decision", "Whether it is too slow", boxes=boxes)] if decided else []
    sections += [Section("parts", "By phase and by cause", tables=tables if several else [])]
    sections += [Section("apart", "What else differs", text=show.lines(made), tables=apart)]
    return page.document(
        what="comparison of",
        sweep=SimpleNamespace(
            name=f"{made.first.path} and {made.second.path}",
            machine=made.setups[0].pairs[0][0].run.record.host.name,
            title="Two results side by side",
        ),
        sentence=show.sentence(made),
        top=page.Top(_picture(made.setups[:MOST]), first),
        broken=False,
        cautions=[Box(page.WARY, line) for line in made.cautions],
        sections=sections,
    )


def _picture(setups: list[Setup]) -> Figure:
    bars, names = [], []
    for setup in setups:
        title = f"{setup.name} " if setup.name else ""
        phases = {n.partition(".")[2]: e for n, e in setup.parts.items() if n.startswith("phase.")}
        names = list(dict.fromkeys([*names, *phases]))
        bars.append((f"{title}A", {name: MICRO * e.first_s for name, e in phases.items()}))
        bars.append((f"{title}B", {name: MICRO * e.second_s for name, e in phases.items()}))
    names = [name for name in names if any(parts.get(name) for _, parts in bars)]
    colours = {name: phase_colour("synchronise" if name == WAITING else name, names) for name in names}
    widths = {name: ([max(parts.get(name, 0.0), 0.0) for _, parts in bars], colours[name]) for name in names}
    totals = [sum(parts.values()) for _, parts in bars]
    said = " ".join(f"{name}: {number(total)}." for (name, _), total in zip(bars, totals, strict=True))
    alt = f"Microseconds per cycle by phase, as stacked bars. {said}"
    with drawing(height=rows_height(len(bars))) as (figure, (axes,)):
        handles = stacked(axes, [name for name, _ in bars], widths, end=axis_end(totals))
        axes.set(ylim=(-0.6, len(bars) - 0.4), xlabel="µs per cycle")
        legend_above(figure, handles, columns=3)
        svg = markup(figure, "first-picture", alt)
    return Figure("first-picture", "By phase", svg, alt, CAPTION, _numbers(bars, names))


def _numbers(bars: list[tuple[str, dict[str, float]]], names: list[str]) -> Table:
    columns = {Column("side", "side"): lambda one: one[0]}
    columns |= {Column(n, f"{n} (µs)"): lambda one, n=n: one[1].get(n, 0.0) for n in names}
    return Table.of(columns, bars)
