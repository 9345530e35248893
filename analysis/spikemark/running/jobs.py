"""The jobs of a campaign: what was submitted for a results folder, and how it ended.

A job writes its end into a file of its own: the queue only says that it is gone.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spikemark.core import slurm
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.records.results import Results


@dataclass(frozen=True)
class Submitted:
    """A job: its id, nodes, limit in s, and the ids of its runs; None stands for all that are missing."""

    id: str
    nodes: int
    limit_s: float
    runs: tuple[str, ...] | None
    end: dict[str, Any] | None = None  # what the job wrote about its end: began_s, ended_s, why, next

    @property
    def node_hours(self) -> float | None:
        """What the job took; None as long as it has not said."""
        return None if self.end is None else self.nodes * (self.end["ended_s"] - self.end["began_s"]) / 3600


def name(results: Results) -> str:
    """The name of the jobs of a results folder, by which they are found in the queue."""
    own = hashlib.sha256(str(results.path).encode()).hexdigest()[:8]
    return f"spikemark-{results.path.parent.name}-{own}"


def keep(results: Results, job: Submitted) -> None:
    """Writes down that a job was submitted."""
    content = {"nodes": job.nodes, "limit_s": job.limit_s, "runs": None if job.runs is None else [*job.runs]}
    write_json(_file(results, job.id), content)


def keep_end(results: Results, job: str, took_s: float, why: str, following: str | None) -> None:
    """Writes down how a job ended just now, with the id of the one that follows.

    `took_s` comes from a clock that nobody sets. The times in the file are Unix epochs, that far apart.
    """
    ended_s = time.time()
    content = {"began_s": ended_s - took_s, "ended_s": ended_s, "why": why, "next": following}
    write_json(_end_file(results, job), content)


def all_of(results: Results) -> list[Submitted]:
    """All jobs that were submitted for a results folder, the oldest first."""
    files = (path for path in _folder(results).glob("*.json") if not path.name.endswith(".end.json"))
    return [found for path in sorted(files, key=_age) if (found := _read(results, path.stem))]


def active(results: Results) -> list[Submitted]:
    """The jobs of a results folder that wait or run. Raises BadInput if Slurm cannot be asked about them.

    A job that is in the queue although nobody wrote it down belongs to them: sbatch was ended before it could
    tell. It counts as one for all missing runs.
    """
    if not _folder(results).is_dir() or not slurm.available():  # as for a folder fetched from a cluster
        return []
    open_jobs = {job.id: job for job in all_of(results) if job.end is None}
    try:
        queue = slurm.called(name(results))
    except slurm.SlurmFailed as failed:
        if not open_jobs:
            return []
        raise BadInput(f"{_folder(results)}: are its jobs still at work? {failed}") from None
    return [open_jobs.get(job.id) or Submitted(job.id, job.nodes, 0.0, None) for job in queue]


def used_h(results: Results) -> float:
    """Node-hours that the jobs of a results folder have used, or may still use.

    A job in the queue counts with its limit, but for the one that this process is in, which counts with its
    time so far; so does one that has not said how it ended. Where nobody knows its time, its limit counts.
    """
    waiting = {job.id for job in active(results)} - {os.environ.get("SLURM_JOB_ID")}
    total = 0.0
    for job in all_of(results):
        hours = job.node_hours
        if hours is None:
            seconds = None if job.id in waiting else slurm.run_time_s(job.id)
            hours = job.nodes * (job.limit_s if seconds is None else seconds) / 3600
        total += hours
    return total


def ended(results: Results, job: Submitted) -> Submitted:
    """The job with what it has written about its end by now."""
    return _read(results, job.id) or job


def ids(jobs: Iterable[Submitted]) -> str:
    """The ids as they stand in a sentence or on a command line."""
    return " ".join(job.id for job in jobs)


def named(found: list[Submitted]) -> str:
    """Jobs as they stand in a sentence."""
    return f"job{'s' if len(found) > 1 else ''} {ids(found)}"


def advice(found: list[Submitted]) -> str:
    """What to do about jobs that are in the way."""
    return f"wait for them, or end them with: scancel {ids(found)}"


def log(results: Results, job: str) -> Path:
    """What a job printed."""
    return _folder(results) / f"{job}.log"


def log_pattern(results: Results) -> str:
    """The file that jobs print to, as sbatch takes it: `%j` is the id, other % are doubled."""
    return f"{_folder(results)}/".replace("%", "%%") + "%j.log"


def _folder(results: Results) -> Path:
    return results.path / "jobs"


def _file(results: Results, job: str) -> Path:
    return _folder(results) / f"{job}.json"


def _end_file(results: Results, job: str) -> Path:
    return _folder(results) / f"{job}.end.json"


def _age(path: Path) -> tuple[float, int]:
    return path.stat().st_mtime, int(path.stem) if path.stem.isdigit() else 0


LONGEST_S = 1e10  # of a job


class _End(BaseModel):
    """What a job writes about its end; other fields are kept."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    began_s: float
    ended_s: float
    why: str
    next: str | None


class _Job(BaseModel):
    """What is written down when a job is submitted."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    nodes: Annotated[int, Field(ge=1, le=10**7)]
    limit_s: Annotated[float, Field(ge=0, le=LONGEST_S)]
    runs: list[str] | None


def _read(results: Results, job: str) -> Submitted | None:
    """A job from its files; None where they say nothing that can be used.

    An end that cannot be used counts as none: how long the job took, Slurm or its limit says.
    """
    try:
        told = _Job.model_validate(read_json(_file(results, job)))
    except (BadInput, ValidationError):
        return None
    runs = None if told.runs is None else tuple(told.runs)
    return Submitted(job, told.nodes, told.limit_s, runs, _end(_end_file(results, job)))


def _end(path: Path) -> dict[str, Any] | None:
    try:
        found = _End.model_validate(read_json(path)).model_dump()
    except (BadInput, ValidationError):
        return None
    return found if 0 <= found["ended_s"] - found["began_s"] <= LONGEST_S else None
