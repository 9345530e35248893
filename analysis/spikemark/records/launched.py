"""How a run was started: the fields of launch.json. Records from before a field have None there."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json


class Kept(BaseModel):
    """Fields that were added later are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)


class Allocation(Kept):
    """The job of Slurm in which a run was carried out."""

    cluster: str | None = None
    job: str
    partition: str | None = None
    nodes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()  #: that were loaded


class Launched(Kept):
    """The content of launch.json."""

    launcher: str | None = None
    command: tuple[str, ...] = ()
    environment: dict[str, Any] = {}
    began_s: float | None = None  #: Unix epoch
    wall_s: float | None = None  #: from there to the end of the program, with its start
    allocation: Allocation | None = None  #: None outside Slurm


def read_launched(path: Path) -> Launched | None:
    """The content of launch.json at `path`; None if there is none. Raises BadInput for anything else."""
    if not path.is_file():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput(f"{path}: holds {type(content).__name__}; one JSON object is needed")
    return checked(Launched, content, path, "launch")
