"""What each rank of a run delivers, as models/caches.py needs it to predict the misses.

Sizes in the record hold for all ranks together; they are split among the ranks as their contents
are. Which lists share lines follows from the same rules as in the mini-app (network/lines.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from spikemark.models.caches import Delivery
from spikemark.network import lanes, lines, placement
from spikemark.network.description import Delay, Description
from spikemark.network.schedules import find_schedule
from spikemark.records.record import Run
from spikemark.records.schema import Record

#: Bytes that a thread works with while it delivers from lines: 35 cache lines of 64 bytes, counted
#: with Callgrind where nothing stays in the cache from one step to the next.
DELIVERY_BUFFERS = 35 * 64
#: Spikes that go through the filter at a time, and are kept until then (6 to 16 cache lines more
#: with 400 spikes in a step), and bytes of each.
SPIKES_AT_A_TIME, SPIKE_BYTES = 2048, 4
#: Neurons updated together, whose input every step touches (block_neurons of the mini-app), and
#: bytes of the input of each.
BLOCK_NEURONS, INPUT_BYTES = 4096, 4


@dataclass(frozen=True)
class SharedLines:
    """How a rank finds its lists where they share lines; nothing of it where they do not."""

    lookups: int = 0  #: spikes for which a list is looked for
    lines_read: int = 0  #: lines that spikes read first
    beyond: float = 0.0  #: further words that a spike reads, see network/lines.py
    buffers: float = 0.0  #: bytes that all threads work with


def deliveries(run: Run) -> list[Delivery]:
    """One delivery for each rank.

    Example:
        >>> from spikemark.records.record import load_run
        >>> of_ranks = deliveries(load_run("tests/golden/analysis/records/aware-4"))
        >>> len(of_ranks)
        4
    """
    record, description = run.record, run.record.described
    arrivals = _arrivals_of(run)
    targets = _targets(record, description)
    return [
        _delivery(record, description, counts, arrivals, targets[int(counts["rank"])])
        for counts in run.ranks.to_dict("records")
    ]


def _delivery(
    record: Record,
    description: Description,
    counts: Mapping[Any, Any],
    arrivals: np.ndarray,
    targets: tuple[tuple[float, float], ...],
) -> Delivery:
    """The delivery of a rank.

    Args:
        record: of the run.
        description: of the run.
        counts: a row of the table of ranks.
        arrivals: share of the events by steps from delivery to use, [slot].
        targets: share of the ring, and of the events there, of each population.
    """
    parts, totals, time = record.memory.parts, record.totals, description.time
    populations = description.network.populations
    steps = time.cycles * time.cycle_steps
    synapse = _synapse_bytes(record)
    shared = _shared_lines(record, description, counts, len(arrivals), steps)
    filtered = counts["synaptic_events"] < shared.lookups  # lists are mostly empty
    share_of_neurons = counts["neurons"] / max(1, totals.neurons)
    share_of_synapses = counts["synapses"] / max(1, totals.synapses)
    largest = max(population.size for population in populations)
    block = INPUT_BYTES * min(BLOCK_NEURONS, largest / record.ranks)
    return Delivery(
        steps=steps,
        before=time.warmup_cycles * time.cycle_steps,
        events=int(counts["synaptic_events"]),
        first_accesses=int(counts["first_accesses"]),
        spikes=int(counts["spikes"]),
        neurons=int(counts["neurons"]),
        synapse=synapse,
        synapses=parts["synapses"] * share_of_synapses,
        starts=parts["lists"] / record.ranks,
        ring=parts["ring"] * share_of_neurons,
        profile=arrivals,
        targets=targets,
        routes=parts["routes"] * share_of_neurons,
        others=parts["neurons"] * share_of_neurons + block,
        lines_read=shared.lines_read,
        beyond=shared.beyond,
        filtered=shared.lookups if filtered else 0,
        threads=record.threads,
        buffers=shared.buffers,
        regular=all(population.neuron.model == "ignore_and_fire" for population in populations),
    )


def _synapse_bytes(record: Record) -> int:
    """Bytes of a synapse, from those of all of them."""
    return round(record.memory.parts["synapses"] / max(1, record.totals.synapses)) or 4


def _weight_classes(description: Description) -> int:
    """Weights among which a synapse names one; 1 where each has its own."""
    weights = description.network.weights.weights
    if any(weight.own for weight in weights):
        return 1
    levels: set[Any] = set()
    for weight in weights:
        levels.update(weight.levels)
    return len(levels)


def _shared_lines(
    record: Record,
    description: Description,
    counts: Mapping[Any, Any],
    slots: int,
    steps: int,
) -> SharedLines:
    """How a rank finds its lists, from its counts."""
    lookups = int(counts.get("lookups", 0))
    if not lookups:
        return SharedLines()
    events, first_accesses = counts["synaptic_events"], counts["first_accesses"]
    filtered = events < lookups
    thread_neurons = -(-counts["neurons"] // record.threads)
    words = _synapse_bytes(record) // lines.WORD
    spare = lines.spare_bits(thread_neurons, slots, _weight_classes(description))
    if not lines.shares_lines(lookups, events, words, spare):
        return SharedLines(lookups)
    spikes_kept = 0.0
    if filtered:
        spikes_kept = min(first_accesses / steps / record.threads, SPIKES_AT_A_TIME)
    return SharedLines(
        lookups=lookups,
        lines_read=int(first_accesses) if filtered else lookups,
        beyond=lines.LINES_BEYOND * lines.beyond(events / lookups, words, spare, filtered),
        buffers=record.threads * (DELIVERY_BUFFERS + SPIKE_BYTES * spikes_kept),
    )


def _targets(record: Record, description: Description) -> list[tuple[tuple[float, float], ...]]:
    """For each rank: the share of its neurons, and of its events, of each population that it has.

    Events are those of static indegrees: every neuron of a population receives alike.
    """
    network = description.network
    names = [population.name for population in network.populations]
    synapses = np.zeros(len(names))  # [population], that its neurons receive
    for projection in network.projections:
        synapses[names.index(projection.target)] += projection.synapses
    by_thread = placement.neurons(
        description, _placement(description), record.ranks, record.threads
    )
    targets = []
    for neurons in by_thread.sum(axis=2).T:  # [population], on this rank
        events = synapses * neurons
        neuron_shares = neurons / max(1, neurons.sum())
        event_shares = events / (events.sum() or 1.0)
        shares = zip(neuron_shares.tolist(), event_shares.tolist(), strict=True)
        targets.append(tuple((held, received) for held, received in shares if held > 0))
    return targets


def _placement(description: Description) -> str:
    """The placement of a run that was made."""
    if description.placement is None:
        raise ValueError("the description of a record names its placement")
    return description.placement


def _arrivals_of(run: Run) -> np.ndarray:
    """Share of the synaptic events by the steps from delivery to use, [slots of the ring].

    A spike of a window of P cycles is delivered L windows after its end, so that between P L + 1 /
    steps and P (L + 1) cycles of its delay have passed, all alike. Projections weigh by their
    synapses.
    """
    description = run.record.described
    network, steps = description.network, description.time.cycle_steps
    areas = dict(zip(network.numbers, network.area_of, strict=True))
    sizes = {population.name: population.size for population in network.populations}
    schedule = find_schedule(description.schedule)
    pairs_of_lanes = lanes.pairs(description, schedule, _placement(description), run.record.ranks)
    lanes_by_name = {lane.name: lane for lane in run.record.lanes}
    resolution_ms = description.time.resolution_ms
    delays = [_delay_shares(projection.delay, resolution_ms) for projection in network.projections]
    shares = np.zeros(max((len(delay) for delay in delays), default=1))
    for projection, delay in zip(network.projections, delays, strict=True):
        all_sources = sum(sizes[source] for source in projection.sources)
        for source in projection.sources:
            weight = sizes[source] / max(1, all_sources)
            weight *= projection.synapses * sizes[projection.target]
            pair = areas[source], areas[projection.target]
            (name,) = [name for name, pairs in pairs_of_lanes.items() if pairs[pair]]
            lane = lanes_by_name[name]
            window = lane.period * steps
            for age in range(lane.lag * window + 1, (lane.lag + 1) * window + 1):
                shares[: len(delay) - age] += weight / window * delay[age:]
    total = shares.sum()
    return shares / total if total > 0 else shares


def _delay_shares(delay: Delay, step_ms: float) -> np.ndarray:
    """Probability of each delay in steps, [0 … longest].

    Delays are redrawn until they are between their limits, and then rounded (miniapp/FORMAT.md).
    """
    mean, sd = delay.mean / step_ms, delay.sd / step_ms
    low_ms, high_ms = delay.limits(step_ms)
    first, last = delay.steps(step_ms)
    edges = np.clip(np.arange(first, last + 2) - 0.5, low_ms / step_ms, high_ms / step_ms)
    if first == last:
        shares = np.ones(1)
    elif delay.distribution == "exponential":
        shares = np.diff(-np.exp((low_ms / step_ms - edges) / mean))
    else:
        shares = np.diff(special.ndtr((edges - mean) / (sd or 1)))
    return np.concatenate([np.zeros(first), shares / shares.sum()])
