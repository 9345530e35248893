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

    All are whole cycles, and whole periods of the neurons where these have one in common, so that counts are
    exact.
    """
    time = read(description).time
    steps = (round(ms / time.resolution_ms) for ms in (period_ms(description) or 100.0, time.cycle_ms))
    unit = math.lcm(*steps) * time.resolution_ms
    shortest = unit * max(1, math.ceil(1e3 * minimum_s / FASTEST / unit / 2**HALVINGS))
    return [round(shortest * 2**n, 9) for n in range(HALVINGS, -1, -1)]


def with_time(description: dict[str, Any], model_ms: float) -> dict[str, Any]:
    """The description with another model time."""
    changed = copy.deepcopy(description)
    changed["time"]["simulate_ms"] = model_ms
    return changed


def own_rates(description: dict[str, Any]) -> bool:
    """Whether all neurons fire at rates of their own, from which counts of spikes follow."""
    return all(p.neuron.model == "ignore_and_fire" for p in read(description).network.populations)


def expected(
    description: dict[str, Any], model_ms: list[float], found: rates.Rates | None = None
) -> dict[str, Any]:
    """The content of expected/RUN.json: counts of the longest model time, and of each one in `times`.

    `found`: rates of populations, needed where neurons fire in response to their input. Spikes and synaptic
    events are then null with a reason; `rates_hz`, their source and `modelled_per_s` say what projections
    take.
    """
    given, own = read(description), own_rates(description)
    found = found or rates.of(description)
    period = period_ms(description)
    exact = period is not None and all(p.poisson is False for p in given.network.projections)
    synapses = given.network.synapses
    loads = None if exact else Loads.of(description, 1, 1, found.hz)
    per_s = None
    if loads is not None:
        cycles = 1e3 / given.time.cycle_ms
        per_s = {"spikes": float(loads.spikes.sum()) * cycles, "synaptic_events": loads.total_events * cycles}
    times = [_counts(description, ms, period, per_s, own) for ms in model_ms]
    content = {
        "neurons": given.neurons,
        "synapses": round(synapses),
        **times[0],
        "kind": "counted" if exact else "modelled",
        "tolerance": 0.0 if exact else TOLERANCE,
        "times": times,
    }
    if not own:
        names = [p.name for p in given.network.populations]
        content["rates_hz"] = dict(zip(names, map(float, found.hz), strict=True))
        content |= {"rates_source": found.source, "modelled_per_s": per_s}
    return content


UNKNOWN = (
    "the buyer has not run it; `spikemark tender accept` compares checksums of a network with another seed"
)
NO_RATES = "neurons fire in response to their input, and the buyer has not run the network"


def _counts(
    description: dict[str, Any], model_ms: float, period: float | None, per_s: dict | None, own: bool
) -> dict[str, Any]:
    """Spikes and synaptic events of the measured part.

    Where all neurons have a `period` in common, each fires once in it, and each of its synapses is visited
    once for each spike. Else counts follow from those of a second, `per_s`, if they have `own` rates.
    """
    given = read(description)
    spikes: int | None = None
    events: int | None = None
    if per_s is None:
        times = round(model_ms / period)
        spikes, events = given.neurons * times, round(given.network.synapses) * times
    elif own:
        spikes, events = (round(1e-3 * model_ms * per_s[name]) for name in ("spikes", "synaptic_events"))
    return {
        "model_ms": model_ms,
        "spikes": spikes,
        "synaptic_events": events,
        "checksum": None,
        "reason": UNKNOWN if own else f"{NO_RATES}; of the checksum: {UNKNOWN}",
    }
