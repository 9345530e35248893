"""The history of a machine: one file MACHINE.jsonl in a folder, one line per setup that was measured once.

An entry holds the time per cycle of every run, by phase and by cause. A history tells the spread of a machine
from run to run and from session to session, and when its times changed.
"""

import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, ValidationError

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
from spikemark.records.arrays import LARGEST
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


Seconds = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]


def _with_cycle(parts: dict[str, float]) -> dict[str, float]:
    if not parts.get(CYCLE, 0.0) > 0:
        raise ValueError(f"expected {CYCLE}, above 0, among them")
    return parts


class OfRun(BaseModel):
    """One run: when it began, its seed, and its parts (`Times.parts`) in s per cycle."""

    started: str
    seed: int
    parts: Annotated[dict[str, Seconds], AfterValidator(_with_cycle)]


class Entry(BaseModel):
    """The runs of one setup in one session. `key` is the same for all runs of a setup, whatever the seed."""

    format_version: Literal[1] = 1
    started: str
    experiment: str
    setup: str
    key: str
    versions: dict[str, str | bool | None]
    runs: list[OfRun] = Field(min_length=1)


def file_of(folder: Path, run: Run) -> Path:
    """The file of the machine of a run: of its cluster, or else of its host."""
    allocation = run.launched and run.launched.allocation
    name = (allocation and allocation.cluster) or run.record.host.name.split(".")[0]
    return Path(folder) / f"{places.as_name(name)}{END}"


def key_of(run: Run) -> str:
    """A hash of all that makes a setup: its description but for the seed, ranks, threads and nodes."""
    description = {n: value for n, value in with_content(run.record.description).items() if n != "seed"}
    parts = [description, run.record.ranks, run.record.threads, run.record.host.nodes]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def entries(path: Path) -> list[Entry]:
    """The entries of a file, the oldest first. Raises BadInput naming the line that is none."""
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            found.append(Entry.model_validate_json(line))
        except ValidationError as error:
            raise invalid(error, f"{path}, line {number}: ", "entry") from None
    return sorted(found, key=lambda entry: entry.started)


def frame(found: list[Entry], machine: str = "") -> pd.DataFrame:
    """A row per entry, by setup; `cycle_s`: the time of a cycle in s, mean over runs; `level` as `levels`."""
    rows = [vars(one) | {"cycle_s": np.mean([run.parts[CYCLE] for run in one.runs])} for one in found]
    made = pd.DataFrame(rows, columns=[*Entry.model_fields, "cycle_s"]).assign(machine=machine)
    setups = [own.assign(level=levels(own["cycle_s"])) for _, own in made.groupby("key", sort=False)]
    return pd.concat(setups, ignore_index=True) if setups else made.assign(level=0)


def read_all(folder: Path) -> pd.DataFrame:
    """The entries of all machines, as `frame`. Raises BadInput for a folder without a history."""
    found = [frame(entries(path), path.stem) for path in sorted(Path(folder).glob(f"*{END}"))]
    if not any(map(len, found)):
        raise BadInput(f"{folder}: no history is there; `spikemark diff --history {folder} --add RESULTS`")
    return pd.concat([one for one in found if len(one)], ignore_index=True)


def add(folder: Path, given: list[Path]) -> tuple[dict[Path, int], int]:
    """Append runs, sweeps or whole results to the history in a folder: how many entries to which file, and
    how many runs were left out.

    Disturbed runs are left out, as by `compare`, and so are entries that are there already. Raises BadInput
    as `sides.read`, for simulated times, and where every run was disturbed.
    """
    both = [sides.read(path) for path in given]
    names = ["" if side.kind == sides.RUN else str(side.path) for side in both]  # single runs are one session
    runs = pd.concat([side.runs.assign(session=name) for side, name in zip(both, names, strict=True)])
    for run in runs["run"]:
        if run.record.kind != "measured":
            raise BadInput(f"{run.path}: kind={run.record.kind!r}; expected measured times for a history")
    calm = runs[runs["run"].map(disturbed) == ""]
    if calm.empty:
        raise BadInput(f"{given[0]}: nothing was appended; expected a run that nothing disturbed")
    calm = calm.assign(file=[file_of(folder, run) for run in calm["run"]], key=calm["run"].map(key_of))
    added: dict[Path, int] = defaultdict(int)
    with locked(Path(folder)):
        for (file, *_), own in calm.groupby(["file", "session", "key", "experiment", "setup"], sort=False):
            entry = _entry(own)
            if not file.is_file() or entry not in entries(file):
                before = file.read_bytes() if file.is_file() else b""
                write_atomically(file, before + f"{entry.model_dump_json()}\n".encode())
                added[file] += 1
    return added, len(runs) - len(calm)


def _entry(rows: pd.DataFrame) -> Entry:
    first, runs = rows.iloc[0], []
    for run, seed in zip(rows["run"], rows["seed"], strict=True):
        parts = {name: part.value for name, part in times(run).parts.items() if name != MEDIAN}
        runs.append(OfRun(started=run.record.provenance.started, seed=seed, parts=parts))
    about = {name: first[name] for name in ("experiment", "setup", "key")}
    versions = {name: getattr(first["run"].record.provenance, name) for name in VERSIONS}
    return Entry(started=min(run.started for run in runs), versions=versions, runs=runs, **about)


def levels(cycle_s: Sequence[float]) -> np.ndarray:
    """[entry of a setup], the number of its level; a level begins where times change for good.

    The places are those of penalised least squares on logarithms (`models.power`). A change counts if there
    are two entries before and after it, and the interval of SURE of the difference of the two levels excludes
    0 (`change`).
    """
    times_s = np.array(cycle_s, dtype=float)
    firsts = [one.first for one in segments(np.log(times_s))[1:]] if len(times_s) >= FEWEST else []
    while True:
        parts = np.split(times_s, firsts)
        steps = [change(*both) for both in pairwise(parts)]
        unsure = [(abs(step.value), at) for at, step in enumerate(steps) if step.low <= 0 <= step.high]
        if not unsure:
            return np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        del firsts[min(unsure)[1]]


def change(before_s: Sequence[float], after_s: Sequence[float]) -> Quantity:
    """Share by which times are above those before, with Student's interval of their common variance."""
    logs = [np.log(np.array(level)) for level in (before_s, after_s)]
    degrees = len(before_s) + len(after_s) - 2
    squares = sum(float(np.square(level - level.mean()).sum()) for level in logs)
    error = (squares / degrees * (1 / len(before_s) + 1 / len(after_s))) ** 0.5
    middle, half = float(logs[1].mean() - logs[0].mean()), student(degrees, SURE) * error
    return Quantity(*(float(np.expm1(x)) for x in (middle, middle - half, middle + half)), kind="measured")


def changes(setup: pd.DataFrame) -> list[tuple[str, Quantity, list[str]]]:
    """Of each change of a setup: since when, by how much, and which versions differ from those before."""
    found = []
    for before, after in pairwise(level for _, level in setup.groupby("level")):
        old, new = before["versions"].iloc[-1], after["versions"].iloc[0]
        differs = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        found.append((after["started"].iloc[0], change(before["cycle_s"], after["cycle_s"]), differs))
    return found


def known_of(folder: Path) -> Callable[[Run], Known]:
    """A function that tells the spread of the setup of a run on its machine, or else of all setups there.

    The function raises BadInput where the folder has no history of the machine.
    """
    frame_of = functools.cache(lambda path: frame(entries(path)))

    def known(run: Run) -> Known:
        path = file_of(folder, run)
        if not path.is_file():
            raise BadInput(f"--history={folder}: no {path.name}; expected a history of the machine of A")
        every = frame_of(path)
        own = spreads(every[every["key"] == key_of(run)])
        return own if CYCLE in own and own[CYCLE].runs_degrees >= FEWEST_DEGREES else spreads(every)

    return known


def spreads(found: pd.DataFrame) -> Known:
    """The spread of every part within and between entries, as shares of the time of a cycle.

    Between entries: what the means of entries of one level vary beyond what their runs explain.
    """
    rows = []
    for number, (_, level) in enumerate(found.groupby(["machine", "key", "level"], sort=False)):
        for one in level.itertuples():
            about = {"level": number, "entry": one.Index, "drift": one.cycle_s / level["cycle_s"].iloc[0]}
            rows += [
                about | {"seed": run.seed} | {name: time / one.cycle_s for name, time in run.parts.items()}
                for run in one.runs
            ]
    shares = pd.DataFrame(rows).fillna(0.0)
    return {name: _spread(shares, name) for name in shares.columns[4:]}


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


def sentence(found: pd.DataFrame) -> str:
    """How many changes there are, and how much the times spread; `found`: as of `read_all`."""
    spread, setups = spreads(found)[CYCLE], found.groupby(["machine", "key"])
    words = f"{counted(int((setups['level'].nunique() - 1).sum()), 'change')} in"
    words += f" {counted(len(found), 'entry', 'entries')} of {counted(found['machine'].nunique(), 'machine')}"
    if spread.runs_degrees:
        words += f"; runs of a session spread by {percent(spread.runs**0.5, 1)}"
    if spread.sessions_degrees:
        words += f", sessions by further {percent(spread.sessions**0.5, 1)}"
    return f"{words} (standard deviations)."


def table(found: pd.DataFrame) -> Table:
    """A row per setup: entries, the latest time, and the latest change with what differs since."""

    def changed(setup: pd.DataFrame) -> str:
        for since, by, differs in changes(setup)[-1:]:
            names = ", ".join(differs) or "nothing that entries tell"
            return f"{said(by)} since {since[:10]}; differs: {names}"
        return "none"

    columns = {
        Column("machine", "machine"): lambda one: one["machine"].iloc[-1],
        Column("setup", "setup"): lambda one: f"{one['experiment'].iloc[-1]}: {one['setup'].iloc[-1]}",
        Column("entries", "entries", "counted"): len,
        Column("latest", "latest"): lambda one: one["started"].iloc[-1][:10],
        Column("cycle", "µs per cycle", "measured", digits=4): lambda one: (
            1e6 * float(one["cycle_s"].iloc[-1])
        ),
        Column("change", "latest change"): changed,
    }
    return Table.of(columns, [setup for _, setup in found.groupby(["machine", "key"], sort=False)])


def content(found: pd.DataFrame) -> dict[str, Any]:
    """The content for JSON, by machine and setup; times in s per cycle."""
    machines: dict[str, list] = {}
    for (machine, _), setup in found.groupby(["machine", "key"], sort=False):
        entries = setup.assign(runs=setup["runs"].map(len))[["started", "cycle_s", "runs"]].to_dict("records")
        steps = [{"since": at, "change": by.content(), "differs": names} for at, by, names in changes(setup)]
        last = setup.iloc[-1][["experiment", "setup", "key"]].to_dict()
        machines.setdefault(machine, []).append(last | {"entries": entries, "changes": steps})
    return {"kind": "history_summary", "format_version": 1, "machines": machines}
