"""The page of imported cycle times, a dry run or a run: why ranks wait, and what helps."""

from pathlib import Path

import pandas as pd

from spikemark.core.files import write_output
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Table
from spikemark.quantities.words import counted, integer
from spikemark.records.imported import DRY_RUN, PAGE, CycleTimes
from spikemark.records.record import Run
from spikemark.waiting import answer
from spikemark.waiting.trace import trace

from . import plots
from .document import Page, html
from .sections import cycles
from .sections.waiting import helpful

OTHER, ORIGINS = "another program", {DRY_RUN: "a dry run of the mini-app"}
EXCHANGES = (
    "An exchange and its barrier are taken to be as long as in this run, although they would carry the spikes"
    " of D cycles. Compute times stay as measured, whatever another placement would make of them."
)


def write(times: CycleTimes | Run, path: Path | None = None) -> tuple[Path, str]:
    """Write the page, into the folder of the times if nowhere else. Returns its path and its sentence."""
    path = path or times.path / PAGE
    text, sentence = render(times, path.parent)
    write_output(path, text)
    return path, sentence


def render(times: CycleTimes | Run, folder: Path | None = None) -> tuple[str, str]:
    """The page as one HTML document that loads nothing, and the sentence at its top (`document.html`)."""
    run = trace(times)
    made = answer.answer(run)
    said = [line for line in answer.lines(made) if line and not line.startswith("  ")]
    if isinstance(times, Run):
        of = f"the run on {times.record.host.name}"
    else:
        of = ORIGINS.get(times.about.reader, OTHER)
    parts, *details = answer.tables(made)
    waits = Section(
        "waiting", "Waiting: what would help?", said[1:], tables=[helpful(made.helps)] if made.helps else [],
        boxes=[Box("wary", line) for line in (*run.warnings, EXCHANGES)],
    )  # fmt: skip
    text = html(
        Page(
            what=f"{times.path.resolve().name}, cycle times of {of}",
            title=f"{counted(run.ranks, 'rank')}, {integer(run.cycles)} cycles",
            sentence=said[0],
            picture=_picture(made, parts),
            table=parts,
            sections=[waits, cycles.of_times(1e6 * run.compute, "the program", details)],
        ),
        folder,
    )
    return text, said[0]


def _picture(made: answer.Answer, table: Table) -> Figure:
    """One bar of the time of a cycle: computing, the parts of the waiting, the exchange."""
    parts = made.ladder
    shown = {"computing": parts.computing} | parts.parts | {"exchange": parts.exchange}
    values = {name: 1e6 * max(q.value, 0.0) for name, q in shown.items() if q}
    caption = "Time per cycle, mean over ranks; waiting by how often ranks would have to meet (modelled)."
    frame = pd.DataFrame([{"item": "as it ran"} | values])
    return plots.bars(
        frame, "item", list(values), "first", "Where the time of a cycle goes", caption, xlabel="µs per cycle"
    )
