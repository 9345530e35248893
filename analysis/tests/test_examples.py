"""The examples of all docstrings are true."""

import ast
import doctest
import functools
import importlib
import inspect
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from spikemark.core.errors import BadInput
from spikemark.launch import outer
from spikemark.machines.parts import MachineOfParts
from spikemark.machines.profile import Profile
from spikemark.prediction.question import Question
from spikemark.quantities.answer import Answer
from spikemark.records.frames import Frames
from spikemark.records.imported.times import CycleTimes
from spikemark.records.record import Run

ANALYSIS = Path(__file__).parents[1]
PACKAGES = ("spikemark", "spikemark_studies", "spikemark_tender")
PROMPT = ">>> "
#: Examples of all but one of these modules show words of their figures; drawing takes most of the
#: time.
UNDRAWN, DRAWING = "spikemark.report.", "spikemark.report.plots"
PROGRAMS = ("echo", "false", "sh", "true")  #: which examples may start


def with_examples() -> list[str]:
    """The names of all modules with an example."""
    names = []
    for package in PACKAGES:
        for path in sorted((ANALYSIS / package).rglob("*.py")):
            if PROMPT in path.read_text():
                parts = path.relative_to(ANALYSIS).with_suffix("").parts
                names.append(".".join(part for part in parts if part != "__init__"))
    return names


@pytest.mark.parametrize("name", with_examples())
def test_examples_are_true(name, monkeypatch, tmp_path, request):
    """On every machine alike: few programs are installed, and no launcher or job is around."""
    if name.startswith(UNDRAWN) and name != DRAWING:
        request.getfixturevalue("undrawn")
    monkeypatch.chdir(ANALYSIS.parent)  # examples name files of the checkout
    for program in PROGRAMS:
        (tmp_path / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in list(os.environ):
        if outer.INHERITED.match(variable) or outer.OF_A_RANK.match(variable):
            monkeypatch.delenv(variable)
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    attempted, failed = results.attempted, results.failed
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in of_cached_properties(module):
        results = runner.run(test)
        attempted += results.attempted
        failed += results.failed
    assert attempted and not failed


def of_cached_properties(module: ModuleType) -> Iterator[doctest.DocTest]:
    """The examples of cached properties, which `doctest` does not look for."""
    for name, cls in vars(module).items():
        if not inspect.isclass(cls) or cls.__module__ != module.__name__:
            continue
        for attribute, value in vars(cls).items():
            if isinstance(value, functools.cached_property):
                finder = doctest.DocTestFinder()
                label = f"{module.__name__}.{name}.{attribute}"
                yield from finder.find(value.func, label, globs=dict(vars(module)))


#: Parts of the code whose public functions all have an example.
COMPLETE = (
    "activity",
    "api",
    "cli",
    "core",
    "diff",
    "launch",
    "machines",
    "measuring",
    "models",
    "network",
    "prediction",
    "quantities",
    "records",
    "report",
    "running",
    "waiting",
    "spikemark_studies",
    "spikemark_tender",
)
#: Functions that start programs, or add commands to the command line.
ENTRIES = ("main", "register")
#: Functions without one, since all that they do is start a program or show what one measured; the
#: command that calls them has an example. And those that change this process, or take seconds.
EXCUSED = {
    "core.streams.drop_output": "changes standard output",
    "core.streams.end_by_pipe": "ends this process",
    "core.streams.prepare": "changes standard output",
    "network.presets.mam.draw": "spikemark preset mam",
    "network.presets.mam.rates_hz": "spikemark preset mam",
    "measuring.cachesim.simulate": "spikemark cachesim",
    "measuring.exchange_rounds.one_round": "spikemark calibrate",
    "measuring.exchanges.bench": "spikemark bench --exchange",
    "measuring.exchanges.measure": "spikemark bench --exchange",
    "measuring.kernel_rounds.one_round": "spikemark calibrate",
    "measuring.kernels_in_runs.one_round": "spikemark calibrate",
    "measuring.kernels_in_runs.values": "spikemark calibrate",
    "measuring.messages.one_round": "spikemark calibrate",
    "measuring.runs.one_round": "spikemark calibrate",
    "measuring.runs.run": "spikemark calibrate",
    "running.dry_run.carry_out": "spikemark dryrun",
    "running.dry_run_answer.dry_run_json": "spikemark dryrun --json",
    "running.dry_run_answer.dry_run_table": "spikemark dryrun",
    "running.dry_run_answer.lines": "spikemark dryrun",
    "running.dry_run_answer.sentence": "spikemark dryrun",
    "running.energy.sampling": "spikemark run",
    "running.job_size.job_size": "spikemark sweep --executor slurm",
    "running.simulation.smpirun.replay": "spikemark simulate",
    "running.simulation.smpirun.run": "spikemark simulate",
    "running.simulation.smpirun.version": "spikemark simulate",
    "running.sweeps.sweep": "spikemark sweep",
    "prediction.measured.check": "spikemark predict --dry-run",
    "report.conclude.conclude": "spikemark sweep",
    "report.sections.waiting.section": "spikemark report",
    "report.sweep_page.write": "spikemark report",
    "report.times_page.write": "spikemark report",
    "report.times_page.write_answer": "spikemark waiting --html",
    "api.differences.history": "spikemark diff --history",
    "cli.output.show": "every command",
    "cli.params.known_machine": "every command with --machine",
    "cli.params.writable": "every command with --html",
    "cli.planned_run.carry_out": "spikemark run",
    "spikemark_studies.cli.score": "spikemark score",
    "spikemark_studies.cli.study": "spikemark study",
    "spikemark_studies.cycles.of_multi_area_model": "spikemark study lober",
    "spikemark_studies.cycles.lists_of_multi_area_model": "spikemark study lober",
    "spikemark_studies.jitter_map.interval_over_jitter": "spikemark study lober",
    "spikemark_studies.jitter_map.places": "spikemark study lober",
    "spikemark_studies.jitter_map.questions": "spikemark study lober",
    "spikemark_studies.score.of_model_without_sources": "docs/trust.md",
    "spikemark_studies.score.score": "spikemark score",
    "spikemark_studies.show.content": "spikemark study --json",
    "spikemark_studies.show.markdown": "spikemark study --markdown",
    "spikemark_studies.staleness.comment": "spikemark study --markdown",
    "spikemark_studies.study.carry_out": "spikemark study",
    "spikemark_tender.acceptance.accept": "spikemark tender accept",
    "spikemark_tender.acceptance.prepare": "spikemark tender accept --prepare",
    "spikemark_tender.answer.predicted": "spikemark tender answer",
    "spikemark_tender.answer.project": "spikemark tender answer",
    "spikemark_tender.answer.write": "spikemark tender answer",
    "spikemark_tender.check.check": "spikemark tender check",
    "spikemark_tender.check.nodes": "spikemark tender check",
    "spikemark_tender.measure.choose": "spikemark tender run",
    "spikemark_tender.measure.experiment_of": "spikemark tender run",
    "spikemark_tender.measure.measure": "spikemark tender run",
    "spikemark_tender.measure.sweep": "spikemark tender run",
    "spikemark_tender.nest.copy": "spikemark tender answer --nest",
    "spikemark_tender.nest.findings": "spikemark tender check",
    "spikemark_tender.nest.predicted": "spikemark tender check",
    "spikemark_tender.new.new": "spikemark tender new",
    "spikemark_tender.offers.compare": "spikemark tender offers",
    "spikemark_tender.page.write": "spikemark tender offers --html",
    "spikemark_tender.source.archive": "spikemark tender new",
    "spikemark_tender.source.commit_of": "spikemark tender new --commit",
    "spikemark_tender.source.differing": "spikemark tender run",
}


def modules(part: str) -> Iterator[tuple[str, Path]]:
    """The modules of a part of the code: their names, and paths."""
    folder, prefix = ANALYSIS / "spikemark", ""
    if part in PACKAGES:
        folder, prefix = ANALYSIS, f"{part}."
    single = folder / f"{part}.py"
    for path in [single] if single.is_file() else sorted((folder / part).rglob("*.py")):
        words = path.relative_to(folder / part if prefix else folder).with_suffix("").parts
        yield prefix + ".".join(words), path


def is_described_elsewhere(function: ast.FunctionDef) -> bool:
    """A command has its example in its help; one of two signatures needs none of its own."""
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(".command(" in text or text == "overload" for text in decorators)


def without_example(part: str) -> set[str]:
    """The public functions of a part of the code whose docstrings have no example."""
    names = set()
    for module, path in modules(part):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if node.name in ENTRIES or is_described_elsewhere(node):
                continue
            if PROMPT not in (ast.get_docstring(node) or ""):
                names.add(f"{module}.{node.name}")
    return names


@pytest.mark.parametrize("part", COMPLETE)
def test_every_public_function_has_an_example(part):
    excused = {name for name in EXCUSED if name.startswith(f"{part}.")}
    assert without_example(part) == excused


#: What functions of the public API take and return; kinds of answers have the interface of Answer.
CLASSES = (Answer, BadInput, CycleTimes, Frames, MachineOfParts, Profile, Question, Run)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_public_method_and_property_has_an_example(cls):
    lacking = set()
    for name, value in vars(cls).items():
        is_accessor = isinstance(value, property | functools.cached_property)
        if name.startswith("_") or not (is_accessor or inspect.isfunction(value)):
            continue
        if PROMPT not in (value.__doc__ or ""):
            lacking.add(name)
    assert lacking == set()
