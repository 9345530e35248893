"""A study: every claim of a paper with their number, ours, and a verdict.

`papers/NAME.yaml` states the claims (claims.py) and the experiments that they need; the module
`NAME.py` has the functions that answer them. Each is decorated with `answers_claim`, takes the Runs
of the study and returns a StudyAnswer, which `claims.judge` compares with the paper. `carry_out`
runs what is missing with the engine of `spikemark sweep`, which takes up to an hour; `show` makes a
screen, JSON, HTML and Markdown of the result.
"""

import inspect
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import spikemark
from spikemark.core import places
from spikemark.core.commands import command
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.fields import checked
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.core.yaml_file import read_yaml
from spikemark.launch import machine_name
from spikemark.records.experiment_fields import Experiment
from spikemark.records.frames import Frames
from spikemark.records.results import Results
from spikemark.running import experiments, sweeps

from .claims import (
    NOT_TESTABLE,
    Answered,
    Claim,
    Finding,
    Judged,
    Paper,
    StudyAnswer,
    disagreeing,
    judge,
)


class Lacking(Exception):
    """A function has no answer; the message says why."""


@dataclass(frozen=True)
class Runs:
    """What the functions of a study are given: `runs[EXPERIMENT]` are frames."""

    folder: Path  #: of what the study keeps itself
    quick: bool = False
    frames: dict[str, Frames] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)  #: why an experiment has no frames
    logs: Path | None = None  #: folder with logs of the authors' own runs, if there are any

    def __getitem__(self, name: str) -> Frames:
        """Raises Lacking for an experiment without a complete run."""
        if name in self.lacking:
            raise Lacking(self.lacking[name])
        if self.frames[name].runs.empty:
            raise Lacking(f"no run of {name} is complete")
        return self.frames[name]

    def kept(
        self,
        name: str,
        inputs: dict[str, Any],
        compute: Callable[[], Any],
    ) -> Any:
        """What `compute` returns, from a file if it was computed before.

        Args:
            name: of the file.
            inputs: what the result depends on; where they differ, it is computed anew.
            compute: returns plain data.
        """
        path = self.folder / f"{name}.json"
        as_stored = json.loads(json.dumps(inputs))
        content = read_json(path) if path.is_file() else None
        if not isinstance(content, dict) or content.get("given") != as_stored:
            content = {"given": inputs, "found": compute()}
            write_json(path, content)
        return content["found"]


AnswerFunction = Callable[[Runs], StudyAnswer]
_answer_functions: dict[str, dict[str, AnswerFunction]] = defaultdict(dict)  #: by module and name


def answers_claim(function: AnswerFunction) -> AnswerFunction:
    """Decorates a function that answers the claim or finding which names it in `ours`. The first
    paragraph of its docstring says on the page what its number or order is of.

    Nothing else calls such a function, so its name begins with an underscore, which `ours` omits.

        >>> @answers_claim
        ... def _delay_ratio(runs: Runs) -> StudyAnswer:
        ...     return StudyAnswer("10, as in the paper")
        >>> _answer_functions[__name__]
        {'delay_ratio': <function _delay_ratio at ...>}
    """
    name = function.__name__.removeprefix("_")
    _answer_functions[function.__module__][name] = function
    return function


@dataclass(frozen=True)
class Study:
    """A study as far as it has got."""

    name: str
    paper: Paper
    quick: bool
    claims: list[Judged]  #: in the order of the paper
    findings: list[Answered]
    frames: list[Frames]  #: of all experiments that have runs
    complaints: list[str]  #: what went wrong on the way


def study_names() -> list[str]:
    """The names of the studies, in order.

    Example:
        >>> study_names()
        ['beyond', 'du', 'lober', 'music', 'routing', 'shehzad', 'simula']
    """
    files = (resources.files(__package__) / "papers").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def answer_functions(name: str) -> Mapping[str, AnswerFunction]:
    """The functions that answer the claims of a study, by name in `ours`.

    Raises BadInput naming all studies.

        >>> list(answer_functions("routing"))
        ['thresholds', 'most_ranks', 'by_levels', 'replays']
    """
    names = study_names()
    if name not in names:
        raise unknown_name("study", name, names)
    return _answer_functions[import_module(f".{name}", __package__).__name__]


def paper_file(name: str) -> Path:
    """The file with the claims of a paper.

    Example:
        >>> paper_file("du").name
        'du.yaml'
    """
    return Path(str(resources.files(__package__) / "papers" / f"{name}.yaml"))


def load_paper(name: str) -> Paper:
    """The claims and experiments of a study. Raises BadInput for a file that is not whole.

    Example:
        >>> load_paper("du").claims[0].ours
        'traffic_demand'
    """
    path = paper_file(name)
    return checked(Paper, read_yaml(path), path, "paper")


def answer(claim: Claim, functions: Mapping[str, AnswerFunction], runs: Runs) -> Judged:
    """Has its function answer a claim; what stops that becomes the reason.

    Example:
        >>> claim = load_paper("shehzad").claims[0]
        >>> runs = Runs(Path("results"), lacking={"exchange-shehzad": "nobody ran it"})
        >>> answer(claim, answer_functions("shehzad"), runs).why
        'nobody ran it'
    """
    if claim.ours is None:
        return Judged(claim, NOT_TESTABLE, claim.not_testable)
    function = functions[claim.ours]
    try:
        judged = judge(claim, function(runs))
    except (Lacking, BadInput) as error:
        return Judged(claim, NOT_TESTABLE, _reason(error, runs))
    first_paragraph = (inspect.getdoc(function) or "").split("\n\n")[0]
    return replace(judged, subject=" ".join(first_paragraph.split()))


def _find(finding: Finding, functions: Mapping[str, AnswerFunction], runs: Runs) -> Answered:
    """Has its function answer a finding; what stops that becomes the reason."""
    try:
        return Answered(finding, functions[finding.ours](runs))
    except (Lacking, BadInput) as error:
        return Answered(finding, why=_reason(error, runs))


def _reason(error: Exception, runs: Runs) -> str:
    """Why there is no answer, and whether the full study may have one."""
    return f"{error}; the full study may have it" if runs.quick else f"{error}"


def _scaled(experiment: Experiment, quick: dict[str, Any]) -> Experiment:
    """The experiment with the fields that the quick study replaces, under a name of its own."""
    content = experiment.model_dump(mode="json", exclude_unset=True)
    content |= {**quick, "name": f"{experiment.name}-quick"}
    return experiments.checked(content, Path(experiment.name))


def carry_out(
    name: str,
    functions: Mapping[str, AnswerFunction],
    quick: bool = False,
    machine: str | None = None,
    root: Path | None = None,
    stream: TextIO | None = None,
    paper: Paper | None = None,
    logs: Path | None = None,
) -> Study:
    """Runs what is missing of the experiments of a paper, and answers every claim.

    Args:
        name: of the study.
        functions: answer the claims, by name in `ours`.
        quick: whether experiments are small ones.
        machine: name of the results folder; None for that of this host.
        root: folder of all results; None for that of the checkout.
        stream: takes lines that say how far the runs have come.
        paper: claims and experiments; None for those of `name`.
        logs: folder with logs of the authors' runs, which take the place of simulated times.

    An experiment that cannot be run, such as a simulated one without SimGrid, is a complaint, and
    the reason of the claims that need it. The same call goes on after an interruption. Raises
    BadInput for a library that the full study needs and that is not installed.
    """
    paper = paper or load_paper(name)
    for library in [] if quick else paper.libraries:
        if find_spec(library) is None:
            raise BadInput(
                field=library,
                reason="not installed",
                expected=f"`pip install {library}`: the study {name} needs it",
                code="missing",
            )
    if logs is not None and not paper.takes_logs:
        raise BadInput(field="logs", reason=f"the study {name} takes none", expected="lober")
    frames: dict[str, Frames] = {}
    lacking: dict[str, str] = {}
    complaints: list[str] = []
    for title, quick_fields in paper.experiments.items():
        if quick and quick_fields is None:
            lacking[title] = f"not part of --quick: `{command('study', name)}` runs it"
            continue
        try:
            experiment = experiments.load_experiment(title)
            if quick_fields is not None and quick:
                experiment = _scaled(experiment, quick_fields)
            frames[title], failures = _sweep(experiment, machine, root, stream)
            complaints += failures
        except BadInput as error:
            lacking[title] = str(error)
            complaints.append(f"{title}: {error}")
    folder = _folder(f"study-{name}-quick" if quick else f"study-{name}", machine, root)
    runs = Runs(folder, quick, frames, lacking, logs)
    claims = [answer(claim, functions, runs) for claim in paper.claims]
    findings = [_find(finding, functions, runs) for finding in paper.findings]
    for decided, other in disagreeing(claims):
        complaints.append(f"{decided} and {other}: one number, and only one of them is decided")
    return Study(name, paper, quick, claims, findings, list(frames.values()), complaints)


def _folder(name: str, machine: str | None, root: Path | None) -> Path:
    """Where a study keeps what it computed itself, as sweeps do: results/ of the current folder."""
    of_machine = machine_name() if machine is None else places.check_machine(machine)
    return (root or Path("results")).resolve() / name / of_machine


def _sweep(
    experiment: Experiment,
    machine: str | None,
    root: Path | None,
    stream: TextIO | None,
) -> tuple[Frames, list[str]]:
    """The frames of an experiment once its missing runs were made, and what failed."""
    results: Results = sweeps.folder(experiment, machine, root)
    planned = sweeps.planned(experiment, results).runs
    outcome = sweeps.sweep(experiment, planned, results, lambda outcome: None, stream)
    frames = spikemark.load(results.path)
    failures = [f"failed: {label}: {reason}" for label, reason in outcome.failed.items()]
    failures += outcome.complaints
    failures += frames.left_out
    is_planned = frames.runs["id"].isin({run.id for run in planned})  # not of an earlier plan
    return frames.with_runs(frames.runs[is_planned]), failures
