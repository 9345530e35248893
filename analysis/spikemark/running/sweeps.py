"""A sweep plans an experiment and measures its missing runs."""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.lock import locked
from spikemark.core.process import last_line, started
from spikemark.records.gather import Sweep
from spikemark.records.plan import PLAN_VERSION
from spikemark.records.results import Results

from . import simulate, simulated_on
from .experiments import Experiment, RunSpec
from .progress import Progress

LOOK_EVERY_S = 1.0  # looking takes time from the measured run
PATIENCE_S = 15


@dataclass
class Outcome:
    """The outcome of a sweep of `planned` runs.

    `failed`: reason by label; `complaints`: what is wrong with the workflow or with the records; `sweep`: the
    records as `conclude` read them.
    """

    results: Results
    planned: int
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    sweep: Sweep | None = None
    headline: str | None = None

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
        write_json(results.description(run.id), run.description)
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


def dry_run(runs: list[RunSpec], results: Results) -> str:
    """The plan as text: the runs in the order of measuring, done or missing. Writes nothing."""
    done = {run.id for run in runs if results.measured(run.id)}
    lines = [f"{'done   ' if run.id in done else 'missing'}  {run.id}  {run.label}" for run in runs]
    return "\n".join(
        [*lines, f"{len(runs)} runs, {len(done)} done, {len(runs) - len(done)} missing: {results.path}"]
    )


def sweep(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    conclude: Callable[["Outcome"], None],
    profile: str = "laptop",
    stream: TextIO | None = None,
) -> Outcome:
    """Measures the missing runs, then calls `conclude`. Failed runs are named and do not stop the others.

    `conclude`, such as `report.conclude`, adds to the outcome while the folder is still locked.

    Raises BadInput for an unknown profile, a missing mini-app or SimGrid, a folder that cannot be written, or
    one in which another command is at work. KeyboardInterrupt passes through once everything that was started
    has ended; the same call later continues from there.
    """
    chosen = check(results, profile)
    if experiment.machine is None:
        places.program("miniapp")
    elif not all(results.measured(run.id) for run in runs):
        simulate.check()
    with locked(results.path) as lock:
        plan(experiment, runs, results)
        for run in runs:
            for old in (results.failure(run.id), results.job_log(run.id)):
                old.unlink(missing_ok=True)
        with Progress(results, runs, stream) as progress:
            verb = "measure" if experiment.machine is None else "simulate"
            progress.say(f"{experiment.name}: {progress.total} runs, {len(progress.pending)} to {verb}")
            complaints = _measure(results, chosen, progress, lock) if progress.pending else []
            progress.say("collecting and drawing the report")
        outcome = Outcome(results, len(runs), progress.failed, complaints)
        conclude(outcome)
    return outcome


def check(results: Results, profile: str) -> Path:
    """The folder of the named profile; raises BadInput if there is none, or if results cannot be written."""
    place = next(path for path in (results.path, *results.path.parents) if path.exists())
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        raise BadInput(f"results: {place} is not a folder that can be written")
    return _profile(profile)


def _profile(name: str) -> Path:
    path = Path(name) if "/" in name else places.root() / "workflows" / "profiles" / name
    if not (path / "config.yaml").is_file():
        known = sorted(
            p.parent.name for p in (places.root() / "workflows" / "profiles").glob("*/config.yaml")
        )
        raise BadInput(
            f"profile {name!r} not found: give a folder with a config.yaml or one of {', '.join(known)}"
        )
    return path.resolve()


def _measure(results: Results, profile: Path, progress: Progress, lock: int) -> list[str]:
    """Runs the workflow to its end and returns complaints about the workflow itself."""
    command = [
        sys.executable,
        "-m",
        "spikemark.running.workflow",
        "--snakefile",
        str(places.root() / "Snakefile"),
    ]
    command += ["--directory", str(results.path), "--profile", str(profile), "--workflow-profile", "none"]
    # Only a missing record is measured. Records appear whole or not at all, and we hold the folder's lock:
    # Snakemake's own bookkeeping of incomplete files and locks could only stop a sweep that can continue.
    command += ["--nolock", "--ignore-incomplete", "--drop-metadata", "--rerun-triggers", "mtime"]
    command += ["--keep-going", "--scheduler", "greedy", "--nocolor"]
    with (
        open(results.workflow_log, "w") as log,
        # The workflow inherits the lock and holds it as long as anything measures, even if this process ends.
        started(
            command,
            {"PYTHONPATH": _with_this_package()},
            signs=(signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
            grace_s=PATIENCE_S,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
        ) as workflow,
    ):
        while workflow.poll() is None:
            progress.look()
            time.sleep(LOOK_EVERY_S)
    progress.look()
    for run in list(progress.pending):  # the job itself failed, before or instead of the mini-app
        if reason := _last_line(results.job_log(run)):
            progress.fail(run, reason)
    if progress.pending:
        said = _last_line(results.workflow_log)
        return [f"{len(progress.pending)} runs were not carried out, see {results.workflow_log}: {said}"]
    return []


def _last_line(log: Path) -> str:
    return last_line(log.read_text(errors="replace")) if log.is_file() else ""


def _with_this_package() -> str:
    """Makes the jobs find this very package, installed or not."""
    here = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
