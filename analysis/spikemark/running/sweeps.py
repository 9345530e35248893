"""A sweep plans an experiment and has Snakemake measure its missing runs."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.launch import reasons, slurm
from spikemark.launch.process import started
from spikemark.network.named_files import digest as content_of
from spikemark.network.named_files import stored
from spikemark.quantities.words import counted
from spikemark.records.frames import DISTURBED_CORES, OVERSUBSCRIBED, Frames
from spikemark.records.plan import PLAN_VERSION
from spikemark.records.record import load
from spikemark.records.results import Results

from . import simulate
from .durations import Durations, minutes
from .experiments import Experiment, RunSpec, digest
from .guess import guess_s
from .progress import Progress

PATIENCE_S = 15.0  # for the end of what Snakemake has started


@dataclass
class Outcome:
    """The outcome of a sweep of `planned` runs.

    `failed`: reason by label; `complaints`: what is wrong with the workflow or with the records; `frames`:
    the records as `conclude` read them; `edited`: how the experiment's file differs from the plan.
    """

    results: Results
    planned: int
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    frames: Frames | None = None
    headline: str | None = None
    edited: str = ""

    @property
    def status(self) -> int:
        """Exit status: 0 done, 1 something failed."""
        return 1 if self.failed or self.complaints or self.headline is None else 0


def folder(experiment: Experiment, machine: str | None, root: Path | None) -> Results:
    """The results folder of an experiment: `results/NAME/MACHINE` unless another one is given.

    MACHINE is the name of the profile where runs are simulated.
    """
    if machine is None and experiment.machine is not None:
        machine = simulate.folder_name(experiment)
    name = places.check_machine(machine) if machine is not None else launch.machine_name()
    return Results((root or places.own("results")).resolve() / experiment.name / name)


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
        "runs": [run.without_description() for run in with_guesses(runs)],
    }
    write_json(results.plan, content)


def _kept(description: dict[str, Any], results: Results, path: Path) -> dict[str, Any]:
    """The description for the file `path`, with copies of its files in the results folder."""

    def copy(field: str, file: Path) -> Path:
        return results.placement(f"{file.stem}-{content_of(file)}.json")

    return stored(description, copy, path.parent)


def with_guesses(runs: list[RunSpec]) -> list[RunSpec]:
    """The runs with a guess of how long each of them takes."""
    known: dict[tuple[str, int, int], float] = {}
    found = []
    for run in runs:
        parts = {name: run.description.get(name) for name in ("network", "time", "inject")}
        key = digest(parts), run.ranks, run.threads
        if key not in known:
            known[key] = guess_s(run.description, run.ranks, run.threads)
        found.append(run.model_copy(update={"guess_s": known[key]}))
    return found


def dry_run(runs: list[RunSpec], results: Results) -> str:
    """The plan as text: what the missing runs will take, then all runs in the order of measuring.

    Writes nothing.
    """
    check(results)
    done = {run.id for run in runs if results.measured(run.id)}
    entries = [run.without_description() for run in with_guesses(runs)]
    cost = f"{_cost(runs, entries, done, Durations(entries, results))}: {results.path}"
    lines = [f"{'done   ' if run.id in done else 'missing'}  {run.id}  {run.label}" for run in runs]
    return "\n".join([cost, *lines])


def _cost(runs: list[RunSpec], entries: list[dict[str, Any]], done: set[str], expected: Durations) -> str:
    """Runs, minutes, nodes and node-hours of what is missing, in words."""
    missing = [run for run in runs if run.id not in done]
    words = [counted(len(runs), "run"), f"{len(done)} done", f"{len(missing)} missing"]
    if not missing:
        return ", ".join(words)
    lasts_s = expected.total(entry for entry in entries if entry["id"] not in done)
    basis = f"from {counted(expected.finished, 'finished run')}" if expected.finished else "assumed"
    words.append(f"about {minutes(lasts_s)} ({basis})")
    if missing[0].machine is None:
        nodes = max(map(nodes_of, missing))
        words += [counted(nodes, "node"), f"{nodes * lasts_s / 3600:.2g} node-hours"]
    return ", ".join(words)


def nodes_of(run: RunSpec) -> int:
    """Nodes of one run; without a cluster, all ranks share this host unless the run says otherwise."""
    each = run.ranks_per_node or run.ranks
    if run.ranks_per_node is None and slurm.cluster_name():
        each = max(1, max(launch.nodes_at_hand().cores) // run.threads)
    return -(-run.ranks // each)


def sweep(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    conclude: Callable[["Outcome"], None],
    stream: TextIO | None = None,
    again: int = 0,
) -> Outcome:
    """Measures the missing runs, then calls `conclude`. Failed runs are named and do not stop the others.

    `conclude`, such as `report.conclude`, adds to the outcome. Up to `again` runs that other programs
    disturbed are measured again (`disturbed`).

    Raises BadInput for a missing mini-app or SimGrid, and a folder that cannot be written.
    KeyboardInterrupt passes through once everything that was started here has ended; the same call later
    continues from there.
    """
    check(results)
    if experiment.machine is None:
        places.program("miniapp")
    elif not all(results.measured(run.id) for run in runs):
        simulate.check()
    write_json(results.experiment, experiment.model_dump(mode="json", exclude_unset=True))
    outcome = _measure(experiment, runs, results, stream)
    while not (outcome.failed or outcome.complaints) and (spoiled := disturbed(results, runs, again)):
        aside = {id: results.set_aside(id) for id in spoiled}
        of = f"{counted(len(spoiled), 'run')} (at most {again} in all)"
        line = f"measuring {of} again, which other programs disturbed"
        print(line, file=stream, flush=True)
        try:
            outcome = _measure(experiment, runs, results, stream)
        finally:  # a record stays if there is no other
            for id, kept in aside.items():
                if not results.measured(id):
                    kept.rename(results.run(id))
    conclude(outcome)
    return outcome


def _measure(experiment: Experiment, runs: list[RunSpec], results: Results, stream: TextIO | None) -> Outcome:
    """Has Snakemake measure what is missing."""
    entries = [run.without_description() for run in with_guesses(runs)]
    done = {run.id for run in runs if results.measured(run.id)}
    expected = Durations(entries, results)
    complaints = []
    with Progress(entries, done, expected, stream) as progress:
        progress.say(f"{experiment.name}: {_cost(runs, entries, done, expected)}")
        status = _snakemake(results, progress)
        for id in [id for id in progress.pending if results.measured(id)]:  # by another command
            progress.finish(id, "done")
        if progress.pending:
            left = counted(len(progress.pending), "run")
            why = reasons.last_line(results.workflow_log.read_text(errors="replace")) if status else ""
            complaints = [f"{left} not carried out, see {results.workflow_log}: {why}".rstrip(": ")]
        progress.say("collecting the results")
    return Outcome(results, len(runs), progress.failed, complaints)


def disturbed(results: Results, runs: list[RunSpec], again: int) -> list[str]:
    """The ids of runs whose times other programs spoiled, the worst first; those of RunSpec `runs` only.

    At most `again`, less those that were set aside before. A run on more threads than cores is no evidence
    of speed anyway, and stays.
    """
    left = again - results.aside()
    loads = {}
    for run in runs if left > 0 else ():
        try:
            record = load(results.run(run.id), verified=True).record
        except BadInput:
            continue
        load_cores = record.host.foreign_load
        warned = any(text.startswith(OVERSUBSCRIBED) for text in record.warnings)
        if load_cores is not None and load_cores >= DISTURBED_CORES and not warned:
            loads[run.id] = load_cores
    return sorted(loads, key=loads.get, reverse=True)[: max(left, 0)]


def _snakemake(results: Results, progress: Progress) -> int:
    """Has Snakemake make the records of the experiment in `results`; returns its exit status."""
    root = places.root()
    ours = results.path.is_relative_to(root)
    command = [sys.executable, "-m", "snakemake", "measured", "--snakefile", str(root / "Snakefile")]
    command += ["--directory", str(root if ours else results.path), "--nocolor"]
    command += ["--workflow-profile", str(root / "profiles" / "default")]
    command += ["--configfile", str(results.experiment), "--config", f"results={results.path}"]
    package = str(Path(__file__).resolve().parents[2])  # found by this very path, installed or not
    paths = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    signs = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    with (
        open(results.workflow_log, "w") as log,
        started(
            command,
            {"PYTHONPATH": paths},
            signs=signs,
            grace_s=PATIENCE_S,
            removed=("SNAKEMAKE_PROFILE",),
            stdout=-1,
            stderr=log,
        ) as program,
    ):
        for line in program.stdout:
            progress.take(line)
        return program.wait()


def check(results: Results) -> None:
    """Raises BadInput if results cannot be written."""
    place = next(path for path in (results.path, *results.path.parents) if path.exists())
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        raise BadInput(f"results: {place} is not a folder that can be written")
