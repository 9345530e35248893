"""What is compared: one run, a sweep, or whole results; which runs belong together, and what else differs."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content
from spikemark.records import run_files
from spikemark.records.frames import load_folder
from spikemark.records.record import Run, load
from spikemark.records.results import Results

RUN, SWEEP, RESULTS = "a run", "a sweep", "whole results"
EXPECTED = "expected a run (record.json), a sweep (plan.json), or results with EXPERIMENT/MACHINE"
#: The words of a label that tell repetitions of one setup apart.
REPEATS = re.compile(r" ?\b(seed|repetition)=\d+")
#: Fields of a description that make the network and its cycles, and what is timed of them.
NETWORK = ("seed.", "network.", "time.resolution_ms.", "time.cycle_ms.", "record.barrier.")
#: What is told of a record besides its description.
LANE = {"period", "lag", "exchange", "composed", "wire", "ranks", "groups"}
UNTOLD = {"foreign_load", "stolen_load", "usable_cores", "node_of_rank"}  # of the host
LAUNCHED = {"launcher": True, "environment": True, "allocation": {"cluster", "partition", "modules"}}


@dataclass(frozen=True)
class Member:
    """A complete run of a side; a single run has no experiment and no label."""

    run: Run
    seed: int
    experiment: str = ""
    machine: str = ""
    id: str = ""
    label: str = ""

    @property
    def setup(self) -> str:
        """The label but for seed and repetition."""
        return REPEATS.sub("", self.label)


@dataclass(frozen=True)
class Side:
    """`members`: the complete runs. `left_out`: a line for every record that cannot be used."""

    path: Path
    kind: str
    members: list[Member]
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pairs:
    """Runs of both sides that belong together, by experiment and setup, and those that have no partner."""

    setups: dict[str, list[tuple[Member, Member]]]
    only_first: list[str] = field(default_factory=list)
    only_second: list[str] = field(default_factory=list)


def read(path: Path) -> Side:
    """Read a side. Raises BadInput where it is none of the three, and where no run of it is complete."""
    path = Path(path)
    if (path / run_files.RECORD).is_file():
        run = load(path)
        return Side(path, RUN, [Member(run, run.record.description.get("seed", 0))])
    alone = Results(path).plan.is_file()
    plans = [plan for pattern in ("*/plan.json", "*/*/plan.json") for plan in sorted(path.glob(pattern))]
    sweeps = [load_folder(folder) for folder in ([path] if alone else [plan.parent for plan in plans])]
    members = [
        Member(sweep.records[row.id], int(row.seed), sweep.name, sweep.path.name, row.id, row.label)
        for sweep in sweeps for row in sweep.runs.itertuples()
    ]  # fmt: skip
    if not members:
        raise BadInput(f"{path}: {'no run is complete; expected complete runs' if sweeps else EXPECTED}")
    left_out = [f"{id}: {why}" for sweep in sweeps for id, why in sweep.unreadable.items()]
    return Side(path, SWEEP if alone else RESULTS, members, left_out)


def pair(first: Side, second: Side) -> Pairs:
    """Pair the runs of both sides by experiment and id, and those that are left by their labels.

    Runs of the same plan have the same ids; where all runs of a side were given another field, their labels
    are still the same. The machine counts only where one side has results of several. Raises BadInput for
    sides of two kinds, and where no run has a partner.
    """
    if first.kind != second.kind:
        raise BadInput(
            f"{first.path} is {first.kind} and {second.path} is {second.kind}; expected two of one kind"
        )
    if first.path.resolve() == second.path.resolve():
        raise BadInput(f"{second.path}: given twice; expected two results")
    left, found = [first.members, second.members], defaultdict(list)
    places = [{(one.experiment, one.machine) for one in side} for side in left]
    several = any(len(side) > len({experiment for experiment, _ in side}) for side in places)
    experiments = len({experiment for experiment, _ in places[0]})
    for name in ("id", "label"):
        mine, theirs = (
            {(one.experiment, several and one.machine, getattr(one, name)): one for one in side}
            for side in left
        )
        for key in (key for key in mine if key in theirs):
            one = mine[key]
            words = [one.experiment] * (experiments > 1) + [one.machine] * several
            found[": ".join([*words, one.setup])].append((one, theirs[key]))
        left = [[one for key, one in mine.items() if key not in theirs],
                [one for key, one in theirs.items() if key not in mine]]  # fmt: skip
    if not found:
        raise BadInput(f"{second.path}: no run has a partner in {first.path}; expected the same experiments")
    return Pairs(dict(found), *([f"{one.experiment}: {one.label}" for one in side] for side in left))


def check_networks(first: Run, second: Run) -> None:
    """Raises BadInput, with the first field that differs, for runs of two networks or of two kinds.

    Also for runs that should have found the same spikes and did not.
    """
    ours, theirs = (with_content(run.record.description) for run in (first, second))
    for name, one, other in _unequal(_flat(ours), _flat(theirs)):
        if f"{name}.".startswith(NETWORK):
            expected = f"{first.path} has {one}: only runs of one network, timed alike, are compared"
            raise BadInput(f"{second.path}: {name}={other}; {expected}")
    kinds = first.record.kind, second.record.kind
    if kinds[0] != kinds[1]:
        raise BadInput(f"{second.path}: kind={kinds[1]!r}; {first.path} has {kinds[0]!r}; expected one kind")
    sums = first.record.checksum, second.record.checksum
    if ours.get("time") == theirs.get("time") and sums[0] != sums[1]:
        raise BadInput(
            f"{second.path}: checksum={sums[1]}; {first.path} has {sums[0]}: one network must give the same"
            " spikes, so one of the two programs is wrong"
        )


def differs(pairs: list[tuple[Run, Run]]) -> dict[tuple[str, str, str], int]:
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
