"""The page of a sweep: report.html of a results folder."""

from pathlib import Path

from spikemark.core.files import write_atomically
from spikemark.records.frames import Frames

from .answer import Answer, answer, picture, progress, table
from .document import Page, html
from .sections import SECTIONS


def write(frames: Frames, out: Path) -> Answer:
    """Write the page of a sweep to the file `out`, even if no run is complete; returns what it answers."""
    found = answer(frames)
    write_atomically(Path(out), html(page(found), Path(out).parent))
    return found


def page(found: Answer) -> Page:
    """Everything the page shows."""
    frames = found.frames
    return Page(
        what=f"experiment {frames.name} on {frames.machine}",
        title=frames.title or frames.name,
        sentence=" ".join(filter(None, [found.sentence, found.elsewhere])),
        care=found.caution,
        picture=picture(found),
        table=table(found),
        notes=[progress(frames)],
        sections=[section(found) for section in SECTIONS],
        alarm=found.verdict == "broken",
    )
