"""The networks of a tender: how large they are, how long they run, and what must be counted in them."""

import copy
import math
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network.description import read
from spikemark.prediction import memory, rates
from spikemark.prediction.loads import Loads
from spikemark.presets import PRESETS

#: Share of a node's memory that the structures of the mini-app take, by size.
SHARES = {"small": 0.1, "medium": 0.3, "large": 0.6}
#: The longest model time takes the minimum duration at this real-time factor. It is halved so many times.
FASTEST, HALVINGS = 0.25, 5
STEP = 100  # neurons of an area are a multiple of it
MOST = 100_000_000  # neurons of an area
TOLERANCE = 0.05  # of counts that follow from mean rates


def bench(areas: int, indegree: int, rate_hz: float, limit_bytes: float) -> dict[str, Any]:
    """The mam-benchmark whose areas are as large as the memory allows with a rank for each area.

    Raises BadInput where even the smallest areas need more than `limit_bytes`.
    """

    def described(hundreds: int) -> dict[str, Any]:
        options = {"areas": areas, "indegree": indegree, "rate": rate_hz, "neurons_per_area": STEP * hundreds}
        return PRESETS["mam-benchmark"].describe(**options)

    def fits(hundreds: int) -> bool:
        return needed_bytes(described(hundreds), areas) <= limit_bytes

    if not fits(1):
        needed = needed_bytes(described(1), areas)
        raise BadInput(
            f"node_memory: {limit_bytes / 1e9:.3g} GB for the network; allowed: at least"
            f" {needed / 1e9:.3g} GB, that of {areas} areas of {STEP} neurons with {indegree} synapses each"
        )
    low, high = 1, 2
    while high * STEP <= MOST and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return described(low)


def needed_bytes(description: dict[str, Any], ranks: int) -> float:
    """Bytes that the mini-app's structures take on so many ranks of one thread, all together."""
    loads = Loads.of(description, ranks, 1, rates.of(description).hz)
    return float(memory.bytes_of_ranks(loads).sum())


def period_ms(description: dict[str, Any]) -> float | None:
    """The time in which every neuron fires exactly once; None where neurons have rates of their own."""
    given = read(description)
    found = set()
    for population in given.network.populations:
        hz = population.neuron.hz
        if population.neuron.model != "ignore_and_fire" or population.neuron.rate_cv or not hz:
            return None
        step = given.time.resolution_ms
        found.add(round(1000 / (hz * step)) * step)
    return round(found.pop(), 9) if len(found) == 1 else None


def model_times(description: dict[str, Any], minimum_s: float) -> list[float]:
    """The model times in ms that are allowed, longest first, each half as long as the one before.

    All are whole periods of the neurons where these have one in common, so that counts are exact.
    """
    unit = period_ms(description) or 100.0
    shortest = unit * max(1, math.ceil(1e3 * minimum_s / FASTEST / unit / 2**HALVINGS))
    return [round(shortest * 2**n, 9) for n in range(HALVINGS, -1, -1)]


def with_time(description: dict[str, Any], model_ms: float) -> dict[str, Any]:
    """The description with another model time."""
    changed = copy.deepcopy(description)
    changed["time"]["simulate_ms"] = model_ms
    return changed


def expected(description: dict[str, Any], model_ms: list[float]) -> dict[str, Any]:
    """The content of expected/RUN.json: counts of the longest model time, and of each one in `times`."""
    given = read(description)
    period = period_ms(description)
    exact = period is not None and all(p.poisson is False for p in given.network.projections)
    synapses = given.network.synapses
    times = [_counts(description, ms, period if exact else None) for ms in model_ms]
    return {
        "neurons": given.neurons,
        "synapses": round(synapses),
        **times[0],
        "kind": "counted" if exact else "modelled",
        "tolerance": 0.0 if exact else TOLERANCE,
        "times": times,
    }


UNKNOWN = (
    "the buyer has not run it; `spikemark tender accept` compares checksums of a network with another seed"
)


def _counts(description: dict[str, Any], model_ms: float, period: float | None) -> dict[str, Any]:
    """Spikes and synaptic events of the measured part.

    Each neuron fires once in each period, and each of its synapses is visited once for each spike. Without a
    common period they follow from the mean rates.
    """
    given = read(description)
    if period is not None:
        times = round(model_ms / period)
        spikes, events = given.neurons * times, round(given.network.synapses) * times
    else:
        loads = Loads.of(description, 1, 1, rates.of(description).hz)
        cycles = model_ms / given.time.cycle_ms
        spikes, events = round(float(loads.spikes.sum()) * cycles), round(loads.total_events * cycles)
    return {
        "model_ms": model_ms,
        "spikes": spikes,
        "synaptic_events": events,
        "checksum": None,
        "reason": UNKNOWN,
    }
