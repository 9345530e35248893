"""A study: every figure and table of a paper as a row with their number, ours, and a verdict.

`papers/NAME.yaml` states the rows and the experiments that they need; the module `NAME.py` has the functions
that rows name in `ours`. Each takes the Runs of the study and returns an Answer. `carry_out` runs what is
missing with the engine of `spikemark sweep`; `show` makes a screen, JSON, HTML and Markdown of the result.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TextIO

from pydantic import BaseModel, ConfigDict, model_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.core.yaml_file import read_yaml
from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Table
from spikemark.quantities.words import integer, number
from spikemark.records.experiment_fields import Experiment
from spikemark.records.frames import Frames, load_folder
from spikemark.records.results import Results
from spikemark.running import experiments, possible, sweeps

AGREE, DISAGREE = "agree", "disagree"
NOT_COMPARABLE, NOT_ATTEMPTED = "not comparable", "not attempted"
VERDICTS = (AGREE, DISAGREE, NOT_COMPARABLE, NOT_ATTEMPTED)
UNKNOWN = "not available to us"


class Lacking(Exception):
    """A function has no answer; the message says why."""


class Part(BaseModel):
    """Base of what a file of a paper holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Theirs(Part):
    """What the paper says: a number, an order (largest first), or words. `source`: where that is from."""

    value: float | None = None
    unit: str = ""
    order: list[str] = []
    words: str = ""
    status: Literal["text", "table", "figure read-off", "inferred", "not available to us"] = "text"
    source: str = ""

    @property
    def text(self) -> str:
        """In one cell, with its status where it is not simply printed."""
        if self.value is not None:
            found = f"{_plain(self.value)} {self.unit}".rstrip()
        else:
            found = self.words or " > ".join(self.order) or UNKNOWN
        shown = self.status not in ("text", "table") and self.status != found
        return f"{found} ({self.status})" if shown else found


class Agree(Part):
    """When ours agrees with theirs; exactly one of the fields.

    `within`: relative difference of the numbers, or an interval of ours that holds theirs. `factor`: their
    ratio, either way. `above`, `below`: limits of ours. `order`: the same order as theirs.
    """

    within: float | None = None
    factor: float | None = None
    above: float | None = None
    below: float | None = None
    order: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> "Agree":
        if sum(value is not None for value in self.__dict__.values()) != 1:
            raise ValueError("expected one of within, factor, above, below, order")
        return self


class Row(Part):
    """One question that a figure or table of the paper answers.

    `ours`: a function of the study's module. Without `agree`, a reason is needed: `not_comparable`, or
    `not_attempted` where there is no `ours`. `why`: what is known about a disagreement.
    """

    id: str
    question: str
    theirs: Theirs = Theirs(status=UNKNOWN)
    ours: str | None = None
    agree: Agree | None = None
    why: str = ""
    not_comparable: str = ""
    not_attempted: str = ""

    @model_validator(mode="after")
    def _decided(self) -> "Row":
        given = [bool(self.agree), bool(self.not_comparable), bool(self.not_attempted)]
        if sum(given) != 1:
            raise ValueError(f"{self.id}: expected one of agree, not_comparable, not_attempted")
        if self.agree and (self.ours is None or self.theirs.status == UNKNOWN):
            raise ValueError(f"{self.id}: agree: expected with ours, and theirs known")
        if self.not_attempted and self.ours:
            raise ValueError(f"{self.id}: not_attempted: expected without ours")
        return self


class Paper(Part):
    """The content of papers/NAME.yaml.

    `experiments`: files of workflows/experiments by name, each with the fields that `--quick` replaces; null
    where the quick study leaves it out. `about`: sentences for the page.
    """

    title: str
    reference: str
    about: list[str] = []
    experiments: dict[str, dict[str, Any] | None] = {}
    rows: list[Row]


@dataclass(frozen=True)
class Answer:
    """What a function found: a number, an order (largest first) or words; and what shows it."""

    value: Quantity | list[str] | str
    note: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    @property
    def text(self) -> str:
        """In one cell."""
        if isinstance(self.value, Quantity):
            if not self.value:
                return ""
            limits = self.value.interval
            between = f" ({number(limits[0])} to {number(limits[1])})" if limits else ""
            kind = f", {self.value.kind}" if self.value.kind else ""
            return f"{_plain(self.value.value)}{between} {self.value.unit}".rstrip() + kind
        return self.value if isinstance(self.value, str) else " > ".join(self.value)


@dataclass(frozen=True)
class Runs:
    """What the functions of a study are given: `runs[EXPERIMENT]` are frames."""

    folder: Path  # of what the study keeps itself
    quick: bool = False
    frames: dict[str, Frames] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)  # experiment -> why it has no frames

    def __getitem__(self, name: str) -> Frames:
        """Raises Lacking for an experiment without a complete run."""
        if name in self.lacking:
            raise Lacking(self.lacking[name])
        if self.frames[name].runs.empty:
            raise Lacking(f"no run of {name} is complete")
        return self.frames[name]

    def kept(self, name: str, given: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """What `compute` returns, plain data; kept in a file and computed anew only if `given` differs."""
        path = self.folder / f"{name}.json"
        before = read_json(path) if path.is_file() else None
        if not isinstance(before, dict) or before.get("given") != json.loads(json.dumps(given)):
            before = {"given": given, "found": compute()}
            write_json(path, before)
        return before["found"]


@dataclass(frozen=True)
class Judged:
    """A row with its answer and verdict; `why` is empty only for `agree`."""

    row: Row
    verdict: str
    why: str = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class Study:
    """A study as far as it has got. `complaints`: what went wrong on the way."""

    name: str
    paper: Paper
    quick: bool
    rows: list[Judged]
    frames: list[Frames]
    complaints: list[str]


def _plain(value: float) -> str:
    """A whole number without decimals."""
    return integer(value) if value == round(value) else number(value)


def load(name: str) -> Paper:
    """Raises BadInput for a file of a paper that is not whole."""
    path = Path(str(resources.files(__package__) / "papers" / f"{name}.yaml"))
    return checked(Paper, read_yaml(path), path, "paper")


def judge(row: Row, answer: Answer) -> Judged:
    """The verdict on a row, given our answer."""
    ours, theirs = answer.value, row.theirs
    if isinstance(ours, Quantity) and not ours:
        return Judged(row, NOT_ATTEMPTED, ours.reason, answer)
    if row.agree is None:
        return Judged(row, NOT_COMPARABLE, row.not_comparable, answer)
    rule, difference = row.agree, ""
    if rule.order:
        same = ours == theirs.order
    elif not isinstance(ours, Quantity):
        raise TypeError(f"{row.id}: {row.ours} has to return a Quantity")
    elif rule.above is not None or rule.below is not None:
        same = ours.value > rule.above if rule.above is not None else ours.value < rule.below
        limit = f"above {rule.above:g}" if rule.above is not None else f"below {rule.below:g}"
        difference = f"expected {limit}"
    else:
        ratio = ours.value / theirs.value if theirs.value else float("inf")
        difference = f"ours is {number(ratio)} of theirs"
        inside = ours.interval and ours.low <= theirs.value <= ours.high
        if rule.within is not None:
            same = bool(inside) or abs(ratio - 1) <= rule.within
        else:
            same = ratio > 0 and max(ratio, 1 / ratio) <= rule.factor
    if same:
        return Judged(row, AGREE, "", answer)
    return Judged(row, DISAGREE, "; ".join(filter(None, [difference, row.why])) or "another order", answer)


def answer(row: Row, module: ModuleType, runs: Runs) -> Judged:
    """Has the module answer a row; what stops it becomes the reason."""
    if row.ours is None:
        verdict = NOT_COMPARABLE if row.not_comparable else NOT_ATTEMPTED
        return Judged(row, verdict, row.not_comparable or row.not_attempted)
    try:
        found = judge(row, getattr(module, row.ours)(runs))
    except (Lacking, BadInput) as why:
        found = Judged(row, NOT_ATTEMPTED, str(why))
    if runs.quick and found.verdict == NOT_ATTEMPTED:
        found = replace(found, why=f"{found.why}; the full study may have it")
    return found


def scaled(experiment: Experiment, quick: dict[str, Any]) -> Experiment:
    """The experiment with the fields that the quick study replaces, under a name of its own."""
    content = experiment.model_dump(mode="json", exclude_unset=True)
    return experiments.checked(
        {**content, **quick, "name": f"{experiment.name}-quick"}, Path(experiment.name)
    )


def carry_out(
    name: str,
    module: ModuleType,
    quick: bool = False,
    machine: str | None = None,
    root: Path | None = None,
    stream: TextIO | None = None,
    paper: Paper | None = None,
) -> Study:
    """Runs what is missing of the experiments of a paper, and answers every row.

    An experiment that cannot be run, such as a simulated one without SimGrid, is a complaint, and the reason
    of the rows that need it. The same call goes on after an interruption.
    """
    paper = paper or load(name)
    frames, lacking, complaints = {}, {}, []
    for one, fields in paper.experiments.items():
        if quick and fields is None:
            lacking[one] = f"not part of --quick: `spikemark study {name}` runs it"
            continue
        try:
            wanted = experiments.load(one)
            wanted = scaled(wanted, fields) if quick else wanted
            frames[one], failed = _sweep(wanted, machine, root, stream)
            complaints += failed
        except BadInput as why:
            lacking[one] = str(why)
            complaints.append(f"{one}: {why}")
    folder = _folder(f"study-{name}{'-quick' if quick else ''}", machine, root)
    runs = Runs(folder, quick, frames, lacking)
    rows = [answer(row, module, runs) for row in paper.rows]
    return Study(name, paper, quick, rows, list(frames.values()), complaints)


def _folder(name: str, machine: str | None, root: Path | None) -> Path:
    """Where a study keeps what it computed itself."""
    return sweeps.folder(Experiment.model_construct(name=name, machine=None), machine, root).path


def _sweep(
    wanted: Experiment, machine: str | None, root: Path | None, stream: TextIO | None
) -> tuple[Frames, list[str]]:
    """The frames of an experiment once its missing runs were made, and what failed."""
    results: Results = sweeps.folder(wanted, machine, root)
    runs = possible.sift(wanted, experiments.expand(wanted)).runs
    outcome = sweeps.sweep(wanted, runs, results, lambda outcome: None, stream)
    found = load_folder(results.path)
    failed = [f"failed: {label}: {why}" for label, why in outcome.failed.items()]
    return _current(found, {run.id for run in runs}), [*failed, *outcome.complaints, *found.left_out]


def _current(found: Frames, ids: set[str]) -> Frames:
    """Without runs of an earlier plan."""
    return replace(found.with_runs(found.runs[found.runs["id"].isin(ids)]))
