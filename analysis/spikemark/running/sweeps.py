"""A sweep plans an experiment and has Snakemake measure its missing runs.

python -m spikemark.running.sweeps EXPERIMENT.yaml CONFIG RESULTS/plan.json: writes the plan and the
descriptions of the runs, for the rule `plan`; CONFIG: Snakemake's, as JSON
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.launch import slurm
from spikemark.launch.process import last_line, started
from spikemark.network.named_files import digest as content_of
from spikemark.network.named_files import stored
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import MACHINE, Experiment, as_list
from spikemark.records.frames import DISTURBED_CORES, Frames
from spikemark.records.judged import OVERSUBSCRIBED
from spikemark.records.plan import PLAN_VERSION, SimulatedOn
from spikemark.records.record import load
from spikemark.records.results import Results

from . import possible
from .durations import Durations, minutes
from .experiments import RunSpec, expand, of_config
from .progress import Progress
from .simulation import smpirun

PATIENCE_S = 15.0  # for the end of what Snakemake has started
#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


@dataclass
class Outcome:
    """The outcome of a sweep of `planned` runs.

    `failed`: reason by label; `complaints`: what is wrong with the workflow or with the records; `frames`:
    the records as `conclude` read them.
    """

    results: Results
    planned: int
    failed: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    frames: Frames | None = None
    headline: str | None = None

    @property
    def status(self) -> int:
        """Exit status: 0 done, 1 something failed."""
        return 1 if self.failed or self.complaints or self.headline is None else 0


def folder(experiment: Experiment, machine: str | None, root: Path | None) -> Results:
    """The results folder of an experiment: `results/NAME/MACHINE` unless another one is given.

    Where runs are simulated, MACHINE is the name of the profile, or SEVERAL.
    """
    if machine is None and experiment.machine is not None:
        names = {experiment.machine.name}
        for entry in experiment.grid:
            names |= {SimulatedOn(profile=p).name for p in as_list(entry.get(f"{MACHINE}profile", []))}
        machine = SEVERAL if len(names) > 1 else names.pop()
    name = places.check_machine(machine) if machine is not None else launch.machine_name()
    return Results((root or places.own("results")).resolve() / experiment.name / name)


def plan(experiment: Experiment, runs: list[RunSpec], results: Results) -> None:
    """Writes plan.json and the run descriptions; files that already hold the right content stay untouched.

    Files that a description names are copied into the results folder.
    """

    def copy(field: str, file: Path) -> Path:
        return results.placement(f"{file.stem}-{content_of(file)}.json")

    for run in runs:
        path = results.description(run.id)
        write_json(path, stored(run.description, copy, path.parent))
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


class _Missing:
    """What a sweep still has to measure: `entries` are all runs, `done` the ids of those that are there."""

    def __init__(self, runs: list[RunSpec], results: Results):
        self.runs, self.entries = runs, [run.without_description() for run in runs]
        self.done = {run.id for run in runs if results.measured(run.id)}
        self.expected = Durations(self.entries, results)

    def __str__(self) -> str:
        """Runs, minutes, nodes and node-hours."""
        missing, finished = [run for run in self.runs if run.id not in self.done], self.expected.finished
        words = [counted(len(self.runs), "run"), f"{len(self.done)} done", f"{len(missing)} missing"]
        if missing:
            lasts_s = self.expected.total(entry for entry in self.entries if entry["id"] not in self.done)
            basis = f"from {counted(finished, 'finished run')}" if finished else "assumed"
            words.append(f"about {minutes(lasts_s)} ({basis})")
        if missing and missing[0].machine is None:
            nodes = max(map(nodes_of, missing))
            words += [counted(nodes, "node"), f"{nodes * lasts_s / 3600:.2g} node-hours"]
        return ", ".join(words)


def nodes_of(run: RunSpec) -> int:
    """Nodes of one run; without a cluster, all ranks share this host unless the run says otherwise."""
    each = run.ranks_per_node or run.ranks
    if run.ranks_per_node is None and slurm.cluster_name():
        each = max(1, max(launch.nodes_at_hand().cores) // run.threads)
    return -(-run.ranks // each)


def dry_run(runs: list[RunSpec], results: Results) -> str:
    """The plan as text: what the missing runs will take, then all runs in the order of measuring.

    Writes nothing.
    """
    check(results)
    missing = _Missing(runs, results)
    states = {True: "done   ", False: "missing"}
    lines = [f"{states[run.id in missing.done]}  {run.id}  {run.label}" for run in runs]
    return "\n".join([f"{missing}: {results.path}", *lines])


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
        smpirun.version()
        places.program("miniapp_smpi")
    write_json(results.experiment, experiment.model_dump(mode="json", exclude_unset=True))
    outcome = _measure(experiment, runs, results, stream)
    while not (outcome.failed or outcome.complaints) and (spoiled := disturbed(results, runs, again)):
        aside = {id: results.set_aside(id) for id in spoiled}
        of = f"{counted(len(spoiled), 'run')} (at most {again} in all)"
        print(f"measuring {of} again, which other programs disturbed", file=stream, flush=True)
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
    missing, complaints = _Missing(runs, results), []
    with Progress(missing.entries, missing.done, missing.expected, stream) as progress:
        progress.say(f"{experiment.name}: {missing}")
        status = _snakemake(results, progress)
        for id in [id for id in progress.pending if results.measured(id)]:  # by another command
            progress.finish(id, "done")
        if progress.pending:
            left = counted(len(progress.pending), "run")
            why = last_line(results.workflow_log.read_text(errors="replace")) if status else ""
            complaints = [f"{left} not carried out, see {results.workflow_log}: {why}".rstrip(": ")]
        progress.say("collecting the results")
    return Outcome(results, len(runs), progress.failed, complaints)


def disturbed(results: Results, runs: list[RunSpec], again: int) -> list[str]:
    """The ids of runs whose times other programs spoiled, the worst first; those of RunSpec `runs` only.

    At most `again`, less those that were set aside before. A run on more threads than cores is no evidence
    of speed anyway, and stays.
    """
    left, loads = max(0, again - results.aside()), {}
    for run in runs if left else ():
        try:
            record = load(results.run(run.id), verified=True).record
        except BadInput:
            continue
        warned = any(text.startswith(OVERSUBSCRIBED) for text in record.warnings)
        if (record.host.foreign_load or 0.0) >= DISTURBED_CORES and not warned:
            loads[run.id] = record.host.foreign_load
    return sorted(loads, key=loads.get, reverse=True)[:left]


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
    how = {"signs": signs, "grace_s": PATIENCE_S, "removed": ("SNAKEMAKE_PROFILE",)}
    with (
        open(results.workflow_log, "w") as log,
        started(command, {"PYTHONPATH": paths}, **how, stdout=-1, stderr=log) as program,
    ):
        for line in program.stdout:
            progress.take(line)
        return program.wait()


def check(results: Results) -> None:
    """Raises BadInput if results cannot be written."""
    place = next(path for path in (results.path, *results.path.parents) if path.exists())
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        raise BadInput(f"results: {place} is not a folder that can be written")


if __name__ == "__main__":
    file, config, planned = sys.argv[1:]
    given = of_config(json.loads(config), Path(file))
    plan(given, possible.sift(given, expand(given)).runs, Results(Path(planned).resolve().parent))
