"""What is compared: one run, a sweep, or whole results; which runs belong together, and what else
differs.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput, short_repr
from spikemark.core.fields import differing
from spikemark.network.named_files import with_content
from spikemark.records import run_files
from spikemark.records.frames import Frames, load_folder
from spikemark.records.record import Run, load_run
from spikemark.records.results import Results

#: Kinds of sides.
RUN = "a run"
SWEEP = "a sweep"
RESULTS = "whole results"
EXPECTED = "a run (record.json), a sweep (plan.json), or results with EXPERIMENT/MACHINE"
#: The words of a label that tell repetitions of one setup apart.
REPEATS = r" ?\b(?:seed|repetition)=\d+"
#: Columns of `Side.runs`.
SIDE_COLUMNS = ["run", "seed", "experiment", "machine", "id", "label"]
#: Fields of a description that make the network and its cycles, and what is timed of them.
NETWORK_FIELDS = ("seed.", "network.", "time.resolution_ms.", "time.cycle_ms.", "record.barrier.")
#: Fields that are compared besides the description: of a lane; of the host, all but these; of how a
#: run was started.
LANE_FIELDS = {"period", "lag", "exchange", "composed", "wire", "ranks", "groups"}
HOST_EXCEPT = {"foreign_load", "stolen_load", "throttled_load", "usable_cores", "node_of_rank"}
LAUNCH_FIELDS = {"launcher", "environment"}
ALLOCATION_FIELDS = {"cluster", "partition", "modules"}


@dataclass(frozen=True)
class Side:
    """One of the two results that are compared."""

    path: Path
    #: RUN, SWEEP or RESULTS.
    kind: str
    #: A row per complete run: SIDE_COLUMNS, and `setup`, its label but for seed and repetition. A
    #: single run has no experiment, machine, id and label.
    runs: pd.DataFrame
    #: A line for every record that cannot be used.
    left_out: list[str] = field(default_factory=list)


def read(path: Path) -> Side:
    """Read a side.

    Raises BadInput where it is none of the three kinds, and where no run of it is complete.

    Example:
        >>> side = read(Path("tests/golden/analysis/records/aware-4"))
        >>> side.kind, len(side.runs)
        ('a run', 1)
    """
    path = Path(path)
    if (path / run_files.RECORD).is_file():
        run = load_run(path)
        row = (run, run.record.description.get("seed", 0), "", "", "", "")
        return _side(path, RUN, [row], [])
    kind = SWEEP if Results(path).plan.is_file() else RESULTS
    rows: list[tuple[Any, ...]] = []
    left_out = []
    folders = [path] if kind == SWEEP else _folders_of_results(path)
    for folder in folders:
        sweep = load_folder(folder)
        rows += _rows_of_sweep(sweep)
        left_out += [f"{id}: {reason}" for id, reason in sweep.unreadable.items()]
    if not rows:
        reason = ""
        expected = EXPECTED
        if folders:
            reason = "no run is complete"
            expected = "complete runs"
        raise BadInput(reason=reason, expected=expected, file=path, code="file")
    return _side(path, kind, rows, left_out)


def _side(
    path: Path,
    kind: str,
    rows: list[tuple[Any, ...]],
    left_out: list[str],
) -> Side:
    """A side from its rows."""
    runs = pd.DataFrame(rows, columns=SIDE_COLUMNS)
    runs["setup"] = runs["label"].str.replace(REPEATS, "", regex=True)
    return Side(path, kind, runs, left_out)


def _folders_of_results(path: Path) -> list[Path]:
    """The results folders below a folder of machines, or of experiments."""
    plans = [*sorted(path.glob("*/plan.json")), *sorted(path.glob("*/*/plan.json"))]
    return [plan.parent for plan in plans]


def _rows_of_sweep(sweep: Frames) -> list[tuple[Any, ...]]:
    """Rows of SIDE_COLUMNS."""
    rows = []
    for id, seed, label in zip(
        sweep.runs["id"], sweep.runs["seed"], sweep.runs["label"], strict=True
    ):
        rows.append((sweep.records[id], int(seed), sweep.name, sweep.path.name, id, label))
    return rows


def pair(first: Side, second: Side) -> tuple[pd.DataFrame, list[list[str]]]:
    """Runs of both sides that belong together, and for each side those that have no partner.

    A row has the columns of a run of the first side and, with `_b`, those of its partner; `setup`
    also names the experiment and the machine, where there are several. Runs of the same plan have
    the same ids; where all runs of a side were given another field, their labels are still the
    same. The machine counts only where one side has results of several. Raises BadInput for sides
    of two kinds, and where no run has a partner.

    Example:
        >>> records = Path("tests/golden/analysis/records")
        >>> pairs, alone = pair(read(records / "aware-4"), read(records / "conventional-4"))
        >>> len(pairs), alone
        (1, [[], []])
    """
    if first.kind != second.kind:
        reason = f"{first.path} is {first.kind} and {second.path} is {second.kind}"
        raise BadInput(reason=reason, expected="two of one kind", code="conflict")
    if first.path.resolve() == second.path.resolve():
        raise BadInput(
            reason="given twice", expected="two results", file=second.path, code="conflict"
        )
    place = ["experiment"]
    if _has_several_machines(first.runs) or _has_several_machines(second.runs):
        place.append("machine")
    first_runs = first.runs
    second_runs = second.runs
    pairs_by_name = []
    for name in ("id", "label"):
        columns = [*place, name]
        first_runs = first_runs.drop_duplicates(columns, keep="last")
        second_runs = second_runs.drop_duplicates(columns, keep="last")
        pairs_of_name = first_runs.reset_index().merge(
            second_runs.reset_index(), on=columns, suffixes=("", "_b")
        )
        pairs_by_name.append(pairs_of_name)
        first_runs = first_runs.drop(pairs_of_name["index"])
        second_runs = second_runs.drop(pairs_of_name["index_b"])
    pairs = pd.concat(pairs_by_name, ignore_index=True)
    if pairs.empty:
        reason = f"no run has a partner in {first.path}"
        expected = "the same experiments"
        raise BadInput(reason=reason, expected=expected, file=second.path, code="conflict")
    words = place
    if first.runs["experiment"].nunique() == 1:
        words = place[1:]
    names = pairs[[*words, "setup"]].agg(": ".join, axis=1)
    return pairs.assign(setup=names), [_names(first_runs), _names(second_runs)]


def _has_several_machines(runs: pd.DataFrame) -> bool:
    """Says whether an experiment was run on several machines."""
    return bool(runs.groupby("experiment")["machine"].nunique().gt(1).any())


def _names(runs: pd.DataFrame) -> list[str]:
    """Runs in words: experiment and label."""
    return (runs["experiment"] + ": " + runs["label"]).tolist()


def check_networks(first: Run, second: Run) -> None:
    """Raises BadInput, with the first field that differs, for runs of two networks or of two kinds.

    Also for runs that should have found the same spikes and did not.

    Example:
        >>> four = load_run("tests/golden/analysis/records/aware-4")
        >>> check_networks(four, load_run("tests/golden/analysis/records/conventional-4"))
    """
    first_description = with_content(first.record.description)
    second_description = with_content(second.record.description)
    for name, value, other in _unequal(first_description, second_description):
        if f"{name}.".startswith(NETWORK_FIELDS):
            expected = (
                f"{first.path} has {value}: only runs of one network, timed alike, are compared"
            )
            raise BadInput(f"{name}={other}; {expected}", field=name, file=second.path)
    expectations = {"kind": "expected one kind"}
    if first_description.get("time") == second_description.get("time"):
        expectations["checksum"] = (
            "expected the same spikes of one network: one of the two programs is wrong"
        )
    for name, expected in expectations.items():
        value = getattr(first.record, name)
        other = getattr(second.record, name)
        if value != other:
            reason = f"{name}={other}; {first.path} has {value}; {expected}"
            raise BadInput(reason, field=name, file=second.path, code="conflict")


def differs(pairs: Iterable[tuple[Run, Run]]) -> dict[tuple[str, str, str], int]:
    """Fields but for the network in which records of pairs differ.

    Field and both values -> number of pairs.

    Example:
        >>> aware = load_run("tests/golden/analysis/records/aware-4")
        >>> conventional = load_run("tests/golden/analysis/records/conventional-4")
        >>> [field for field, *values in differs([(aware, conventional)])][:3]
        ['schedule', 'placement', 'lanes.near.period']
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for first, second in pairs:
        counts.update(_unequal(_compared_fields(first), _compared_fields(second)))
    return counts


def _compared_fields(run: Run) -> dict[str, Any]:
    """What is compared of a record besides the network: path -> value."""
    record = run.record
    fields: dict[str, Any] = {"ranks": record.ranks, "threads": record.threads}
    for name, value in with_content(record.description).items():
        if name not in ("network", "seed"):
            fields[name] = value
    fields["lanes"] = {lane.name: lane.model_dump(include=LANE_FIELDS) for lane in record.lanes}
    fields["host"] = record.host.model_dump(exclude=HOST_EXCEPT)
    fields["provenance"] = record.provenance.model_dump(exclude={"started"})
    launch: dict[str, Any] = {}
    if run.launched:
        launch = run.launched.model_dump(include=LAUNCH_FIELDS)
        allocation = run.launched.allocation
        launch["allocation"] = allocation and allocation.model_dump(include=ALLOCATION_FIELDS)
    fields["launch"] = launch
    return fields


def _unequal(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Field and both values, as text, wherever two values differ.

    A field that one side lacks is `absent`.
    """
    return [
        (difference.path, _as_text(difference.expected), _as_text(difference.value))
        for difference in differing(second, first)
    ]


def _as_text(value: object) -> str:
    """A value as it stands in a table."""
    if value is None:
        return "unknown"
    if isinstance(value, str) and value:
        return value
    return short_repr(value)
