"""The index of a folder of results: a row for each experiment on each machine, with its headline.

Rows link to the reports, which `spikemark sweep` and `spikemark report` write.
"""

from dataclasses import dataclass
from pathlib import Path

from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.files import write_output
from spikemark.core.places import short
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted
from spikemark.records.frames import load_folder
from spikemark.records.results import Results

from .answer import answer
from .document import PATH, Page, html
from .facts import facts, few

INDEX = "index.html"  #: the file, in the folder that it is about
PLAN = "plan.json"
COLUMNS = [
    Column("results", "results"),
    Column(PATH, "report"),
    Column("title", "experiment"),
    Column("day", "last run"),
    Column("complete", "runs", "counted"),
    Column("planned", "planned", "counted"),
    Column("headline", "headline"),
]


@dataclass(frozen=True)
class Listed:
    """One results folder in the index."""

    name: str  #: its path from the folder of the index
    machine: str
    cells: dict[str, Cell]  #: by the names of COLUMNS
    complaint: str  #: why it cannot be read; empty if it can


def write(folder: Path) -> tuple[Path, str, list[str]]:
    """Write the index into the folder.

    Returns:
        Its path, its sentence, and a line for each results folder that cannot be read.

    Raises:
        BadInput: where no results folder is in it.

    Example:
        >>> import shutil
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     results = Path(folder, "waiting", "jureca-dc")
        ...     copied = shutil.copytree("docs/notebooks/data/waiting/jureca-dc", results)
        ...     page, sentence, complaints = write(Path(folder))
        >>> sentence
        '1 results folder.'
    """
    plans = [*folder.glob(f"*/{PLAN}"), *folder.glob(f"*/*/{PLAN}")]
    if not plans:
        raise BadInput(
            field="--index",
            file=folder,
            reason=f"holds no EXPERIMENT/MACHINE/{PLAN}",
            expected="a folder of results",
            code="file",
        )
    listed = [_listed(plan.parent, folder) for plan in sorted(plans)]
    complaints = [f"{each.name}: {each.complaint}" for each in listed if each.complaint]
    sentence = f"{counted(len(listed), 'results folder')}"
    if complaints:
        sentence += f", {len(complaints)} of them unreadable"
    page = Page(
        what="an index of results",
        title=short(folder.resolve()).name or "results",
        sentence=f"{sentence}.",
        facts=facts(
            machine=few(each.machine for each in listed if each.machine),
            command=command("report", short(folder.resolve()), "--index"),
        ),
        table=Table(COLUMNS, [each.cells for each in listed], "Results"),
        notes=["Links lead to reports as long as this page lies in its folder of results."],
    )
    path = folder / INDEX
    write_output(path, html(page))
    return path, page.sentence, complaints


def _listed(results: Path, folder: Path) -> Listed:
    """The row of a results folder; one that cannot be read has the reason instead of a headline."""
    name = results.relative_to(folder).as_posix()
    report = Results(results).report
    link = report.relative_to(folder).as_posix() if report.is_file() else None
    cells: dict[str, Cell] = {"results": name, PATH: link}
    try:
        frames = load_folder(results)
    except BadInput as error:
        reason = str(error)
        return Listed(name, "", cells | {"headline": f"unreadable: {reason}"}, reason)
    sweep = answer(frames)
    started = frames.runs["started"]
    cells |= {
        "title": frames.title or frames.name,
        "day": None if started.empty else str(started.max())[:10],
        "complete": len(frames.runs),
        "planned": len(frames.planned),
        "headline": " ".join(filter(None, [sweep.sentence, sweep.caution])),
    }
    return Listed(name, frames.machine, cells, "")
