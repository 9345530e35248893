"""The page of a history: every setup over time, with its changes."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from spikemark.core.files import write_output
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import mean
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number
from spikemark.report import page
from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, markup

from . import courses_show
from .entries import Entry
from .gate import said
from .history import Change, Course
from .times import CYCLE

MICRO = 1e6
CAPTION = (
    "Time per cycle of each entry, mean over its runs with an interval of 95 % where there are three or more,"
    " in the order of time. A vertical line marks a change of the level."
)


def write(folder: Path, found: dict[Path, list[Course]], path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(path, render(folder, found))


def render(folder: Path, found: dict[Path, list[Course]]) -> str:
    """The page as one HTML document that loads nothing."""
    first, *others = courses_show.sentences(found)
    figures = [
        (file, _figure(f"course-{i}-{j}", course))
        for i, (file, courses) in enumerate(found.items())
        for j, course in enumerate(courses)
    ]
    tables = courses_show.tables(found)
    sections = [
        Section(f"machine-{file.stem}", file.stem, figures=[one for of, one in figures if of == file])
        for file in found
    ]
    return page.document(
        what="history",
        sweep=SimpleNamespace(
            name=Path(folder).resolve().name,
            machine=", ".join(file.stem for file in found),
            title="Time per cycle over the months",
        ),
        sentence=first,
        top=page.Top(table=tables[0], rest=" ".join(others)),
        broken=False,
        sections=[*sections, Section("latest", "Latest entries", tables=tables[1:])],
    )


def _figure(name: str, course: Course) -> Figure:
    entries = course.entries
    times = [mean([MICRO * run.parts[CYCLE] for run in entry.runs], "us", "measured") for entry in entries]
    alt = (
        f"{course.title}: {counted(len(entries), 'entry', 'entries')}, from {number(times[0].value)} to"
        f" {number(times[-1].value)} µs per cycle, {counted(len(course.changes), 'change')}."
    )
    at = np.arange(len(entries))
    with drawing(height=2.6) as (figure, (axes,)):
        for x, one in zip(at, times, strict=True):
            if one.interval:
                axes.plot([x, x], one.interval, color=COLOUR["muted"], linewidth=1)
        axes.plot(at, [one.value for one in times], "o", color=COLOUR["deliver"], markersize=4.5)
        tell(axes, course.title, at, times, "measured", [_said(entry) for entry in entries])
        for change in course.changes:
            x = entries.index(change.after) - 0.5
            axes.axvline(x, color=COLOUR["ink"], linestyle="--", linewidth=1)
        for level in course.levels:
            first = entries.index(level[0])
            height = MICRO * float(np.mean([entry.cycle_s for entry in level]))
            axes.plot(
                [first - 0.4, first + len(level) - 0.6], [height] * 2, color=COLOUR["model"], linewidth=1
            )
        ticks = sorted({0, len(entries) - 1, *(entries.index(c.after) for c in course.changes)})
        axes.set_xticks(ticks, [entries[i].started[:10] for i in ticks])
        axes.set(ylabel="µs per cycle", xlim=(-0.6, len(entries) - 0.4))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        svg = markup(figure, name, alt, zoom=axes)
    return Figure(name, course.title, svg, alt, CAPTION, _table(course, times))


def _said(entry: Entry) -> str:
    commit = entry.versions.get("commit")
    return f"{entry.started[:16].replace('T', ' ')}, {str(commit)[:10]}"


def _table(course: Course, times: list) -> Table:
    after = {id(change.after): change for change in course.changes}
    columns = {
        Column("started", "entry"): lambda one: one[0].started,
        Column("runs", "runs", "counted"): lambda one: len(one[0].runs),
        Column("cycle", "µs per cycle", "measured", digits=4): lambda one: one[1],
        Column("change", "changed by"): lambda one: (
            f"{said(found.change)}; {courses_show.versions(found)}"
            if (found := after.get(id(one[0])))
            else ""
        ),
        Column("commit", "commit"): lambda one: str(one[0].versions.get("commit"))[:10],
    }
    return Table.of(columns, zip(course.entries, times, strict=True))


def _changed(change: Change | None) -> str:
    return f"{said(change.change)}; {courses_show.versions(change)}" if change else ""
