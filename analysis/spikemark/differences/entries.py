"""The history of a machine: one file MACHINE.jsonl in a folder, one line per setup that was measured once.

An entry holds the time per cycle of every run, by phase and by cause, so that spreads can be computed again.
Lines are only ever appended, and the file is written whole or not at all.
"""

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spikemark.core import places
from spikemark.core.errors import BadInput, first_complaint
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.core.reading import read_text
from spikemark.network.named_files import with_content
from spikemark.records.record import Run

from . import sides
from .compare import disturbed
from .sides import Member
from .times import CYCLE, times

KIND, VERSION, END = "history", 1, ".jsonl"
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Date = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


class _Kept(BaseModel):
    """Fields that were added later are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class OfRun(_Kept):
    """One run: when it began, its seed, and its parts (`Times.parts`) in s per cycle."""

    started: Date
    seed: int
    parts: dict[str, Seconds]


class Entry(_Kept):
    """The runs of one setup in one session. `key` is the same for all runs of a setup, whatever the seed."""

    kind: Literal["history"]
    format_version: Literal[1]
    started: Date
    machine: str
    experiment: str
    setup: str
    key: str
    versions: dict[str, str | bool | None]
    runs: Annotated[list[OfRun], Field(min_length=1)]

    @property
    def title(self) -> str:
        """The experiment and the setup."""
        return ": ".join(filter(None, (self.experiment, self.setup))) or self.key

    @property
    def cycle_s(self) -> float:
        """The time of a cycle in s, mean over runs."""
        return float(np.mean([run.parts[CYCLE] for run in self.runs]))

    @property
    def same(self) -> tuple:
        """What two entries of the same runs have in common."""
        return self.key, tuple(sorted((run.started, run.seed, run.parts[CYCLE]) for run in self.runs))


@dataclass(frozen=True)
class Added:
    """What was appended to which files, how many entries were there before, and what was left out and why."""

    files: dict[Path, int]
    known: int
    left_out: list[str]


def file_of(folder: Path, run: Run) -> Path:
    """The file of the machine of a run: of its cluster, or else of its host."""
    return Path(folder) / f"{places.as_name(run.cluster or run.record.host.name.split('.')[0])}{END}"


def key_of(run: Run) -> str:
    """A hash of all that makes a setup: its description but for the seed, ranks, threads and nodes."""
    description = {
        name: value for name, value in with_content(run.record.description).items() if name != "seed"
    }
    parts = [description, run.record.ranks, run.record.threads, run.record.host.nodes]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def read(path: Path) -> list[Entry]:
    """The entries of a file, the oldest first. Raises BadInput naming the line that is none."""
    entries = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            entries.append(Entry.model_validate_json(line))
        except ValidationError as error:
            raise BadInput(f"{path}, line {number}: {first_complaint(error, 'entry')}") from None
        if any(not run.parts.get(CYCLE, 0.0) > 0 for run in entries[-1].runs):
            raise BadInput(f"{path}, line {number}: runs.parts.{CYCLE}: a time above 0 is needed")
    return sorted(entries, key=lambda entry: entry.started)


def files(folder: Path) -> list[Path]:
    """The files of a history. Raises BadInput for a folder without any."""
    found = sorted(Path(folder).glob(f"*{END}"))
    if not found:
        raise BadInput(f"{folder}: no history is there; `spikemark history add {folder} RESULTS` begins one")
    return found


def add(folder: Path, given: list[Path]) -> Added:
    """Append runs, sweeps or whole results to the history in a folder; what is known already is left alone.

    Disturbed runs are left out, as `compare` does. Raises BadInput as `sides.read`, and for simulated times.
    """
    groups: dict[tuple, list[Member]] = defaultdict(list)
    left_out: list[str] = []
    for path in given:
        side = sides.read(path)
        left_out += side.left_out
        session = "" if side.kind == sides.RUN else str(path)  # runs that are given one by one are one
        for one in side.members:
            if (kind := one.run.record.kind) != "measured":
                raise BadInput(f"{one.run.path}: kind={kind!r}; a history holds measured times")
            if why := disturbed(one.run):
                left_out.append(f"{one.run.path}: left out: {why}")
                continue
            file, key = file_of(folder, one.run), key_of(one.run)
            groups[session, file, key, one.experiment, one.setup].append(one)
    new: dict[Path, list[Entry]] = defaultdict(list)
    for (_, file, key, _, _), members in groups.items():
        new[file].append(_entry(key, members))
    written, known = {}, 0
    if new:
        with locked(Path(folder)):
            for file, entries in new.items():
                there = {entry.same for entry in read(file)} if file.is_file() else set()
                fresh = [entry for entry in entries if entry.same not in there]
                known += len(entries) - len(fresh)
                if fresh:
                    before = file.read_bytes() if file.is_file() else b""
                    lines = "".join(json.dumps(entry.model_dump()) + "\n" for entry in fresh)
                    write_atomically(file, before + lines.encode())
                    written[file] = len(fresh)
    return Added(written, known, left_out)


def _entry(key: str, members: list[Member]) -> Entry:
    provenance = members[0].run.record.provenance
    names = ("version", "commit", "dirty", "compiler", "flags", "mpi_library")
    runs = [
        {
            "started": one.run.record.provenance.started,
            "seed": one.seed,
            "parts": {name: part.value for name, part in times(one.run).parts.items()},
        }
        for one in members
    ]
    first = members[0]
    content: dict[str, Any] = {
        "kind": KIND,
        "format_version": VERSION,
        "started": min(run["started"] for run in runs),
        "machine": first.run.cluster or first.run.record.host.name,
        "experiment": first.experiment,
        "setup": first.setup,
        "key": key,
        "versions": {name: getattr(provenance, name) for name in names},
        "runs": runs,
    }
    return Entry.model_validate(content)
