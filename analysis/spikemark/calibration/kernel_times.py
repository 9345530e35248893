"""Times of the kernels, the clock and the memory, from rounds of bench_kernels."""

import numpy as np

from spikemark.bench.kernel_bench import BenchFailed
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Value
from spikemark.models import delivery_time

from .effort import Effort
from .kernel_runs import Round, Times
from .values import repeated

BLOCK = 4096  # neurons that a thread updates
COLLOCATED = 8  # spikes of a cycle
ROUTES = 4  # ranks that each of these spikes goes to (bench/kernels_network.c)
EVENTS = "1.2"  # per neuron and step: 400 synapses at 3 Hz in steps of 1 ms
EXTERNAL = f"poisson_mean_{EVENTS}"
DELIVER = "deliver_drawn"
LISTS = 16  # lists that share the synapses of a size of DELIVER
UPDATE = "update_"
RING, FITS = "deliver_ring", 5  # thousand neurons, whose ring fits into the second cache
RINGS = {"t_ring_1": (30, "1.3 MB"), "t_ring_8": (200, "8.4 MB"), "t_ring_67": (1600, "67 MB")}
ROW, BETWEEN = f"{UPDATE}ignore_and_fire", "update_between"
ROWS = {"t_row_1": (30, "1.3 MB"), "t_row_3": (64, "2.7 MB"), "t_row_8": (200, "8.4 MB")}
NEAR, FAR = "deliver_near", "deliver_far"  # 80 MB and 1 GB of synapses
FAR_GB = 3.0  # that a core needs for the latter, with room
NO_ROOM = f"needs {FAR_GB:g} GB of memory for every core"
FARS = {"t_far_16": 256, "t_far_64": 1024, "t_far_512": 8192}  # LISTS times the length of a list
CLOSE = "deliver_close"  # 8 MB of synapses
CLOSES = {"t_close_16": 256, "t_close_64": 1024, "t_close_512": 8192}
SENT, SENT_TO = "collocate_between", (4, 64)  # ranks
MIDDLE = "the middle half of 400 runs"  # bench/middle_half.h
CLOCK = "clock", 1
TRIAD = "triad", 64  # MiB


def values(rounds: list[Round], effort: Effort) -> dict[str, Value]:
    """Values by path, kernels.… and node.…: medians over nodes, of means over the cores of a node.

    Raises BenchFailed where delivery cannot be fitted.
    """
    one = [_median([*r.one_core.values()]) for r in rounds]
    full = [_median([mean(copies) for copies in r.full_node.values()]) for r in rounds]
    nodes = len(rounds[0].full_node)
    over = f", median over {nodes} nodes" if nodes > 1 else ""
    found = {}
    for condition, times in (("one_core", one), ("full_node", full)):
        each = of_rounds(times, effort.sizes, over).items()
        found |= {f"kernels.{condition}.{path}": v for path, v in each}
    found["node.clock"] = repeated([1 / times[CLOCK] for times in full], "GHz", f"all cores busy{over}")
    triad = f"triad of STREAM, 3 x 64 MiB per core{over}"
    every = [[sum(1 / t[TRIAD] for t in copies) for copies in r.full_node.values()] for r in rounds]
    alone = [[1 / t[TRIAD] for t in r.one_core.values()] for r in rounds]
    for path, rates in (("bandwidth", every), ("bandwidth_core", alone)):
        found[f"node.{path}"] = repeated([float(np.median(r)) for r in rates], "GB/s", triad)
    return found


def pattern(sizes: tuple[int, ...], far: bool = True) -> str:
    """The kernels of a round, for bench_kernels. `far`: those that need a gigabyte of synapses, too."""
    rings = "|".join(map(str, (FITS, *(size for size, _ in RINGS.values()))))
    rows = "|".join(str(size) for size, _ in ROWS.values())
    fars, close, ranks = ("|".join(map(str, sizes)) for sizes in (FARS.values(), CLOSES.values(), SENT_TO))
    lists = "|".join(map(str, sorted({*sizes, *CLOSES.values()})))
    return (
        f"^{RING}/size:({rings})$|^{BETWEEN}/size:({rows})/"
        f"{f'|^({NEAR}|{FAR})/size:({fars})$' if far else ''}|^{SENT}/size:({ranks})/"
        f"|^{CLOSE}/size:({close})$|^{DELIVER}/size:({lists})$|^{UPDATE}.*/size:{BLOCK}$"
        f"|^collocate/size:{COLLOCATED}$|^{EXTERNAL}/size:{BLOCK}$|^(clock|triad)/"
    )


def mean(copies: list[Times]) -> Times:
    """The mean over the copies of a node."""
    return {key: float(np.mean([times[key] for times in copies])) for key in copies[0]}


def _median(nodes: list[Times]) -> Times:
    return {key: float(np.median([times[key] for times in nodes])) for key in nodes[0]}


def of_rounds(rounds: list[Times], sizes: tuple[int, ...], over: str = "") -> dict[str, Value]:
    """Values below kernels.CONDITION, from the times of each round, among them delivery of `sizes`.

    `over` is added to what is said of each value.
    """
    counts = delivered(sizes)
    seconds = [1e-9 * np.array([times[DELIVER, size] for size in sizes]) for times in rounds]
    try:
        fits = [delivery_time.fit(counts, each) for each in seconds]
    except BadInput as error:
        raise BenchFailed(f"delivery: {error}") from None
    off = [fit.predict(counts) / each - 1 for fit, each in zip(fits, seconds, strict=True)]
    worst = 100 * float(np.abs(np.median(off, axis=0)).max())
    lists = f"mean list lengths {sizes[0] / LISTS:g} to {sizes[-1] / LISTS:g}, fitted within {worst:.0f} %"
    found = {
        "t_first": ([1e9 * f.first for f in fits], lists),
        "t_next": ([1e9 * f.next for f in fits], lists),
        "t_spike": ([1e9 * (f.spike or 0.0) for f in fits], lists),
        "collocate": ([ROUTES * t["collocate", COLLOCATED] for t in rounds], f"each to {ROUTES} ranks"),
        "external": ([t[EXTERNAL, BLOCK] for t in rounds], f"Poisson, {EVENTS} events per step"),
    }
    for path, (size, ring) in RINGS.items():
        longer = [max(0.0, t[RING, size] - t[RING, FITS]) for t in rounds]
        found[path] = longer, f"lists of 512 synapses, a ring of {ring} instead of 0.2 MB"
    for path, (size, ring) in ROWS.items():
        longer = [max(0.0, t[BETWEEN, size] - t[ROW, BLOCK]) for t in rounds]
        found[path] = (
            longer,
            f"ignore_and_fire after a delivery with a ring of {ring}, instead of blocks of {BLOCK}, {MIDDLE}",
        )
    far = [t for t in rounds if (FAR, FARS["t_far_16"]) in t]  # no round where memory does not suffice
    for path, size in FARS.items() if far else ():
        longer = [max(0.0, (t[FAR, size] - t[NEAR, size]) * size / LISTS) for t in far]
        found[path] = longer, f"lists of {size // LISTS} synapses, 1 GB of them instead of 80 MB"
    for path, size in CLOSES.items():
        less = [max(0.0, (t[DELIVER, size] - t[CLOSE, size]) * size / LISTS) for t in rounds]
        found[path] = less, f"lists of {size // LISTS} synapses, 8 MB of them instead of 80 MB"
    few, many = SENT_TO
    route = [max(0.0, (many * t[SENT, many] - few * t[SENT, few]) / (many - few)) for t in rounds]
    sent = f"about 16 spikes after a delivery and an update, each to {few} and {many} ranks, {MIDDLE}"
    found["t_route"] = route, sent
    found["t_leave"] = (
        [max(0.0, few * (t[SENT, few] - each)) for t, each in zip(rounds, route, strict=True)],
        found["t_route"][1],
    )
    for kernel, size in rounds[0]:
        if kernel.startswith(UPDATE) and size == BLOCK:
            each = [t[kernel, size] for t in rounds]
            found[f"update.{kernel.removeprefix(UPDATE)}"] = each, f"blocks of {BLOCK}"
    return {path: repeated(each, "ns", detail + over) for path, (each, detail) in found.items()}


def delivered(sizes: tuple[int, ...]) -> np.ndarray:
    """Lists entered, synapses and spikes for one synapse of each size, [size, 3]: Poisson lengths."""
    mean = np.array(sizes) / LISTS
    return np.column_stack([(1 - np.exp(-mean)) / mean, np.ones_like(mean), 1 / mean])
