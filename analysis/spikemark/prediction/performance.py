"""Seconds per simulated second of the mini-app on a machine, by part, as draws of what is uncertain.

A thread takes t_first per list entered, t_next per synapse visited, t_spike per spike that it goes through,
t_update per neuron and step; the master thread writes spikes into send buffers. So the time of a part is a
sum of counts (workload.py) times values of the machine: counts are arrays [rank] by kernel, values are draws.
The slowest thread of a rank is that of the median times. Waiting and exchange are not linear: they are
evaluated at the medians and with each value moved (draws.response).

Kernel times are those of one busy core until the rate of the full node is reached, which is the limit:
t(b) = max(t_one, t_full b / cores) for b busy cores.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.yaml_file import read_yaml
from spikemark.machines.jitter import Jitter
from spikemark.machines.parts import Node, Share
from spikemark.machines.profile import UnknownValue
from spikemark.machines.values import Values
from spikemark.models import order_statistics, recursion
from spikemark.models.loggp import Collectives, Interconnect, Traffic
from spikemark.network.lanes import Lane
from spikemark.network.ring import synapse_bytes
from spikemark.quantities.quantity import Quantity

from . import draws, exchange, meeting
from .draws import Draws, Recorder
from .layout import Layout
from .workload import Loads

COMPUTE = ("deliver", "update", "thread_wait", "collocate")
PARTS = (*COMPUTE, "waiting", "exchange")
SPREADS = Path(__file__).with_name("spreads.yaml")
ROUTES = 4  # ranks to which the spike of the profile's `collocate` goes
#: Clock cycles that a synapse takes more if its cell of the ring is not in the second cache, and further ones
#: if it is not in the core's share of the last one: lists of 1000 synapses (bench_kernels, 2026-11-22).
MISS, FAR, CLOCK_HZ = 2.142, 27.54, 3.65e9  # clock: of that machine
MESSAGE = ("latency_s", "latency_node_s", "gap_s", "bandwidth", "bandwidth_node")
Counts = dict[str, np.ndarray]  # by kernel


@dataclass(frozen=True, eq=False)
class Performance:
    """`parts`: seconds per simulated second, draws by PARTS. `inputs`: standard normal draws of what is
    uncertain, by name. `power_w`: None where the profile does not know it."""

    loads: Loads
    layout: Layout
    parts: dict[str, Draws]
    inputs: dict[str, Draws]
    power_w: Draws | float | None

    @property
    def real_time_factor(self) -> Draws:
        return sum(self.parts.values())


def performance(
    loads: Loads, machine: Any, layout: Layout, drawn: bool = True, means: np.ndarray | None = None,
    quick: bool = False,
) -> Performance:  # fmt: skip
    """Times of the mini-app on a machine. Without `drawn`, arrays have one entry, the median; `quick`:
    waiting in several lanes or with a lag is that of one meeting in the longest window.

    `means` [rank, part of COMPUTE]: seconds per cycle that a dry run measured, in place of the kernel times.
    Raises UnknownValue for a value that is needed and unknown, BadInput for an exchange that cannot be.
    """
    for lane in loads.lanes:
        exchange.check(lane)
    record = Recorder()
    middle, values = Values(machine), Values(machine, record if drawn else None)
    if means is None:
        counts = [counted(loads, middle.of_part(s.part), s.node) for s in layout.shares]
        compute, parts = sum(_seconds(middle, layout, counts).values()), dict.fromkeys(COMPUTE, 0.0)
        for share, by_part in zip(layout.shares, counts, strict=True):
            for part, kernels in by_part.items():
                mean = {name: count[share.slice].sum() / loads.ranks for name, count in kernels.items()}
                parts[part] = parts[part] + _times(mean, values.of_part(share.part), share.node)
    else:
        parts, compute = dict(zip(COMPUTE, means.mean(axis=0), strict=True)), means.sum(axis=1)
    scale = np.asarray(sum(parts.values())) / max(float(compute.mean()), 1e-300)
    lanes, moving, synchronising = _exchange(loads, middle, values, layout)
    waited = _waiting(middle, values, layout, compute, lanes, quick)
    parts |= {"waiting": waited * scale + synchronising, "exchange": moving}
    if drawn:
        for name in parts if means is None else parts.keys() - {*COMPUTE}:  # a dry run has no model's error
            parts[name] = parts[name] * _error(name, machine.name, loads.schedule.name, record)
    size = draws.N if drawn else 1
    parts = {name: np.broadcast_to(part, size) / loads.cycle_s for name, part in parts.items()}
    return Performance(loads, layout, parts, record.inputs, powered(values, layout))


def sampled(
    profile: Any, evaluate: Callable[[Values], dict[str, float]], count: int = 48
) -> dict[str, Quantity]:
    """Figures that `evaluate` makes of the values of a profile, with intervals from some of the draws."""
    record, middle = Recorder(), evaluate(Values(profile))
    made = [evaluate(Values(profile, lambda *given, at=at: float(record(*given)[at])))
            for at in range(0, draws.N, draws.N // count)]  # fmt: skip
    ends = {name: np.quantile([one[name] for one in made], [0.025, 0.975]).tolist() for name in middle}
    return {name: Quantity(value, min(value, ends[name][0]), max(value, ends[name][1]), kind="modelled")
            for name, value in middle.items()}  # fmt: skip


def compute_s(loads: Loads, machine: Any, layout: Layout) -> dict[str, np.ndarray]:
    """Median seconds per cycle of each part of COMPUTE, [rank], on the nodes of each rank."""
    values = Values(machine)
    return _seconds(values, layout, [counted(loads, values.of_part(s.part), s.node) for s in layout.shares])


def _seconds(values: Values, layout: Layout, counts: list[dict[str, Counts]]) -> dict[str, np.ndarray]:
    """Seconds of each part of COMPUTE, [rank], from the counts of all ranks on the nodes of each share."""
    shares = [(s, values.of_part(s.part)) for s in layout.shares]
    return {part: np.concatenate([_times(of[part], own, share.node)[share.slice]
                                  for of, (share, own) in zip(counts, shares, strict=True)])
            for part in COMPUTE}  # fmt: skip


def _times(counts: dict[str, Any], values: Values, node: Node) -> Any:
    """The sum of counts times seconds of their kernels."""
    return sum(count * kernel(values, name, node) for name, count in counts.items())


def kernel(values: Values, name: str, node: Node) -> Any:
    """Seconds of a kernel by the busy cores of a node. Raises UnknownValue where the profile lacks it."""
    if name == "clock":
        return 1 / values.get("node.clock", CLOCK_HZ)
    if name == "meet":
        return values.get("kernels.full_node.meet", 0.0)
    one, full = (
        values.need(f"kernels.{group}.{name}", f"{node.busy} of {node.cores} busy cores")
        if group in _groups(node) else None
        for group in ("one_core", "full_node")
    )  # fmt: skip
    if one is None or full is None:
        return one if full is None else full
    return np.maximum(np.minimum(one, full), full * node.busy / node.cores)


def _groups(node: Node) -> tuple[str, ...]:
    """The kernel times that count for a node with so many busy cores."""
    alone = node.busy == 1 or node.cores == 1
    return ("one_core",) * (alone or node.busy < node.cores) + ("full_node",) * (not alone)


def counted(loads: Loads, values: Values, node: Node) -> dict[str, Counts]:
    """How often each kernel runs in a cycle, by part of COMPUTE, [rank], if all ranks were on such nodes.

    `values`: medians, which say which thread of a rank is the slowest.
    """
    delivery, advancing = _delivery(loads, values, node), _advancing(loads, values, node)
    of_thread = _summed(delivery, advancing)
    seconds = _times(of_thread, values, node)[loads.column]
    slowest = loads.column[np.arange(loads.ranks), seconds.argmax(axis=1)]

    def mean(counts: Counts) -> Counts:
        return {name: count[loads.column].mean(axis=1) for name, count in counts.items()}

    deliver, update = mean(delivery) | {"t_spike": loads.arriving}, mean(advancing)
    if _known(values, "cycle", node):
        update["cycle"] = np.ones(loads.ranks)
    waited = {name: count[slowest] - count[loads.column].mean(axis=1) for name, count in of_thread.items()}
    if node.threads > 1:  # E[max] of the fluctuation of threads that do the same
        share = values.get("jitter.cv", 0.0) * order_statistics.expected_maximum(node.threads)
        waited = _summed(waited, {name: share * count for name, count in _summed(deliver, update).items()})
        waited["meet"] = np.ones(loads.ranks)
    collocate = {"collocate": loads.collocated / ROUTES}
    return {"deliver": deliver, "update": update, "thread_wait": waited, "collocate": collocate}


def _summed(*all_counts: Counts) -> Counts:
    names = dict.fromkeys(name for counts in all_counts for name in counts)
    return {name: sum(counts[name] for counts in all_counts if name in counts) for name in names}


def _known(values: Values, name: str, node: Node) -> bool:
    """Whether the profile has a time that only runs of the mini-app show (measuring/kernels_in_runs.py)."""
    return all(values.profile.get(f"kernels.{group}.{name}") is not None for group in _groups(node))


def _missed(size: float, used: np.ndarray) -> np.ndarray:
    """Share of accesses that such a cache misses, where so many bytes are in use; 0 for an unknown cache."""
    return np.maximum(0.0, 1 - size / np.maximum(used, 1.0)) if size else np.zeros_like(used)


def _caches(values: Values, node: Node) -> tuple[float, float]:
    """Bytes of the second cache, and of a busy core's share of the last one; 0: unknown."""
    last, sharing = values.get("node.l3", 0.0), values.get("node.l3_cores", 0.0)
    share = last / min(sharing, node.busy) if sharing else 0.0
    return values.get("node.l2", 0.0) or share, share


def _ring_bytes(loads: Loads) -> np.ndarray:
    return loads.ring.neuron_bytes * loads.held


def _delivery(loads: Loads, values: Values, node: Node) -> Counts:
    """Counts of a thread, [column]: lists, synapses, and clocks more outside the caches."""
    second, last = _caches(values, node)
    ring, lists = _ring_bytes(loads), loads.lists.sum(axis=0)
    clocks = MISS * _missed(second, ring) + FAR * _missed(last, ring)
    found = {"t_first": lists, "t_next": loads.events, "clock": loads.events * clocks}
    if _known(values, "t_first_far", node):
        table = np.zeros(len(lists))
        table[loads.column] = (
            loads.synapses[:, None] / loads.threads * synapse_bytes(loads.description.network)
        )
        found["t_first_far"] = lists * _missed(last, ring + table)
    return found


def _advancing(loads: Loads, values: Values, node: Node) -> Counts:
    """Counts of a thread, [column]: steps of neurons by model, and their input from outside."""
    populations = loads.description.network.populations
    models = np.array([f"update.{population.neuron.model}" for population in populations])
    outside = np.array([population.outside_hz > 0 for population in populations])
    kinds = {name: models == name for name in dict.fromkeys(models)} | {"external": outside}
    found = {name: loads.steps * (of @ loads.neurons) for name, of in kinds.items() if of.any()}
    if _known(values, "update_far", node):
        missed = _missed(_caches(values, node)[0], _ring_bytes(loads))
        found["update_far"] = loads.steps * loads.held * missed
    return found


def networks(values: Values, layout: Layout) -> list[Interconnect]:
    """The network within each share and of each link between two, in numbers or draws."""
    found = [Collectives.of(values.of_part(s.part), layout.nodes, measured=False).net for s in layout.shares]
    for one, two in combinations(layout.named, 2):
        link = values.of_link(one.part, two.part)
        crowd = link.get("interconnect.congestion", 1.0) if layout.nodes >= exchange.CROWD else 1.0
        latency, bandwidth, gap = (
            link.need(f"interconnect.{name}", exchange.WHY) for name in ("latency", "bandwidth", "gap")
        )
        found.append(replace(found[0], latency_s=latency, bandwidth=bandwidth / crowd, gap_s=gap))
    return found


def _worst(nets: list[Interconnect]) -> dict[str, Any]:
    """Values of messages of all ranks: the worst of all networks, by its median."""
    return {name: (min if "bandwidth" in name else max)((getattr(n, name) for n in nets), key=np.median)
            for name in MESSAGE}  # fmt: skip


def calls(middle: Values, layout: Layout) -> Collectives:
    """Collective calls between all ranks, at the medians; measured tables count where all nodes are equal."""
    if not layout.named:
        return Collectives.of(middle, layout.nodes)
    nets = networks(middle, layout)
    return Collectives(replace(nets[0], **_worst(nets)), {})


def _exchange(
    loads: Loads, middle: Values, values: Values, layout: Layout
) -> tuple[list[recursion.Lane], Any, Any]:
    """The lanes for the recursion, draws of the exchange that is not hidden, and of barriers before it; in
    seconds per cycle."""
    if loads.ranks == 1:
        return [], 0.0, 0.0
    net, met = calls(middle, layout), meetings(loads, layout)
    lanes = [recursion.Lane(lane.period, lane.lag, tuple(lane.group), exchange.seconds(net, lane, traffic))
             for lane, traffic in met]  # fmt: skip
    moved = {} if values.drawn is None else {
        name: value / np.median(value) for name, value in _worst(networks(values, layout)).items()
    }  # fmt: skip

    def draws_of(time: Callable[..., float]) -> Any:
        def total(factors: dict[str, float]) -> float:
            changed = {name: factor * getattr(net.net, name) for name, factor in factors.items()}
            there = replace(net, net=replace(net.net, **changed)) if changed else net
            return sum(time(there, lane, traffic) / lane.period for lane, traffic in met if not lane.lag)

        return draws.response(lambda asked: [*map(total, asked)], moved)

    beside = values.of_part(layout.shares[0].part).get("kernels.full_node.exchange", 0.0)
    beside = beside * sum(1 / lane.period for lane, _ in met if not lane.lag)  # what MPI alone does not take
    return lanes, draws_of(exchange.seconds) + beside, draws_of(exchange.barrier)


def meetings(loads: Loads, layout: Layout) -> list[tuple[Lane, list[Traffic]]]:
    """The lanes in which anybody meets before the end of the run, and what the ranks send each other."""
    found = []
    for number, lane in enumerate(loads.lanes):
        whole = lane.period * (lane.lag + 1) >= loads.description.time.cycles
        traffic = exchange.groups(loads, number, layout)
        if traffic and not (lane.shortest is None and whole):
            found.append((lane, traffic))
    return found


def _waiting(
    middle: Values, values: Values, layout: Layout, compute: np.ndarray, lanes: list[recursion.Lane],
    quick: bool,
) -> Any:  # fmt: skip
    """Draws of the waiting of a mean rank per cycle, with the median compute times [rank]."""
    if not lanes:
        return 0.0
    drawn, why = values.drawn is not None, "waiting for the slowest rank"
    jitters = [Jitter.of(middle.of_part(share.part), why) for share in layout.shares]

    def at(asked: list[dict[str, float]]) -> list[float]:
        runs = [[
            meeting.Group(compute[s.slice], replace(j, **{k: v * getattr(j, k) for k, v in changed.items()}),
                          s.node.ranks)
            for s, j in zip(layout.shares, jitters, strict=True)
        ] for changed in asked]  # fmt: skip
        return meeting.waiting(runs, lanes, quick)

    first = values.of_part(layout.shares[0].part)
    names = ("cv", "correlation_time", "node_spread") if drawn else ()
    own = {name: np.asarray(first.get(f"jitter.{name}", 0.0)) for name in names}
    return draws.response(at, {n: v / np.median(v) for n, v in own.items() if v.ndim and np.median(v) > 0})


@cache
def kept_errors() -> dict[str, float]:
    """Log SD of what a part takes beyond the values of a calibrated machine; spreads.yaml has the origin."""
    return {row["part"]: row["sd"] for row in read_yaml(SPREADS)["mini_app"]}


def _error(part: str, machine: str, schedule: str, record: Recorder) -> Draws:
    """What the model itself misses in a part: half of the variance is the same on all machines."""
    names, sd = [f"model/{part}", f"model/{part}/{machine}"], kept_errors()[part]
    if part in ("waiting", "exchange"):
        names.append(f"model/{part}/{schedule}")
    return np.exp(sd / len(names) ** 0.5 * sum(record.normal(name) for name in names))


def powered(values: Values, layout: Layout) -> float | Draws | None:
    """Power of all nodes together in W; None where the profile knows neither that of a node nor its parts."""
    try:
        return sum(share_w(values, layout, share) for share in layout.shares)
    except UnknownValue:
        return None


def share_w(values: Values, layout: Layout, share: Share) -> float | Draws:
    """Power of the nodes of one share. Cores wait busily, so all cores with a thread are always busy.

    Raises UnknownValue where the profile knows neither the offered power of a node nor its parts.
    """
    of, node = values.of_part(share.part), share.node
    offered = of.get("offer.watts")
    if offered is not None:
        return node.nodes * offered
    card = of.need("power.card", "energy of the interconnect") if layout.nodes > 1 else 0.0
    return node.nodes * (of.need("power.idle", "energy") + node.busy * of.need("power.core", "energy") + card)
