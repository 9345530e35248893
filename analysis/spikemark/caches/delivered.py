"""What each rank of a run delivered, from the record alone, as the model of caches needs it."""

import numpy as np
from scipy import special

from spikemark.network import lanes, lines, placement
from spikemark.network.description import Description
from spikemark.network.fields import Delay
from spikemark.network.schedules import find
from spikemark.records.record import Run

from .model import Delivery

#: Bytes that a thread works with while it delivers from lines: 35 cache lines of 64 bytes, counted with
#: Callgrind where nothing stays in the cache from one step to the next. Spikes that pass a filter are kept,
#: too, up to CHUNK at a time (41 to 51 cache lines in all with 400 spikes in a step).
BUFFERS = 35 * 64
CHUNK, SPIKE = 2048, 4  # spikes that go through the filter at a time; bytes of one
BLOCK = 4096  # neurons updated together, whose input every step touches (block_neurons of the mini-app)


def deliveries(run: Run) -> list[Delivery]:
    """One delivery for each rank. Sizes known for all ranks together are split as their contents are.

    Raises BadInput for a schedule or a placement that this version does not know.
    """
    record, description = run.record, run.record.described
    parts, totals, time = record.memory.parts, record.totals, description.time
    populations = description.network.populations
    arrivals = profile(run)
    largest = max(p.size for p in populations)
    local = placement.neurons(description, description.placement, record.ranks, record.threads).sum(axis=2)
    received = _received(description)[:, None] * local  # synapses, [population, rank]
    found = []
    for row in run.ranks.itertuples():
        lookups = row.lookups if "lookups" in run.ranks else None
        filtered = lookups is not None and row.synaptic_events < lookups  # lists are mostly empty
        synapse = round(parts["synapses"] / totals.synapses) if totals.synapses else 4
        spare = lines.spare_bits(-(-row.neurons // record.threads), len(arrivals), _classes(description))
        shared = lookups is not None and lines.used(
            lookups, row.synaptic_events, synapse // lines.WORD, spare
        )
        beyond = 0.0
        if shared:
            mean = row.synaptic_events / lookups
            beyond = lines.beyond(mean, synapse // lines.WORD, spare, filtered)
        steps = time.cycles * time.cycle_steps
        passed = min(row.first_accesses / steps / record.threads, CHUNK) if filtered else 0.0
        of_synapses = row.synapses / totals.synapses if totals.synapses else 0.0
        of_neurons = row.neurons / totals.neurons if totals.neurons else 0.0
        found.append(Delivery(
            steps=steps,
            before=time.warmup_cycles * time.cycle_steps,
            events=int(row.synaptic_events),
            first_accesses=int(row.first_accesses),
            spikes=int(row.spikes),
            neurons=int(row.neurons),
            synapse=synapse,
            synapses=parts["synapses"] * of_synapses,
            starts=parts["lists"] / record.ranks,
            ring=parts["ring"] * of_neurons,
            profile=arrivals,
            targets=_targets(local[:, int(row.rank)], received[:, int(row.rank)]),
            routes=parts["routes"] * of_neurons,
            others=parts["neurons"] * of_neurons + 4 * min(BLOCK, largest / record.ranks),
            lines_read=int(row.first_accesses if filtered else lookups) if shared else 0,
            beyond=lines.LINES_BEYOND * beyond,
            filtered=int(lookups) if filtered else 0,
            threads=record.threads,
            buffers=record.threads * (BUFFERS + SPIKE * passed) if shared else 0.0,
            regular=all(p.neuron.model == "ignore_and_fire" for p in populations),
        ))  # fmt: skip
    return found


def _classes(description: Description) -> int:
    """Different weights of synapses, of which a synapse names one; 1 where each has its own."""
    weights = [p.weights for p in description.network.projections]
    return 1 if any(w.own for w in weights) else len({level for w in weights for level in w.levels})


def _received(description: Description) -> np.ndarray:
    """Synapses that a neuron of each population receives, [population]."""
    found = {p.name: 0.0 for p in description.network.populations}
    for projection in description.network.projections:
        found[projection.target] += projection.synapses
    return np.array(list(found.values()))


def _targets(neurons: np.ndarray, synapses: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Shares of a rank's neurons and of its synapses, by population."""
    if not neurons.sum() or not synapses.sum():
        return ((1.0, 1.0),)
    shares = zip(neurons / neurons.sum(), synapses / synapses.sum(), strict=True)
    return tuple((float(n), float(s)) for n, s in shares if n > 0)


def profile(run: Run) -> np.ndarray:
    """Share of the synaptic events by the steps from delivery to use, [slots of the ring].

    A spike of a window of P cycles is delivered L windows after its end, so that between P L + 1 / steps and
    P (L + 1) cycles of its delay have passed, all alike. Projections weigh by their synapses.
    """
    description = run.record.described
    network, steps = description.network, description.time.cycle_steps
    areas = dict(zip(network.numbers, network.area_of, strict=True))
    size = {p.name: p.size for p in network.populations}
    held = lanes.pairs(description, find(description.schedule), description.placement, run.record.ranks)
    delays = [delay_shares(p.delay, description.time.resolution_ms) for p in network.projections]
    shares = np.zeros(max((len(d) for d in delays), default=1))
    for p, delay in zip(network.projections, delays, strict=True):
        for source in p.sources:
            weight = size[source] / max(1, sum(size[s] for s in p.sources))
            weight *= p.synapses * size[p.target]
            lane = next((n for n, pairs in held.items() if pairs[areas[source], areas[p.target]]), None)
            used = next(lane_ for lane_ in run.record.lanes if lane_.name == lane)
            window = used.period * steps
            for age in range(used.lag * window + 1, (used.lag + 1) * window + 1):
                shares[: len(delay) - age] += weight / window * delay[age:]
    return shares / shares.sum() if shares.sum() > 0 else shares


def delay_shares(delay: Delay, step_ms: float) -> np.ndarray:
    """Probability of each delay in steps, [0 … longest] (miniapp/FORMAT.md: redrawn, then rounded)."""
    mean, sd = delay.mean / step_ms, delay.sd / step_ms
    low, high = (ms / step_ms for ms in delay.limits(step_ms))
    first, last = delay.steps(step_ms)
    edges = np.clip(np.arange(first, last + 2) - 0.5, low, high)
    if delay.distribution == "exponential":
        below = -np.exp((low - edges) / mean)
    else:
        below = special.ndtr((edges - mean) / (sd or 1))
    shares = np.ones(1) if first == last else np.diff(below)
    return np.concatenate([np.zeros(first), shares / shares.sum()])
