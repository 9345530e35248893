"""Guesses how long a run takes, from what it simulates."""

from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network.description import read

from .durations import START_S

#: Assumed for a guess, in s: per synapse, synaptic event, update of a neuron, event from
#: outside and cycle. Runs on a virtual EPYC machine took 0.5 to 2 times as long (2026-11-22).
SYNAPSE_S, EVENT_S, UPDATE_S, OUTSIDE_S, CYCLE_S = 3e-8, 3e-9, 5e-10, 1e-9, 5e-6
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
