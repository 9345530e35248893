"""A page for each run of a sweep, within the page of the sweep, and figures of chosen axes.

Both are drawn by `explore.js` from one table, which the page holds as data: a row per run, with
what was set and what was measured. What all runs share is said once.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from spikemark.core.places import short
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.terms import column, term
from spikemark.records.frames import CONFIGURATION, Frames, configurations
from spikemark.records.phases import PARTS
from spikemark.records.runs_table import PART

from . import plots
from .comparison import in_order

LABELS = {name: schedule.label for name, schedule in SCHEDULES.items()}
DIGITS = 6  #: significant digits of a number
FIRST = 3  #: values of a row before those of its columns: id, folder, whether it has cycle times
#: Columns by which runs are told apart, beside those that the grid varies.
SET = ("configuration", *CONFIGURATION, "ranks", "threads", "seed", "repetition")
#: Columns that a figure can draw, and the page of a run compares with its like.
MEASURED = (
    "real_time_factor",
    *(PART + part for part in PARTS),
    "bytes_per_synapse",
    "energy_per_event_uj",
    "foreign_load",
    "timer_overhead",
    "build_s",
    "messages",
    "bytes_sent",
)
#: What else is said of a run.
SAID = ("checksum", "started", "host", "commit", "machine", "cpu", "preset", "neurons", "synapses")


@dataclass(frozen=True)
class RunColumn:
    """A column as `explore.js` reads it."""

    name: str
    head: str  #: with its unit
    use: str  #: set, measured or said

    def content(self) -> dict[str, str]:
        """Its JSON."""
        return {"name": self.name, "head": self.head, "use": self.use}


@dataclass(frozen=True)
class RunPages:
    """What a page knows of its runs."""

    results: str  #: the results folder, as commands name it
    columns: list[RunColumn]
    rows: list[list[str | int | float | None]]  #: FIRST values, then those of `columns`
    shared: dict[str, str]  #: what all runs have in common, by its head
    colours: dict[str, str]  #: names of colours in style.css, of configurations and schedules

    def data(self) -> Markup:
        """The JSON that `explore.js` reads, in which nothing ends the element of HTML."""
        content = {
            "results": self.results,
            "columns": [one.content() for one in self.columns],
            "rows": self.rows,
            "shared": self.shared,
            "colours": self.colours,
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return Markup(text.replace("<", "\\u003c"))


def run_pages(frames: Frames) -> RunPages | None:
    """The pages of all complete runs; None where there is none.

    Example:
        >>> from spikemark.records.frames import load_folder
        >>> pages = run_pages(load_folder("docs/notebooks/data/waiting/jureca-dc"))
        >>> [one.name for one in pages.columns if one.use == "set"][:3]
        ['configuration', 'schedule', 'placement']
        >>> len(pages.rows), pages.shared["ranks"]
        (3, '4')
    """
    if frames.runs.empty:
        return None
    runs = in_order(frames.runs)
    runs = runs.assign(
        configuration=configurations(runs),
        schedule=runs["schedule"].map(lambda name: LABELS.get(name, name)),
    )
    columns = _varying(runs, dict.fromkeys([*SET, *frames.swept]), "set")
    columns += _varying(runs, MEASURED, "measured")
    columns += _varying(runs, SAID, "said")
    names = list(dict.fromkeys([*runs["configuration"], *runs["schedule"]]))
    return RunPages(
        str(short(frames.path)),
        columns,
        [_row(frames, row, columns) for row in runs.to_dict("records")],
        _shared(runs),
        _colours(names),
    )


def _varying(runs: pd.DataFrame, names: Iterable[str], use: str) -> list[RunColumn]:
    """The columns in which runs differ."""
    varying = []
    for name in names:
        if name in runs and runs[name].astype(str).nunique() > 1:
            head = name if name == "configuration" else term(name).heading
            varying.append(RunColumn(name, head, use))
    return varying


def _shared(runs: pd.DataFrame) -> dict[str, str]:
    """What all runs have in common, in words, by its head."""
    shared = {}
    for name in (*SET, *SAID):
        values = runs[name].dropna()
        if len(values) == len(runs) and values.astype(str).nunique() == 1:
            shared[term(name).heading] = column(name).text(_cell(values.iloc[0]))
    return shared


def _row(
    frames: Frames, row: dict[Any, Any], columns: list[RunColumn]
) -> list[str | int | float | None]:
    """The row of a run."""
    run = frames.records[row["id"]]
    folder = run.path.resolve()
    if folder.is_relative_to(frames.path):  # which is resolved
        folder = folder.relative_to(frames.path)
    has_cycles = int(run.cycles is not None)
    return [row["id"], str(folder), has_cycles, *(_cell(row[one.name]) for one in columns)]


def _cell(value: Any) -> str | int | float | None:
    """A value as JSON holds it."""
    if isinstance(value, list | dict):
        return json.dumps(value)
    if pd.isna(value):
        return None
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return int(value)
    return float(f"{float(value):.{DIGITS}g}")


def _colours(names: list[str]) -> dict[str, str]:
    """Names of the colours of configurations, the same as in all other figures."""
    by_stand_in = {colour: name for name, colour in plots.COLOUR.items()}
    looks = plots.line_looks(names, is_split=False)
    return {name: by_stand_in[colour] for name, (colour, _) in looks.items()}
