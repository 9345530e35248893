"""What one slow node costs each schedule: by the models of `predict`, and by `whatif` from equal nodes.

The machine has RANKS equal nodes but for the last one, whose kernels take longer. Every node holds a rank,
and every rank an area. All nodes have one profile, so what nobody knows of it is the same for all of them.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.machines.node import Node
from spikemark.machines.profile import Value
from spikemark.network.description import read
from spikemark.prediction import exchange, phases, rates, times, validated, waiting
from spikemark.prediction.intervals import predicted
from spikemark.prediction.loads import Counting, Loads
from spikemark.presets import mam_benchmark
from spikemark.quantities.quantity import Quantity, missing
from spikemark.waiting.source import Source
from spikemark.waiting.whatif import Situation, whatif

FILE = "slow-node.json"
MACHINE, RANKS, RANK = "jureca-dc", 128, 127  # the last rank is the slow one
SLOWER = (1.05, 1.2, 1.5, 2.0)
CYCLES, SEED = 20_000, 1  # of equal nodes, drawn for `whatif`
LAGGED = "overlapped"


@dataclass(frozen=True)
class Way:
    """A schedule with its D and lag."""

    schedule: str
    delay_ratio: int = 1
    lag: int = 0

    @property
    def words(self) -> str:
        name = self.schedule.replace("_", "-")
        if self.schedule == "conventional":
            return name
        return f"{name}, D = {self.delay_ratio}" + (f", lag {self.lag}" if self.lag else "")


WAYS = (
    Way("conventional"),
    *(Way("structure_aware", d) for d in range(1, 11)),
    *(Way(LAGGED, 10, lag) for lag in (1, 4, 9)),
)


def load(folder: Path) -> dict[str, Any]:
    """What has been computed, by the words of each way; empty once the machine or the network has changed."""
    path = folder / FILE
    found = read_json(path) if path.is_file() else {}
    return found.get("ways", {}) if found.get("digest") == _digest() else {}


def compute(folder: Path) -> Iterator[str]:
    """Compute what is missing, and yield what cannot be; the next call goes on after an interruption."""
    known = load(folder)
    missing = [way for way in WAYS if way.words not in known]
    for number, way in enumerate(missing, 1):
        print(f"bath: {number} of {len(missing)} schedules: {way.words}", flush=True)
        try:
            known[way.words] = result(way)
        except BadInput as reason:
            yield f"{way.words}: {reason}"
            continue
        write_json(folder / FILE, {"digest": _digest(), "ways": known})


def _digest() -> str:
    """Changes with everything that the results depend on but the code."""
    about = [
        digest(_profile()),
        mam_benchmark.FULL,
        RANKS,
        SLOWER,
        CYCLES,
        [asdict(w) for w in WAYS],
    ]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _profile():
    return machines.filled(machines.load(MACHINE))


@lru_cache(maxsize=2)
def _counting(ranks: int) -> Counting:
    description = read(mam_benchmark.describe(full=True, areas=ranks, delay_ratio=10))
    return Counting(description, rates.of(description).hz)


def loads_of(way: Way) -> tuple[Loads, Node]:
    """The loads of the full network, an area on each rank and a rank on each node."""
    node = Node.of(_profile(), RANKS)
    counting = _counting(RANKS)
    lag = {"lag": way.lag} if way.lag else {}
    return counting.loads(RANKS, node.threads, way.schedule, delay_ratio=way.delay_ratio, **lag), node


def slowed(inputs: Inputs, factor: float) -> Inputs:
    """The inputs of a node whose kernels take `factor` times as long; all else moves with the others."""
    reference = f"a node that takes {factor:g} times as long"
    return replace(inputs, slower=Value(factor, "1", "assumed", reference, (factor, factor)))


def compute_s(loads: Loads, inputs: Inputs, node: Node, factor: float = 1.0) -> np.ndarray:
    """Mean compute time of each rank per cycle in s, [rank], the last one on a slow node."""
    equal = sum(phases.seconds(loads, inputs, node))
    if factor > 1:
        equal[RANK] = sum(phases.seconds(loads, slowed(inputs, factor), node))[RANK]
    return equal


def result(way: Way) -> dict[str, Any]:
    """Waiting and run time of equal nodes, and with a slow one, by both methods. Times in s per cycle."""
    loads, node = loads_of(way)
    outside = validated.outside(loads.description, RANKS, node.threads)

    def evaluate(inputs: Inputs) -> dict[str, float]:
        found = {}
        for factor in (1.0, *SLOWER):
            compute = compute_s(loads, inputs, node, factor)
            waited, moving = times._meetings(loads, compute, inputs, node, None)
            found[f"waiting {factor:g}"] = waited
            found[f"runtime {factor:g}"] = float(compute.mean()) + waited + moving
        for factor in SLOWER:
            found[f"cost {factor:g}"] = found[f"runtime {factor:g}"] / found["runtime 1"] - 1
        return found

    made, _ = predicted(Inputs(_profile()), evaluate)
    known = {name: [q.value, q.low, q.high] for name, q in made.items()}
    return {"cycle_s": loads.cycle_s, "model": known, "whatif": asked(way), "outside": outside}


@lru_cache(maxsize=1)
def equal_nodes() -> Source:
    """Cycle times of a conventional run on equal nodes, drawn as the profile says that they scatter."""
    loads, node = loads_of(WAYS[0])
    inputs = Inputs(_profile())
    jitter = replace(Jitter.of(inputs, waiting.WHY), node_spread=0.0)
    mean = compute_s(loads, inputs, node)
    drawn = jitter.truth().draw(np.random.default_rng(SEED), RANKS, CYCLES)
    ((lane, traffic),) = times.meeting(loads, node)
    net = times.network_of(loads, inputs, node)
    barrier = np.full(CYCLES, exchange.barrier(net, traffic))
    return Source((drawn * mean[:, None]).astype(np.float32), barrier, exchange.seconds(net, lane, traffic))


def asked(way: Way) -> dict[str, list[float] | str]:
    """What `whatif` says of the same change, from the cycle times of equal nodes under the conventional one.

    Waiting and run time in s per cycle, and the cost, with their intervals; or why it says nothing.
    """
    if way.lag > 1:
        return {"refused": "whatif starts from lag 1"}
    base = Situation(equal_nodes(), way.schedule, way.delay_ratio)
    outcomes = whatif(base, [f"slow-rank={RANK}:{factor:g}" for factor in SLOWER])
    if outcomes[0].refused:
        return {"refused": outcomes[0].refused}
    first, found = outcomes[0], {}
    for factor, one in zip((1.0, *SLOWER), outcomes, strict=True):
        for name, q in ("waiting", one.waiting), ("runtime", one.runtime):
            per = q.times(1 / CYCLES)
            found[f"{name} {factor:g}"] = [per.value, *per.interval]
        if factor > 1:
            times = (one.runtime.value, *one.runtime.interval)
            found[f"cost {factor:g}"] = [x / first.runtime.value - 1 for x in times]
    return found


def quantity(kept: dict[str, Any], name: str, factor: float) -> Quantity:
    """A number of a method that was kept, with its interval: waiting, runtime or cost for one factor."""
    if "refused" in kept:
        return missing(kept["refused"], mark="–")
    return Quantity(*kept[f"{name} {factor:g}"])


def error(said: Quantity, known: Quantity) -> Quantity | float:
    """One number over another, minus 1, in per cent; missing if one of them is."""
    for one in (said, known):
        if not one:
            return one
    return 100 * (said.value / known.value - 1) if known.value else missing("nothing to compare with")
