"""The file slurm.yaml of a profile: how campaigns are submitted on a cluster."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.slurm import duration_s
from spikemark.core.yaml_file import read_yaml

FILE = "slurm.yaml"
ALLOWED_TIMES = "minutes, hours:minutes:seconds or days-hours:minutes:seconds, at least one minute"


def time_limit_s(text: str) -> float:
    """Seconds of a time limit, such as 90 (minutes), 1:30:00 or 1-00:00:00. Raises ValueError."""
    seconds = 60.0 * int(text) if re.fullmatch(r"\d{1,6}", text) else duration_s(text)
    if seconds is None or seconds < 60:
        raise ValueError(f"allowed are {ALLOWED_TIMES}")
    return seconds


def _time(text: str) -> str:
    time_limit_s(text)
    return text


def _option(text: str) -> str:
    if text.startswith(("-M", "--cluster")):
        raise ValueError("the jobs of another cluster are not seen from here; log in there")
    return text


Word = Annotated[str, Field(pattern=r"^[^\s-]\S*$")]  # the value of an option of sbatch


class SlurmProfile(BaseModel):
    """How jobs are submitted; every field may be left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    partition: Word | None = None
    account: Word | None = None
    qos: Word | None = None
    constraint: Word | None = None
    reservation: Word | None = None
    time_limit: Annotated[str, AfterValidator(_time)] = "24:00:00"
    cores_per_node: Annotated[int, Field(ge=1, le=100_000)] | None = None
    options: list[Annotated[str, Field(pattern=r"^-\S.*$"), AfterValidator(_option)]] = [
        "--exclusive",
        "--mem=0",
    ]
    setup: list[str] = []
    poll_s: Annotated[float, Field(ge=0.1, le=3600)] = 10.0
    most_jobs: Annotated[int, Field(ge=1, le=10_000)] = 20
    follow_up: bool = True
    noise_s: Annotated[float, Field(ge=0, le=60)] = 0.2
    noise_every_s: Annotated[float, Field(ge=0)] = 60.0

    @property
    def where(self) -> list[str]:
        """The options of sbatch that say where jobs run."""
        names = ("partition", "account", "qos", "constraint", "reservation")
        return [f"--{name}={value}" for name in names if (value := getattr(self, name))]

    @property
    def time_limit_s(self) -> float:
        """The longest limit of a job, s."""
        return time_limit_s(self.time_limit)


def read(path: Path) -> SlurmProfile:
    """The profile in a file. Raises BadInput naming the file, the field and what is allowed."""
    content: Any = read_yaml(path)
    if not isinstance(content, dict | None):
        raise BadInput(f"{path}: a mapping of fields is needed: {', '.join(SlurmProfile.model_fields)}")
    return checked(SlurmProfile, content or {}, path, "profile")
