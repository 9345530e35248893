"""The page of a sweep: report.html of a results folder."""

from pathlib import Path

from spikemark.core.files import write_atomically
from spikemark.records.frames import Frames

from .answer import Answer, answer, picture, progress, table
from .document import Page, html
from .sections import SECTIONS


def write(frames: Frames, out: Path, edited: str = "") -> Answer:
    """Write the page of a sweep to the file `out`, even if no run is complete; returns what it answers.

    `edited`: how the experiment's file differs by now from what was planned.
    """
    found = answer(frames)
    write_atomically(Path(out), html(page(found, edited), Path(out).parent))
    return found


def page(found: Answer, edited: str = "") -> Page:
    """Everything the page shows."""
    frames = found.frames
    return Page(
        what=f"experiment {frames.name} on {frames.machine}",
        title=frames.title or frames.name,
        sentence=" ".join(filter(None, [found.sentence, found.elsewhere])),
        care=found.caution,
        picture=picture(found),
        table=table(found),
        notes=[progress(frames), *([f"edited since: {edited}"] if edited else [])],
        sections=[section(found) for section in SECTIONS],
        alarm=found.verdict == "broken",
    )
