"""Times of kernels for a calibration: on one core, and on every core of the nodes at once.

A round starts a copy of build/bench_kernels, bound to its core, on all cores, and one on a core
alone. Delivery is measured with lists of Poisson lengths, as in a network of random connections,
and its times are fitted by three: of a list entered, a synapse and a spike
(models/delivery_time.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.launch import Launch, LaunchLayout
from spikemark.launch.process import ProgramFailed, output
from spikemark.machines.profile import Value
from spikemark.models import delivery_time

from . import kernels
from .bench_program import BENCH_LIMIT_S, read_program_json
from .site import ONE_NODE, Effort, Site, ValuesAndUnknown, listed, repeated

#: Delivery from LISTS lists that share so many synapses (bench/kernels_drawn.c).
DRAWN, SIZES, LISTS = "deliver_drawn", (4, 16, 64, 256, 1024, 8192), 16
#: Neurons updated together.
BLOCK = 4096
#: External input of so many events per neuron and step.
EXTERNAL, EVENTS = "poisson_mean_1.2", "1.2"
#: Kernel and size (MiB) of the clock and of STREAM's triad.
CLOCK, TRIAD = ("clock", 1), ("triad", 64)
#: What a round measures.
CALIBRATED = (
    rf"^{DRAWN}/size:({'|'.join(map(str, SIZES))})$|^update_[a-z]+_[a-z_]+/size:{BLOCK}$"
    rf"|^{EXTERNAL}/size:{BLOCK}$|^(clock|triad)/"
)
#: Writes the times of a copy to a file of its own, named after its node. (The shell stays, since
#: tests give each program of a launcher the name of its node once.)
START_COPY = 'folder=$1; shift; "$@" --benchmark_out="$folder/$(uname -n).$$.json"; exit $?'
#: Times as long as on the median node, from which a node counts as slow.
SLOW_NODE = 1.05

#: Kernel and size -> ns per item.
Times = dict[tuple[str, int], float]


@dataclass(frozen=True)
class KernelRepetition:
    """Times of a round, by node."""

    one_core: dict[str, Times]  #: on one core, while the others are idle
    full_node: dict[str, list[Times]]  #: of the copy on each core when all are busy


def one_round(
    site: Site,
    effort: Effort,
    folder: Path,
    earlier: list[KernelRepetition],
) -> KernelRepetition:
    """Measures CALIBRATED; files go to `folder`.

    On all cores at once, with bound copies, and on one core, on this host another one in each
    round. Raises ProgramFailed.
    """
    program = [
        str(places.program("bench_kernels")),
        f"--benchmark_filter={CALIBRATED}",
        f"--benchmark_min_time={effort.kernel_s}",
        "--benchmark_out_format=json",
    ]
    full_node = _copies(program, site.full(), folder / "full-node")
    if site.allocated:
        alone = _copies(program, site.one_each(), folder / "one-core")
        one_core = {node: copies[0] for node, copies in alone.items()}
    else:
        one_core = {"": _on_this_host(program, folder / "one-core.json", len(earlier))}
    return KernelRepetition(one_core, full_node)


def _on_this_host(program: list[str], file: Path, number: int) -> Times:
    """Times on one core of this host, in each round another one."""
    cpus = launch.core_threads()
    cpu = cpus[number % len(cpus)]
    command = ["taskset", "-c", str(cpu), *program, f"--benchmark_out={file}"]
    output(Launch(command), BENCH_LIMIT_S)
    return _times(file)


def _copies(program: list[str], layout: LaunchLayout, folder: Path) -> dict[str, list[Times]]:
    """Times of one copy for each rank of a layout, by node."""
    folder.mkdir()
    command = ["sh", "-c", START_COPY, "sh", str(folder), *program]
    output(launch.launch(None, command, layout), BENCH_LIMIT_S)
    files = sorted(folder.iterdir())
    if len(files) != layout.ranks:
        raise ProgramFailed(
            f"bench_kernels: {len(files)} of {layout.ranks} copies left times in {folder}"
        )
    copies: dict[str, list[Times]] = {}
    for file in files:
        node = file.name.rsplit(".", 2)[0]
        copies.setdefault(node, []).append(_times(file))
    return copies


def _times(file: Path) -> Times:
    """The times in a file of Google Benchmark. Raises ProgramFailed where one is missing."""
    rows, dropped = read_program_json("bench_kernels", file, kernels.repetitions)
    if dropped:
        raise ProgramFailed(f"bench_kernels: {dropped[0]}")
    keys = zip(rows["kernel"], rows["size"], strict=True)
    return dict(zip(keys, rows["ns"], strict=True))


def values(rounds: list[KernelRepetition], site: Site) -> ValuesAndUnknown:
    """Values by path, kernels.…, node.… and jitter.node_spread, and what is unknown, with reasons.

    Medians over nodes, of means over the cores of a node. Raises ProgramFailed where delivery
    cannot be fitted.

    Example:
        >>> ns = _delivered() @ [3.0, 1.0, 2.0]  # of a list entered, a synapse and a spike
        >>> times = {(DRAWN, size): ns[number] for number, size in enumerate(SIZES)}
        >>> times |= {(EXTERNAL, BLOCK): 5.0, CLOCK: 0.5, TRIAD: 0.1}
        >>> repetition = KernelRepetition(one_core={"": times}, full_node={"": [times, times]})
        >>> by_path, unknown = values([repetition], Site(nodes=1, cores=2))
        >>> round(float(by_path["kernels.full_node.t_next"].value), 2), by_path["node.clock"].value
        (1.0, 2.0)
    """
    over = f", median over {site.nodes} nodes" if site.nodes > 1 else ""
    one_core = [_median(list(repetition.one_core.values())) for repetition in rounds]
    full_node = [_median(_node_means(repetition)) for repetition in rounds]
    calibrated = {}
    for condition, times in (("one_core", one_core), ("full_node", full_node)):
        for name, value in of_rounds(times, over).items():
            calibrated[f"kernels.{condition}.{name}"] = value
    clocks = [1 / times[CLOCK] for times in full_node]
    calibrated["node.clock"] = repeated(clocks, "GHz", f"all cores busy{over}")
    triad = f"triad of STREAM, 3 x 64 MiB per core{over}"
    node_rates = [_node_bandwidth(repetition) for repetition in rounds]
    core_rates = [_core_bandwidth(repetition) for repetition in rounds]
    calibrated["node.bandwidth"] = repeated(node_rates, "GB/s", triad)
    calibrated["node.bandwidth_core"] = repeated(core_rates, "GB/s", triad)
    if site.nodes == 1:
        return calibrated, {"jitter.node_spread": ONE_NODE}
    calibrated["jitter.node_spread"] = node_spread(rounds)
    return calibrated, {}


def _node_means(repetition: KernelRepetition) -> list[Times]:
    """The mean times of the copies of each node."""
    return [_mean(copies) for copies in repetition.full_node.values()]


def _node_bandwidth(repetition: KernelRepetition) -> float:
    """Of all cores of a node together, GB/s, median over nodes."""
    rates = []
    for copies in repetition.full_node.values():
        rates.append(sum(1 / times[TRIAD] for times in copies))
    return float(np.median(rates))


def _core_bandwidth(repetition: KernelRepetition) -> float:
    """Of a core alone, GB/s, median over nodes."""
    rates = [1 / times[TRIAD] for times in repetition.one_core.values()]
    return float(np.median(rates))


def _mean(copies: list[Times]) -> Times:
    """The mean of each time over the copies of a node."""
    return _over(np.mean, copies)


def _median(nodes: list[Times]) -> Times:
    """The median of each time over nodes."""
    return _over(np.median, nodes)


def _over(middle: Callable[[Any], Any], repetitions: list[Times]) -> Times:
    times = {}
    for key in repetitions[0]:
        times[key] = float(middle([repetition[key] for repetition in repetitions]))
    return times


def _delivered() -> np.ndarray:
    """Lists entered, synapses and spikes for one synapse of each size, [size, 3].

    Lengths of lists are Poisson distributed, so that lists may be empty.
    """
    length = np.array(SIZES) / LISTS
    entered = (1 - np.exp(-length)) / length
    return np.column_stack([entered, np.ones_like(length), 1 / length])


def of_rounds(rounds: list[Times], over: str = "") -> dict[str, Value]:
    """Values below kernels.CONDITION, from the times of each round.

    `over` is added to each reference. Raises ProgramFailed where delivery cannot be fitted.

    Example:
        >>> ns = _delivered() @ [3.0, 1.0, 2.0]  # of a list entered, a synapse and a spike
        >>> times = {(DRAWN, size): ns[number] for number, size in enumerate(SIZES)}
        >>> times[EXTERNAL, BLOCK] = 5.0
        >>> {name: round(float(value.value), 2) for name, value in of_rounds([times]).items()}
        {'t_first': 3.0, 't_next': 1.0, 't_spike': 2.0, 'external': 5.0}
    """
    values = {}
    for name, times, detail in [*_delivery(rounds), *_neurons(rounds)]:
        values[name] = repeated(times, "ns", detail + over)
    return values


#: Name of a kernel, its times in all rounds (ns), and how they were measured.
NamedTimes = tuple[str, list[float], str]


def _delivery(rounds: list[Times]) -> list[NamedTimes]:
    """Times of lists entered, synapses and spikes, fitted to those of delivery."""
    counts = _delivered()
    seconds = [_delivery_seconds(times) for times in rounds]
    try:
        fits = [delivery_time.fit(counts, round_s) for round_s in seconds]
    except BadInput as error:
        raise ProgramFailed(f"delivery: {error}") from None
    errors = [fit.predict(counts) / round_s - 1 for fit, round_s in zip(fits, seconds, strict=True)]
    worst = 100 * float(np.abs(np.median(errors, axis=0)).max())
    lengths = f"{SIZES[0] / LISTS:g} to {SIZES[-1] / LISTS:g}"
    detail = f"mean list lengths {lengths}, fitted within {worst:.0f} %"
    return [
        ("t_first", [1e9 * fit.first for fit in fits], detail),
        ("t_next", [1e9 * fit.next for fit in fits], detail),
        ("t_spike", [1e9 * (fit.spike or 0.0) for fit in fits], detail),
    ]


def _delivery_seconds(times: Times) -> np.ndarray:
    """Seconds per synapse of each size."""
    return 1e-9 * np.array([times[DRAWN, size] for size in SIZES])


def _neurons(rounds: list[Times]) -> list[NamedTimes]:
    """Times of external input and of updates, per neuron."""
    external = [times[EXTERNAL, BLOCK] for times in rounds]
    named = [("external", external, f"Poisson, {EVENTS} events per step")]
    for kernel, size in rounds[0]:
        if kernel.startswith("update_"):
            model = kernel.removeprefix("update_")
            updates = [times[kernel, size] for times in rounds]
            named.append((f"update.{model}", updates, f"blocks of {BLOCK}"))
    return named


def _relative_times(rounds: list[KernelRepetition]) -> tuple[list[str], np.ndarray]:
    """Names of nodes, and kernel times of each over the mean of all nodes, [round, node].

    Times of several kernels are averaged geometrically.
    """
    nodes = sorted(rounds[0].full_node)
    factors = []
    for repetition in rounds:
        times = [_mean(repetition.full_node[node]) for node in nodes]
        node_ns = np.array([_typical_ns(node_times) for node_times in times])
        factors.append(node_ns / node_ns.mean())
    return nodes, np.array(factors)


def _typical_ns(times: Times) -> float:
    """Geometric mean over kernels, without the clock and the triad."""
    logarithms = [np.log(ns) for key, ns in times.items() if key not in (CLOCK, TRIAD)]
    return float(np.exp(np.mean(logarithms)))


def node_spread(rounds: list[KernelRepetition]) -> Value:
    """`jitter.node_spread`: SD of the nodes' times over their mean; for two nodes or more.

    Example:
        >>> kernel = (EXTERNAL, BLOCK)
        >>> full_node = {"node1": [{kernel: 1.0}], "node2": [{kernel: 1.2}]}
        >>> rounds = [KernelRepetition(one_core={}, full_node=full_node)]
        >>> round(node_spread(rounds).value, 3)
        0.129
    """
    nodes, factors = _relative_times(rounds)
    medians = np.median(factors, axis=0)
    slowest, fastest = int(medians.argmax()), int(medians.argmin())
    slow = f"{nodes[slowest]} takes {medians[slowest]:.3f} times the mean"
    detail = (
        f"kernel times on {listed(nodes)}, all cores busy; {slow},"
        f" {nodes[fastest]} {medians[fastest]:.3f}"
    )
    return repeated([float(round_.std(ddof=1)) for round_ in factors], "1", detail)


def slow_nodes(rounds: list[KernelRepetition]) -> list[str]:
    """A line for each slow node.

    A node is slow if it takes longer than the median node in every round, and typically SLOW_NODE
    times as long.

    Example:
        >>> kernel = (EXTERNAL, BLOCK)
        >>> ns_by_node = {"node1": 1.0, "node2": 1.0, "node3": 1.2}
        >>> full_node = {node: [{kernel: ns}] for node, ns in ns_by_node.items()}
        >>> slow_nodes([KernelRepetition(one_core={}, full_node=full_node)])
        ['node node3 is slow: kernels take 1.20 times as long as on the median node']
    """
    nodes, factors = _relative_times(rounds)
    relative = factors / np.median(factors, axis=1, keepdims=True)
    medians, least = np.median(relative, axis=0), relative.min(axis=0)
    lines = []
    for node, typical, smallest in zip(nodes, medians, least, strict=True):
        if typical >= SLOW_NODE and smallest > 1:
            times = f"{typical:.2f} times as long as on the median node"
            lines.append(f"node {node} is slow: kernels take {times}")
    return lines
