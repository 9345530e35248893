"""Configurations of the study of delivery: what a thread did and how long it took, without the drift."""

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from spikemark.models import delivery_time
from spikemark.records.cases import COMPARED
from spikemark.records.gather import Measured
from spikemark.studies.runs import group, place, timed


@dataclass(frozen=True)
class Point:
    """A configuration: `counts` (first, synapses, spikes) of a thread and `seconds` without drift, by run."""

    label: str
    ranks: int
    threads: int
    placement: str
    counts: np.ndarray
    seconds: np.ndarray
    held_out: bool

    @property
    def length(self) -> float:
        """Mean length of the lists entered."""
        return float(self.counts[:, 1].sum() / self.counts[:, 0].sum())

    @property
    def middle_s(self) -> float:
        return delivery_time.middle(self.seconds)

    @property
    def spread(self) -> float:
        """Standard deviation of the runs, relative."""
        return float(np.std(np.log(self.seconds), ddof=1)) if len(self.seconds) > 1 else float("nan")

    def ns_per_event(self, seconds: float) -> float:
        return 1e9 * seconds / float(self.counts[:, 1].mean())


def counts(m: Measured) -> tuple[float, float, float]:
    """n_first, n_synapses and n_spikes of a thread, mean over the threads of all ranks."""
    record = m.run.record
    parts = record.ranks * record.threads
    first = record.totals.first_accesses / parts
    sent = sum(lane.spikes_sent for lane in record.lanes) / record.ranks  # every thread goes through them
    return first, record.totals.synaptic_events / parts, max(sent, first)


def points(runs: list[Measured]) -> list[Point]:
    """The configurations whose times count, by list length."""
    usable = [m for m in runs if m.run.record.totals.synaptic_events and _seconds(m)]
    networks = {
        key: float(np.mean([_length(m) for m in members])) for key, members in group(usable, _network).items()
    }
    held = set(sorted(networks, key=networks.get)[1:-1:2])
    setups = {
        setup: counting for setup, members in group(usable, _setup).items() if (counting := timed(members))
    }
    drift = slower((setup, place(m), _seconds(m)) for setup, runs in setups.items() for m in runs)
    found = []
    for (network, ranks, threads, placement), counting in setups.items():
        label = f"{ranks} × {threads}, {placement.replace('_', ' ')}"
        rows = np.array([counts(m) for m in counting])
        seconds = np.array([_seconds(m) / drift[place(m)] for m in counting])
        found.append(Point(label, ranks, threads, placement, rows, seconds, network in held))
    return sorted(found, key=lambda p: p.length)


def _seconds(m: Measured) -> float | None:
    """Mean time in delivery; None where the record does not tell it apart from the waiting of threads."""
    return m.run.spent_s("deliver")


def _length(m: Measured) -> float:
    totals = m.run.record.totals
    return totals.synaptic_events / totals.first_accesses


def _network(m: Measured) -> str:
    """What was varied of the network."""
    fields = {k: v for k, v in m.planned.fields.items() if k not in COMPARED}
    return json.dumps(fields, sort_keys=True)


def _setup(m: Measured) -> tuple:
    return _network(m), m.run.record.ranks, m.run.record.threads, m.run.placement


def slower(runs: Iterable[tuple[Hashable, Hashable, float]]) -> dict[Hashable, float]:
    """The drift of each block: how many times as long as usual its runs took; 1 for the median block.

    `runs`: setup, block and time in s of each. A block is one repetition of all setups, measured close
    together in shuffled order (randomised complete blocks, Fisher 1935). Medians over setups and blocks, so
    that single runs that were disturbed do not count.
    """
    logs: dict[Hashable, dict[Hashable, float]] = {}
    for setup, block, seconds in runs:
        logs.setdefault(setup, {})[block] = float(np.log(seconds))
    away: dict[Hashable, list[float]] = {}
    for of_setup in logs.values():
        usual = np.median(list(of_setup.values()))
        for block, log in of_setup.items():
            away.setdefault(block, []).append(log - usual)
    found = {block: float(np.median(values)) for block, values in away.items()}
    middle = np.median(list(found.values())) if found else 0.0
    return {block: float(np.exp(value - middle)) for block, value in found.items()}
