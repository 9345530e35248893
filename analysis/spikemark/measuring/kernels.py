"""Times of the mini-app's kernels by build/bench_kernels, a program of Google Benchmark.

Names are `KERNEL/size:N`, times are nanoseconds per item. `spikemark bench` runs the program once with
repetitions in random order; a calibration runs it in rounds, on one core and on every core of the nodes.
"""

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.core.lock import locked
from spikemark.core.reading import read_text
from spikemark.launch import Launch, Layout
from spikemark.launch.process import ProgramFailed, output
from spikemark.machines.profile import Value
from spikemark.models import delivery_time
from spikemark.quantities.table import Column, Table

from .site import ONE_NODE, Effort, Site, listed, repeated

LIMIT_S = 3600
DELIVER, BOUND = "deliver", "deliver_bound_prefetch"  # as in the mini-app; what no delivery can avoid
NAME = re.compile(r"(?P<kernel>[\w.]+)/size:(?P<size>[1-9]\d*)(?P<options>(/[\w:.-]+)*)")
WALL_CLOCK = {"real_time", "manual_time"}  # Google Benchmark appends these to names
BUSY = 1.05  # wall-clock over CPU time from which the machine counts as busy

#: What a calibration measures. Sizes of delivery: LISTS lists share so many synapses (bench/kernels_drawn.c).
DRAWN, SIZES, LISTS = "deliver_drawn", (4, 16, 64, 256, 1024, 8192), 16
BLOCK = 4096  # neurons
EXTERNAL, EVENTS = "poisson_mean_1.2", "1.2"  # per neuron and step
CLOCK, TRIAD = ("clock", 1), ("triad", 64)  # MiB
CALIBRATED = (
    rf"^{DRAWN}/size:({'|'.join(map(str, SIZES))})$|^update_[a-z]+_[a-z_]+/size:{BLOCK}$"
    rf"|^{EXTERNAL}/size:{BLOCK}$|^(clock|triad)/"
)
#: Writes the times of a copy to a file of its own, named after its node. (The shell stays, since tests give
#: each program of a launcher the name of its node once.)
COPY = 'folder=$1; shift; "$@" --benchmark_out="$folder/$(uname -n).$$.json"; exit $?'

#: Kernel and size -> ns per item.
Times = dict[tuple[str, int], float]


def read_json(program: str, source: str | Path, read: Callable[[Any], Any]) -> Any:
    """What `read` makes of the JSON that a program printed or wrote. Raises ProgramFailed if it cannot."""
    try:
        return read(json.loads(source if isinstance(source, str) else read_text(source)))
    except (KeyError, TypeError, ValueError) as error:  # BadInput, too
        reason = f"{type(error).__name__}: {error}"
        raise ProgramFailed(f"{program}: exit status 0, but no valid JSON: {reason}") from None


def benched(
    name: str, options: list[str], layout: Layout, read: Callable[[Any], Any],
    launcher: str | None = None, limit_s: float = LIMIT_S,
) -> Any:  # fmt: skip
    """What `read` makes of the JSON that build/NAME prints. Raises as `process.output` and `read_json`."""
    program = str(places.program(name))
    return read_json(program, output(launch.launch(launcher, [program, *options], layout), limit_s), read)


def repetitions(content: Any) -> tuple[pd.DataFrame, list[str]]:
    """The repetitions in the JSON of Google Benchmark, and why others were dropped, a line each.

    Columns: kernel, size, item, ns and real_ns (per item, by the kernel's clock and by the wall clock).
    """
    rows, dropped = [], {}
    for entry in (one for one in content["benchmarks"] if one.get("run_type") != "aggregate"):
        name, rate = entry.get("run_name", entry["name"]), entry.get("items_per_second")
        parts = NAME.fullmatch(name)
        clock = "real" if parts and set(parts["options"].split("/")) & WALL_CLOCK else "cpu"
        times = [entry.get(f"{which}_time") for which in ("real", clock)]
        good = all(isinstance(x, int | float) and 0 < x < float("inf") for x in (rate, *times))
        if entry.get("error_occurred") or entry.get("skipped") or not parts or not good:
            why = entry.get("error_message") or entry.get("skip_message") or "no name, no items or no time"
            dropped[name] = f"{name}: dropped: {why}"
        else:
            item, ns = str(entry.get("label") or "item").removeprefix("per "), 1e9 / rate
            # Both times share a unit.
            rows.append((parts["kernel"], int(parts["size"]), item, ns, ns * times[0] / times[1]))
    return pd.DataFrame(rows, columns=["kernel", "size", "item", "ns", "real_ns"]), [*dropped.values()]


# ---------------------------------------------------------------- spikemark bench


@dataclass(frozen=True)
class Bench:
    """`rows`: repetitions of all kernels; `raw`: their file; `dropped`: what could not be used, and why."""

    rows: pd.DataFrame
    raw: Path
    dropped: list[str]

    @property
    def summary(self) -> pd.DataFrame:
        """By kernel and size: item, repetitions, median_ns and quartiles, delivery and its bounds first."""
        groups = self.rows.groupby(["kernel", "size"], sort=False)
        found = groups.agg(
            item=("item", "first"), repetitions=("ns", "size"), median_ns=("ns", "median"),
            q1_ns=("ns", lambda ns: ns.quantile(0.25)), q3_ns=("ns", lambda ns: ns.quantile(0.75)),
        ).reset_index()  # fmt: skip
        first = found["kernel"].map({"deliver_bound": 0, BOUND: 1, DELIVER: 2}).fillna(3)
        order = ["first", "kernel", "size"]
        return found.assign(first=first).sort_values(order, ignore_index=True).drop(columns="first")

    @property
    def ratios(self) -> pd.DataFrame:
        """Delivery as a multiple of its bound, by list length; ratio of medians."""
        table = self.summary.set_index(["kernel", "size"])["median_ns"]
        if not {DELIVER, BOUND} <= set(table.index.get_level_values(0)):
            return pd.DataFrame(columns=["size", "ratio"])
        return (table[DELIVER] / table[BOUND]).dropna().rename("ratio").reset_index()

    @property
    def slowdown(self) -> float:
        """Wall-clock over CPU time, median: above BUSY, other programs used the machine."""
        return float((self.rows["real_ns"] / self.rows["ns"]).median())


def bench(out: Path, repetitions_: int = 5, pattern: str = "", min_time_s: float = 0.2) -> Bench:
    """Measures the kernels whose names match a regular expression (empty: all), in random order.

    Writes `out`/kernels-TIMESTAMP.json, the repetitions as Google Benchmark has them. Raises BadInput for a
    pattern without a match and a missing program; ProgramFailed if the program fails or gives no time.
    """
    if repetitions_ < 1:
        raise BadInput.of("repetitions", repetitions_, "a whole number from 1", code="range")
    if not 0 < min_time_s < float("inf"):
        raise BadInput.of("min-time", min_time_s, "a number of seconds above 0", code="range")
    program = str(places.program("bench_kernels"))
    if not matching(program, pattern or "."):
        known = sorted({name.split("/")[0] for name in matching(program, ".")})
        raise BadInput.of("filter", pattern, f"a match among {', '.join(known)}")
    options = {"filter": pattern or ".", "repetitions": repetitions_, "min_time": min_time_s,
               "enable_random_interleaving": "true", "report_aggregates_only": "false",
               "out_format": "json"}  # fmt: skip
    with locked(out), tempfile.TemporaryDirectory(dir=out, prefix=".bench-") as workspace:
        options["out"] = file = Path(workspace) / "raw.json"
        words = [f"--benchmark_{name}={value}" for name, value in options.items()]
        output(Launch([program, *words]), LIMIT_S)
        rows, dropped = read_json(program, file, repetitions)
        raw = out / f"kernels-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
        write_atomically(raw, file.read_text())
    if not len(rows):
        raise ProgramFailed(f"no kernel gave a time, see {raw}: {dropped[0] if dropped else 'it is empty'}")
    return Bench(rows, raw, dropped)


def matching(program: str, pattern: str) -> list[str]:
    """The names of kernels with their sizes that match."""
    command = [program, "--benchmark_list_tests=true", f"--benchmark_filter={pattern}"]
    return output(Launch(command), LIMIT_S).split()


def table(found: Bench) -> Table:
    """A row per kernel and size."""
    columns = {
        Column("kernel", "kernel"): lambda r: r.kernel,
        Column("item", "item"): lambda r: r.item,
        Column("size", "size"): lambda r: r.size,
        Column("ns", "ns per item", "measured"): lambda r: r.median_ns,
        Column("quartiles", "quartiles", "measured"): lambda r: (r.q1_ns, r.q3_ns),
    }
    return Table.of(columns, found.summary.itertuples(), "Kernels, median over repetitions")


# ---------------------------------------------------------------- calibration


@dataclass(frozen=True)
class Round:
    """Times by node: on one core, and of the copy on each core when all are busy."""

    one_core: dict[str, Times]
    full_node: dict[str, list[Times]]


def one_round(site: Site, effort: Effort, folder: Path, earlier: list[Round]) -> Round:
    """Measures CALIBRATED; files go to `folder`.

    On all cores at once, with bound copies, and on one core, on this host another one in each round. Raises
    ProgramFailed.
    """
    program = [str(places.program("bench_kernels")), f"--benchmark_filter={CALIBRATED}"]
    program += [f"--benchmark_min_time={effort.kernel_s}", "--benchmark_out_format=json"]
    every = _started(program, site.full(), folder / "full-node")
    if site.allocated:
        alone = _started(program, site.one_each(), folder / "one-core")
        return Round({node: times[0] for node, times in alone.items()}, every)
    cpus, file = launch.core_threads(), folder / "one-core.json"
    pinned = ["taskset", "-c", str(cpus[len(earlier) % len(cpus)]), *program, f"--benchmark_out={file}"]
    output(Launch(pinned), LIMIT_S)
    return Round({"": _times(file)}, every)


def _started(program: list[str], layout: Layout, folder: Path) -> dict[str, list[Times]]:
    """One copy for each rank of a layout, by node."""
    folder.mkdir()
    output(launch.launch(None, ["sh", "-c", COPY, "sh", str(folder), *program], layout), LIMIT_S)
    found: dict[str, list[Times]] = {}
    for file in sorted(folder.iterdir()):
        found.setdefault(file.name.rsplit(".", 2)[0], []).append(_times(file))
    if (copies := sum(map(len, found.values()))) != layout.ranks:
        raise ProgramFailed(f"bench_kernels: {copies} of {layout.ranks} copies left times in {folder}")
    return found


def _times(file: Path) -> Times:
    rows, dropped = read_json("bench_kernels", file, repetitions)
    if dropped:
        raise ProgramFailed(f"bench_kernels: {dropped[0]}")
    return {(row.kernel, row.size): row.ns for row in rows.itertuples()}


def values(rounds: list[Round], site: Site) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, kernels.…, node.… and jitter.node_spread, and what is unknown, with reasons.

    Medians over nodes, of means over the cores of a node. Raises ProgramFailed where delivery cannot be
    fitted.
    """
    one = [_over(np.median, [*r.one_core.values()]) for r in rounds]
    full = [_over(np.median, [mean(copies) for copies in r.full_node.values()]) for r in rounds]
    over = f", median over {site.nodes} nodes" if site.nodes > 1 else ""
    found = {}
    for condition, times in (("one_core", one), ("full_node", full)):
        found |= {f"kernels.{condition}.{path}": value for path, value in of_rounds(times, over).items()}
    found["node.clock"] = repeated([1 / times[CLOCK] for times in full], "GHz", f"all cores busy{over}")
    triad = f"triad of STREAM, 3 x 64 MiB per core{over}"
    every = [[sum(1 / t[TRIAD] for t in copies) for copies in r.full_node.values()] for r in rounds]
    alone = [[1 / t[TRIAD] for t in r.one_core.values()] for r in rounds]
    for path, rates in (("bandwidth", every), ("bandwidth_core", alone)):
        found[f"node.{path}"] = repeated([float(np.median(r)) for r in rates], "GB/s", triad)
    if site.nodes == 1:
        return found, {"jitter.node_spread": ONE_NODE}
    return found | {"jitter.node_spread": node_spread(rounds)}, {}


def mean(copies: list[Times]) -> Times:
    """The mean over the copies of a node."""
    return _over(np.mean, copies)


def _over(middle: Callable, all_times: list[Times]) -> Times:
    return {key: float(middle([times[key] for times in all_times])) for key in all_times[0]}


def delivered() -> np.ndarray:
    """Lists entered, synapses and spikes for one synapse of each size, [size, 3]: Poisson lengths."""
    length = np.array(SIZES) / LISTS
    return np.column_stack([(1 - np.exp(-length)) / length, np.ones_like(length), 1 / length])


def of_rounds(rounds: list[Times], over: str = "") -> dict[str, Value]:
    """Values below kernels.CONDITION, from the times of each round; `over` is added to each reference."""
    counts = delivered()
    seconds = [1e-9 * np.array([times[DRAWN, size] for size in SIZES]) for times in rounds]
    try:
        fits = [delivery_time.fit(counts, each) for each in seconds]
    except BadInput as error:
        raise ProgramFailed(f"delivery: {error}") from None
    off = [fit.predict(counts) / each - 1 for fit, each in zip(fits, seconds, strict=True)]
    worst = 100 * float(np.abs(np.median(off, axis=0)).max())
    lists = f"mean list lengths {SIZES[0] / LISTS:g} to {SIZES[-1] / LISTS:g}, fitted within {worst:.0f} %"
    found = {
        "t_first": ([1e9 * f.first for f in fits], lists),
        "t_next": ([1e9 * f.next for f in fits], lists),
        "t_spike": ([1e9 * (f.spike or 0.0) for f in fits], lists),
        "external": ([t[EXTERNAL, BLOCK] for t in rounds], f"Poisson, {EVENTS} events per step"),
    }
    for kernel, size in rounds[0]:
        if kernel.startswith("update_"):
            each = [t[kernel, size] for t in rounds]
            found[f"update.{kernel.removeprefix('update_')}"] = each, f"blocks of {BLOCK}"
    return {path: repeated(each, "ns", detail + over) for path, (each, detail) in found.items()}


SLOW = 1.05  # times as long as on the median node, from which a node is named


def _factors(rounds: list[Round]) -> tuple[list[str], np.ndarray]:
    """Names of nodes, and kernel times of each over the mean of all nodes, [round, node] (geometric mean)."""
    names, found = sorted(rounds[0].full_node), []
    for each in rounds:
        times = [mean(each.full_node[name]) for name in names]
        kernels = [key for key in times[0] if key not in (CLOCK, TRIAD)]
        ratio = np.exp(np.log([[t[key] for key in kernels] for t in times]).mean(axis=1))
        found.append(ratio / ratio.mean())
    return names, np.array(found)


def node_spread(rounds: list[Round]) -> Value:
    """`jitter.node_spread`: SD of the nodes' times over their mean; for two nodes or more."""
    names, ratios = _factors(rounds)
    middle = np.median(ratios, axis=0)
    slow, fast = int(middle.argmax()), int(middle.argmin())
    ends = f"{names[slow]} takes {middle[slow]:.3f} times the mean, {names[fast]} {middle[fast]:.3f}"
    detail = f"kernel times on {listed(names)}, all cores busy; {ends}"
    return repeated([float(each.std(ddof=1)) for each in ratios], "1", detail)


def slow_nodes(rounds: list[Round]) -> list[str]:
    """A line for each node that is slower than the median node in every round, typically by SLOW."""
    names, ratios = _factors(rounds)
    relative = ratios / np.median(ratios, axis=1, keepdims=True)
    factors = zip(names, np.median(relative, axis=0), relative.min(axis=0), strict=True)
    return [
        f"node {name} is slow: kernels take {factor:.2f} times as long as on the median node"
        for name, factor, least in factors
        if factor >= SLOW and least > 1
    ]
