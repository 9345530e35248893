"""How the time of a production program grows: how often each of its costs occurs in a run.

The kernel is divided among the cores, at their clock; caches decide how many accesses miss. The
exchange is software, which takes its time for each round or message, plus the time of messages on
the network of the machine (LogGP: latency, gap, bandwidth). This is a second model beside that of
the mini-app in models/loggp.py: a new cost of a message belongs into both.

Numbers of a machine may be arrays of draws: then every count is one, too.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spikemark.machines import priors
from spikemark.models.loggp import CROWD

from .points import EXTERNAL_HZ, PublishedRun
from .program_costs import DPSNN, NEST, REFERENCE_GHZ

Array = NDArray[np.float64]
Amount = float | Array  #: a number, or an array of ranks or draws
#: Factors of the layout: two series on Piz Daint (36 cores) of 1 to 36 threads a rank.
ONE_THREAD = 0.70  #: ranks of one thread
SMALLEST_RANKS = 1.1  #: a rank alone calls its exchange, too: as a seventh of a round
ACROSS_SOCKETS = 1.45  #: ranks that do not fit into a socket
MAX_CACHE_CORES = 4.0  #: a core uses the cache of so many, if the others are idle
#: Sizes of NEST's data in memory, in bytes.
NEURON_BYTES = 600
SLOT_BYTES = 16  #: of a ring buffer
LINE_BYTES = 64
SPIKE_BYTES = 8  #: of a spike in a send buffer


@dataclass(frozen=True)
class RankLoads:
    """What a rank does in a simulated second: numbers of a mean rank, or arrays [rank]."""

    neurons: Amount  #: of a core
    events: Amount  #: recurrent synaptic events of a core
    lists: Amount  #: of synapses that a core enters
    received: Amount  #: spikes of the rank
    rounds: Amount  #: of collective calls
    messages: Amount  #: to other ranks


def _mean_loads(run: PublishedRun) -> RankLoads:
    """Those of a mean rank, where neurons and synapses are spread evenly over the cores."""
    network = run.network
    spikes = network.neurons * network.rate_hz
    degree = network.synapses / network.neurons
    cycles = 1e3 / network.cycle_ms
    return RankLoads(
        neurons=network.neurons / run.cores,
        events=spikes * degree / run.cores,
        lists=spikes * -np.expm1(-degree / run.cores),
        received=spikes * -np.expm1(-degree / run.ranks),
        rounds=cycles * np.log2(max(float(run.ranks), SMALLEST_RANKS)),
        messages=cycles * (min(float(run.ranks), network.partners) - 1),
    )


@cache
def terms(run: PublishedRun) -> Array:
    """How often each cost of the program occurs per simulated second on a core, [cost].

    Costs of the kernel are stated for REFERENCE_GHZ: their counts hold clock and layout.

    Example:
        >>> from spikemark.prediction import points
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> terms(run).shape
        (10,)
    """
    return np.array(counts(run))


def counts(run: PublishedRun, loads: RankLoads | None = None) -> list[Amount]:
    """The same as a list: numbers, or draws where numbers of the machine are draws.

    `loads`: of each rank; those of a mean rank by default.

    Example:
        >>> from spikemark.prediction import points
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> len(counts(run)) == len(terms(run))
        True
    """
    if loads is None:
        loads = _mean_loads(run)
    if run.program == NEST.name:
        return _counts_of_nest(run, loads)
    return _counts_of_messages(run, loads)


def _counts_of_nest(run: PublishedRun, loads: RankLoads) -> list[Amount]:
    network = run.network
    steps = loads.neurons * 1e3 / network.step_ms
    misses_of_step, misses_of_event = _misses(run, loads.neurons)
    kernel = [
        loads.events,
        loads.events * misses_of_event,
        loads.events * network.plastic,
        loads.lists,
        steps,
        steps * misses_of_step,
        steps * network.poisson,
    ]
    cycles = 1e3 / network.cycle_ms
    exchange = [loads.rounds, _collective_s(run, cycles, loads.received), loads.received]
    slower = _slowness(run)
    return [*(count * slower for count in kernel), *exchange]


def _counts_of_messages(run: PublishedRun, loads: RankLoads) -> list[Amount]:
    """Counts of a program whose ranks send each other messages."""
    network = run.network
    events = loads.events
    if run.program == DPSNN.name:
        events = events + EXTERNAL_HZ * loads.neurons
    misses_of_step, _ = _misses(run, loads.neurons)
    # In a grid of columns, targets lie together.
    far = events * misses_of_step * np.isinf(network.partners)
    cycles = 1e3 / network.cycle_ms
    slower = _slowness(run)
    network_s = _messages_s(run, cycles, loads.messages)
    return [events * slower, far * slower, loads.messages, network_s]


def _collective_s(run: PublishedRun, cycles: float, received: Amount) -> Amount:
    """Seconds of collective calls on the network, per simulated second.

    In log2 rounds, all ranks of a node send to another node, one after another, and then to each
    other; the spikes that ranks receive from other nodes share the card of their node.
    """
    machine = run.machine
    ranks_of_node = run.ranks / run.nodes
    between_us = machine.latency_us + ranks_of_node * machine.gap_us
    within_us = np.log2(max(ranks_of_node, 1)) * machine.latency_node_us
    call_us = np.log2(run.nodes) * between_us + within_us
    far_bytes = SPIKE_BYTES * received * ranks_of_node * (1 - 1 / run.nodes)
    congestion = machine.congestion if run.nodes >= CROWD else 1.0
    call_s: Amount = 1e-6 * cycles * call_us
    return call_s + 1e-9 * far_bytes * congestion / machine.bandwidth_gb


def _messages_s(run: PublishedRun, cycles: float, messages: Amount) -> Amount:
    """Seconds of a rank's messages on the network, per simulated second."""
    machine = run.machine
    between = messages * (1 - 1 / run.nodes)
    within = messages - between
    first_us = cycles * machine.latency_us * (run.nodes > 1)
    return 1e-6 * (between * machine.gap_us + within * machine.latency_node_us + first_us)


def least_exchange_s(run: PublishedRun) -> Amount:
    """Seconds per simulated second that no exchange of a run can be shorter than.

    In each cycle, something of every node reaches every other one. That takes a message in each of
    log2 rounds, each after the one before, or one to every other node, all at once but for the gap
    between them. Programs that exchange with some nodes alone need a message at least.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.prediction import points
        >>> run = next(run for run in points.published() if run.program == "nest")
        >>> slow = replace(run.machine, latency_us=50.0, gap_us=9.0)
        >>> run = replace(run.with_nodes(4), machine=slow)
        >>> round(float(least_exchange_s(run)) * run.network.cycle_ms, 3)  # ms of a cycle
        0.068
    """
    if run.nodes == 1:
        return 0.0
    latency_us, gap_us = run.machine.latency_us, run.machine.gap_us
    call_us: Amount = np.asarray(latency_us, dtype=float)
    if run.program == NEST.name:
        one_to_each_us = latency_us + (run.nodes - 2) * gap_us
        call_us = np.minimum(np.log2(run.nodes) * latency_us, one_to_each_us)
    return 1e-6 * (1e3 / run.network.cycle_ms) * call_us


def _misses(run: PublishedRun, neurons: Amount) -> tuple[Amount, Amount]:
    """Shares of neuron steps and of synaptic events that miss the last-level cache of a core, which
    has so many neurons.

    Within a cycle, a neuron's e events fall on L lines of its ring buffers: L (1 - exp(-e / L)) of
    them are first touches, which miss as the state of the neurons does; the others miss as the
    touched lines do.
    """
    network = run.network
    machine = run.machine
    cores_per_busy_core = max(run.nodes * machine.cores / run.cores, 1.0)
    cache_mb = machine.cache_mb * min(cores_per_busy_core, MAX_CACHE_CORES)
    million_neurons = neurons / 1e6
    ring_bytes = SLOT_BYTES * (network.delay_ms + network.cycle_ms) / network.step_ms
    state_mb = million_neurons * (ring_bytes + NEURON_BYTES)
    slots_hit = (network.spread_ms + network.cycle_ms) / network.step_ms
    lines = max(slots_hit * SLOT_BYTES / LINE_BYTES, 1.0)
    events = network.rate_hz * network.synapses / network.neurons * network.cycle_ms / 1e3
    first_touches = -np.expm1(-events / lines) * lines
    touched_mb = million_neurons * first_touches * LINE_BYTES
    share_first = min(first_touches / max(events, 1e-12), 1.0)
    missed_by_first = share_first * state_mb / (state_mb + cache_mb)
    missed_by_others = (1 - share_first) * touched_mb / (touched_mb + cache_mb)
    return state_mb / (state_mb + cache_mb), missed_by_first + missed_by_others


def _slowness(run: PublishedRun) -> Amount:
    """Factor of the kernel's costs on a core: of its clock, and of the threads of a rank.

    Idle cores leave clock and bandwidth to the others (priors.clock_at_work). NEST's ranks of one
    thread share nothing; ranks across sockets reach for remote memory.
    """
    machine = run.machine
    busy = 1.0
    if machine.cores > 1:
        busy = min(run.cores / (run.nodes * machine.cores), 1.0)
    clock_ghz = priors.clock_at_work(
        machine.clock_ghz, machine.turbo_ghz, machine.clock_share, busy
    )
    slower: Amount = REFERENCE_GHZ / clock_ghz
    if run.program == NEST.name and run.threads == 1 and run.ranks > 1:
        return slower * ONE_THREAD
    if machine.sockets > 1 and run.threads > machine.cores / machine.sockets:
        return slower * ACROSS_SOCKETS
    return slower
