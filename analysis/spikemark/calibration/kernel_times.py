"""Times of the kernels, the clock and the memory: one pinned copy of bench_kernels, and one on every core.

Rounds alternate between one core, each time the next one, and all of them at once. Copies start together and
spend the same time on each case, so that all cores are busy with the same kernel apart from their drift.
"""

import contextlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.bench import kernels
from spikemark.bench.kernel_bench import BenchFailed, failed
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.process import Finished, started
from spikemark.core.reading import read_json
from spikemark.machines.profile import Value
from spikemark.models import delivery_time

from .effort import Effort
from .values import repeated

BLOCK = 4096  # neurons that a thread updates
COLLOCATED = 8  # spikes of a cycle
ROUTES = 4  # ranks that each of these spikes goes to (bench/kernels_network.c)
EVENTS = "1.2"  # per neuron and step: 400 synapses at 3 Hz in steps of 1 ms
EXTERNAL = f"poisson_mean_{EVENTS}"
DELIVER = "deliver_drawn"
LISTS = 16  # lists that share the synapses of a size of DELIVER
UPDATE = "update_"
TRIAD = 64  # MiB
#: Kernel and size -> ns per item.
Times = dict[tuple[str, int], float]


@dataclass(frozen=True)
class Round:
    """Times on one core, and of the copy on each core when all are busy."""

    one_core: Times
    full_node: list[Times]


def one_round(number: int, cpus: list[int], effort: Effort, folder: Path) -> Round:
    """Round `number`, on the hardware threads `cpus`. `folder` holds the raw files. Raises BenchFailed."""
    alone = _copies([cpus[number % len(cpus)]], effort, folder)
    return Round(alone[0], _copies(cpus, effort, folder))


def values(rounds: list[Round], effort: Effort) -> dict[str, Value]:
    """Values by path, kernels.… and node.…. Raises BenchFailed where delivery cannot be fitted."""
    one, mean = [r.one_core for r in rounds], [_mean(r.full_node) for r in rounds]
    found = {}
    for condition, times in (("one_core", one), ("full_node", mean)):
        found |= {f"kernels.{condition}.{path}": v for path, v in of_rounds(times, effort.sizes).items()}
    found["node.clock"] = repeated([1 / times["clock", 1] for times in mean], "GHz", "all cores busy")
    triad = "triad of STREAM, 3 x 64 MiB per core"
    for path, each in (("bandwidth", [r.full_node for r in rounds]), ("bandwidth_core", [[t] for t in one])):
        rates = [sum(1 / times["triad", TRIAD] for times in copies) for copies in each]
        found[f"node.{path}"] = repeated(rates, "GB/s", triad)
    return found


def _pattern(sizes: tuple[int, ...]) -> str:
    return (
        f"^{DELIVER}/size:({'|'.join(map(str, sizes))})$|^{UPDATE}.*/size:{BLOCK}$"
        f"|^collocate/size:{COLLOCATED}$|^{EXTERNAL}/size:{BLOCK}$|^(clock|triad)/"
    )


def _copies(cpus: list[int], effort: Effort, folder: Path) -> list[Times]:
    """One copy pinned to each of `cpus`, all at the same time; ends them when interrupted."""
    program = str(places.program("bench_kernels"))
    files = [folder / f"kernels-{cpu}.json" for cpu in cpus]
    with contextlib.ExitStack() as stack:
        copies = []
        for cpu, file in zip(cpus, files, strict=True):
            command = ["taskset", "-c", str(cpu), program, f"--benchmark_filter={_pattern(effort.sizes)}"]
            command += [f"--benchmark_min_time={effort.kernel_s}", f"--benchmark_out={file}"]
            command += ["--benchmark_out_format=json"]
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            copies.append(stack.enter_context(started(command, **streams)))
        errors = [copy.communicate()[1] for copy in copies]
    for copy, text in zip(copies, errors, strict=True):
        if copy.returncode:
            raise failed(program, Finished(copy.returncode, "", text))
    return [_read(program, file) for file in files]


def _read(program: str, file: Path) -> Times:
    try:
        rows, dropped = kernels.repetitions(read_json(file))
    except BadInput as error:
        raise BenchFailed(f"{program}: exit status 0, but no valid JSON: {error}") from None
    if dropped:
        raise BenchFailed(f"{program}: {dropped[0]}")
    return {(row.kernel, row.size): row.ns for row in rows.itertuples()}


def _mean(copies: list[Times]) -> Times:
    return {key: float(np.mean([times[key] for times in copies])) for key in copies[0]}


def of_rounds(rounds: list[Times], sizes: tuple[int, ...]) -> dict[str, Value]:
    """Values below kernels.CONDITION, from the times of each round, among them delivery of `sizes`."""
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
    for kernel, size in rounds[0]:
        if kernel.startswith(UPDATE):
            each = [t[kernel, size] for t in rounds]
            found[f"update.{kernel.removeprefix(UPDATE)}"] = each, f"blocks of {BLOCK}"
    return {path: repeated(each, "ns", detail) for path, (each, detail) in found.items()}


def delivered(sizes: tuple[int, ...]) -> np.ndarray:
    """Lists entered, synapses and spikes for one synapse of each size, [size, 3]: Poisson lengths."""
    mean = np.array(sizes) / LISTS
    return np.column_stack([(1 - np.exp(-mean)) / mean, np.ones_like(mean), 1 / mean])
