"""What is compared: one run, a sweep, or whole results; which runs belong together, and what else differs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content
from spikemark.records import run_files
from spikemark.records.frames import load_folder
from spikemark.records.record import Run, load
from spikemark.records.results import Results

RUN, SWEEP, RESULTS = "a run", "a sweep", "whole results"
EXPECTED = "expected a run (record.json), a sweep (plan.json), or results with EXPERIMENT/MACHINE"
#: The words of a label that tell repetitions of one setup apart.
REPEATS = r" ?\b(?:seed|repetition)=\d+"
#: Fields of a description that make the network and its cycles, and what is timed of them.
NETWORK = ("seed.", "network.", "time.resolution_ms.", "time.cycle_ms.", "record.barrier.")
#: What is told of a record besides its description.
LANE = {"period", "lag", "exchange", "composed", "wire", "ranks", "groups"}
UNTOLD = {"foreign_load", "stolen_load", "usable_cores", "node_of_rank"}  # of the host
LAUNCHED = {"launcher": True, "environment": True, "allocation": {"cluster", "partition", "modules"}}


@dataclass(frozen=True)
class Side:
    """`runs`: a row per complete run; `setup` is its label but for seed and repetition.

    A single run has no experiment, machine, id and label. `left_out`: a line for every record that cannot be
    used.
    """

    path: Path
    kind: str
    runs: pd.DataFrame
    left_out: list[str] = field(default_factory=list)


def read(path: Path) -> Side:
    """Read a side. Raises BadInput where it is none of the three, and where no run of it is complete."""
    path, names = Path(path), ["run", "seed", "experiment", "machine", "id", "label"]
    if (path / run_files.RECORD).is_file():
        run = load(path)
        rows, kind, sweeps = [(run, run.record.description.get("seed", 0), "", "", "", "")], RUN, []
    else:
        kind = SWEEP if Results(path).plan.is_file() else RESULTS
        plans = [plan for place in ("*/plan.json", "*/*/plan.json") for plan in sorted(path.glob(place))]
        sweeps = [load_folder(folder) for folder in ([path] if kind == SWEEP else [p.parent for p in plans])]
        rows = [
            (sweep.records[row.id], int(row.seed), sweep.name, sweep.path.name, row.id, row.label)
            for sweep in sweeps for row in sweep.runs.itertuples()
        ]  # fmt: skip
    if not rows:
        raise BadInput(f"{path}: {'no run is complete; expected complete runs' if sweeps else EXPECTED}")
    runs = pd.DataFrame(rows, columns=names)
    left_out = [f"{id}: {why}" for sweep in sweeps for id, why in sweep.unreadable.items()]
    return Side(path, kind, runs.assign(setup=runs["label"].str.replace(REPEATS, "", regex=True)), left_out)


def pair(first: Side, second: Side) -> tuple[pd.DataFrame, list[list[str]]]:
    """Runs of both sides that belong together, and for each side those that have no partner.

    A row has the columns of a run of the first side and, with `_b`, those of its partner; `setup` also names
    the experiment and the machine, where there are several. Runs of the same plan have the same ids; where
    all runs of a side were given another field, their labels are still the same. The machine counts only
    where one side has results of several. Raises BadInput for sides of two kinds, and where no run has a
    partner.
    """
    if first.kind != second.kind:
        raise BadInput(
            f"{first.path} is {first.kind} and {second.path} is {second.kind}; expected two of one kind"
        )
    if first.path.resolve() == second.path.resolve():
        raise BadInput(f"{second.path}: given twice; expected two results")
    left, found = [first.runs, second.runs], []
    several = any(runs.groupby("experiment")["machine"].nunique().gt(1).any() for runs in left)
    place = ["experiment", "machine"] if several else ["experiment"]
    for name in ("id", "label"):
        left = [runs.drop_duplicates([*place, name], keep="last") for runs in left]
        both = left[0].reset_index().merge(left[1].reset_index(), on=[*place, name], suffixes=("", "_b"))
        found.append(both)
        left = [left[0].drop(both["index"]), left[1].drop(both["index_b"])]
    pairs = pd.concat(found, ignore_index=True)
    if pairs.empty:
        raise BadInput(f"{second.path}: no run has a partner in {first.path}; expected the same experiments")
    words = place if first.runs["experiment"].nunique() > 1 else place[1:]
    names = pairs[[*words, "setup"]].agg(": ".join, axis=1)
    return pairs.assign(setup=names), [(one["experiment"] + ": " + one["label"]).tolist() for one in left]


def check_networks(first: Run, second: Run) -> None:
    """Raises BadInput, with the first field that differs, for runs of two networks or of two kinds.

    Also for runs that should have found the same spikes and did not.
    """
    ours, theirs = (with_content(run.record.description) for run in (first, second))
    for name, one, other in _unequal(_flat(ours), _flat(theirs)):
        if f"{name}.".startswith(NETWORK):
            expected = f"{first.path} has {one}: only runs of one network, timed alike, are compared"
            raise BadInput(f"{second.path}: {name}={other}; {expected}")
    reasons = {"kind": "expected one kind"}
    if ours.get("time") == theirs.get("time"):
        reasons["checksum"] = "expected the same spikes of one network: one of the two programs is wrong"
    for name, expected in reasons.items():
        one, other = (getattr(run.record, name) for run in (first, second))
        if one != other:
            raise BadInput(f"{second.path}: {name}={other}; {first.path} has {one}; {expected}")


def differs(pairs: Iterable[tuple[Run, Run]]) -> dict[tuple[str, str, str], int]:
    """Fields but for the network in which records of pairs differ, with both values -> number of pairs."""
    return Counter(one for first, second in pairs for one in _unequal(_told(first), _told(second)))


def _told(run: Run) -> dict[str, Any]:
    record, description = run.record, with_content(run.record.description)
    return _flat({
        "ranks": record.ranks, "threads": record.threads,
        **{name: value for name, value in description.items() if name not in ("network", "seed")},
        "lanes": {lane.name: lane.model_dump(include=LANE) for lane in record.lanes},
        "host": record.host.model_dump(exclude=UNTOLD),
        "provenance": record.provenance.model_dump(exclude={"started"}),
        "launch": run.launched.model_dump(include=LAUNCHED) if run.launched else {},
    })  # fmt: skip


def _flat(value: Any, where: str = "") -> dict[str, Any]:
    """Path -> leaf of what lies nested; parts of a path are joined by dots."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = dict(enumerate(value))
    if not isinstance(value, dict) or not value:
        return {where: value}
    parts = (_flat(part, f"{where}.{name}".lstrip(".")) for name, part in value.items())
    return {path: leaf for part in parts for path, leaf in part.items()}


def _unequal(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Field and both values, as text, wherever two values differ; a field that one side lacks is `absent`."""

    def text(value: Any) -> str:
        return "unknown" if value is None else value if isinstance(value, str) and value else shown(value)

    both = ((path, *(side.get(path, "absent") for side in (first, second))) for path in first | second)
    return [(path, text(one), text(other)) for path, one, other in both if one != other]
