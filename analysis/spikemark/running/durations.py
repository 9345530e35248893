"""How long runs of a plan take: guessed from what they simulate, corrected by the runs that are done."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.network.description import read
from spikemark.quantities.words import counted
from spikemark.records import run_files
from spikemark.records.plan import Planned
from spikemark.records.results import Results

#: Assumed for a guess, in s: to start a run, and per synapse, synaptic event, update of a neuron, event from
#: outside and cycle. Runs on a virtual EPYC machine took 0.5 to 2 times as long (2026-11-22).
START_S, SYNAPSE_S, EVENT_S, UPDATE_S, OUTSIDE_S, CYCLE_S = 1.0, 3e-8, 3e-9, 5e-10, 1e-9, 5e-6
RATE_HZ = 10.0  # assumed of neurons whose description has no rate


def guess_s(description: dict[str, Any], ranks: int, threads: int) -> float:
    """A guess of the time that a run takes from start to end, in s, from its counts.

    A description that the mini-app will refuse takes START_S.
    """
    try:
        given = read(description)
    except BadInput:
        return START_S
    cycles = given.time.warmup_cycles + given.time.cycles
    populations, simulated_s = given.network.populations, 1e-3 * given.time.cycle_ms * cycles
    hz = [RATE_HZ if p.neuron.hz is None else p.neuron.hz for p in populations]
    spikes = sum(p.size * rate for p, rate in zip(populations, hz, strict=True)) * simulated_s
    events = given.network.synapses / max(given.neurons, 1) * spikes
    outside = sum(p.size * p.outside_hz for p in populations) * simulated_s
    updates = given.neurons * cycles * given.time.cycle_steps
    work = given.network.synapses * SYNAPSE_S + events * EVENT_S + updates * UPDATE_S + outside * OUTSIDE_S
    injected = cycles * _injected_s(given.inject, "mean_us", 1e-6)
    for field, count in (("per_neuron_ns", given.neurons * cycles), ("per_synapse_ns", events)):
        injected += count / (ranks * threads) * _injected_s(given.inject, field, 1e-9)
    return START_S + work / (ranks * threads) + cycles * CYCLE_S + injected


def _injected_s(inject: Any, field: str, unit_s: float) -> float:
    """A wait that a description adds, that of the rank that waits longest; the mini-app checks the field."""
    given = inject.get(field) if isinstance(inject, dict) else None
    values = given if isinstance(given, list) else [given]
    return unit_s * max((v for v in values if isinstance(v, int | float) and v > 0), default=0.0)


def minutes(seconds: float) -> str:
    """A duration as it stands in a sentence."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Pace:
    """How long pieces of work that are about equally long will still take, one after another."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic):
        """Begins to count the time of `total` pieces."""
        self._total, self._clock, self._began = total, clock, clock()

    def left(self, done: int) -> str:
        """The time of the pieces that are left, in words, from those that are done; empty if unknown."""
        if not 0 < done < self._total:
            return ""
        took = self._clock() - self._began
        return f"about {minutes(took / done * (self._total - done))} left"


class Durations:
    """Expected durations of the runs of a plan, in s."""

    def __init__(self, runs: Iterable[Planned], results: Results):
        """Learns from those of `runs` that are done."""
        self._results = results
        self._alike: dict[str, list[float]] = defaultdict(list)
        self._ratios: list[float] = []
        for run in runs:
            self.learn(run)

    def learn(self, run: Planned) -> None:
        """Takes the time of a run into account, if it is done."""
        if (wall := _wall_s(self._results, run.id)) is not None:
            self._alike[_setup(run)].append(wall)
            self._ratios.append(wall / (run.guess_s or START_S))

    def of(self, run: Planned) -> float:
        """The median of the runs that are done and differ from it only in seed and repetition.

        Without one, its guess, multiplied by the median ratio of time to guess over all runs that are done.
        """
        if done := self._alike.get(_setup(run)):
            return median(done)
        return (median(self._ratios) if self._ratios else 1.0) * (run.guess_s or START_S)

    def total(self, runs: Iterable[Planned]) -> float:
        """The time of `runs` one after another."""
        return sum(self.of(run) for run in runs)

    @property
    def basis(self) -> str:
        """What the durations rest on, in words."""
        return f"from {counted(len(self._ratios), 'finished run')}" if self._ratios else "assumed"


def _setup(run: Planned) -> str:
    """What runs have in common that differ in seed and repetition."""
    left_out = {"id", "label", "seed", "repetition", "guess_s"}
    return json.dumps(run.model_dump(mode="json", exclude=left_out), sort_keys=True)


def _wall_s(results: Results, run: str) -> float | None:
    if not results.measured(run):
        return None
    try:
        wall = read_json(results.run(run) / run_files.LAUNCH)["wall_s"]
        return float(wall) if wall > 0 else None
    except (BadInput, KeyError, TypeError):
        return None
