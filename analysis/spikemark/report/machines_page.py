"""The page of a comparison of machines, for a buyer: verdict, picture, table, assumptions."""

from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_atomically
from spikemark.prediction import compare_show, show
from spikemark.prediction.compare import Comparison, factor, interval
from spikemark.prediction.predict import PARTS
from spikemark.quantities.elements import Figure, KeyFigure, Section
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number

from . import machines_drawing, page

ASKED = (
    "No run was made for this page: every number is computed from the profiles of the machines. Its "
    "interval is found by moving every value that it depends on to its limits, one at a time. Its kind is "
    "the worst kind among these values: measured, literature (published by others), assumed, or "
    "extrapolated (outside the range in which predictions were validated)."
)
TRIED = "These numbers of nodes were tried; each rank uses the cores of its share of a node."


def write(made: Comparison, path: Path) -> None:
    """Write the page whole or not at all."""
    write_atomically(Path(path), render(made))


def render(made: Comparison) -> str:
    """The page as one HTML document that loads nothing."""
    tables, figures = [compare_show.table(made)], _parts(made)
    compared = Section("machines", "What each machine needs", [ASKED], tables=tables, figures=figures)
    return page.document(
        what="comparison of machines for",
        sweep=SimpleNamespace(
            name=made.network.title,
            machine=", ".join(c.name for c in made.candidates),
            title=f"{made.schedule}, real-time factor {number(made.target)} wanted",
        ),
        sentence=compare_show.verdict(made),
        key_figures=_tiles(made),
        broken=False,
        warnings=[],
        sections=[s for s in (compared, _picture(made), _tried(made), _assumed(made)) if s],
    )


def _tiles(made: Comparison) -> list[KeyFigure]:
    found = []
    for c in made.candidates:
        if not c.usable:
            found.append(KeyFigure(c.name, missing("does not fit into memory")))
            continue
        p = c.chosen
        note = f"real-time factor {Column('', '').text(interval(p))}, {c.certainty}"
        found.append(KeyFigure(c.name, counted(p.nodes, "node"), interval(p).kind, note))
    return found


def _parts(made: Comparison) -> list[Figure]:
    bars = {
        f"{c.name}, {c.chosen.nodes}": {part: c.chosen.figures[part].value for part in PARTS}
        for c in made.candidates
        if c.usable
    }
    if not bars:
        return []
    alt = "; ".join(f"{name}: longest is {max(bar, key=bar.get)}" for name, bar in bars.items())
    rows = [
        {"machine": f"{c.name}, {c.chosen.nodes}", **c.chosen.figures} for c in made.candidates if c.usable
    ]
    columns = [Column("machine", "machine, nodes"), *(Column(part, part, each=True) for part in PARTS)]
    return [Figure(
        "parts", "Where the time goes", machines_drawing.parts(bars, made.target, "parts", alt), alt,
        "Seconds per simulated second on the nodes of the table.",
        Table(columns, rows),
    )]  # fmt: skip


def _picture(made: Comparison) -> Section | None:
    curves = {
        c.name: points
        for c in made.candidates
        if (points := [(factor(p), e.value) for p in c.usable if (e := p.figures["energy_j"])])
    }
    if not curves:
        return None
    best = [(factor(p), e.value) for p in made.pareto if (e := p.figures["energy_j"])]
    named = ", ".join(f"{p.machine} on {p.nodes}" for p in made.pareto)
    alt = f"Energy against real-time factor; nothing is better in both than: {named}."
    table = Table(
        [Column("machine", "machine"), Column("nodes", "nodes"), *show.columns_of(compare_show.TRIED[:2])],
        [{"machine": p.machine, "nodes": p.nodes, **p.figures} for p in made.pareto if p.figures["energy_j"]],
    )
    picture = Figure(
        "pareto", "Time and energy", machines_drawing.pareto(curves, best, made.target, "pareto", alt), alt,
        "One point for each number of nodes. For ringed points, no other machine or number of nodes is "
        "better in both.", table,
    )  # fmt: skip
    return Section("pareto-section", "Time against energy", figures=[picture])


def _tried(made: Comparison) -> Section:
    columns = [Column("nodes", "nodes"), *show.columns_of(compare_show.TRIED), Column("part", "longest part")]
    tables = []
    for c in made.candidates:
        rows = [{"nodes": compare_show.nodes(p), **p.figures, "part": p.slowest} for p in c.tried]
        tables.append(Table(columns, rows, c.title))
    refused = sorted({f"{c.title}: {why}" for c in made.candidates for why in c.refused.values()})
    return Section("tried", "All numbers of nodes", [TRIED], tables=tables, missing=refused)


def _assumed(made: Comparison) -> Section:
    lines = [tuple(line.partition(": ")[::2]) for line in compare_show.lines(made)]
    return Section("assumptions", "What this is based on", links=[(what, "", rest) for what, rest in lines])
