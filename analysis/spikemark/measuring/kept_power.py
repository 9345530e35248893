"""Power of a meter that is kept for a run of a sweep: a copy of its CSV, and its place in time.

RESULTS/power/ID.json says which copy in the same folder belongs to the run ID, and how it was
placed. Runs share a copy.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.records.record import Run
from spikemark.records.results import Results, beside

from .meter import PowerReadings, source


class KeptPower(BaseModel):
    """RESULTS/power/ID.json."""

    model_config = ConfigDict(strict=True, extra="forbid")

    file: str  #: the file's own name
    csv: str  #: its copy
    channels: list[str] | None  #: this and what follows: arguments of `meter.source`
    offset_s: float | None
    align: str
    at_wall_percent: float | None


def keep(
    run: Run,
    path: Path,
    channels: list[str] | None = None,
    offset_s: float | None = None,
    align: str = "times",
    at_wall_percent: float | None = None,
) -> Path:
    """Copies a meter's CSV, and how it was placed in time, into the results of the run's sweep.

    The arguments are those of `meter.source`. Returns RESULTS/power/ID.json. Raises BadInput for a
    run that is in no results folder.

    Example:
        >>> from spikemark.records.record import load_run
        >>> keep(load_run("tests/golden/analysis/records/aware-4"), Path("power.csv"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: keep='tests/golden/analysis/records/aware-4'; ...
    """
    place = beside(run.path, Results.power)
    if place is None:
        expected = "a run in results/…/runs/ID of a sweep"
        raise BadInput(
            field="keep",
            value=str(run.path),
            expected=expected,
        )
    content = path.read_bytes()
    copy = f"{hashlib.sha256(content).hexdigest()[:12]}.csv"
    if not (place.parent / copy).is_file():
        write_atomically(place.parent / copy, content)
    power = KeptPower(
        file=path.name,
        csv=copy,
        channels=channels,
        offset_s=offset_s,
        align=align,
        at_wall_percent=at_wall_percent,
    )
    write_json(place, power.model_dump())
    return place


def kept_readings(run: Run) -> PowerReadings | None:
    """The power kept for a run; None where there is none. Raises BadInput for bad files.

    Example:
        >>> from spikemark.records.record import load_run
        >>> kept_readings(load_run("tests/golden/analysis/records/aware-4")) is None
        True
    """
    place = beside(run.path, Results.power)
    if place is None or not place.is_file():
        return None
    power = checked(KeptPower, read_json(place), place, "power", "delete it, or --keep it again")
    readings = source(
        run,
        place.parent / power.csv,
        channels=power.channels,
        offset_s=power.offset_s,
        align=power.align,
        at_wall_percent=power.at_wall_percent,
    )
    return replace(readings, name=power.file)
