"""Finds the points of a grid that cannot be run, before anything is measured.

Those are the points that the mini-app, or the simulated machine, would refuse. A point is what runs
have in common that differ only in seed and repetition. The rules are those by which predictions
refuse (network/, prediction/exchange.py), and a test holds them to `miniapp --explain`. Also
guesses how long the possible runs take.
"""

import functools
from dataclasses import dataclass
from typing import Any

from spikemark.core import digests
from spikemark.core.errors import BadInput
from spikemark.network import lanes, ring
from spikemark.network.description import Description, Network, read_description
from spikemark.prediction import exchange
from spikemark.prediction.workload import rates_of
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment, as_list

from .durations import START_S
from .experiments import RunSpec, filled
from .simulation.times import layout_of

#: Fields of a description that do not decide whether it can be run, as far as the analysis can
#: tell.
IRRELEVANT = ("seed",)
#: Threads of a rank; a limit of the mini-app.
MAX_THREADS = 4096
#: Ranks x threads; a limit of the mini-app.
MAX_THREADS_OF_ALL_RANKS = 10_000_000
#: What a guess assumes, in s. Runs on a virtual EPYC machine took 0.5 to 2 times as long
#: (2026-11-22).
SYNAPSE_S = 3e-8  #: to make a synapse
EVENT_S = 3e-9  #: per synaptic event
UPDATE_S = 5e-10  #: per update of a neuron
IGNORING_UPDATE_S = 1.5e-10  #: per update of a neuron that ignores its input
OUTSIDE_S = 1e-9  #: per event from outside
CYCLE_S = 5e-6  #: per cycle of several ranks
#: Assumed of neurons whose description has no rate.
RATE_HZ = 10.0


@dataclass(frozen=True)
class PossibleRuns:
    """The runs that are possible, and the points that are not."""

    runs: list[RunSpec]  #: with a guess of their duration
    left_out: dict[str, str]  #: why it is impossible, by point

    @property
    def lines(self) -> list[str]:
        """One line for each point that was left out."""
        return [f"left out: {point}: {reason}" for point, reason in self.left_out.items()]


def sift(experiment: Experiment, runs: list[RunSpec]) -> PossibleRuns:
    """The runs of an experiment without those that the mini-app would refuse.

    Raises BadInput naming the first such point unless the experiment says `skip_impossible: true`,
    and if no point is possible.

    Example:
        >>> from spikemark.running.experiments import expand, load_experiment
        >>> experiment = load_experiment("smoke")
        >>> possible = sift(experiment, expand(experiment))
        >>> len(possible.runs), possible.left_out
        (8, {})
    """
    judge = _Judge()
    possible: list[RunSpec] = []
    refused: dict[str, str] = {}
    for run in runs:
        verdict = judge.verdict(run)
        reason = verdict.reason
        if reason is None and verdict.description is not None:
            reason = _refusal_of_machine(run, verdict.description, judge)
        if reason is not None or verdict.guess is None:
            refused[run.point] = reason or "impossible"
            continue
        guess_of_run = verdict.guess
        guesses = {"guess_s": guess_of_run.whole_s, "simulate_guess_s": guess_of_run.simulate_s}
        possible.append(run.model_copy(update=guesses))
    if refused and not (experiment.skip_impossible and possible):
        point, reason = next(iter(refused.items()))
        message = f"{experiment.name}: {point}: {reason}"
        points = {run.point for run in runs}
        if len(points) > 1:
            message += f" ({len(refused)} of {counted(len(points), 'point')} cannot be run)"
        if possible:
            message += "; 'skip_impossible: true' leaves such points out"
        raise BadInput(message, field="grid")
    return PossibleRuns(possible, refused)


@dataclass(frozen=True)
class Verdict:
    """What is known of a description on so many ranks and threads."""

    reason: str | None  #: why it cannot be run; None if it can
    description: Description | None  #: as read, where that worked
    guess: "Guess | None"  #: how long it takes, if it can be run


class _Judge:
    """Judges runs. What they share is read once: a large network takes a second."""

    def __init__(self) -> None:
        self.machine = functools.cache(filled)
        self._networks: dict[int, Network] = {}  # by the id() of what was read
        self._verdicts: dict[tuple[int, str, int, int], Verdict] = {}

    def check(self, description: dict[str, Any]) -> None:
        """Raises BadInput for a description that cannot be read."""
        network_id = id(description.get("network"))
        read = read_description(description, network=self._networks.get(network_id))
        self._networks[network_id] = read.network

    def verdict(self, run: RunSpec) -> Verdict:
        """Whether the mini-app would run a description, whatever the machine."""
        network_id = id(run.description.get("network"))
        rest = dict(run.description)
        for name in ("network", *IRRELEVANT):
            rest.pop(name, None)
        key = (network_id, digests.digest(rest), run.ranks, run.threads)
        if key not in self._verdicts:
            network = self._networks.get(network_id)
            reason, description = refusal(run.description, run.ranks, run.threads, network)
            expected = None
            if description is not None:
                self._networks[network_id] = description.network
                if reason is None:
                    expected = guess(description, run.ranks, run.threads)
            self._verdicts[key] = Verdict(reason, description, expected)
        return self._verdicts[key]


def refusal(
    description: dict[str, Any],
    ranks: int,
    threads: int,
    network: Network | None = None,
) -> tuple[str | None, Description | None]:
    """Why a description cannot be run so, None if it can; and the description as read.

    The latter is None where it cannot be read. `network`: its network, where that has been read
    before.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> reason, _ = refusal(mam_benchmark.describe(areas=4), ranks=4, threads=1)
        >>> reason is None
        True
        >>> refusal(mam_benchmark.describe(areas=4), ranks=4, threads=10**6)[0]
        'threads=1000000: at most 4096'
    """
    result = None
    try:
        result = read_description(description, network=network)
        _check_limits(ranks, threads)
        ring.input_ring(result)
        for lane in lanes.plan_lanes(
            result, ranks, *lanes.schedule_and_placement(result, None, None)
        ):
            exchange.check(lane)
    except BadInput as error:
        return str(error), result
    return None, result


def _check_limits(ranks: int, threads: int) -> None:
    """Raises BadInput for more threads than the mini-app takes."""
    if threads > MAX_THREADS:
        message = f"threads={threads}: at most {MAX_THREADS}"
        raise BadInput(message, field="threads", code="range")
    if ranks * threads > MAX_THREADS_OF_ALL_RANKS:
        message = f"ranks x threads: {ranks} x {threads}"
        expected = f"expected at most {MAX_THREADS_OF_ALL_RANKS}"
        raise BadInput(
            f"{message}; {expected}",
            field="ranks",
            code="range",
        )


def _refusal_of_machine(run: RunSpec, description: Description, judge: _Judge) -> str | None:
    """Why a run cannot be simulated as asked: its ranks do not fit, or a rate is unknown.

    None if it can.
    """
    machine = run.machine
    if machine is None:
        return None
    if run.compute_of is not None:
        try:
            judge.check(run.compute_of)
        except BadInput as error:
            return f"machine.compute_of: {error}"
    if run.threads != 1:
        expected = "expected 1 with the field 'machine'; machine.threads says more"
        return f"threads={run.threads}: {expected}"
    try:
        layout_of(
            judge.machine(machine.profile),
            run.ranks,
            "model",
            machine.ranks_per_node,
            machine.threads,
            machine.on,
        )
    except BadInput as error:
        return f"machine: {error}"
    try:
        # By population, the rates are those of the preset.
        if not machine.compute_of and not isinstance(machine.rate_hz, str):
            rates_of(description, machine.rate_hz)
    except BadInput as error:
        reason = str(error).partition(": ")[2]
        return f"machine.rate_hz={machine.rate_hz}: {reason}"
    return None


@dataclass(frozen=True)
class Guess:
    """Times of a run in s of wall-clock time, guessed from its counts."""

    whole_s: float  #: from start to end
    simulate_s: float  #: the measured part


def guess(description: Description, ranks: int, threads: int) -> Guess:
    """How long a run may take; runs on a virtual EPYC machine took 0.5 to 2 times as long.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = read_description(mam_benchmark.describe(areas=2))
        >>> guess(description, ranks=2, threads=1).simulate_s > 0
        True
    """
    time = description.time
    synapses = description.network.synapses
    neurons = description.neurons
    cycle_s = 1e-3 * time.cycle_ms
    spikes_per_s = 0.0
    outside_per_s = 0.0
    ignoring = 0
    for population in description.network.populations:
        hz = RATE_HZ if population.neuron.hz is None else population.neuron.hz
        spikes_per_s += population.size * hz
        outside_per_s += population.size * population.outside_hz
        if population.neuron.model == "ignore_and_fire":
            ignoring += population.size
    events = synapses / max(neurons, 1) * spikes_per_s * cycle_s  # per cycle
    update_s = ignoring * IGNORING_UPDATE_S + (neurons - ignoring) * UPDATE_S
    work_s = events * EVENT_S + update_s * time.cycle_steps + outside_per_s * cycle_s * OUTSIDE_S
    meeting_s = CYCLE_S if ranks > 1 else 0.0
    injected_s = _injected_s(description.inject, "mean_us", 1e-6)
    for name, count in (("per_neuron_ns", neurons), ("per_synapse_ns", events)):
        per_thread = count / (ranks * threads)
        injected_s += per_thread * _injected_s(description.inject, name, 1e-9)
    one_cycle_s = work_s / (ranks * threads) + meeting_s + injected_s
    build_s = synapses * SYNAPSE_S / (ranks * threads)
    cycles = time.warmup_cycles + time.cycles
    return Guess(START_S + build_s + cycles * one_cycle_s, time.cycles * one_cycle_s)


def _injected_s(inject: dict[str, Any], field: str, unit_s: float) -> float:
    """A wait that a description adds, s: that of the rank that waits longest."""
    waits = as_list(inject.get(field, 0.0))
    return unit_s * float(max(waits))
