"""Seconds per simulated second of the mini-app on a machine, by part, as draws of what is
uncertain.

A thread takes t_first per list entered, t_next per synapse visited, t_spike per spike that it goes
through, t_update per neuron and step; the master thread writes spikes into send buffers. So the
time of a part is a sum of counts (workload.py) times values of the machine: counts are arrays
[rank] by kernel, values are draws. The slowest thread of a rank is that of the median times.
Waiting and exchange are not linear: they are evaluated for some joint settings of their values
(draws.of_slow_model).

Kernel times are those of one busy core until the rate of the full node is reached, which is the
limit: t(b) = max(t_one, t_full b / cores) for b busy cores.

With draws, one way to run a network takes some tens of milliseconds; without, some milliseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_yaml
from spikemark.machines import priors
from spikemark.machines.fields import FIELD
from spikemark.machines.jitter import FIELD_OF_PATH, jitter_of
from spikemark.machines.parts import Node, RanksOfPart
from spikemark.machines.priors import FULL_NODE, KERNELS, LINE_BYTES, SYNAPSE_BYTES
from spikemark.machines.profile import ASSUMED, Profile, UnknownValue, Value
from spikemark.machines.values import SI, Values
from spikemark.models import order_statistics, recursion
from spikemark.models.loggp import (
    Collectives,
    Interconnect,
    Traffic,
    between_nodes,
    message_costs,
)
from spikemark.models.node_power import NodePower
from spikemark.network.lanes import Lane
from spikemark.network.ring import synapse_bytes
from spikemark.quantities.quantity import Quantity

from . import draws, exchange, meeting
from .draws import Draws, Recorder
from .layout import AnyMachine, MachineLayout
from .workload import Loads

COMPUTE = ("deliver", "update", "thread_wait", "collocate")
COMMUNICATE = ("waiting", "exchange")
PARTS = (*COMPUTE, *COMMUNICATE)
SPREADS = Path(__file__).with_name("spreads.yaml")
ROUTES_IN_BENCH = 4  #: ranks to which the spike of the profile's `collocate` goes
#: Clock cycles that a synapse takes more if its cell of the ring is not in the second cache, and
#: further ones if it is not in the core's share of the last one: lists of 1000 synapses
#: (bench_kernels, 2026-11-22).
CYCLES_PER_L2_MISS = 2.142
CYCLES_PER_L3_MISS = 27.54
CLOCK_HZ = 3.65e9  #: of the machine where these were measured, where a profile states no clock
SMALLEST_S = 1e-300  #: so that nothing is divided by 0
#: Values whose larger (1) or smaller (-1) number makes times shorter.
BETTER = {
    "node.clock": 1,
    "node.clock_turbo": 1,
    "node.clock_share": 1,
    "node.l2": 1,
    "node.l3": 1,
    "node.memory_channels": 1,
    "node.bandwidth": 1,
    "node.bandwidth_core": 1,
    "interconnect.latency": -1,
    "interconnect.latency_node": -1,
    "interconnect.bandwidth": 1,
    "interconnect.bandwidth_node": 1,
    "interconnect.gap": -1,
    "interconnect.congestion": -1,
    "jitter.cv": -1,
    "jitter.node_spread": -1,
}
#: Values of which the clock of cores at work is made.
CLOCKS = ("node.clock", "node.clock_turbo", "node.clock_share")
#: Values of which assumed kernel times are made.
OF_KERNELS = (*CLOCKS, "node.memory_channels", "node.bandwidth", "node.bandwidth_core")
#: Kernels that bring a synapse, or the first line of a list, from memory.
LIMITED_BY_MEMORY = ("t_next", "t_first")
CACHES = ("node.l2", "node.l3", "node.l3_cores")
#: Values that models which are evaluated in settings take together.
TOGETHER = (
    CACHES,
    tuple(f"jitter.{path}" for path in FIELD_OF_PATH),
    tuple(path for path in FIELD if path.startswith("interconnect.")),
)
MAX_THREADS_AT_ONCE = 1 << 20  #: whose times are compared side by side, in several settings (8 MB)
SAMPLES = 48  #: draws of which `sampled` makes an interval

#: How often each kernel runs, by its name: [rank] or [column].
Counts = dict[str, np.ndarray]
#: The lanes in which ranks meet, and what the ranks of each group send each other.
Meetings = list[tuple[Lane, list[Traffic]]]


@dataclass(frozen=True, eq=False)
class Performance:
    """Times of a run of the mini-app on a machine."""

    loads: Loads
    layout: MachineLayout
    parts: dict[str, Draws]  #: seconds per simulated second, by PARTS
    inputs: dict[str, Draws]  #: standard normal draws of what is uncertain, by name
    power_w: Draws | float | None  #: of all nodes; None where the profile does not know it

    @property
    def real_time_factor(self) -> Draws:
        """Seconds per simulated second of all parts together."""
        return np.asarray(sum(self.parts.values()))


def performance(
    loads: Loads,
    machine: AnyMachine,
    layout: MachineLayout,
    drawn: bool = True,
    means: np.ndarray | None = None,
    quick: bool = False,
) -> Performance:
    """Times of the mini-app on a machine.

    Args:
        loads: what every rank has to do in a cycle.
        machine: a profile or a machine of parts.
        layout: the ranks on its nodes.
        drawn: with draws of what is uncertain; without, arrays have one entry, the median.
        means: [rank, part of COMPUTE], seconds per cycle that a dry run measured, in place of the
            kernel times.
        quick: waiting in several lanes or with a lag is that of one meeting in the longest window.

    Raises UnknownValue for a value that is needed and unknown, BadInput for an exchange that cannot
    be.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> times = performance(loads, jureca, layout, drawn=False)
        >>> max(times.parts, key=lambda part: times.parts[part])
        'waiting'
    """
    for lane in loads.lanes:
        exchange.check(lane)
    recorder = Recorder(TOGETHER)
    middle = Values(machine)
    values = Values(machine, recorder if drawn else None)
    if means is None:
        compute, parts = _from_kernels(loads, middle, values, layout)
        uncertain: tuple[str, ...] = PARTS
    else:
        compute = means.sum(axis=1)
        parts = dict(zip(COMPUTE, means.mean(axis=0), strict=True))
        uncertain = COMMUNICATE  # a dry run has no model's error
    # Ranks wait in proportion to what they compute.
    scale = np.asarray(sum(parts.values())) / max(float(compute.mean()), SMALLEST_S)
    exchanges = RunExchanges.of(loads, middle, values, layout)
    exchange_s, barrier_s = _exchange(exchanges, values, layout)
    waiting_s = _waiting(middle, values, layout, compute, exchanges, quick)
    parts["waiting"] = waiting_s * scale + barrier_s
    parts["exchange"] = exchange_s
    if drawn:
        unstated = _unstated(values.of_part(layout.shares[0].part), recorder)
        for part in uncertain:
            error = _error(part, machine, loads.schedule.name, recorder)
            parts[part] = parts[part] * error * unstated
    size = draws.N if drawn else 1
    per_second = {
        name: np.broadcast_to(seconds, size) / loads.cycle_s for name, seconds in parts.items()
    }
    return Performance(loads, layout, per_second, recorder.inputs, powered(values, layout))


def _from_kernels(
    loads: Loads, middle: Values, values: Values, layout: MachineLayout
) -> tuple[np.ndarray, dict[str, Any]]:
    """Median seconds that each rank computes in a cycle, [rank], and the draws of a mean rank, by
    part of COMPUTE.
    """
    counts = [counted(loads, middle.of_part(share.part), share.node) for share in layout.shares]
    compute = np.asarray(sum(_seconds(middle, layout, counts).values()))
    parts: dict[str, Any] = dict.fromkeys(COMPUTE, 0.0)
    for share, at_medians in zip(layout.shares, counts, strict=True):
        of_share = values.of_part(share.part)
        for part, mean in _mean_counts(loads, of_share, share, at_medians).items():
            parts[part] = parts[part] + _times(mean, of_share, share.node)
    return compute, parts


def _mean_counts(
    loads: Loads, values: Values, share: RanksOfPart, at_medians: dict[str, Counts]
) -> dict[str, dict[str, Any]]:
    """What the ranks of a share add to the counts of a mean rank, by part of COMPUTE and kernel:
    numbers, or draws where caches or the jitter of threads are uncertain.

    `at_medians`: what `counted` says of the medians of its nodes.
    """

    def evaluate(settings: list[dict[str, float]]) -> list[Any]:
        if not settings[0]:
            return [[_of_mean_rank(loads, share, count) for count in _kernel_counts(at_medians)]]
        results: list[Any] = []
        at_once = max(1, MAX_THREADS_AT_ONCE // (loads.ranks * loads.threads))
        for first in range(0, len(settings), at_once):
            part = settings[first : first + at_once]
            counts = counted(loads, _values_in(values, part), share.node)
            means = [_of_mean_rank(loads, share, count) for count in _kernel_counts(counts)]
            results += np.stack(
                [np.broadcast_to(mean, len(part)) for mean in means], axis=1
            ).tolist()
        return results

    uncertain = _drawn_of_counts(values, share.node)
    means = iter(np.moveaxis(np.asarray(draws.of_slow_model(evaluate, uncertain)), -1, 0))
    return {part: {name: next(means) for name in kernels} for part, kernels in at_medians.items()}


def _kernel_counts(counts: dict[str, Counts]) -> list[np.ndarray]:
    """The counts of all kernels of all parts, [..., rank] each."""
    return [count for kernels in counts.values() for count in kernels.values()]


def _of_mean_rank(loads: Loads, share: RanksOfPart, count: np.ndarray) -> Any:
    """What the ranks of a share add to a count of the mean rank, from those of all ranks."""
    return count[..., share.slice].sum(axis=-1) / loads.ranks


def _values_in(values: Values, settings: Sequence[dict[str, float]]) -> Values:
    """Medians of a machine, but for what settings have, by path: arrays [setting, 1] of these."""

    def numbers(name: str, middle: float, low: float, high: float, stated: Value) -> Any:
        _, _, path = name.partition("/")
        if path not in settings[0]:
            return middle
        return np.array([[setting[path]] for setting in settings])

    return replace(values, drawn=numbers)


def _drawn_of_counts(values: Values, node: Node) -> dict[str, Draws]:
    """What is uncertain of what counts depend on, by path: caches, and the jitter of threads.

    A last cache that is assumed is one of so many cores, which are then no further doubt.
    """
    uncertain = {path: np.asarray(values.get(path, 0.0)) for path in CACHES}
    last = values.profile.get("node.l3")
    if last is not None and last.kind == "assumed":
        del uncertain["node.l3_cores"]
    if node.threads > 1:
        uncertain["jitter.cv"] = np.asarray(values.get("jitter.cv", 0.0))
    return uncertain


def sampled(
    profile: Profile, evaluate: Callable[[Values], dict[str, float]], count: int = SAMPLES
) -> dict[str, Quantity]:
    """Figures that `evaluate` makes of the values of a profile, with intervals from `count` of the
    draws.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> def latency(values: Values) -> dict[str, float]:
        ...     return {"latency_us": values.need("interconnect.latency", "an example") * 1e6}
        >>> sampled(jureca, latency, count=16)["latency_us"].kind
        'modelled'
    """
    recorder = Recorder(TOGETHER)
    middle = evaluate(Values(profile))
    samples = []
    for draw in range(0, draws.N, draws.N // count):

        def one_draw(
            name: str, value: float, low: float, high: float, stated: Value, draw: int = draw
        ) -> float:
            return float(recorder(name, value, low, high, stated)[draw])

        samples.append(evaluate(Values(profile, one_draw)))
    quantities = {}
    for name, value in middle.items():
        low, high = np.quantile([sample[name] for sample in samples], [0.025, 0.975]).tolist()
        quantities[name] = Quantity(value, min(value, low), max(value, high), kind="modelled")
    return quantities


def compute_s(loads: Loads, machine: AnyMachine, layout: MachineLayout) -> dict[str, np.ndarray]:
    """Median seconds per cycle of each part of COMPUTE, [rank], on the nodes of each rank.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.network.presets import mam_benchmark
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> loads = Loads.count(mam_benchmark.describe(areas=2), 2, 1, np.array([2.5, 2.5]))
        >>> layout = MachineLayout.from_machine(machine, 2, 1, None)
        >>> {part: seconds.shape for part, seconds in compute_s(loads, machine, layout).items()}
        {'deliver': (2,), 'update': (2,), 'thread_wait': (2,), 'collocate': (2,)}
    """
    values = Values(machine)
    counts = [counted(loads, values.of_part(share.part), share.node) for share in layout.shares]
    return _seconds(values, layout, counts)


def _seconds(
    values: Values, layout: MachineLayout, counts: list[dict[str, Counts]]
) -> dict[str, np.ndarray]:
    """Seconds of each part of COMPUTE, [rank], from the counts of all ranks on the nodes of each
    share.
    """
    seconds = {}
    for part in COMPUTE:
        by_share = []
        for share, counts_of_share in zip(layout.shares, counts, strict=True):
            of_all = _times(counts_of_share[part], values.of_part(share.part), share.node)
            by_share.append(of_all[share.slice])
        seconds[part] = np.concatenate(by_share)
    return seconds


def _times(counts: dict[str, Any], values: Values, node: Node) -> Any:
    """The sum of counts times seconds of their kernels."""
    return sum(count * kernel(values, name, node) for name, count in counts.items())


def kernel(values: Values, name: str, node: Node) -> Any:
    """Seconds of a kernel by the busy cores of a node: a number, or draws.

    Raises UnknownValue where the profile lacks it.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> node = MachineLayout.from_machine(jureca, ranks=1, threads=128).shares[0].node
        >>> seconds = kernel(Values(jureca), "t_first", node)
        >>> round(1e9 * float(seconds))  # ns for the first synapse of a list, with all cores busy
        40
    """
    if name == "clock":
        return 1 / _clock_hz(values, node)
    if name == "meet":
        return values.get("kernels.full_node.meet", 0.0)
    times = [_kernel_of_group(values, group, name, node) for group in _groups(node)]
    if len(times) == 1:
        seconds = times[0]
    else:
        one_core, full_node = times
        seconds = np.maximum(np.minimum(one_core, full_node), full_node * node.busy / node.cores)
    if values.drawn is None:
        return seconds
    known = values.profile.get(f"kernels.{_groups(node)[-1]}.{name}")
    if known.kind != "assumed" or name not in LIMITED_BY_MEMORY or node.busy == 1:
        return seconds
    return np.maximum(seconds, _memory_s(values, name, node.busy))


def _clock_hz(values: Values, node: Node) -> Any:
    """Clock of the busy cores of a node: a number, or draws."""
    clock = values.get("node.clock")
    if clock is None:
        return CLOCK_HZ
    turbo, share = values.get("node.clock_turbo", clock), values.get("node.clock_share", 0.0)
    return priors.clock_at_work(clock, turbo, share, node.busy / node.cores)


def _kernel_of_group(values: Values, group: str, name: str, node: Node) -> Any:
    """Seconds of a kernel on one core, or on a full node: a number, or draws.

    The median of one that is assumed follows from the clock of cores at work, and is no shorter
    than its bytes take at the bandwidth of the memory (priors.py), so it moves with the draws of
    both.
    """
    path = f"kernels.{group}.{name}"
    seconds = values.need(path, f"{node.busy} of {node.cores} busy cores")
    if values.drawn is None or not values.profile.get(path).reference.startswith(ASSUMED):
        return seconds
    middle = replace(values, drawn=None)
    median_s, drawn_s = (_assumed_s(each, path, name, node) for each in (middle, values))
    if not np.all(median_s):  # a kernel that takes no time
        return seconds
    return seconds * drawn_s / median_s


def _assumed_s(values: Values, path: str, name: str, node: Node) -> Any:
    """Seconds of a kernel that is assumed, from clocks and memory: a number, or draws."""
    known = {clock: values.get(clock) / SI[FIELD[clock].unit or "1"] for clock in CLOCKS}
    seconds = priors.by_clock(path, known | {"node.cores": node.cores}) * SI["ns"]
    if name not in LIMITED_BY_MEMORY:
        return seconds
    busy = node.cores if FULL_NODE in path else 1
    return np.maximum(seconds, _memory_s(values, name, busy))


def _memory_s(values: Values, name: str, busy: int) -> Any:
    """Seconds that the bytes of a kernel of LIMITED_BY_MEMORY take on each of `busy` cores, in
    numbers or draws.
    """
    size = SYNAPSE_BYTES if name == "t_next" else values.get("node.line", LINE_BYTES)
    if busy == 1:
        return size / values.get("node.bandwidth_core")
    bandwidth = values.get("node.bandwidth")
    if values.profile.get("node.bandwidth").kind == "assumed":
        channels = values.get("node.memory_channels", 1.0)
        bandwidth = bandwidth * channels / np.median(channels)
    return size * busy / bandwidth


def _groups(node: Node) -> list[str]:
    """The kernel times that count for a node with so many busy cores."""
    if node.busy == 1 or node.cores == 1:
        return ["one_core"]
    if node.busy < node.cores:
        return ["one_core", "full_node"]
    return ["full_node"]


def counted(loads: Loads, values: Values, node: Node) -> dict[str, Counts]:
    """How often each kernel runs in a cycle, by part of COMPUTE, [rank], if all ranks were on such
    nodes.

    `values`: medians, which say which thread of a rank is the slowest. Where some are arrays
    [setting, 1], so are the counts that depend on them, [setting, rank]. Raises BadInput for a
    delivery that machines are not measured with.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> counts = counted(loads, Values(jureca), layout.shares[0].node)
        >>> list(counts)
        ['deliver', 'update', 'thread_wait', 'collocate']
        >>> {name: count.shape for name, count in counts["deliver"].items()}
        {'t_first': (4,), 't_next': (4,), 'clock': (4,), 't_spike': (4,)}
    """
    if loads.description.delivery == "reference":
        expected = "tuned, which machines are measured with"
        raise BadInput(field="delivery", value="reference", expected=expected)
    delivery = _delivery(loads, values, node)
    advancing = _advancing(loads, values, node)
    of_thread = _summed(delivery, advancing)
    seconds = _times(of_thread, values, node).take(loads.column, axis=-1)  # [..., rank, thread]
    slowest = loads.column[np.arange(loads.ranks), seconds.argmax(axis=-1)]  # column, [..., rank]
    deliver = _mean_thread(loads, delivery)
    deliver["t_spike"] = loads.arriving
    update = _mean_thread(loads, advancing)
    if _has_time(values, "cycle", node):
        update["cycle"] = np.ones(loads.ranks)
    mean = _mean_thread(loads, of_thread)
    thread_wait = {}
    for name, count in of_thread.items():
        thread_wait[name] = _of_columns(count, slowest) - mean[name]
    if node.threads > 1:  # E[max] of the fluctuation of threads that do the same
        share = values.get("jitter.cv", 0.0) * order_statistics.expected_maximum(node.threads)
        fluctuation = {name: share * count for name, count in _summed(deliver, update).items()}
        thread_wait = _summed(thread_wait, fluctuation)
        thread_wait["meet"] = np.full(loads.ranks, np.log2(node.threads))
    return {
        "deliver": deliver,
        "update": update,
        "thread_wait": thread_wait,
        "collocate": {"collocate": loads.collocated / ROUTES_IN_BENCH},
    }


def _mean_thread(loads: Loads, counts: Counts) -> Counts:
    """Counts of the mean thread of each rank, [..., rank], from those of columns."""
    means = {}
    for name, count in counts.items():
        means[name] = np.asarray(count.take(loads.column, axis=-1).mean(axis=-1))
    return means


def _of_columns(count: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Counts [..., column] of one column for each rank, [..., rank]."""
    if count.ndim == 1:
        return np.asarray(count[columns])
    return np.take_along_axis(count, columns, axis=-1)


def _summed(*all_counts: Counts) -> Counts:
    """The sums of counts by kernel."""
    sums: Counts = {}
    for counts in all_counts:
        for name, count in counts.items():
            sums[name] = sums[name] + count if name in sums else count
    return sums


def _has_time(values: Values, name: str, node: Node) -> bool:
    """Whether the profile has a time that only runs of the mini-app show
    (measuring/kernels_in_runs.py).
    """
    paths = [f"kernels.{group}.{name}" for group in _groups(node)]
    return all(values.profile.get(path) is not None for path in paths)


def _missed(cache_bytes: object, used_bytes: np.ndarray) -> np.ndarray:
    """Share of accesses that such a cache misses, where so many bytes are in use; 0 for an unknown
    cache.
    """
    missed = np.maximum(0.0, 1 - cache_bytes / np.maximum(used_bytes, 1.0))
    return np.where(np.asarray(cache_bytes) > 0, missed, 0.0)


def _caches(values: Values, node: Node) -> tuple[Any, Any]:
    """Bytes of the second cache, and of a busy core's share of the last one; 0: unknown."""
    sharing = np.minimum(values.get("node.l3_cores", 0.0), node.busy)
    is_known = sharing > 0
    share = np.where(is_known, values.get("node.l3", 0.0) / np.where(is_known, sharing, 1.0), 0.0)
    second = np.asarray(values.get("node.l2", 0.0))
    return np.where(second > 0, second, share), share


def _ring_bytes(loads: Loads) -> np.ndarray:
    """Bytes of the rings of input of a thread, [column]."""
    ring_bytes: np.ndarray = loads.ring.neuron_bytes * loads.held
    return ring_bytes


def _delivery(loads: Loads, values: Values, node: Node) -> Counts:
    """Counts of a thread, [column]: lists, synapses, and clocks more outside the caches."""
    second, last = _caches(values, node)
    ring = _ring_bytes(loads)
    lists = loads.lists.sum(axis=0)
    l2_cycles = CYCLES_PER_L2_MISS * _missed(second, ring)
    l3_cycles = CYCLES_PER_L3_MISS * _missed(last, ring)
    counts = {
        "t_first": lists,
        "t_next": loads.events,
        "clock": loads.events * (l2_cycles + l3_cycles),
    }
    if _has_time(values, "t_first_far", node):
        bytes_of_synapse = synapse_bytes(loads.description.network)
        table = np.zeros(len(lists))
        table[loads.column] = loads.synapses[:, None] / loads.threads * bytes_of_synapse
        counts["t_first_far"] = lists * _missed(last, ring + table)
    return counts


def _advancing(loads: Loads, values: Values, node: Node) -> Counts:
    """Counts of a thread, [column]: steps of neurons by model, and their input from outside."""
    network = loads.description.network
    kinds = {f"update.{model}": of_model for model, of_model in network.of_model.items()}
    kinds["external"] = network.has_input  # [population] each
    counts = {
        name: loads.steps * (of_kind @ loads.neurons)
        for name, of_kind in kinds.items()
        if of_kind.any()
    }
    if _has_time(values, "update_far", node):
        second, _ = _caches(values, node)
        counts["update_far"] = loads.steps * loads.held * _missed(second, _ring_bytes(loads))
    return counts


def _networks(values: Values, layout: MachineLayout) -> list[Interconnect]:
    """The network within each share and of each link between two, in numbers or draws."""
    networks = []
    for share in layout.shares:
        of_share = values.of_part(share.part)
        networks.append(Collectives.from_values(of_share, layout.nodes, measured=False).net)
    for first, second in combinations(layout.named, 2):
        link = values.of_link(str(first.part), str(second.part))
        of_link = between_nodes(link, exchange.WHY, layout.nodes)
        networks.append(replace(networks[0], **of_link))
    return networks


def _worst_costs(networks: list[Interconnect]) -> dict[str, Any]:
    """What messages between any ranks cost, by field of Interconnect, in numbers or draws.

    Each field is that of the network where its median is worst.
    """
    worst = {}
    for field, better in message_costs().items():
        costs = [getattr(network, field) for network in networks]
        medians = [float(np.median(cost)) for cost in costs]
        extreme = min(medians) if better > 0 else max(medians)
        worst[field] = costs[medians.index(extreme)]
    return worst


def calls(middle: Values, layout: MachineLayout) -> Collectives:
    """Collective calls between all ranks, at the medians.

    Measured tables count where all nodes are equal.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> round(1e6 * calls(Values(jureca), layout).net.latency_s, 2)  # microseconds
        1.47
    """
    if not layout.named:
        return Collectives.from_values(middle, layout.nodes)
    networks = _networks(middle, layout)
    return Collectives(replace(networks[0], **_worst_costs(networks)), {})


def _cost_draws(
    collectives: Collectives, values: Values, layout: MachineLayout
) -> dict[str, Draws]:
    """Draws of what messages cost, by field of Interconnect: of those fields that are uncertain.

    Draws are rescaled so that their median is the cost at the medians, which `collectives` has:
    the median of a quotient, such as bandwidth over congestion, is not the quotient of medians. A
    cost of 0 has no scale; its draws, which begin at 0, stay as they are.
    """
    if values.drawn is None:
        return {}
    cost_draws: dict[str, Draws] = {}
    for field, cost in _worst_costs(_networks(values, layout)).items():
        if not np.ndim(cost):  # nothing of it is uncertain
            continue
        at_medians = getattr(collectives.net, field)
        cost_draws[field] = cost / np.median(cost) * at_medians if at_medians else cost
    return cost_draws


@dataclass(frozen=True, eq=False)
class RunExchanges:
    """The lanes of a run, and what their messages cost."""

    collectives: Collectives  #: at the medians of the machine
    meetings: Meetings
    cost_draws: dict[str, Draws]  #: of what is uncertain of messages, by field of Interconnect

    @classmethod
    def of(
        cls, loads: Loads, middle: Values, values: Values, layout: MachineLayout
    ) -> "RunExchanges | None":
        """Those of all ranks; None for a rank alone.

        `middle` has the medians of a machine, `values` its draws.

        Example:
            >>> from spikemark import machines
            >>> from spikemark.network.presets import mam_benchmark
            >>> from spikemark.prediction.workload import rates_of
            >>> jureca = machines.filled(machines.load("jureca-dc"))
            >>> description = mam_benchmark.describe(areas=4, schedule="overlapped")
            >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
            >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
            >>> exchanges = RunExchanges.of(loads, Values(jureca), Values(jureca), layout)
            >>> [lane.lag for lane in exchanges.lanes()]
            [1]
        """
        if loads.ranks == 1:
            return None
        collectives = calls(middle, layout)
        cost_draws = _cost_draws(collectives, values, layout)
        return cls(collectives, _meetings(loads, layout), cost_draws)

    def lanes(self, settings: Sequence[dict[str, float]] = ()) -> list[recursion.LaneMeetings]:
        """The lanes for the recursion.

        `settings`: what messages cost in each of several runs. Then the exchanges of lanes with a
        lag have a time in each: what is not hidden of them, ranks wait for.
        """
        lanes = []
        for lane, traffic in self.meetings:
            seconds: float | np.ndarray = exchange.seconds(self.collectives, lane, traffic)
            if lane.lag and settings:
                in_each = exchange.seconds(self._network_in(settings), lane, traffic)
                seconds = np.array(np.broadcast_to(in_each, len(settings)))
            lanes.append(
                recursion.LaneMeetings(
                    period=lane.period, lag=lane.lag, group=tuple(lane.group), exchange_s=seconds
                )
            )
        return lanes

    def per_cycle(self, seconds: Callable[[Collectives, Lane, list[Traffic]], Any]) -> Any:
        """Draws of the seconds per cycle of all lanes without a lag."""

        def evaluate(settings: list[dict[str, float]]) -> list[float]:
            network = self._network_in(settings)
            total = np.zeros(len(settings))
            for lane, traffic in self.meetings:
                if not lane.lag:
                    total += seconds(network, lane, traffic) / lane.period
            return total.tolist()

        return draws.of_slow_model(evaluate, self.cost_draws)

    def _network_in(self, settings: Sequence[dict[str, float]]) -> Collectives:
        """The network where messages cost so much: arrays [setting, 1] of what settings have."""
        costs: dict[str, Any] = {}
        for name in settings[0]:
            costs[name] = np.array([[setting[name]] for setting in settings])
        return replace(self.collectives, net=replace(self.collectives.net, **costs))


def _exchange(
    exchanges: RunExchanges | None, values: Values, layout: MachineLayout
) -> tuple[Any, Any]:
    """Draws of the exchange that is not hidden, and of barriers before it; in seconds per cycle."""
    if exchanges is None:
        return 0.0, 0.0
    exchange_s = exchanges.per_cycle(exchange.seconds)
    barrier_s = exchanges.per_cycle(exchange.barrier)
    beside_mpi = values.of_part(layout.shares[0].part).get("kernels.full_node.exchange", 0.0)
    per_cycle = sum(1 / lane.period for lane, _ in exchanges.meetings if not lane.lag)
    return exchange_s + beside_mpi * per_cycle, barrier_s


def _meetings(loads: Loads, layout: MachineLayout) -> Meetings:
    """The lanes in which anybody meets before the end of the run, and what the ranks send each
    other.
    """
    meetings: Meetings = []
    for number, lane in enumerate(loads.lanes):
        never_due = lane.period * (lane.lag + 1) >= loads.description.time.cycles
        traffic = exchange.groups(loads, number, layout)
        if traffic and not (lane.shortest is None and never_due):
            meetings.append((lane, traffic))
    return meetings


def _waiting(
    middle: Values,
    values: Values,
    layout: MachineLayout,
    compute: np.ndarray,
    exchanges: RunExchanges | None,
    quick: bool,
) -> Any:
    """Draws of the waiting of a mean rank per cycle, with the median compute times [rank]: for the
    slowest rank, and for exchanges with a lag that take longer than what they are hidden behind.

    The latter depends on what messages cost, so that both have the same settings.
    """
    if exchanges is None or not exchanges.meetings:
        return 0.0
    purpose = "waiting for the slowest rank"
    jitters = [jitter_of(middle.of_part(share.part), purpose) for share in layout.shares]
    costs: dict[str, Draws] = {}
    if any(lane.lag for lane, _ in exchanges.meetings):
        costs = exchanges.cost_draws

    def groups(moved: dict[str, float]) -> list[meeting.SimilarRanks]:
        similar = []
        for share, jitter in zip(layout.shares, jitters, strict=True):
            of_share = jitter.moved(moved)
            similar.append(meeting.SimilarRanks(compute[share.slice], of_share, share.node.ranks))
        return similar

    def evaluate(settings: list[dict[str, float]]) -> list[float]:
        moved = [_picked(setting, factors) for setting in settings]
        lanes = exchanges.lanes([_picked(setting, costs) for setting in settings] if costs else ())
        return meeting.waiting([groups(of_run) for of_run in moved], lanes, quick)

    factors: dict[str, Draws] = {}  # of values of jitter, with median 1
    if values.drawn is not None:
        first = values.of_part(layout.shares[0].part)
        for path, name in FIELD_OF_PATH.items():
            value = np.asarray(first.get(f"jitter.{path}", 0.0))
            if value.ndim and np.median(value) > 0:
                factors[name] = value / np.median(value)
    return draws.of_slow_model(evaluate, factors | costs)


def _picked(setting: dict[str, float], inputs: dict[str, Draws]) -> dict[str, float]:
    """The values of a setting that belong to some inputs."""
    return {name: value for name, value in setting.items() if name in inputs}


@cache
def kept_errors() -> dict[str, float]:
    """Log SD of what a part takes beyond the values of a calibrated machine; spreads.yaml has the
    origin.

    Example:
        >>> sorted(kept_errors())[:2]
        ['collocate', 'deliver']
    """
    return {row["part"]: row["sd"] for row in read_yaml(SPREADS)["mini_app"]}


def _error(part: str, machine: AnyMachine, schedule: str, recorder: Recorder) -> Draws:
    """What the model itself misses in a part: half of the variance is the same on all machines,
    the rest on all of the same nodes, or of the same network.
    """
    identity = machine.network_identity if part == "exchange" else machine.node_identity
    names = [f"model/{part}", f"model/{part}/{identity}"]
    if part in COMMUNICATE:
        names.append(f"model/{part}/{schedule}")
    sd = kept_errors()[part]
    z = sum(recorder.normal(name) for name in names)
    error: Draws = np.exp(sd / len(names) ** 0.5 * z)
    return error


def _unstated(values: Values, recorder: Recorder) -> Draws:
    """Factor of the time for values that the model took and the profile does not state.

    A time whose parts are uncertain to different degrees may seem surer without a value, where the
    assumed one makes the less certain parts smaller. So each value moves the time by more than
    what the model makes of it (Recorder.unstated).
    """
    profile = values.profile
    of_kernels = {profile.draws_of(path) for path in profile.values if path.startswith(KERNELS)}
    takes_kernels = any(f"{owner}/kernels" in recorder.inputs for owner in of_kernels)
    factor = np.ones(draws.N)
    for path, sign in BETTER.items():
        value = profile.get(path)
        name = f"{profile.draws_of(path)}/{path}"
        taken = name in recorder.inputs or (takes_kernels and path in OF_KERNELS)
        if taken and value is not None and value.kind == "assumed" and value.interval:
            factor *= recorder.unstated(name, sign)
    return factor


def powered(values: Values, layout: MachineLayout) -> float | Draws | None:
    """Power of all nodes together in W.

    None where the profile knows neither that of a node nor its parts.

    Example:
        >>> from spikemark import machines
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> layout = MachineLayout.from_machine(jureca, ranks=2, threads=128)
        >>> round(powered(Values(jureca), layout))  # W of two nodes
        808
    """
    try:
        watts: float | Draws = sum(_share_w(values, layout, share) for share in layout.shares)
    except UnknownValue:
        return None
    return watts


def _share_w(values: Values, layout: MachineLayout, share: RanksOfPart) -> Any:
    """Power of the nodes of one share in W, a number or draws.

    Cores wait busily, so all cores with a thread are always busy. Raises UnknownValue where the
    profile knows neither the offered power of a node nor its parts.
    """
    of_share = values.of_part(share.part)
    node = share.node
    offered = of_share.get("offer.watts")
    if offered is not None:
        return node.nodes * offered
    card = 0.0
    if layout.nodes > 1:
        card = of_share.need("power.card", "energy of the interconnect")
    power = NodePower(
        idle_w=of_share.need("power.idle", "energy"),
        socket_w=of_share.need("power.socket", "energy"),
        core_w=of_share.need("power.core", "energy"),
        card_w=card,
        core_alone_w=of_share.get("power.core_alone"),
    )
    sockets = round(float(np.median(of_share.get("node.sockets", 1))))
    return node.nodes * power.watts(node.busy, node.cores, sockets, cards=1)
