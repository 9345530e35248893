"""What is compared: one run, a sweep, or whole results; and which runs of both sides belong together."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.quantities.words import listed
from spikemark.records import run_files
from spikemark.records.gather import gather
from spikemark.records.record import Run, load
from spikemark.records.results import Results

RUN, SWEEP, RESULTS = "a run", "a sweep", "whole results"
ALLOWED = (
    "allowed: the folder of a run (record.json), of a sweep (plan.json), or results that hold sweeps as"
    " EXPERIMENT/MACHINE"
)
#: The words of a label that tell repetitions of one setup apart.
REPEATS = re.compile(r" ?\b(seed|repetition)=\d+")


@dataclass(frozen=True)
class Member:
    """One complete run of a side. `setup`: what it is called but for its seed and repetition."""

    run: Run
    experiment: str = ""
    machine: str = ""  # its results folder
    id: str = ""
    label: str = ""
    seed: int = 0

    @property
    def setup(self) -> str:
        return REPEATS.sub("", self.label)


@dataclass(frozen=True)
class Side:
    """`left_out`: a line for every record that cannot be used."""

    path: Path
    kind: str
    members: list[Member]
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pairs:
    """Runs of both sides that belong together, by experiment and setup, and those that have no partner."""

    setups: dict[str, list[tuple[Member, Member]]]
    only_first: list[str]
    only_second: list[str]


def read(path: Path) -> Side:
    """Read a side. Raises BadInput where it is none of the three, and where no run of it is complete."""
    path = Path(path)
    if (path / run_files.RECORD).is_file():
        run = load(path)
        return Side(path, RUN, [Member(run, seed=run.record.description.get("seed", 0))])
    folders = [path] if Results(path).plan.is_file() else _sweeps(path)
    members, left_out = [], []
    for folder in folders:
        sweep = gather(folder)
        left_out += sweep.left_out
        for m in sweep.runs:
            planned = m.planned
            members.append(Member(m.run, sweep.name, folder.name, planned.id, planned.label, planned.seed))
    if not folders:
        raise BadInput(f"{path}: nothing to compare is there; {ALLOWED}")
    if not members:
        raise BadInput(f"{path}: no run is complete; allowed: results with complete runs")
    return Side(path, SWEEP if folders == [path] else RESULTS, members, left_out)


def _sweeps(path: Path) -> list[Path]:
    return [
        plan.parent for pattern in ("*/plan.json", "*/*/plan.json") for plan in sorted(path.glob(pattern))
    ]


def pair(first: Side, second: Side) -> Pairs:
    """Pair the runs of both sides by experiment and id, and those that are left by their labels.

    Runs of the same plan have the same ids; where all runs of a side were given another field, their labels
    are still the same. The machine counts only where one side has results of several. Raises BadInput for
    sides of two kinds, and where no run has a partner.
    """
    if first.kind != second.kind:
        raise BadInput(
            f"{first.path} is {first.kind} and {second.path} is {second.kind}; allowed: two of one kind"
        )
    if first.path.resolve() == second.path.resolve():
        raise BadInput(f"{second.path}: given twice; allowed: two results")
    if first.kind == RUN:
        (one,), (other,) = first.members, second.members
        return Pairs({"": [(one, other)]}, [], [])
    several = any(len(_machines(side, name)) > 1 for side in (first, second) for name in _experiments(side))
    found: dict[str, list] = defaultdict(list)
    rest = [list(first.members), list(second.members)]
    for key in (_id, _label):
        by_key = [_unique(members, key, several) for members in rest]
        for at, one in by_key[0].items():
            if (other := by_key[1].get(at)) is not None:
                found[_title(one, first)].append((one, other))
                rest[0].remove(one)
                rest[1].remove(other)
    if not found:
        raise BadInput(
            f"{second.path}: no run has a partner in {first.path}; {first.path} has"
            f" {listed(_experiments(first))}, {second.path} has {listed(_experiments(second))}"
        )
    return Pairs(dict(found), *([_named(m) for m in members] for members in rest))


def _id(one: Member) -> str:
    return one.id


def _label(one: Member) -> str:
    return one.label


def _unique(members: list[Member], key: Callable[[Member], str], several: bool) -> dict[tuple, Member]:
    """The members by experiment and key; those of one key several times are left out."""
    found = defaultdict(list)
    for one in members:
        found[one.experiment, one.machine if several else "", key(one)].append(one)
    return {at: same[0] for at, same in found.items() if len(same) == 1}


def _experiments(side: Side) -> list[str]:
    return list(dict.fromkeys(one.experiment for one in side.members))


def _machines(side: Side, experiment: str) -> set[str]:
    return {one.machine for one in side.members if one.experiment == experiment}


def _named(one: Member) -> str:
    return f"{one.experiment}: {one.label}"


def _title(one: Member, side: Side) -> str:
    """What a setup is called: its label, and its experiment where there are several."""
    parts = [one.experiment] if len(_experiments(side)) > 1 else []
    parts += [one.machine] if len(_machines(side, one.experiment)) > 1 else []
    return ": ".join([*parts, one.setup])
