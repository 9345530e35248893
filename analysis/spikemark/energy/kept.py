"""Power of an external meter, kept for a run of a sweep: RESULTS/power/ID.json and the CSV it names."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.records.record import Run
from spikemark.records.results import Results, beside

from . import analysis, outside
from .analysis import Energy


class Kept(BaseModel):
    """A kept file: its name as given, its copy `csv` beside this one, and how outside.source places it."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid")

    file: str
    csv: Annotated[str, Field(pattern=r"^[0-9a-f]{12}\.csv$")]
    channels: list[str] | None
    offset_s: float
    align: str
    at_wall_percent: float | None


def keep(run: Run, path: Path, **placed) -> Path:
    """Copies the CSV at `path`, and how it was placed in time, into the results folder; runs share a copy.

    `placed` are the arguments of `outside.source`. Returns the file that was written last, without which the
    copy is not read. Raises BadInput for a run that is in no results folder, and for what is no file.
    """
    at = beside(run.path, Results.power)
    if at is None:
        raise BadInput(f"--keep: {run.path} is in no results folder; allowed: results/…/runs/ID of a sweep")
    if not path.is_file():
        raise BadInput(f"--keep: {path} cannot be read twice; allowed: a regular file")
    content = path.read_bytes()
    name = f"{hashlib.sha256(content).hexdigest()[:12]}.csv"
    about = Kept(file=path.name, csv=name, **placed)
    if not (at.parent / name).is_file():
        write_atomically(at.parent / name, content)
    write_json(at, about.model_dump())
    return at


def of_run(run: Run) -> Energy:
    """Energy from the power kept for the run, or else its own readings. Raises BadInput for bad files."""
    at = beside(run.path, Results.power)
    if at is None or not at.is_file():
        return analysis.of_run(run)
    about = checked(Kept, read_json(at), at, "power", "; delete it, or --keep it again")
    source = outside.source(
        run, at.parent / about.csv, about.channels, about.offset_s, about.align, about.at_wall_percent
    )
    return analysis.measured(run, replace(source, name=about.file))
