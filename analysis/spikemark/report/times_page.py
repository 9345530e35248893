"""The page of imported cycle times, a dry run or a run: why ranks wait, and what helps."""

from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.commands import command
from spikemark.core.files import write_output
from spikemark.core.places import short
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Table
from spikemark.quantities.words import counted, integer, number
from spikemark.records.imported import DRY_RUN, PAGE, CycleTimes
from spikemark.records.record import Run
from spikemark.waiting import answer
from spikemark.waiting.sentences import MICRO, slow_rank, slow_spells
from spikemark.waiting.trace import trace

from . import heat, plots
from .document import Page, html
from .facts import facts, of_runs
from .sections import cycles
from .sections.waiting import helpful

OTHER = "another program"
PARTS_OF_RUN = 20  #: in each of which a rank may be slow
#: Programs whose cycle times were imported, by what read them.
ORIGINS = {DRY_RUN: "a dry run of the mini-app"}
EXCHANGES = (
    "An exchange and its barrier are taken to be as long as in this run, although they would carry"
    " the spikes of D cycles."
)


def write(times: CycleTimes | Run, path: Path | None = None) -> tuple[Path, str]:
    """Write the page, into the folder of the times if nowhere else. Returns its path and its
    sentence.
    """
    path = path or times.path / PAGE
    made = answer.answer(trace(times))
    write_answer(path, times, made, command("report", short(times.path)))
    return path, made.lines[0]


def write_answer(
    path: Path, times: CycleTimes | Run, made: answer.WaitingAnswer, made_by: str
) -> None:
    """Write the page of an answer about these times, whole or not at all; as `_page`."""
    write_output(path, html(_page(times, made, made_by)))


def _page(times: CycleTimes | Run, made: answer.WaitingAnswer, made_by: str) -> Page:
    """The page about why ranks waited.

    Args:
        times: where the cycle times come from.
        made: the answer about them.
        made_by: the command that makes the page.
    """
    run = made.run
    spoken_lines = [line for line in made.lines if line and line[0] != " "]
    caution = spoken_lines.pop(0) if run.disturbed else ""
    first_line, *further_lines = spoken_lines
    parts, *details = made.tables
    slow = slow_rank(made.ladder.slowest, made.ladder.parts["imbalance"], made.cycle_s)
    named = [line for line in (slow, *slow_spells(made.ladder)) if line]
    planted = _planted(times)
    waits = Section(
        "waiting",
        "Waiting: what would help?",
        [*(line for line in further_lines if line != slow), *_slow_rank(made, slow)],
        tables=[helpful(made.helps)] if made.helps else [],
        boxes=[Box("wary", line) for line in (*planted, *run.warnings, *made.remarks, EXCHANGES)],
    )
    return Page(
        what=f"{times.path.resolve().name}, cycle times of {_origin(times)}",
        title=f"{counted(run.ranks, 'rank')}, {integer(run.cycles)} cycles",
        sentence=" ".join([first_line, *named[:1]]),
        care=caution,
        facts=_facts(times, made_by),
        picture=_picture(made, parts),
        table=parts,
        sections=[
            waits,
            heat.section(run),
            cycles.of_times(1e6 * run.compute, "the program", details, run.first_rank),
        ],
    )


def _planted(times: CycleTimes | Run) -> list[str]:
    """That computing was injected, which makes a run an example; nothing where it was not."""
    if not isinstance(times, Run) or not times.record.description.get("inject"):
        return []
    text = "An example: the description of this run injects what ranks compute (`inject`)"
    if times.record.description["inject"].get("wait") == "sleep":
        text += ", and they sleep meanwhile. Other programs change that little, unlike real work"
    return [f"{text}."]


def _slow_rank(made: answer.WaitingAnswer, slow: str) -> list[str]:
    """The sentence about slow ranks, what waiting would stay, how equal work differs from this, and
    since when the slowest is slow.

    `slow`: the sentence; nothing is said where it is empty.
    """
    if not slow:
        return []
    slowest = made.ladder.slowest
    left_s = (1 - slowest.share.number) * made.ladder.waiting.number
    lines = [
        f"{slow} The other {number(MICRO * left_s, 2)}\u202fµs per cycle would stay: in each cycle,"
        " whichever of the other ranks is last takes its place."
    ]
    if any(change.name == answer.EQUAL_WORK for change in made.helps):
        lines.append(
            f"{answer.EQUAL_WORK.capitalize()} is another remedy: what slow ranks compute longer is"
            " spread over all, and not saved."
        )
    lines.append(since_when(made.run.compute, slowest.rank, made.run.first_rank))
    return lines


def since_when(computing: np.ndarray, rank: int, first_rank: int = 0) -> str:
    """In which part of a run a rank was slow.

    A part counts in which the rank computed longer than the others on average by more than half of
    what it did over the whole run.

    Args:
        computing: times [rank, cycle].
        rank: the slow one, slower than the mean of the others.
        first_rank: what the first one is called.

    Example:
        >>> times = np.ones((4, 1000))
        >>> times[2, 600:] = 1.5
        >>> since_when(times, rank=2)
        'Rank 2 was slow in 8 of 20 equal parts of the run, first from cycle 600.'
    """
    row = rank - first_rank
    others = np.delete(computing, row, axis=0).mean(axis=0)
    parts = np.array_split(computing[row] - others, min(PARTS_OF_RUN, len(others)))
    excess = np.array([part.mean() for part in parts])
    slow = np.flatnonzero(excess > (computing[row] - others).mean() / 2)
    first = sum(len(part) for part in parts[: slow[0]])
    if len(slow) == len(parts):
        return f"Rank {rank} was slow from cycle 0 to the end."
    return (
        f"Rank {rank} was slow in {len(slow)} of {len(parts)} equal parts of the run, first from"
        f" cycle {integer(first)}."
    )


def _origin(times: CycleTimes | Run) -> str:
    """Whose times these are."""
    if isinstance(times, Run):
        return f"the run on {times.record.host.name}"
    return ORIGINS.get(times.about.reader, OTHER)


def _facts(times: CycleTimes | Run, made_by: str) -> dict[str, str]:
    """Where the times come from."""
    if isinstance(times, Run):
        return of_runs([times], times.record.host.name, made_by)
    return facts(program=_origin(times), command=made_by)


def _picture(made: answer.WaitingAnswer, table: Table) -> Figure:
    """One bar of the time of a cycle: computing, the parts of the waiting, the exchange."""
    parts = made.ladder
    shown = {"computing": parts.computing} | parts.parts | {"exchange": parts.exchange}
    values = {
        name: 1e6 * max(quantity.value, 0.0)
        for name, quantity in shown.items()
        if quantity is not None and quantity.value is not None
    }
    caption = (
        "Time per cycle, mean over ranks; waiting by how often ranks would have to meet (modelled)."
    )
    frame = pd.DataFrame([{"item": "as it ran"} | values])
    return plots.bars(
        frame,
        "item",
        list(values),
        "first",
        "Where the time of a cycle goes",
        caption,
        xlabel="µs per cycle (lower is better)",
        unit="µs / cycle",
    )
