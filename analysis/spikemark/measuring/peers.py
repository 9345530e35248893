"""NEST beside the mini-app on one network: `spikemark peers`.

The programs (peer_programs.py) take turns in rounds, in a random order, each on one rank;
peer_factors.py compares what they say. NEST builds the same network in distribution
(workflows/peers/nest_network.py, which `spikemark anchor` also uses). A comparison takes as long as
its runs, and the pauses in which it waits for a quiet machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from spikemark import launch
from spikemark.core import digests
from spikemark.core.errors import BadInput
from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.lock import locked
from spikemark.launch.process import ProgramFailed, watch
from spikemark.records.experiment_fields import Experiment
from spikemark.running import quiet
from spikemark.running.experiments import expand
from spikemark.running.measure import why

from .peer_factors import COMPARED, PeerComparison, refusal
from .peer_programs import OURS, Figures, PeerProgram, programs

#: Share by which mean rates may differ: of neurons described to fire at a rate, and of those that
#: their input drives.
RATE_TOLERANCE, EMERGING_RATE_TOLERANCE = 0.01, 0.03
#: Of the table of trials, peers.csv.
TRIAL_COLUMNS = [
    "program",
    "threads",
    "round",
    "version",
    "model",
    "note",
    "neurons",
    "synapses",
    "spikes",
    "rate_hz",
    "synaptic_events",
    "simulate_s",
    *(figure.column for figure in COMPARED),
    "foreign_load",
    "disturbed",
]
#: Called with the share that is done, and what is measured now.
Progress = Callable[[float, str], None]


class Trial(NamedTuple):
    """One program, once; `round` counts from 1."""

    program: PeerProgram
    threads: int
    round: int


def plan(
    experiment: Experiment, compared: Sequence[PeerProgram] | None = None
) -> tuple[dict[str, Any], list[Trial]]:
    """The network of an experiment, and the trials in the order of measuring.

    Within a round, the order is shuffled by `shuffle_seed`. `compared`: the programs; None: the
    mini-app and NEST. Raises BadInput unless it is one network on one rank, with neurons that NEST
    has, on no more threads than cores.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> plan(load_experiment("smoke"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: experiment='smoke'; expected one network on one rank, ...
    """
    description = _network(experiment)
    cores = launch.available_cores()
    if max(experiment.threads) > cores:
        raise BadInput(
            field="threads",
            value=max(experiment.threads),
            expected=f"at most {cores}, the cores of this process",
        )
    models = {population["neuron"]["model"] for population in description["network"]["populations"]}
    compared = compared or programs(models)
    trials = []
    for round_ in range(1, experiment.repetitions + 1):
        trials += _shuffled_round(experiment, compared, round_)
    return description, trials


def _network(experiment: Experiment) -> dict[str, Any]:
    """The run description of an experiment that has one. Raises BadInput for another one."""
    runs = expand(experiment)
    networks = {digests.digest(run.description) for run in runs}
    on_one_rank = all(run.ranks == 1 for run in runs)
    threads_in_grid = any("threads" in settings for settings in experiment.grid)
    if len(networks) != 1 or not on_one_rank or threads_in_grid:
        expected = "one network on one rank, threads not in a grid"
        raise BadInput(
            field="experiment",
            value=experiment.name,
            expected=expected,
        )
    return runs[0].description


def _shuffled_round(
    experiment: Experiment, compared: Sequence[PeerProgram], round_: int
) -> list[Trial]:
    """All programs with all numbers of threads, in the order of this round."""
    trials = []
    for program in compared:
        for threads in dict.fromkeys(experiment.threads):
            trials.append(Trial(program, threads, round_))

    def place(trial: Trial) -> str:
        return digests.digest([experiment.shuffle_seed, round_, trial.program.name, trial.threads])

    return sorted(trials, key=place)


@dataclass(frozen=True)
class TrialConditions:
    """How trials are carried out."""

    folder: Path  #: of the comparison, with description.json
    limit_s: float  #: longest time of a run
    quiet: quiet.Conditions
    busy_s: Callable[[], float | None]  #: busy CPU time of all cores, see quiet.busy_s


def compare(
    experiment: Experiment,
    folder: Path,
    conditions: quiet.Conditions | None = None,
    progress: Progress = lambda share, words: None,
    compared: Sequence[PeerProgram] | None = None,
    busy: Callable[[], float | None] = quiet.busy_s,
) -> PeerComparison:
    """Carries out the trials, with files in `folder`, and compares the programs.

    A program that failed is not started again.

    Args:
        experiment: one network on one rank.
        folder: gets description.json and peers.csv.
        conditions: when the machine counts as quiet.
        progress: called before each trial.
        compared: the programs; None: the mini-app and NEST.
        busy: tells the busy CPU time of all cores.

    Raises BadInput as `plan` does, for a program that is not installed, and for a folder in which
    another command works.

    Example:
        >>> from spikemark.running.experiments import load_experiment
        >>> compare(load_experiment("smoke"), folder=Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: experiment='smoke'; expected one network on one rank, ...
    """
    description, trials = plan(experiment, compared)
    trial_conditions = TrialConditions(
        folder, experiment.time_limit_s, conditions or quiet.Conditions(), busy
    )
    rows = []
    failed: dict[str, str] = {}
    table = pd.DataFrame(columns=TRIAL_COLUMNS)
    with locked(folder):
        write_json(folder / "description.json", description)
        for done, trial in enumerate(trials):
            name = trial.program.name
            progress(done / len(trials), f"{name}, {trial.threads} threads, round {trial.round}")
            if name in failed:
                continue
            try:
                rows.append(_row(trial, _figures(trial, trial_conditions)))
            except ProgramFailed as reason:
                failed[name] = f"{name}, round {trial.round}, failed: {reason}"
            table = pd.DataFrame(rows, columns=TRIAL_COLUMNS)
            write_atomically(folder / "peers.csv", table.to_csv(index=False))
    refused = _refused(table, description, trials)
    return PeerComparison(table, list(failed.values()), refused)


def _refused(
    table: pd.DataFrame, description: dict[str, Any], trials: list[Trial]
) -> dict[tuple[str, int], str]:
    """Why peers must not be compared, by their names and threads."""
    populations = description["network"]["populations"]
    described_rates = all("rate_hz" in population["neuron"] for population in populations)
    tolerance = RATE_TOLERANCE if described_rates else EMERGING_RATE_TOLERANCE
    peers = dict.fromkeys(trial.program.name for trial in trials if trial.program.name != OURS)
    refused = {}
    for threads in sorted({trial.threads for trial in trials}):
        for peer in peers:
            reason = refusal(table, peer, threads, tolerance)
            if reason:
                refused[peer, threads] = reason
    return refused


def _figures(trial: Trial, conditions: TrialConditions) -> Figures:
    """Waits for a quiet machine and carries out a trial. Raises ProgramFailed."""
    description = (conditions.folder / "description.json").resolve()
    workspace = (conditions.folder / "unchecked").resolve()
    quiet.wait(conditions.quiet, conditions.busy_s)
    discard(workspace)
    workspace.mkdir(parents=True)
    start = trial.program.start(description, workspace / "out", trial.threads)
    foreign_load = quiet.watch(conditions.busy_s)
    finished = watch(start, conditions.limit_s)
    load_outside = foreign_load()
    if finished.status != 0:
        raise ProgramFailed(why(finished))
    figures = trial.program.read(finished.output, workspace / "out")
    discard(workspace)
    if (figures.threads, figures.ranks) != (trial.threads, 1):
        layout = f"{figures.threads} on {figures.ranks}"
        raise ProgramFailed(f"expected {trial.threads} threads on 1 rank, got {layout}")
    loads = [load for load in (load_outside, figures.foreign_load) if load is not None]
    return figures.model_copy(update={"foreign_load": max(loads, default=None)})


def _row(trial: Trial, figures: Figures) -> dict[str, Any]:
    """A row of the table of trials."""
    load = figures.foreign_load
    bytes_per_synapse = None
    if figures.peak_bytes and figures.synapses:
        bytes_per_synapse = figures.peak_bytes / figures.synapses
    return {
        **figures.model_dump(),
        "program": trial.program.name,
        "threads": trial.threads,
        "round": trial.round,
        "rate_hz": figures.spikes / figures.neurons / figures.model_s,
        "speed": figures.model_s / figures.simulate_s,
        "bytes_per_synapse": bytes_per_synapse,
        "disturbed": load is not None and load > quiet.Conditions().foreign_limit,
    }
