"""The trials and their order: rounds of every program with every number of threads."""

import json
from dataclasses import dataclass
from typing import Any

from spikemark.core import launch
from spikemark.core.errors import BadInput
from spikemark.network.description import read
from spikemark.network.fields import RATE_HZ, Population
from spikemark.running.experiments import Experiment, digest, expand

from .programs import Program


@dataclass(frozen=True)
class Trial:
    """One program, once; `id` is a hash of everything that defines the measurement, `round` counts from 1."""

    id: str
    program: str
    threads: int
    round: int

    @property
    def label(self) -> str:
        return f"{self.program} threads={self.threads} round={self.round}"


@dataclass(frozen=True)
class Plan:
    """The network, the programs that can simulate it, and the trials in the order of measuring."""

    experiment: Experiment
    description: dict[str, Any]
    programs: tuple[Program, ...]
    trials: list[Trial]


def plan(experiment: Experiment, programs: tuple[Program, ...]) -> Plan:
    """The trials of an experiment that describes one network on one rank.

    Within a round the order is shuffled, so that slow changes of the machine favour no program. It follows
    from `shuffle_seed`: more rounds or threads do not reorder the others. Raises BadInput for an experiment
    with several networks or ranks, for neurons that no peer offers, or for more threads than cores.
    """
    runs = expand(experiment)
    descriptions = {json.dumps(run.description, sort_keys=True) for run in runs}
    ranks = sorted({run.ranks for run in runs})
    if len(descriptions) != 1 or ranks != [1]:
        raise BadInput(
            f"experiment {experiment.name!r}: {len(descriptions)} descriptions on {ranks} ranks;"
            " allowed here: one description on one rank"
        )
    if any("threads" in entry for entry in experiment.grid):
        raise BadInput(f"experiment {experiment.name!r}: threads in the grid; allowed here: outside the grid")
    cores = launch.available_cores()
    if max(experiment.threads) > cores:
        raise BadInput(
            f"threads: {max(experiment.threads)}; allowed: at most {cores}, the cores of this process"
        )
    description = runs[0].description
    models = {population["neuron"]["model"] for population in description["network"]["populations"]}
    programs = tuple(program for program in programs if program.takes(models))
    if len(programs) < 2:
        raise BadInput(
            f"experiment {experiment.name!r}: neuron models {', '.join(sorted(models))}: no peer has such "
            "neurons"
        )
    identities = {program.name: program.identity for program in programs}
    trials = []
    for number in range(1, experiment.repetitions + 1):
        pairs = [(name, threads) for name in identities for threads in dict.fromkeys(experiment.threads)]
        for name, threads in sorted(pairs, key=lambda pair: digest([experiment.shuffle_seed, number, *pair])):
            identity = [description, name, identities[name], threads, number]
            trials.append(Trial(digest(identity)[:12], name, threads, number))
    return Plan(experiment, description, programs, trials)


def events_per_spike(description: dict[str, Any]) -> float:
    """Expected synaptic events per spike: synapses by source pool, weighted with the rates of the sources.

    For programs that do not count events; a source is drawn uniformly from its pool (miniapp/FORMAT.md).
    """
    network = read(description).network
    populations = {p.name: p for p in network.populations}

    def spikes(population: Population) -> float:
        hz = population.neuron.rate_hz
        return population.size * (RATE_HZ if hz is None else hz)

    events = 0.0
    for projection in network.projections:
        pool = [populations[name] for name in projection.sources]
        synapses = projection.synapses * populations[projection.target].size
        size = sum(p.size for p in pool)
        events += synapses * sum(map(spikes, pool)) / size if size else 0.0
    total = sum(map(spikes, populations.values()))
    return events / total if total else 0.0
