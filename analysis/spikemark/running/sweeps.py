"""A sweep plans an experiment and measures its missing runs."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.lock import locked
from spikemark.network.named_files import digest as content_of
from spikemark.network.named_files import stored
from spikemark.quantities.words import counted
from spikemark.records.gather import Sweep
from spikemark.records.plan import PLAN_VERSION
from spikemark.records.results import Results

from . import durations, jobs, simulate, simulated_on
from .carry_out import still_running
from .durations import Durations, minutes
from .experiments import Experiment, RunSpec, digest
from .progress import Progress
from .ways import Here, Way

HERE = Here()


@dataclass
class Outcome:
    """The outcome of a sweep of `planned` runs.

    `failed`: reason by label; `complaints`: what is wrong with the workflow or with the records; `sweep`: the
    records as `conclude` read them; `edited`: how the experiment's file differs from the plan, if it does.
    """

    results: Results
    planned: int
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    sweep: Sweep | None = None
    headline: str | None = None
    edited: str = ""

    @property
    def status(self) -> int:
        """Exit status: 0 done, 1 something failed."""
        return 1 if self.failed or self.complaints or self.headline is None else 0


def folder(experiment: Experiment, machine: str | None, root: Path | None) -> Results:
    """The results folder of an experiment: `results/NAME/MACHINE` unless told otherwise.

    MACHINE is the name of the profile where runs are simulated.
    """
    if machine is None and experiment.machine is not None:
        machine = simulated_on.folder_name(experiment)
    name = places.check_machine(machine) if machine is not None else places.machine_name()
    return Results((root or places.root() / "results").resolve() / experiment.name / name)


def plan(experiment: Experiment, runs: list[RunSpec], results: Results) -> None:
    """Writes plan.json and the run descriptions; files that already hold the right content stay untouched."""
    for run in runs:
        write_json(results.description(run.id), _kept(run.description, results, results.description(run.id)))
        if run.compute_of is not None:
            write_json(results.compute_of(run.id), run.compute_of)
    content = {
        "format_version": PLAN_VERSION,
        "experiment": experiment.model_dump(mode="json"),
        "machine": results.path.name,
        "shuffle_seed": experiment.shuffle_seed,
        "runs": [run.without_description() for run in runs],
    }
    write_json(results.plan, content)


def _kept(description: dict[str, Any], results: Results, path: Path) -> dict[str, Any]:
    """The description as it stands at `path`, with copies of its files in the results folder."""

    def copy(field: str, file: Path) -> Path:
        return results.placement(f"{file.stem}-{content_of(file)}.json")

    return stored(description, copy, path.parent)


def dry_run(runs: list[RunSpec], results: Results, way: Way) -> str:
    """The plan as text: the runs in the order of measuring, done or missing, and how long these will take.

    On a cluster, a line says what the missing runs will cost. Writes nothing. Raises BadInput as
    `Campaign.cost`.
    """
    check(results)
    runs = with_guesses(runs)
    missing = [run for run in runs if not results.measured(run.id)]
    lines = [f"{'missing' if run in missing else 'done   '}  {run.id}  {run.label}" for run in runs]
    expected = Durations(runs, results)
    lasts = f", about {minutes(expected.total(missing))} ({expected.basis})" if missing else ""
    number = f"{counted(len(runs), 'run')}, {len(runs) - len(missing)} done, {len(missing)} missing"
    lines.append(f"{number}{lasts}: {results.path}")
    if missing and (cost := way.cost(results, runs)):
        lines.append(cost)
    return "\n".join(lines)


def sweep(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    conclude: Callable[["Outcome"], None],
    way: Way = HERE,
    stream: TextIO | None = None,
) -> Outcome:
    """Measures the missing runs, then calls `conclude`. Failed runs are named and do not stop the others.

    `conclude`, such as `report.conclude`, adds to the outcome while the folder is still locked.

    Raises BadInput for a missing mini-app or SimGrid, a folder that cannot be written, or
    one in which another command or a job is at work. KeyboardInterrupt passes through once everything that
    was started here has ended; the same call later continues from there.
    """
    check(results)
    if experiment.machine is None:
        places.program("miniapp")
    elif not all(results.measured(run.id) for run in runs):
        simulate.check()
    runs = with_guesses(runs)
    cost = way.cost(results, runs)
    with locked(results.path, lambda: _under_way(results)) as lock:
        if not jobs.active(results):
            _check_alone(results)
            plan(experiment, runs, results)
            for run in runs:
                for old in (results.failure(run.id), results.job_log(run.id)):
                    old.unlink(missing_ok=True)
        expected = Durations(runs, results)
        with Progress(results, runs, stream, expected) as progress:
            progress.say(f"{experiment.name}: {_to_do(experiment, runs, progress, expected)}")
            if cost and progress.pending:
                progress.say(cost)
            complaints = way.carry_out(results, runs, progress, lock) if progress.pending else []
            progress.say("collecting the results")
        outcome = Outcome(results, len(runs), progress.failed, complaints)
        conclude(outcome)
    return outcome


def _under_way(results: Results) -> str:
    """The runs of the plan that something works at, in words; empty if that is not known."""
    try:
        runs = results.read_plan().runs
    except BadInput:
        return ""
    return ", ".join(f"run {run.label}" for run in runs if results.unchecked(run.id).parent.is_dir())


def _check_alone(results: Results) -> None:
    """Raises BadInput if a run that is no sweep's any more still writes into the results."""
    if left := still_running(results.unchecked("").parent):
        raise BadInput(f"{results.path}: {_under_way(results) or 'a run'} {left}")


def with_guesses(runs: list[RunSpec]) -> list[RunSpec]:
    """The runs with a guess of how long each of them takes."""
    known: dict[tuple[str, int, int], float] = {}
    found = []
    for run in runs:
        parts = {name: run.description.get(name) for name in ("network", "time", "inject")}
        key = digest(parts), run.ranks, run.threads
        if key not in known:
            known[key] = durations.guess_s(run.description, run.ranks, run.threads)
        found.append(run.model_copy(update={"guess_s": known[key]}))
    return found


def _to_do(experiment: Experiment, runs: list[RunSpec], progress: Progress, expected: Durations) -> str:
    verb = "measure" if experiment.machine is None else "simulate"
    line = f"{counted(progress.total, 'run')}, {len(progress.pending)} to {verb}"
    missing = [run for run in runs if run.id in progress.pending]
    return f"{line}, about {minutes(expected.total(missing))} ({expected.basis})" if missing else line


def check(results: Results) -> None:
    """Raises BadInput if results cannot be written."""
    place = next(path for path in (results.path, *results.path.parents) if path.exists())
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        raise BadInput(f"results: {place} is not a folder that can be written")
