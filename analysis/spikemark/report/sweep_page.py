"""The page of a sweep: report.html of a results folder."""

from pathlib import Path

from spikemark.core.files import write_atomically
from spikemark.records.frames import Frames

from . import cases
from .answer import SweepAnswer, answer, picture, progress, table
from .document import Page, html
from .facts import of_sweep
from .run_pages import run_pages
from .sections import sections


def write(frames: Frames, out: Path) -> SweepAnswer:
    """Write the page of a sweep to the file `out`, even if no run is complete; returns what it
    answers.
    """
    sweep = answer(frames)
    write_atomically(Path(out), html(_page(sweep)))
    return sweep


def _page(sweep: SweepAnswer) -> Page:
    """Everything the page shows."""
    frames = sweep.frames
    return Page(
        what=f"experiment {frames.name} on {frames.machine}",
        title=frames.title or frames.name,
        sentence=" ".join(filter(None, [sweep.sentence, sweep.elsewhere])),
        care=sweep.caution,
        facts=of_sweep(frames),
        picture=picture(sweep),
        table=table(sweep),
        notes=[*filter(None, [cases.shown(sweep)]), *cases.costs(sweep), progress(frames)],
        sections=sections(sweep),
        alarm=sweep.verdict == "broken",
        runs=run_pages(frames),
    )
