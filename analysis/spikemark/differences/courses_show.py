"""A history in words, as tables and as JSON."""

from pathlib import Path
from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent

from .gate import said, signed
from .history import Change, Course, spreads
from .times import CYCLE

MICRO = 1e6


def sentences(found: dict[Path, list[Course]]) -> list[str]:
    """One line for each machine: how many changes there are, and what the spread is."""
    lines = []
    for path, courses in found.items():
        number = sum(len(course.entries) for course in courses)
        changes = sum(len(course.changes) for course in courses)
        spread = spreads([entry for course in courses for entry in course.entries]).of_part(CYCLE)
        words = f"{path.stem}: {counted(number, 'entry', 'entries')} of {counted(len(courses), 'setup')}"
        words += f", {counted(changes, 'change')}"
        if spread.runs_degrees:
            words += f"; runs of a session spread by {percent(spread.runs**0.5, 1)} (standard deviation)"
        if spread.sessions_degrees:
            words += f", sessions by further {percent(spread.sessions**0.5, 1)}"
        lines.append(words + ".")
    return lines


def tables(found: dict[Path, list[Course]]) -> list[Table]:
    """The changes of all machines, and the latest entry of every setup."""
    everything = [(path, course) for path, courses in found.items() for course in courses]
    changed = [(path, course, change) for path, course in everything for change in course.changes]
    columns = {
        Column("machine", "machine"): lambda one: one[0].stem,
        Column("setup", "setup"): lambda one: one[1].title,
        Column("date", "since"): lambda one: one[2].after.started[:10],
        Column("change", "time per cycle", "measured"): lambda one: said(one[2].change),
        Column("versions", "what differs"): lambda one: versions(one[2]),
    }
    made = [Table.of(columns, changed, "Changes")] if changed else []
    return [*made, Table.of(_LATEST, everything, "Latest entries")]


_LATEST = {
    Column("machine", "machine"): lambda one: one[0].stem,
    Column("setup", "setup"): lambda one: one[1].title,
    Column("entries", "entries", "counted"): lambda one: len(one[1].entries),
    Column("date", "latest"): lambda one: one[1].entries[-1].started[:10],
    Column("cycle", "µs per cycle", "measured", digits=4): lambda one: MICRO * one[1].entries[-1].cycle_s,
    Column("change", "against the first"): lambda one: signed(
        one[1].entries[-1].cycle_s / one[1].entries[0].cycle_s - 1
    ),
}


def versions(change: Change) -> str:
    """What differs between the entries before and after a change, in words."""
    words = [f"{name}: {_short(old)} → {_short(new)}" for name, (old, new) in change.differs.items()]
    return "; ".join(words) or "nothing that entries tell"


def _short(value: Any) -> str:
    """A commit by its first letters."""
    text = "unknown" if value is None else str(value)
    return text[:10] if len(text) == 40 else text


def content(found: dict[Path, list[Course]]) -> dict[str, Any]:
    """The content for JSON, by machine and setup; times in s per cycle."""
    machines = {}
    for path, courses in found.items():
        machines[path.stem] = [
            {
                "setup": course.title,
                "key": course.entries[-1].key,
                "entries": [
                    {"started": e.started, "cycle_s": e.cycle_s, "runs": len(e.runs), "versions": e.versions}
                    for e in course.entries
                ],
                "changes": [
                    {
                        "since": c.after.started,
                        "change": c.change.content(),
                        "differs": {name: list(both) for name, both in c.differs.items()},
                    }
                    for c in course.changes
                ],
            }
            for course in courses
        ]
    return {"kind": "history_summary", "format_version": 1, "machines": machines}
