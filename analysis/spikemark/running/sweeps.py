"""A sweep plans an experiment and has Snakemake measure its missing runs.

python -m spikemark.running.sweeps CONFIG RESULTS/plan.json: writes the plan and the descriptions of
the runs, for the rule `plan`; CONFIG: a WorkflowConfig as JSON.
"""

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from spikemark import launch
from spikemark.core import extras, places
from spikemark.core.errors import BadInput, ending
from spikemark.core.files import write_json
from spikemark.launch import cgroups, host_file, slurm
from spikemark.launch.process import left_over, running_program
from spikemark.launch.why_failed import last_line, why_failed
from spikemark.network.named_files import digest as content_of
from spikemark.network.named_files import stored
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import MACHINE_PREFIX, Experiment, as_list
from spikemark.records.judged import OVERSUBSCRIBED, SHORTEST_S, enough_ms
from spikemark.records.plan import PLAN_VERSION, SimulatedOn
from spikemark.records.record import load_run
from spikemark.records.results import Results
from spikemark.records.runs_table import DISTURBED_CORES

from . import possible
from .durations import Durations, minutes, simulate_s
from .experiments import RunSpec, expand, experiment_of_config, read_config
from .progress import Progress
from .simulation import smpirun

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from spikemark.records.frames import Frames

#: Seconds for the end of what Snakemake has started.
SNAKEMAKE_ENDING_S = 15.0
#: Seconds between two looks at what of it is left.
LOOK_S = 0.1
#: Fewest runs of which most are disturbed only by a busy host.
FEWEST_OF_BUSY_HOST = 4
#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


@dataclass(frozen=True, repr=False)
class SweepPlanAnswer(Answer):
    """What a sweep would do: the runs of an experiment, in the order of measuring.

    `table` has a row for each run.
    """

    verb = "sweep"

    results: Results
    runs: list[RunSpec]
    done: set[str]  #: ids of the runs that are there
    lines: list[str]  #: what the missing runs will take, and what keeps them from it
    left_out: list[str] = field(default_factory=list)  #: what cannot run, and why
    status: int = 0  #: exit status; nothing was run, so nothing failed

    @property
    def sentence(self) -> str:
        """What the missing runs will take, and what keeps them from it.

        Example:
            >>> import spikemark as sm
            >>> plan = sm.sweep("smoke", dry_run=True)
            >>> plan.sentence.split(",")[0]
            '8 runs'
        """
        return " ".join(self.lines)

    @property
    def table(self) -> "pd.DataFrame":
        """Id, label, ranks and threads of each run, and whether it is done."""
        import pandas as pd

        return pd.DataFrame(self._rows)

    @property
    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for run in self.runs:
            rows.append(
                {
                    "id": run.id,
                    "label": run.label,
                    "ranks": run.ranks,
                    "threads": run.threads,
                    "done": run.id in self.done,
                }
            )
        return rows

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark sweep --dry-run` prints."""
        lines = []
        for run in self.runs:
            state = "done   " if run.id in self.done else "missing"
            lines.append(f"{state}  {run.id}  {run.label}")
        return Screen([*lines, *self.lines])

    def content(self) -> dict[str, Any]:
        """The folder of the results, the lines of the screen, and the runs."""
        return {
            "results": str(self.results.path),
            "lines": self.lines,
            "left_out": self.left_out,
            "runs": self._rows,
        }


@dataclass(repr=False)
class SweepOutcome(Answer):
    """The outcome of a sweep: what ran, what failed, and the headline of the report.

    `table` has a row for each run that failed.
    """

    verb = "sweep"

    results: Results
    planned: int  #: number of runs
    failed: dict[str, str] = field(default_factory=dict)  #: reason by label
    #: What is wrong with the workflow or with the records.
    complaints: list[str] = field(default_factory=list)
    frames: "Frames | None" = None  #: the records as `conclude` read them
    headline: str | None = None  #: the answer in a sentence
    left_out: list[str] = field(default_factory=list)  #: what cannot run, and why

    @property
    def status(self) -> int:
        """Exit status: 0 done, 1 something failed."""
        return 1 if self.failed or self.complaints or self.headline is None else 0

    @property
    def table(self) -> "pd.DataFrame":
        """Label and reason of each run that failed; `sm.load` reads those that did not."""
        import pandas as pd

        rows = [{"label": label, "reason": reason} for label, reason in self.failed.items()]
        return pd.DataFrame(rows, columns=["label", "reason"])

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Where the time goes, as `Frames.plot`. Raises BadInput where nothing was measured."""
        if self.frames is None:
            expected = "results with a complete run"
            raise BadInput(file=self.results.path, expected=expected, code="file")
        return self.frames.plot(axes)

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark sweep` prints at the end."""
        lines = []
        if self.headline:
            lines = [str(places.short(self.results.report)), self.headline]
        warnings = []
        if self.failed:
            folder = places.short(self.results.path / "failed")
            number = len(self.failed)
            warnings.append(f"{number} of {self.planned} runs failed, details in {folder}")
        warnings += [f"failed: {label}: {reason}" for label, reason in self.failed.items()]
        return Screen(lines, warnings=[*warnings, *self.complaints])

    def content(self) -> dict[str, Any]:
        """Numbers of runs, reasons of failures, complaints, and the headline."""
        measured = None if self.frames is None else len(self.frames.runs)
        return {
            "results": str(self.results.path),
            "planned": self.planned,
            "measured": measured,
            "failed": self.failed,
            "left_out": self.left_out,
            "complaints": self.complaints,
            "report": str(self.results.report) if self.headline else None,
            "headline": self.headline,
        }


def folder(experiment: Experiment, machine: str | None, root: Path | None) -> Results:
    """The results folder of an experiment: `results/NAME/MACHINE` in the current folder.

    `root` takes the place of `results`. Where runs are simulated, MACHINE is the name of the
    profile, or SEVERAL.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> experiment = load_experiment("smoke")
        >>> folder(experiment, "my-cluster", root=Path("/data/results")).path
        PosixPath('/data/results/smoke/my-cluster')
    """
    if machine is None and experiment.machine is not None:
        machine = _simulated_name(experiment.machine, experiment.grid)
    name = launch.machine_name() if machine is None else places.check_machine(machine)
    root = (root or Path("results")).resolve()
    return Results(root / experiment.name / name)


def _simulated_name(machine: SimulatedOn, grid: list[dict[str, Any]]) -> str:
    """The name of the one machine that an experiment simulates, or SEVERAL."""
    names = {machine.name}
    for entry in grid:
        for profile in as_list(entry.get(f"{MACHINE_PREFIX}profile", [])):
            names.add(SimulatedOn(profile=profile).name)
    return SEVERAL if len(names) > 1 else names.pop()


def planned(experiment: Experiment, results: Results) -> possible.PossibleRuns:
    """The runs of an experiment, in the order of measuring, and its points that are impossible.

    A record that lies under a name that earlier versions gave it keeps it: it is not measured
    again. Raises BadInput as `experiments.expand` and `possible.sift`.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> experiment = load_experiment("smoke")
        >>> len(planned(experiment, folder(experiment, "my-cluster", None)).runs)
        8
    """
    sifted = possible.sift(experiment, expand(experiment))
    there = {path.name for path in results.runs.iterdir()} if results.runs.is_dir() else set()
    runs = []
    for run in sifted.runs:
        measured = [id for id in (run.id, *run.earlier_ids) if id in there and results.measured(id)]
        id_of_run = measured[0] if measured else run.id
        runs.append(run if id_of_run == run.id else run.model_copy(update={"id": id_of_run}))
    return possible.PossibleRuns(runs, sifted.left_out)


def plan(experiment: Experiment, runs: list[RunSpec], results: Results) -> None:
    """Writes plan.json and the run descriptions.

    Files that already hold the right content stay untouched. Files that a description names are
    copied into the results folder.

    Example:
        >>> import tempfile
        >>> from spikemark.running.experiments import load_experiment
        >>> experiment = load_experiment("smoke")
        >>> runs = expand(experiment)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     results = Results(Path(name))
        ...     plan(experiment, runs, results)
        ...     print(sorted(path.name for path in results.path.iterdir()))
        ['descriptions', 'plan.json']
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
    """What a sweep still has to measure.

    Attributes:
        runs: all runs of the plan.
        entries: the same as in plan.json.
        done: ids of the runs that are there.
        expected: how long runs take.
    """

    def __init__(self, runs: list[RunSpec], results: Results):
        self.runs = runs
        self.entries = [run.without_description() for run in runs]
        self.results = results
        self.done = {run.id for run in runs if results.measured(run.id)}
        self.expected = Durations(self.entries, results)

    def __str__(self) -> str:
        """Runs, minutes, nodes and node-hours."""
        missing = [run for run in self.runs if run.id not in self.done]
        words = [
            counted(len(self.runs), "run"),
            f"{len(self.done)} done",
            f"{len(missing)} missing",
        ]
        if missing:
            entries = [entry for entry in self.entries if entry["id"] not in self.done]
            lasts_s = self.expected.total(entries)
            words.append(f"about {minutes(lasts_s)} ({_basis(self.expected)})")
            if missing[0].machine is None:
                nodes = max(nodes_of(run) for run in missing)
                node_hours = nodes * lasts_s / 3600
                words += [counted(nodes, "node"), f"{node_hours:.2g} node-hours"]
        return ", ".join(words)

    @cached_property
    def too_short(self) -> str:
        """Which missing runs will say nothing about speed, as far as is known, and what to do.

        Empty if there are none.
        """
        entries: dict[str, dict[str, Any]] = {}
        for run in self.runs:
            if run.machine is None and run.simulate_guess_s is not None:
                entry = {**run.without_description(), "guess_s": run.simulate_guess_s}
                entries[run.id] = entry
        expected = Durations(entries.values(), self.results, simulate_s)
        short_s: list[float] = []
        real_time_factors: list[float] = []
        for run in self.runs:
            if run.id not in entries or run.id in self.done:
                continue
            lasts_s = expected.expected_s(entries[run.id])
            if lasts_s < SHORTEST_S:
                short_s.append(lasts_s)
                simulated_s = 1e-3 * run.description["time"]["simulate_ms"]
                real_time_factors.append(lasts_s / simulated_s)
        if not short_s:
            return ""
        enough = enough_ms(min(real_time_factors))
        return (
            f"too short to compare: {counted(len(short_s), 'missing run')}, the shortest of about"
            f" {1e3 * min(short_s):.3g} ms ({_basis(expected)}); expected {SHORTEST_S:g} s, as with"
            f" time.simulate_ms: {enough:g}"
        )


def _basis(expected: Durations) -> str:
    """What expected durations rest on."""
    if expected.finished:
        return f"from {counted(expected.finished, 'finished run')}"
    return "assumed"


def nodes_of(run: RunSpec) -> int:
    """Nodes of one run.

    Without a cluster, all ranks share this host unless the run says otherwise.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> nodes_of(expand(load_experiment("smoke"))[0])
        1
    """
    per_node = run.ranks_per_node or run.ranks
    if run.ranks_per_node is None and slurm.cluster_name():
        per_node = max(1, max(launch.nodes_at_hand().cores) // run.threads)
    return math.ceil(run.ranks / per_node)


def remarks(runs: list[RunSpec]) -> list[str]:
    """Sentences about what keeps measured runs from cores of their own on this host: too few cores,
    a quota, or taskset.

    Raises BadInput for a host file that cannot be used.

    Example:
        >>> remarks([])
        []
    """
    measured = [run for run in runs if run.machine is None]
    if slurm.inside() or not measured:
        return []
    sentences = []
    cores = len(launch.core_threads())
    quota = cgroups.quota_cores()
    hidden = launch.hidden_cores()
    if quota is not None and quota < cores:
        held_back = [run for run in measured if run.ranks * run.threads > quota]
        share = f"A quota (cgroup) leaves this process {quota:.3g} of {counted(cores, 'core')}"
        runs_in_words = counted(len(held_back), "run")
        sentences.append(f"{share}; {runs_in_words} on more threads will be held back.")
    if hidden:
        share = f"{cores} of {counted(cores + hidden, 'core')}"
        sentences.append(
            f"This process may use {share} (taskset): ranks stay on these, and none is bound."
        )
    crowded = [run for run in measured if run.ranks * run.threads > cores]
    if crowded and len(launch.nodes_at_hand().cores) == 1:
        of_runs = f"{len(crowded)} of {counted(len(measured), 'run')}"
        sentences.append(
            f"Threads share cores in {of_runs}, since there are {cores}: their times will be no"
            " evidence of speed."
        )
    return sentences


def dry_run(runs: list[RunSpec], results: Results, left_out: list[str]) -> SweepPlanAnswer:
    """What a sweep would do; `left_out`: what cannot run, and why. Writes nothing.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> experiment = load_experiment("smoke")
        >>> results = folder(experiment, "my-cluster", root=Path("nowhere"))
        >>> answer = dry_run(planned(experiment, results).runs, results, left_out=[])
        >>> len(answer.table)
        8
    """
    _check(results)
    missing = _Missing(runs, results)
    lines = [f"{missing}: {results.path}"]
    if missing.too_short:
        lines.append(missing.too_short)
    return SweepPlanAnswer(results, runs, missing.done, lines + remarks(runs), left_out)


def sweep(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    conclude: Callable[["SweepOutcome"], None],
    stream: TextIO | None = None,
    again: int = 0,
    length_is_given: bool = False,
) -> SweepOutcome:
    """Measures the missing runs, then calls `conclude`.

    Failed runs are named and do not stop the others.

    Args:
        experiment: whose results are in `results`.
        runs: all of them.
        results: their folder.
        conclude: adds to the outcome, such as `report.conclude`.
        stream: for lines about the progress; None for standard output.
        again: how many runs that other programs disturbed are measured again (`disturbed`); none
            where they disturbed most of the runs just measured.
        length_is_given: rules say how long runs last, so that nobody can make them longer.

    Raises BadInput for a missing mini-app or SimGrid, and a folder that cannot be written; OSError
    where the plan cannot be written. KeyboardInterrupt passes through once everything that was
    started here has ended; the same call later continues from there.
    """
    _check(results)
    extras.require("snakemake")
    if experiment.machine is None:
        places.program("miniapp")
        host_file.name_from_anywhere()
        # A host file that cannot be used is refused before anything is measured.
        launch.nodes_at_hand()
    elif not all(results.measured(run.id) for run in runs):
        smpirun.version()
        places.program("miniapp_smpi")
    write_json(results.experiment, experiment.model_dump(mode="json", exclude_unset=True))
    missing = [run for run in runs if not results.measured(run.id)]
    outcome = _measure(experiment, runs, results, stream, length_is_given)
    busy = _busy_host(results, missing)
    if not results.plan.is_file():
        # Says why Snakemake could not write it, such as a full disk.
        plan(experiment, runs, results)
    while not outcome.failed and not outcome.complaints:
        spoiled = disturbed(results, runs, again)
        if not spoiled:
            break
        if busy:
            print(busy, file=stream, flush=True)
            break
        conclude(outcome)  # so that there is a report, whenever somebody interrupts the rest
        if outcome.headline:
            page = places.short(results.report)
            print(f"so far: {outcome.headline} {page}", file=stream, flush=True)
        number = f"{counted(len(spoiled), 'run')} (at most {again} in all, see --again)"
        print(
            f"measuring {number} again, which other programs disturbed",
            file=stream,
            flush=True,
        )
        outcome = _measure_again(experiment, runs, results, stream, spoiled)
        busy = _busy_host(results, [run for run in runs if run.id in spoiled])
    conclude(outcome)
    return outcome


def _measure_again(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    stream: TextIO | None,
    spoiled: list[str],
) -> SweepOutcome:
    """Measures runs whose records are there; a record stays if there is no other."""
    places_aside = {run_id: results.set_aside(run_id) for run_id in spoiled}
    try:
        return _measure(experiment, runs, results, stream)
    finally:
        for run_id, aside in places_aside.items():
            if not results.measured(run_id):
                aside.rename(results.run(run_id))


def _measure(
    experiment: Experiment,
    runs: list[RunSpec],
    results: Results,
    stream: TextIO | None,
    length_is_given: bool = False,
) -> SweepOutcome:
    """Has Snakemake measure what is missing; where nothing is, only the plan is written."""
    missing = _Missing(runs, results)
    complaints: list[str] = []
    with Progress(missing.entries, missing.done, missing.expected, stream) as progress:
        progress.say(f"{experiment.name}: {missing}")
        for sentence in remarks(runs):
            progress.say(sentence)
        if missing.too_short and not length_is_given:
            progress.say(missing.too_short)
        if progress.pending:
            complaints = _carry_out(results, progress)
        else:
            plan(experiment, runs, results)
        progress.say("collecting the results")
    return SweepOutcome(results, len(runs), progress.failed, complaints)


def _carry_out(results: Results, progress: Progress) -> list[str]:
    """Has Snakemake carry out what is pending; returns complaints about what it left out."""
    status = _snakemake(results, progress)
    by_others = [run_id for run_id in progress.pending if results.measured(run_id)]
    for run_id in by_others:
        progress.finish(run_id, "done")
    if not progress.pending:
        return []
    number = counted(len(progress.pending), "run")
    of_runs = [_last_line_in(results.run_log(run_id)) for run_id in progress.pending]
    of_workflow = _last_line_in(results.workflow_log)
    reason = next(filter(None, [*of_runs, of_workflow]), why_failed("", status))
    return [
        f"{number} not carried out, see {results.workflow_log}: {reason}"
        f" (exit status {status} of Snakemake)"
    ]


def _last_line_in(log: Path) -> str:
    """The last line of a log; empty where there is none."""
    return last_line(log.read_text(errors="replace")) if log.is_file() else ""


def disturbed(results: Results, runs: list[RunSpec], again: int) -> list[str]:
    """The ids of those of `runs` whose times other programs spoiled, the worst first.

    At most `again`, less those that were set aside before. A run on more threads than cores is no
    evidence of speed anyway, and stays.

    Example:
        >>> disturbed(Results(Path("nowhere")), runs=[], again=3)
        []
    """
    limit = max(0, again - results.aside())
    if limit == 0:
        return []
    loads = _loads_of_others(results, runs)
    worst_first = sorted(
        loads,
        key=lambda run_id: loads[run_id],
        reverse=True,
    )
    return worst_first[:limit]


def _busy_host(results: Results, measured: list[RunSpec]) -> str:
    """Why none is measured again, if other programs disturbed most of these runs; else empty.

    `measured`: the runs that were measured just now.
    """
    spoiled = _loads_of_others(results, measured)
    if len(measured) < FEWEST_OF_BUSY_HOST or 2 * len(spoiled) <= len(measured):
        return ""
    return (
        f"other programs disturbed {len(spoiled)} of {counted(len(measured), 'run')}: this host is"
        " busy, so none is measured again now; the same command does it once the host is quiet"
    )


def _loads_of_others(results: Results, runs: list[RunSpec]) -> dict[str, float]:
    """The cores that other programs kept busy, by the id of each run that they spoiled."""
    loads: dict[str, float] = {}
    for run in runs:
        try:
            record = load_run(results.run(run.id), verified=True).record
        except BadInput:
            continue
        oversubscribed = any(text.startswith(OVERSUBSCRIBED) for text in record.warnings)
        load_of_others = record.host.foreign_load or 0.0
        if load_of_others >= DISTURBED_CORES and not oversubscribed:
            loads[run.id] = load_of_others
    return loads


def _snakemake(results: Results, progress: Progress) -> int:
    """Has Snakemake make the records of the experiment in `results`; returns its exit status."""
    root = places.root()
    here = Path.cwd()
    is_below = results.path.is_relative_to(here)
    command = [sys.executable, "-m", "snakemake", "measured"]
    command += ["--snakefile", str(root / "Snakefile")]
    command += ["--directory", str(here if is_below else results.path), "--nocolor"]
    command += ["--workflow-profile", str(root / "profiles" / "default")]
    command += ["--configfile", str(results.experiment), "--config", f"results={results.path}"]
    paths = [str(Path(__file__).resolve().parents[2])]  # found by this very path, installed or not
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    with (
        open(results.workflow_log, "w", encoding="utf-8") as log,
        running_program(
            command,
            {"PYTHONPATH": os.pathsep.join(paths)},
            signs=(signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
            grace_s=SNAKEMAKE_ENDING_S,
            removed=("SNAKEMAKE_PROFILE",),
            stdout=subprocess.PIPE,
            stderr=log,
        ) as program,
    ):
        try:
            for line in program.stdout or ():
                progress.take(line)
            return program.wait()
        except KeyboardInterrupt:
            _end_runs(program)
            raise


def _end_runs(snakemake: subprocess.Popen[str]) -> None:
    """Interrupts the runs of a Snakemake; once they have ended, kills Snakemake itself.

    It would take seconds more to leave, although it has nothing to put in order: it keeps no locks
    and no marks of its own (profiles/default).
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(snakemake.pid, signal.SIGINT)
    latest = time.monotonic() + SNAKEMAKE_ENDING_S
    while snakemake.poll() is None and time.monotonic() < latest:
        if left_over(session=snakemake.pid) == [snakemake.pid]:
            snakemake.kill()
            return
        time.sleep(LOOK_S)


def end_on_sigterm(end: Callable[[], None]) -> None:
    """Have the next SIGTERM call `end`, in a thread of its own; called in the main thread.

    A handler of a signal interrupts the main thread wherever it is. That of Snakemake asks for a
    lock, and where the main thread held it, both waited for ever: a batch job that was told to end
    idled until its limit. A queue can be written to at any moment, and the thread waits for the
    lock as any other.

    Example:
        >>> before = signal.getsignal(signal.SIGTERM)
        >>> ended = threading.Event()
        >>> end_on_sigterm(ended.set)
        >>> os.kill(os.getpid(), signal.SIGTERM)
        >>> ended.wait(60)
        True
        >>> _ = signal.signal(signal.SIGTERM, before)
    """
    received: queue.SimpleQueue[int] = queue.SimpleQueue()

    def wait_and_end() -> None:
        received.get()
        end()

    threading.Thread(target=wait_and_end, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda number, frame: received.put(number))


def _check(results: Results) -> None:
    """Raises BadInput if results cannot be written."""
    place = results.path
    while not place.exists() and place != place.parent:
        place = place.parent
    if not (place.is_dir() and os.access(place, os.W_OK | os.X_OK)):
        message = f"results: {place} is not a folder that can be written"
        raise BadInput(message, field="results", code="file")


@dataclass(frozen=True)
class WorkflowConfig:
    """Where the Snakefile has its configuration from, so that another process can read it."""

    file: str | None = None  #: the file after --configfile, if there is one
    settings: list[str] = field(default_factory=list)  #: texts NAME=VALUE after --config
    #: What a workflow gives that uses ours as a module, instead of file and settings.
    of_module: dict[str, Any] | None = None

    def read(self) -> dict[str, Any]:
        """The configuration. Raises BadInput as `read_config`."""
        if self.of_module is not None:
            return self.of_module
        return read_config(Path(self.file) if self.file else None, self.settings)

    def experiment(self) -> Experiment:
        """The experiment that it asks for. Raises BadInput as `experiment_of_config`."""
        return experiment_of_config(self.read(), Path(self.file or "config"))


def _write_plan(config: str, plan_file: str) -> None:
    """The rule `plan` of the Snakefile, see the head of this file."""
    experiment = WorkflowConfig(**json.loads(config)).experiment()
    results = Results(Path(plan_file).resolve().parent)
    try:
        plan(experiment, planned(experiment, results).runs, results)
    except OSError as error:
        line, _ = ending(error)
        sys.exit(line)


if __name__ == "__main__":
    _write_plan(*sys.argv[1:])
