"""A comparison as one screen, as JSON, and as a page: the answer, the parts, what else differs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.files import write_output
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, listed, percent
from spikemark.report import plots
from spikemark.report.document import Page, html

from .compare import FAIL, FASTER, OPEN, SLOWER, Comparison, Gate, Setup, verdict
from .estimate import ASSUMED_SESSIONS, WORDS
from .times import CYCLE, MEDIAN, PHASE

MICRO = 1e6
MOST = 12  # rows of a screen, setups of a picture
LONGEST, LISTED = 60, 5  # characters of a value, names in a sentence


def signed(share: float) -> str:
    """A share with its sign, as per cent with one digit behind the point."""
    words = percent(round(share, 4), 1)
    return f"+{words}" if round(share, 4) > 0 else words


def said(q: Quantity) -> str:
    """A change with its interval: '+9.8 % (+8.1 % to +11 %)'."""
    return signed(q.value) if q.low is None else f"{signed(q.value)} ({signed(q.low)} to {signed(q.high)})"


def sentence(made: Comparison) -> str:
    """Is B slower, by how much, and where?"""
    q = made.overall
    where = f"Over {counted(len(made.setups), 'setup')}, " if len(made.setups) > 1 else ""
    if q.low is None:
        return f"{where}B takes {said(q)} per cycle, but runs were disturbed: not judged."
    if verdict(q) == OPEN:
        return f"{where}B is as fast as A as far as is known: {said(q)} per cycle."
    most = _mostly(made.setups[0]) if len(made.setups) == 1 else ""
    return f"{where}B is {verdict(q)} than A: {said(q)} per cycle{most}."


def _mostly(setup: Setup) -> str:
    """The phase with the largest share of the change, if it is told apart from 0."""
    parts = {n: e.difference_s / setup.cycle.difference_s for n, e in setup.parts.items() if PHASE in n}
    name = max(parts, key=parts.get, default="")
    known = name and verdict(setup.change(name)) != OPEN
    return f", most of it in {name.removeprefix(PHASE)}" if known else ""


def lines(made: Comparison) -> list[str]:
    """What the screen says besides the sentence, at most four lines."""
    found, setups = [], made.setups
    if len(setups) > 1:
        kinds = [verdict(made.change(setup)) for setup in setups]
        found.append(f"Told apart from A: {kinds.count(SLOWER)} slower, {kinds.count(FASTER)} faster.")
    medians = [(s, c) for s in setups if (c := made.median_change(s))]
    hidden = [(s, c) for s, c in medians if verdict(c) not in (OPEN, verdict(made.change(s)))]
    if hidden:
        setup, q = max(hidden, key=lambda one: abs(one[1].value))
        name = f" of {setup.name}" if setup.name else ""
        found.append(f"The median cycle{name} is {verdict(q)}: {said(q)}; few long cycles hide it.")
    rests = listed(dict.fromkeys(WORDS[setup.cycle.spread] for setup in setups))
    later = any(setup.cycle.sessions_assumed for setup in setups)
    also = f" and {100 * ASSUMED_SESSIONS:g} % assumed, as one side was measured later" if later else ""
    names = dict.fromkeys(name for name, *_ in made.differs)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    both = zip("AB", made.alone, strict=True)
    alone = [f"{len(own)} runs are only in {side}." for side, own in both if own]
    apart = listed([*names][:LISTED]) if names else "nothing"
    if made.overall.low is not None:
        found.append(f"Intervals (95 %) rest on {rests}{also}.")
    return [*found, " ".join([f"Else differs: {apart}{more}.", *alone])]


def first_table(made: Comparison) -> Table:
    """The setups that changed most; or of a single one, its phases and causes."""
    if len(made.setups) == 1:
        return parts(made, made.setups[0])
    return overview(made, sorted(made.setups, key=lambda s: -abs(s.change().value))[:MOST])


def overview(made: Comparison, setups: list[Setup]) -> Table:
    """A row per setup."""
    columns = {
        Column("setup", "setup"): lambda s: s.name,
        Column("pairs", "pairs", "counted"): lambda s: s.pairs,
        Column("first", "A (µs per cycle)", digits=4): lambda s: MICRO * s.cycle.first_s,
        Column("second", "B (µs per cycle)", digits=4): lambda s: MICRO * s.cycle.second_s,
        Column("change", "change", words=signed): lambda s: made.change(s),
    }
    return Table.of(columns, setups, "Setups")


def parts(made: Comparison, setup: Setup) -> Table:
    """The cycle, its phases and its causes on both sides; phases add up to the cycle, and so do causes."""
    least = {CYCLE: -1.0, MEDIAN: np.inf}
    names = [n for n, e in setup.parts.items() if max(abs(e.first_s), abs(e.second_s)) > least.get(n, 1e-10)]
    columns = {
        Column("part", ""): lambda n: n.replace(".", " "),
        Column("first", "A (µs)", digits=4): lambda n: MICRO * setup.parts[n].first_s,
        Column("second", "B (µs)", digits=4): lambda n: MICRO * setup.parts[n].second_s,
        Column("share", "change, of a cycle of A", words=signed): lambda n: (
            made.change(setup) if n == CYCLE else setup.change(n)
        ),
    }
    runs = f"{counted(setup.runs[0], 'run')} of A, {counted(setup.runs[1], 'run')} of B"
    notes = [f"{name}: {why}" for name, why in setup.missing.items()]
    return Table.of(columns, names, f"{setup.name}: {runs}" if setup.name else runs, notes=notes)


def details(made: Comparison) -> list[Table]:
    """All setups, the parts of each, what else differs, and runs without a partner."""
    apart = {
        Column("field", "field"): lambda one: one[0][0],
        Column("first", "A"): lambda one: one[0][1][:LONGEST],
        Column("second", "B"): lambda one: one[0][2][:LONGEST],
        Column("pairs", "pairs", "counted"): lambda one: one[1],
    }
    alone = {Column("side", "only in"): lambda one: one[0], Column("run", "run"): lambda one: one[1]}
    every = [(side, name) for side, names in zip("AB", made.alone, strict=True) for name in names]
    tables = [overview(made, made.setups), *(parts(made, setup) for setup in made.setups)]
    tables.append(Table.of(apart, made.differs.items(), "What else differs"))
    tables.append(Table.of(alone, every, "Runs without a partner"))
    return [table for table in tables if table.rows]


def content(made: Comparison, decided: Gate | None = None) -> dict[str, Any]:
    """The content for JSON; times are in s per cycle, changes are shares of a cycle of A."""
    found: dict[str, Any] = {
        "kind": "difference", "format_version": 1, "first": str(made.paths[0]),
        "second": str(made.paths[1]), "sentence": sentence(made), "overall": made.overall.content(),
        "level": made.level, "setups": [_setup(made, setup) for setup in made.setups],
        "differs": [
            dict(zip(("field", "first", "second", "runs"), (*one, n), strict=True))
            for one, n in made.differs.items()
        ],
        "only_first": made.alone[0], "only_second": made.alone[1], "cautions": made.cautions,
    }  # fmt: skip
    if decided is not None:
        said = {"ratio": decided.ratio.content(), "sentence": decided.sentence}
        found["fail_above"] = vars(decided) | said
    return found


def _setup(made: Comparison, setup: Setup) -> dict[str, Any]:
    middle = made.median_change(setup)
    return {
        "name": setup.name, "runs": list(setup.runs), "change": made.change(setup).content(),
        "verdict": verdict(made.change(setup)) if setup.judged else "not judged",
        "median_change": None if middle is None else middle.content(),
        "parts": {
            name: {
                "first_s": one.first_s, "second_s": one.second_s, "difference_s": one.difference_s,
                "interval_s": list(one.interval()) if setup.judged else None, "kind": setup.kind,
                "spread": one.spread,
            } for name, one in setup.parts.items() if name != MEDIAN
        },
        "missing": setup.missing,
    }  # fmt: skip


def write(made: Comparison, decided: Gate | None, path: Path) -> None:
    """Write the page, whole or not at all."""
    phases = [
        {"setup": f"{setup.name} {side}".strip(), **{
            name.removeprefix(PHASE): max(MICRO * getattr(part, f"{which}_s"), 0.0)
            for name, part in setup.parts.items() if name.startswith(PHASE)
        }}
        for setup in made.setups[:MOST] for side, which in (("A", "first"), ("B", "second"))
    ]  # fmt: skip
    frame = pd.DataFrame(phases).fillna(0.0)
    names = [name for name in frame if name != "setup"]
    caption = f"Microseconds per cycle by phase, means over ranks and runs ({made.setups[0].kind})."
    picture = plots.bars(frame, "setup", names, "phases", "Phases", caption, xlabel="µs per cycle")
    boxes = [Box("bad" if decided.state == FAIL else "plain", decided.sentence)] if decided else []
    boxes += [Box("wary", line) for line in made.cautions]
    page = Page(
        f"{made.paths[0]} (A) and {made.paths[1]} (B)", "Two results side by side", sentence(made),
        picture=picture, table=first_table(made), notes=lines(made),
        sections=[Section("details", "Details", boxes=boxes, tables=details(made))],
    )  # fmt: skip
    write_output(path, html(page, Path(path).parent))
