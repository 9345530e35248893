"""The history of a machine: one file MACHINE.jsonl in a folder, one line per setup that was measured once.

An entry holds the time per cycle of every run, by phase and by cause. A history tells the spread of a machine
from run to run and from session to session, and when its times changed.
"""

import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from spikemark.core import places
from spikemark.core.errors import BadInput, invalid
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.core.reading import read_text
from spikemark.models.power import segments
from spikemark.network.named_files import with_content
from spikemark.quantities.quantity import Quantity, student
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent
from spikemark.records.record import Run

from . import sides
from .compare import Known, disturbed
from .estimate import FEWEST_DEGREES, Spread
from .show import said
from .times import CYCLE, MEDIAN, times

FEWEST = 4  # entries in which a change can be found
SURE = 0.99  # level of the interval of a change, of which the best place was chosen with the times known
END = ".jsonl"
VERSIONS = ("version", "commit", "dirty", "compiler", "flags", "mpi_library")


class OfRun(BaseModel):
    """One run: when it began, its seed, and its parts (`Times.parts`) in s per cycle."""

    started: str
    seed: int
    parts: dict[str, float]


class Entry(BaseModel):
    """The runs of one setup in one session. `key` is the same for all runs of a setup, whatever the seed."""

    format_version: Literal[1] = 1
    started: str
    experiment: str
    setup: str
    key: str
    versions: dict[str, str | bool | None]
    runs: list[OfRun] = Field(min_length=1)

    @property
    def cycle_s(self) -> float:
        """The time of a cycle in s, mean over runs."""
        return float(np.mean([run.parts[CYCLE] for run in self.runs]))


Course = list[list[Entry]]  # the levels of a setup


def file_of(folder: Path, run: Run) -> Path:
    """The file of the machine of a run: of its cluster, or else of its host."""
    return Path(folder) / f"{places.as_name(run.cluster or run.record.host.name.split('.')[0])}{END}"


def key_of(run: Run) -> str:
    """A hash of all that makes a setup: its description but for the seed, ranks, threads and nodes."""
    description = {n: value for n, value in with_content(run.record.description).items() if n != "seed"}
    parts = [description, run.record.ranks, run.record.threads, run.record.host.nodes]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def read(path: Path) -> list[Entry]:
    """The entries of a file, the oldest first. Raises BadInput naming the line that is none."""
    entries = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            entries.append(Entry.model_validate_json(line))
        except ValidationError as error:
            raise invalid(error, f"{path}, line {number}: ", "entry") from None
    return sorted(entries, key=lambda entry: entry.started)


def read_all(folder: Path) -> dict[str, list[Course]]:
    """The courses of all setups, by machine. Raises BadInput for a folder without a history."""
    found = {path.stem: courses(read(path)) for path in sorted(Path(folder).glob(f"*{END}"))}
    if not found:
        raise BadInput(f"{folder}: no history is there; `spikemark diff --history {folder} --add RESULTS`")
    return found


def add(folder: Path, given: list[Path]) -> tuple[dict[Path, int], int]:
    """Append runs, sweeps or whole results to the history in a folder: how many entries to which file, and
    how many runs were left out.

    Disturbed runs are left out, as by `compare`, and so are entries that are there already. Raises BadInput
    as `sides.read`, for simulated times, and where every run was disturbed.
    """
    groups: dict[tuple, list] = defaultdict(list)
    left_out = 0
    for path in given:
        side = sides.read(path)
        session = "" if side.kind == sides.RUN else str(path)  # runs that are given one by one are one
        for one in side.members:
            if (kind := one.run.record.kind) != "measured":
                raise BadInput(f"{one.run.path}: kind={kind!r}; expected measured times for a history")
            if disturbed(one.run):
                left_out += 1
            else:
                key = key_of(one.run), one.experiment, one.setup
                groups[file_of(folder, one.run), session, key].append(one)
    if not groups:
        raise BadInput(f"{given[0]}: nothing was appended; expected a run that nothing disturbed")
    added: dict[Path, int] = defaultdict(int)
    with locked(Path(folder)):
        for (file, _, (key, *_)), members in groups.items():
            entry = _entry(key, members)
            if not file.is_file() or entry not in read(file):
                before = file.read_bytes() if file.is_file() else b""
                write_atomically(file, before + f"{entry.model_dump_json()}\n".encode())
                added[file] += 1
    return added, left_out


def _entry(key: str, members: list[sides.Member]) -> Entry:
    first, runs = members[0], []
    for one in members:
        parts = {name: part.value for name, part in times(one.run).parts.items() if name != MEDIAN}
        runs.append(OfRun(started=one.run.record.provenance.started, seed=one.seed, parts=parts))
    return Entry(
        started=min(run.started for run in runs), key=key, runs=runs, setup=first.setup,
        experiment=first.experiment,
        versions={name: getattr(first.run.record.provenance, name) for name in VERSIONS},
    )  # fmt: skip


def levels(entries: list[Entry]) -> Course:
    """The entries of one setup, divided where the time of a cycle changes for good.

    The places are those of penalised least squares on logarithms (`models.power`). A change counts if there
    are two entries before and after it, and the interval of SURE of the difference of the two levels excludes
    0 (`change`).
    """
    if len(entries) < FEWEST:
        return [entries]
    ends = [segment.first for segment in segments(np.log([entry.cycle_s for entry in entries]))[1:]]
    found = [entries[a:b] for a, b in pairwise([0, *ends, len(entries)])]
    while unsure := [
        (abs(step.value), at)
        for at, step in enumerate(map(change, found, found[1:])) if step.low <= 0 <= step.high
    ]:  # fmt: skip
        at = min(unsure)[1]
        found[at : at + 2] = [found[at] + found[at + 1]]
    return found


def change(before: list[Entry], after: list[Entry]) -> Quantity:
    """Share by which a level is above the one before, with Student's interval of their common variance."""
    logs = [np.log([entry.cycle_s for entry in level]) for level in (before, after)]
    degrees = len(before) + len(after) - 2
    squares = sum(float(np.square(level - level.mean()).sum()) for level in logs)
    error = (squares / degrees * (1 / len(before) + 1 / len(after))) ** 0.5
    middle, half = float(logs[1].mean() - logs[0].mean()), student(degrees, SURE) * error
    return Quantity(*(float(np.expm1(x)) for x in (middle, middle - half, middle + half)), kind="measured")


def differing(before: list[Entry], after: list[Entry]) -> list[str]:
    """Names of the versions that differ between the last entry of a level and the first of the next."""
    old, new = before[-1].versions, after[0].versions
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def courses(entries: list[Entry]) -> list[Course]:
    """The levels of all setups, in the order in which these were first measured."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.key].append(entry)
    return [levels(each) for each in found.values()]


def known_of(folder: Path) -> Callable[[Run], Known]:
    """A function that tells the spread of the setup of a run on its machine, or else of all setups there.

    The function raises BadInput where the folder has no history of the machine.
    """
    entries_of = functools.cache(read)

    def known(run: Run) -> Known:
        path = file_of(folder, run)
        if not path.is_file():
            raise BadInput(f"--history={folder}: no {path.name}; expected a history of the machine of A")
        own = spreads([entry for entry in entries_of(path) if entry.key == key_of(run)])
        enough = CYCLE in own and own[CYCLE].runs_degrees >= FEWEST_DEGREES
        return own if enough else spreads(entries_of(path))

    return known


def spreads(entries: list[Entry]) -> Known:
    """The spread of every part within and between entries, as shares of the time of a cycle.

    Between entries: what the means of entries of one level vary beyond what their runs explain.
    """
    rows = [
        {"level": number, "entry": id(entry), "drift": entry.cycle_s / level[0].cycle_s, "seed": run.seed}
        | {name: time / entry.cycle_s for name, time in run.parts.items()}
        for number, level in enumerate(level for course in courses(entries) for level in course)
        for entry in level for run in entry.runs
    ]  # fmt: skip
    frame = pd.DataFrame(rows).fillna(0.0)
    return {name: _spread(frame, name) for name in frame.columns[4:]}


def _spread(frame: pd.DataFrame, part: str) -> Spread:
    """Of one part: by run its share of the cycle of its entry; `drift`: that cycle over the level's first."""
    runs, degrees = _squares(frame.groupby(["entry", "seed"])[part])
    variance = runs / degrees if degrees else 0.0
    of_level = frame[part].mul(frame["drift"]).groupby([frame["level"], frame["entry"]])
    means = of_level.agg(["mean", "size"])
    sessions, between = _squares(means.groupby("level")["mean"])
    explained = sum((len(one) - 1) / one.mean() for _, one in means.groupby("level")["size"])
    beyond = max(sessions - explained * variance, 0.0) / between if between else 0.0
    return Spread(variance, degrees, beyond, between)


def _squares(groups) -> tuple[float, int]:
    """Sum of squares about the means of groups, and its degrees of freedom."""
    deviation = groups.transform(lambda x: x - x.mean())
    return float((deviation**2).sum()), len(deviation) - groups.ngroups


def sentence(found: dict[str, list[Course]]) -> str:
    """How many changes there are, and how much the times spread; `found`: courses by machine."""
    every = [course for courses in found.values() for course in courses]
    entries = [entry for course in every for level in course for entry in level]
    spread = spreads(entries)[CYCLE]
    words = f"{counted(sum(len(course) - 1 for course in every), 'change')} in"
    words += f" {counted(len(entries), 'entry', 'entries')} of {counted(len(found), 'machine')}"
    if spread.runs_degrees:
        words += f"; runs of a session spread by {percent(spread.runs**0.5, 1)}"
    if spread.sessions_degrees:
        words += f", sessions by further {percent(spread.sessions**0.5, 1)}"
    return f"{words} (standard deviations)."


def table(found: dict[str, list[Course]]) -> Table:
    """A row per setup: entries, the latest time, and the latest change with what differs since."""

    def changed(course: Course) -> str:
        if len(course) == 1:
            return "none"
        names = ", ".join(differing(*course[-2:])) or "nothing that entries tell"
        return f"{said(change(*course[-2:]))} since {course[-1][0].started[:10]}; differs: {names}"

    columns = {
        Column("machine", "machine"): lambda one: one[0],
        Column("setup", "setup"): lambda one: f"{one[1][-1][-1].experiment}: {one[1][-1][-1].setup}",
        Column("entries", "entries", "counted"): lambda one: sum(map(len, one[1])),
        Column("latest", "latest"): lambda one: one[1][-1][-1].started[:10],
        Column("cycle", "µs per cycle", "measured", digits=4): lambda one: 1e6 * one[1][-1][-1].cycle_s,
        Column("change", "latest change"): lambda one: changed(one[1]),
    }
    return Table.of(columns, [(name, course) for name, courses in found.items() for course in courses])


def content(found: dict[str, list[Course]]) -> dict[str, Any]:
    """The content for JSON, by machine and setup; times in s per cycle."""

    def of(course: Course) -> dict[str, Any]:
        last, entries = course[-1][-1], [entry for level in course for entry in level]
        return {
            "experiment": last.experiment, "setup": last.setup, "key": last.key,
            "entries": [{"started": e.started, "cycle_s": e.cycle_s, "runs": len(e.runs)} for e in entries],
            "changes": [
                {"since": after[0].started, "change": change(before, after).content(),
                 "differs": differing(before, after)}
                for before, after in pairwise(course)
            ],
        }  # fmt: skip

    machines = {name: [of(course) for course in courses] for name, courses in found.items()}
    return {"kind": "history_summary", "format_version": 1, "machines": machines}
