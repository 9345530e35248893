"""Finds the points of a grid that the mini-app, or the simulated machine, would refuse, before anything is
measured, and guesses how long the others take.

A point is what runs have in common that differ only in seed and repetition. The rules are those by which
predictions refuse (network/, prediction/exchange.py), and a test holds them to `miniapp --explain`. What the
analysis passes on unchecked, such as parameters of a neuron model, is only refused when it is run.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network import lanes, ring
from spikemark.network.description import Description, read
from spikemark.prediction import exchange
from spikemark.prediction.workload import rates_of
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment, as_list

from .durations import START_S
from .experiments import BY_POPULATION, RunSpec, digest, filled
from .simulation.times import layout_of

#: Fields of a description that do not decide whether it can be run, as far as the analysis can tell.
IRRELEVANT = "seed", "record"
MODELS = "ignore_and_fire", "lif_delta", "lif_exp", "lif_sfa"
MOST_THREADS, MOST_PLACES = 4096, 10_000_000  # of a rank, and ranks x threads; limits of the mini-app
#: Assumed for a guess, in s: per synapse, synaptic event, update of a neuron, event from
#: outside and cycle. Runs on a virtual EPYC machine took 0.5 to 2 times as long (2026-11-22).
SYNAPSE_S, EVENT_S, UPDATE_S, OUTSIDE_S, CYCLE_S = 3e-8, 3e-9, 5e-10, 1e-9, 5e-6
RATE_HZ = 10.0  # assumed of neurons whose description has no rate


@dataclass(frozen=True)
class Sifted:
    """The runs that are possible, with a guess of their duration, and why others are not, by point."""

    runs: list[RunSpec]
    left_out: dict[str, str]

    @property
    def lines(self) -> list[str]:
        """One line for each point that was left out."""
        return [f"left out: {point}: {reason}" for point, reason in self.left_out.items()]


def sift(experiment: Experiment, runs: list[RunSpec]) -> Sifted:
    """The runs of an experiment without those that the mini-app would refuse.

    Raises BadInput naming the first such point unless the experiment says `skip_impossible: true`, and
    if no point is possible.
    """
    load, networks, known = functools.cache(filled), {}, {}
    possible, refused = [], {}
    for run in runs:
        network = id(run.description.get("network"))  # runs share them; a large one takes a second to read
        rest = {n: v for n, v in run.description.items() if n not in ("network", *IRRELEVANT)}
        key = network, digest(rest), run.ranks, run.threads
        if key not in known:
            part = {"network": networks[network]} if network in networks else {}
            reason, given = refusal({**run.description, **part}, run.ranks, run.threads)
            if given is not None:
                networks[network] = given.network
            known[key] = reason, given, None if reason else guess_s(given, run.ranks, run.threads)
        reason, given, guess = known[key]
        if reason := reason or _refusal_of_machine(run, given, load):
            refused[run.point] = reason
        else:
            possible.append(run.model_copy(update={"guess_s": guess}))
    if refused and not (experiment.skip_impossible and possible):
        points, (point, reason) = {run.point for run in runs}, next(iter(refused.items()))
        of = f" ({len(refused)} of {counted(len(points), 'point')} cannot be run)" if len(points) > 1 else ""
        advice = "; 'skip_impossible: true' leaves such points out" if possible else ""
        raise BadInput(f"{experiment.name}: {point}: {reason}{of}{advice}")
    return Sifted(possible, refused)


def refusal(description: dict[str, Any], ranks: int, threads: int) -> tuple[str | None, Description | None]:
    """Why a description cannot be run so, None if it can, and the description as read, where that worked."""
    given = None
    try:
        given = read(description)
        for i, population in enumerate(given.network.populations):
            if (model := population.neuron.model) not in MODELS:
                where = f"network.populations.{i}.neuron.model"
                raise BadInput(f"{where}={model!r}: one of {', '.join(MODELS)}")
        if threads > MOST_THREADS:
            raise BadInput(f"threads={threads}: at most {MOST_THREADS}")
        if ranks * threads > MOST_PLACES:
            raise BadInput(f"ranks x threads: {ranks} x {threads}; expected at most {MOST_PLACES}")
        ring.of(given)
        for lane in lanes.read(given, ranks, *lanes.chosen(given, None, None)):
            exchange.check(lane)
    except BadInput as why:
        return str(why), given
    return None, given


def _refusal_of_machine(run: RunSpec, given: Description, load: Callable[[str], Any]) -> str | None:
    """Why a run cannot be simulated as asked: its ranks do not fit, or a rate is unknown; None if it can."""
    asked = run.machine
    if asked is None:
        return None
    if run.threads != 1:
        return f"threads={run.threads}: expected 1 with the field 'machine'; machine.threads says more"
    try:
        layout_of(load(asked.profile), run.ranks, "model", asked.ranks_per_node, asked.threads, asked.on)
    except BadInput as why:
        return f"machine: {why}"
    try:
        if not asked.compute_of and asked.rate_hz != BY_POPULATION:
            rates_of(given, asked.rate_hz)
    except BadInput as why:
        return f"machine.rate_hz={asked.rate_hz}: {str(why).partition(': ')[2]}"
    return None


def guess_s(given: Description, ranks: int, threads: int) -> float:
    """A guess of the time that a run takes from start to end, in s, from its counts."""
    cycles = given.time.warmup_cycles + given.time.cycles
    populations, simulated_s = given.network.populations, 1e-3 * given.time.cycle_ms * cycles
    hz = [RATE_HZ if p.neuron.hz is None else p.neuron.hz for p in populations]
    spikes = sum(p.size * rate for p, rate in zip(populations, hz, strict=True)) * simulated_s
    events = given.network.synapses / max(given.neurons, 1) * spikes
    outside = sum(p.size * p.outside_hz for p in populations) * simulated_s
    updates = given.neurons * cycles * given.time.cycle_steps
    work = given.network.synapses * SYNAPSE_S + events * EVENT_S + updates * UPDATE_S + outside * OUTSIDE_S
    injected = cycles * _injected_s(given.inject, "mean_us", 1e-6)
    for name, count in (("per_neuron_ns", given.neurons * cycles), ("per_synapse_ns", events)):
        injected += count / (ranks * threads) * _injected_s(given.inject, name, 1e-9)
    return START_S + work / (ranks * threads) + cycles * CYCLE_S + injected


def _injected_s(inject: Any, field: str, unit_s: float) -> float:
    """A wait that a description adds, that of the rank that waits longest; the mini-app checks the field."""
    values = as_list(inject.get(field)) if isinstance(inject, dict) else []
    return unit_s * max((v for v in values if isinstance(v, int | float) and v > 0), default=0.0)
