"""What is compared: one run, a sweep, or whole results; which runs belong together, and what else differs."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content
from spikemark.quantities.words import listed
from spikemark.records import run_files
from spikemark.records.frames import load_folder
from spikemark.records.record import Run, load
from spikemark.records.results import Results

RUN, SWEEP, RESULTS = "a run", "a sweep", "whole results"
EXPECTED = "expected a run (record.json), a sweep (plan.json), or results with EXPERIMENT/MACHINE"
#: The words of a label that tell repetitions of one setup apart.
REPEATS = re.compile(r" ?\b(seed|repetition)=\d+")
#: Fields of a description that make the network and its cycles.
NETWORK = ("seed", "network", "time.resolution_ms", "time.cycle_ms")
MACHINE, CONFIGURATION, VERSIONS, BINDING = GROUPS = ("machine", "configuration", "versions", "binding")
HOST = (
    *("name", "system", "cpu", "cores", "threads_per_core", "sockets", "memory_bytes", "cache_bytes"),
    *("virtual_machine", "nodes", "node_names"),
)
NODE = ("governor", "frequency_min_hz", "frequency_max_hz")
LANE = ("period", "lag", "exchange", "composed", "wire", "ranks", "groups")
ALLOCATION = ("cluster", "partition", "modules")
ABSENT = "absent"


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


@dataclass(frozen=True)
class Differs:
    """A field, and its value on both sides; a field that one side lacks is `absent` there."""

    group: str
    field: str
    first: str
    second: str
    runs: int = 1  # pairs that differ so


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
    if first.kind == RUN:
        return Pairs({"": [(first.members[0], second.members[0])]})
    rest = [pd.DataFrame(list(map(vars, side.members))).reset_index(names="at") for side in (first, second)]
    several = [bool((side.groupby("experiment")["machine"].nunique() > 1).any()) for side in rest]
    experiments = [list(side["experiment"].unique()) for side in rest]
    found, own = defaultdict(list), ["experiment", "machine"] if any(several) else ["experiment"]
    for name in ("id", "label"):
        once = [side.drop_duplicates([*own, name], keep=False) for side in rest]
        both = once[0].merge(once[1], on=[*own, name], suffixes=("", "_b"))
        for at, at_b in zip(both["at"], both["at_b"], strict=True):
            one, other = first.members[at], second.members[at_b]
            words = [one.experiment] * (len(experiments[0]) > 1) + [one.machine] * several[0]
            found[": ".join([*words, one.setup])].append((one, other))
        rest = [side[~side["at"].isin(both[at])] for side, at in zip(rest, ("at", "at_b"), strict=True)]
    if not found:
        raise BadInput(
            f"{second.path}: no run has a partner in {first.path}; {first.path} has {listed(experiments[0])},"
            f" {second.path} has {listed(experiments[1])}"
        )
    return Pairs(dict(found), *((side["experiment"] + ": " + side["label"]).tolist() for side in rest))


def check_networks(first: Run, second: Run) -> None:
    """Raises BadInput, with the first field that differs, for runs of two networks or of two kinds.

    Also for runs that should have found the same spikes and did not.
    """
    ours, theirs = (with_content(run.record.description) for run in (first, second))
    begins = tuple(f"{name}." for name in NETWORK)
    flat = [{k: v for k, v in _flat(one).items() if f"{k}.".startswith(begins)} for one in (ours, theirs)]
    for name, one, other in _unequal(*flat):
        raise BadInput(
            f"{second.path}: {name}={other}; {first.path} has {one}: only runs of one network are compared"
        )
    kinds = first.record.kind, second.record.kind
    if kinds[0] != kinds[1]:
        raise BadInput(f"{second.path}: kind={kinds[1]!r}; {first.path} has {kinds[0]!r}; expected one kind")
    sums = first.record.checksum, second.record.checksum
    if ours.get("time") == theirs.get("time") and sums[0] != sums[1]:
        raise BadInput(
            f"{second.path}: checksum={sums[1]}; {first.path} has {sums[0]}: one network must give the same"
            " spikes, so one of the two programs is wrong"
        )


def differs(pairs: list[tuple[Run, Run]]) -> list[Differs]:
    """Everything but the network in which records of pairs differ, by group, with the number of pairs."""
    found = Counter()
    for first, second in (map(_told, pair) for pair in pairs):
        found.update(
            Differs(group, *one)
            for group in GROUPS
            for one in _unequal(_flat(first[group]), _flat(second[group]))
        )
    return sorted((replace(one, runs=n) for one, n in found.items()), key=lambda x: GROUPS.index(x.group))


def _told(run: Run) -> dict[str, Any]:
    def some(of: Any, names: tuple[str, ...]) -> dict[str, Any]:
        found = {name: getattr(of, name, None) for name in names}
        return {n: ", ".join(map(str, x)) if isinstance(x, list) else x for n, x in found.items()}

    record, launched, host = run.record, run.launched, run.record.host
    description = {k: v for k, v in with_content(record.description).items() if k not in ("network", "seed")}
    machine = some(host, HOST) | some(launched and launched.allocation, ALLOCATION)
    if host.per_node:
        machine["nodes"] = {str(i): some(node, NODE) for i, node in enumerate(host.per_node)}
    lanes = {lane.name: {name: getattr(lane, name) for name in LANE} for lane in record.lanes}
    return {
        MACHINE: machine,
        CONFIGURATION: {"ranks": record.ranks, "threads": record.threads, **description, "lanes": lanes},
        VERSIONS: record.provenance.model_dump(exclude={"started"}),
        BINDING: some(host, ("binding",)) | {
            "waiting": host.waiting.model_dump() if host.waiting else None,
            "environment": dict(launched.environment) if launched else {},
            "launcher": launched.launcher if launched else None,
        },
    }  # fmt: skip


def _flat(value: Any, where: str = "") -> dict[str, Any]:
    """Path -> leaf of what lies nested; parts of a path are joined by dots."""
    if isinstance(value, list) and value:
        value = dict(enumerate(value))
    if not isinstance(value, dict) or not value:
        return {where: value}
    parts = (_flat(part, f"{where}.{name}".lstrip(".")) for name, part in value.items())
    return {path: leaf for part in parts for path, leaf in part.items()}


def _unequal(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Field and both values, as text, wherever two values differ."""

    def text(side: dict[str, Any], path: str) -> str:
        value = side.get(path, ABSENT)
        return "unknown" if value is None else value if isinstance(value, str) and value else shown(value)

    both = ((path, text(first, path), text(second, path)) for path in dict.fromkeys((*first, *second)))
    return [(path, one, other) for path, one, other in both if one != other]
