"""Rates, costs per synapse and neuron, memory by part and scaling, from the records."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spikemark.quantities.words import counted
from spikemark.records.cases import Ratio, View, any_threads, ratio
from spikemark.records.gather import Configuration, Measured

REST = "program and MPI"


@dataclass(frozen=True)
class Setup:
    """A configuration on a number of ranks and threads. Lists have one entry for each run that has the value.

    Core times are the phase's mean over ranks times the cores, as if every core had worked during the whole
    phase.
    """

    configuration: Configuration
    ranks: int
    threads: int
    runs: list[Measured]

    @property
    def cores(self) -> int:
        """Threads of all ranks; each is meant to have a core of its own."""
        return self.ranks * self.threads

    @property
    def where(self) -> str:
        return f"{counted(self.ranks, 'rank')} × {counted(self.threads, 'thread')}"

    @property
    def grid(self) -> str:
        return f"{self.ranks} × {self.threads}"

    @cached_property
    def delivery(self) -> list[float]:
        """Synaptic events per second and core during the phase deliver, mean over ranks."""
        return [1 / x for x in self.deliver_s]

    @cached_property
    def whole(self) -> list[float]:
        """Synaptic events per second and core over the whole timed part."""
        return [
            r.totals.synaptic_events / (r.timing.simulate_s * self.cores)
            for r in self._records
            if r.totals.synaptic_events and r.timing.simulate_s
        ]

    @cached_property
    def deliver_s(self) -> list[float]:
        """Core time of delivery per synaptic event."""
        return self._per("deliver", lambda r: r.totals.synaptic_events)

    @cached_property
    def update_s(self) -> list[float]:
        """Core time of update per neuron and step."""
        return self._per("update", lambda r: r.totals.neurons * r.steps)

    @cached_property
    def length(self) -> float | None:
        """Mean list length: synaptic events per list entered; None where no spike met a synapse."""
        events = sum(r.totals.synaptic_events for r in self._records)
        first = sum(r.totals.first_accesses for r in self._records)
        return events / first if first else None

    @cached_property
    def timer_overhead(self) -> list[float]:
        return [r.timing.timer_overhead for r in self._records]

    @cached_property
    def memory(self) -> dict[str, float | None] | None:
        """Bytes per synapse by part, mean over runs, and `REST`: the resident peak less all parts.

        `REST` is None if the peak is unknown, or smaller than the parts because not all of them became
        resident. Returns None without synapses.
        """
        records = [r for r in self._records if r.totals.synapses]
        if not records:
            return None
        names = dict.fromkeys(name for r in records for name in r.memory.parts)
        parts = {n: _mean([r.memory.parts.get(n, 0) / r.totals.synapses for r in records]) for n in names}
        rest = None
        if all(r.memory.peak_bytes is not None for r in records):
            peak = _mean([r.memory.peak_bytes / r.totals.synapses for r in records])
            rest = peak - sum(parts.values())
        return {**parts, REST: rest if rest is not None and rest >= 0 else None}

    @property
    def _records(self) -> list:
        return [m.run.record for m in self.runs]

    def _per(self, phase: str, count) -> list[float]:
        """Returns core time in a phase per thing that `count` counts, for every run that tells both."""
        found = []
        for r in self._records:
            times = r.timing.phases.get(phase)
            if phase not in r.mixed and times and times.mean_s and count(r):
                found.append(times.mean_s * self.cores / count(r))
        return found


@dataclass(frozen=True)
class Gain:
    """Speed of a setup relative to the smallest one of its configuration."""

    setup: Setup
    base: Setup
    ratio: Ratio

    @property
    def ideal(self) -> float:
        return self.setup.cores / self.base.cores


def prepare(view: View) -> list[Setup]:
    """Returns the setups on which the network of the view ran, sorted by cores."""
    groups: dict[tuple, list[Measured]] = {}
    for m in any_threads(view):
        key = (m.configuration, m.run.record.ranks, m.run.record.threads)
        groups.setdefault(key, []).append(m)
    setups = [
        Setup(*key, sorted(runs, key=lambda m: (m.planned.seed, m.planned.repetition)))
        for key, runs in groups.items()
    ]
    return sorted(setups, key=lambda s: (s.cores, s.ranks, s.configuration.order))


def gains(setups: list[Setup]) -> dict[Configuration, list[Gain]]:
    """Returns the speed-up of the larger setups of each configuration, over networks that both have."""
    found: dict[Configuration, list[Gain]] = {}
    for setup in setups:
        base = next(s for s in setups if s.configuration == setup.configuration)  # in the order of cores
        if base is setup:
            continue
        r = ratio(base.runs, setup.runs, lambda m: m.run.record.timing.simulate_s)
        if r:
            found.setdefault(setup.configuration, []).append(Gain(setup, base, r))
    return found


def by_where(setups: list[Setup]) -> dict[str, list[Setup]]:
    """Groups setups by ranks and threads, in order."""
    groups: dict[str, list[Setup]] = {}
    for setup in setups:
        groups.setdefault(setup.where, []).append(setup)
    return groups


def _mean(values: list[float]) -> float:
    return float(np.mean(values))
