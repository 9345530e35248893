"""What is compared: one run, a sweep, or whole results; and which runs of both sides belong together."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.words import listed
from spikemark.records import run_files
from spikemark.records.frames import load_folder
from spikemark.records.record import load
from spikemark.records.results import Results

RUN, SWEEP, RESULTS = "a run", "a sweep", "whole results"
EXPECTED = "expected a run (record.json), a sweep (plan.json), or results with EXPERIMENT/MACHINE"
#: The words of a label that tell repetitions of one setup apart.
REPEATS = re.compile(r" ?\b(seed|repetition)=\d+")
COLUMNS = ("run", "experiment", "machine", "id", "label", "seed")


@dataclass(frozen=True)
class Side:
    """`members`: a row per complete run, columns COLUMNS and `setup`, the label but for seed and repetition.

    `left_out`: a line for every record that cannot be used.
    """

    path: Path
    kind: str
    members: pd.DataFrame
    left_out: list[str] = field(default_factory=list)

    @property
    def several(self) -> bool:
        """True if some experiment has results of several machines."""
        return bool((self.members.groupby("experiment")["machine"].nunique() > 1).any())


@dataclass(frozen=True)
class Pairs:
    """Runs of both sides that belong together, by experiment and setup, and those that have no partner.

    A pair is a row of each side's members.
    """

    setups: dict[str, list[tuple]]
    only_first: list[str]
    only_second: list[str]


def read(path: Path) -> Side:
    """Read a side. Raises BadInput where it is none of the three, and where no run of it is complete."""
    path, folders, left_out = Path(path), [], []
    if (path / run_files.RECORD).is_file():
        run = load(path)
        kind, rows = RUN, [(run, "", "", "", "", run.record.description.get("seed", 0))]
    else:
        alone = Results(path).plan.is_file()
        plans = [p for pattern in ("*/plan.json", "*/*/plan.json") for p in sorted(path.glob(pattern))]
        folders, kind, rows = [path] if alone else [p.parent for p in plans], SWEEP if alone else RESULTS, []
    for folder in folders:
        sweep = load_folder(folder)
        left_out += [f"{id}: {why}" for id, why in sweep.unreadable.items()]
        rows += [
            (sweep.records[row.id], sweep.name, folder.name, row.id, row.label, int(row.seed))
            for row in sweep.runs.itertuples()
        ]
    if not rows:
        raise BadInput(f"{path}: {'no run is complete; expected complete runs' if folders else EXPECTED}")
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"run": object})
    frame["setup"] = frame["label"].map(lambda label: REPEATS.sub("", label))
    return Side(path, kind, frame, left_out)


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
    sides = [first.members, second.members]
    rows = [dict(zip(one.index, one.itertuples(), strict=True)) for one in sides]
    if first.kind == RUN:
        return Pairs({"": [(rows[0][0], rows[1][0])]}, [], [])
    same = ["experiment", "machine"] if first.several or second.several else ["experiment"]
    rest, found, experiments = sides, {}, [list(one["experiment"].unique()) for one in sides]
    for key in ("id", "label"):
        ours, theirs = (one.reset_index().drop_duplicates([*same, key], keep=False) for one in rest)
        both = ours.merge(theirs, on=[*same, key], suffixes=("", "_other"))
        for one, other in zip(both["index"], both["index_other"], strict=True):
            at = rows[0][one]
            name = [at.experiment] * (len(experiments[0]) > 1) + [at.machine] * first.several + [at.setup]
            found.setdefault(": ".join(name), []).append((at, rows[1][other]))
        rest = [rest[0].drop(both["index"]), rest[1].drop(both["index_other"])]
    if not found:
        raise BadInput(
            f"{second.path}: no run has a partner in {first.path}; {first.path} has {listed(experiments[0])},"
            f" {second.path} has {listed(experiments[1])}"
        )
    return Pairs(found, *((one["experiment"] + ": " + one["label"]).tolist() for one in rest))
