"""The page of an advice: sentence, picture and table, then what to do, all options, and what it rests on."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.prediction import advise_commands, advise_show, show
from spikemark.prediction.advise import Advice
from spikemark.prediction.advise_option import FACTOR
from spikemark.prediction.times import PARTS
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number

from . import machines_drawing, page
from .machines_page import based_on
from .sections import glossary

#: Columns of the table on the first screen.
FIRST = ("schedule", "verdict", "nodes", "ranks", "placement", "delay_ratio", FACTOR)
WHOLE = "real-time factor"  # the only part of a bar where parts are not known


def write(made: Advice, path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(Path(path), render(made))


def render(made: Advice) -> str:
    """The page as one HTML document that loads nothing."""
    wanted = f", real-time factor {number(made.target)} wanted" if made.target is not None else ""
    return page.document(
        what="advice for",
        sweep=SimpleNamespace(
            name=made.network.title,
            machine=advise_show.called(made),
            title=f"{made.title}{wanted}",
        ),
        sentence=advise_show.sentence(made),
        not_nest=made.times_of[0],
        top=page.Top(_picture(made), _first(made)),
        broken=False,
        sections=[_repeat(made), _options(made), _based_on(made), glossary.of(glossary.PREDICTED)],
    )


def _first(made: Advice) -> Table:
    whole = advise_show.table(made)
    columns = sorted((c for c in whole.columns if c.name in FIRST), key=lambda c: FIRST.index(c.name))
    return replace(whole, columns=columns, title="", notes=[])


def _picture(made: Advice) -> Figure:
    """The time of the best option of every schedule, by part where parts are known."""
    all_of = [r.prediction for r in made.ranked]
    names = [name for name in PARTS if all(p.figures[name] for p in all_of)]
    bars = {
        f"{p.loads.schedule.label}, {counted(p.nodes, 'node')}": {
            name: p.figures[name].value for name in names
        }
        or {WHOLE: p.figures[FACTOR].value}
        for p in all_of
    }
    columns = {Column("way", "schedule, nodes"): lambda row: row[0]} | {
        column: lambda row, cell=cell: cell(row[1]) for column, cell in show.figures([*names, FACTOR]).items()
    }
    alt = "; ".join(f"{way}: {number(sum(bar.values()))} s per simulated s" for way, bar in bars.items())
    line = "" if made.target is None else " The dashed line is the target."
    return Figure(
        "parts", "Where the time goes" if names else "How long it takes",
        machines_drawing.parts(bars, made.target, "parts", alt), alt,
        "Seconds per simulated second of the best option of every schedule, with its number of nodes"
        f" (modelled). A shorter bar is faster; below 1 is faster than real time.{line}",
        Table.of(columns, zip(bars, all_of, strict=True)),
    )  # fmt: skip


def _repeat(made: Advice) -> Section:
    described = advise_show.described(made)
    links = [("Predict it again", "", f"`{advise_commands.predicting(made)}`")]
    links += [("Write into your script", "", f"`{line}`") for line in advise_commands.in_script(made)]
    links += [(f"Run it with {made.label}", "", f"`{line}`") for line in advise_commands.running(made)]
    links.append((advise_show.FEWER.rstrip(":"), "", f"`{advise_commands.on_fewer_cores(made)}`"))
    words = [*advise_show.explained(made), *([described] if described else [])]
    return Section("way", "What to do", words, links=links)


def _options(made: Advice) -> Section:
    boxes = [Box("wary", line) for line in made.times_of[1:]]
    tables = [replace(advise_show.table(made).without_unknown(), name="")]
    return Section("options", "The best option of every schedule", boxes=boxes, tables=tables)


def _based_on(made: Advice) -> Section:
    said = {*made.times_of, advise_show.described(made)}
    return based_on("based-on", [], [line for line in advise_show.lines(made) if line not in said])
