"""Runs of bench_kernels: one pinned copy on each node, and one on every core of all nodes.

Rounds alternate between one core and all cores at once; on this host, each round takes the next core. Copies
start together and spend the same time on each case, so that all cores are busy with the same kernel, apart
from their drift.
"""

import contextlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from spikemark.bench import kernels
from spikemark.bench.kernel_bench import BenchFailed, failed
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.launch import Layout
from spikemark.core.process import Finished, started, watch
from spikemark.core.reading import read_json

from .effort import Effort
from .site import Site

LIMIT_S = 3600
#: Writes the times of a copy to a file of its own, named after its node. (The shell stays, since tests give
#: each program of a launcher the name of its node once.)
COPY = 'folder=$1; shift; "$@" --benchmark_out="$folder/$(uname -n).$$.json"; exit $?'
#: Kernel and size -> ns per item.
Times = dict[tuple[str, int], float]


@dataclass(frozen=True)
class Round:
    """Times by node: on one core, and of the copy on each core when all are busy."""

    one_core: dict[str, Times]
    full_node: dict[str, list[Times]]


def one_round(number: int, site: Site, pattern: str, effort: Effort, folder: Path) -> Round:
    """Round `number` of the kernels that match `pattern`. Raw files go to `folder`. Raises BenchFailed."""
    program = [str(places.program("bench_kernels")), f"--benchmark_filter={pattern}"]
    program += [f"--benchmark_min_time={effort.kernel_s}", "--benchmark_out_format=json"]
    if site.allocated:
        alone = _started(program, site.one_each(), folder / "one-core")
        every = _started(program, site.full(), folder / "full-node")
    else:
        cpus = launch.core_threads()
        alone = {"": _pinned(program, [cpus[number % len(cpus)]], folder)}
        every = {"": _pinned(program, cpus, folder)}
    return Round({node: times[0] for node, times in alone.items()}, every)


def _started(program: list[str], layout: Layout, folder: Path) -> dict[str, list[Times]]:
    """One copy for each rank of a layout, by node."""
    folder.mkdir()
    start = launch.launch(None, ["sh", "-c", COPY, "sh", str(folder), *program], layout)
    finished = watch(start, LIMIT_S)
    if finished.status != 0:
        raise failed(program[0], finished)
    found: dict[str, list[Times]] = {}
    for file in sorted(folder.iterdir()):
        found.setdefault(file.name.rsplit(".", 2)[0], []).append(_read(program[0], file))
    copies = sum(map(len, found.values()))
    if copies != layout.ranks:
        raise BenchFailed(f"{program[0]}: {copies} of {layout.ranks} copies left times in {folder}")
    return found


def _pinned(program: list[str], cpus: list[int], folder: Path) -> list[Times]:
    """One copy pinned to each of `cpus` of this host, all at the same time; ends them when interrupted."""
    files = [folder / f"kernels-{cpu}.json" for cpu in cpus]
    with contextlib.ExitStack() as stack:
        copies = []
        for cpu, file in zip(cpus, files, strict=True):
            command = ["taskset", "-c", str(cpu), *program, f"--benchmark_out={file}"]
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            copies.append(stack.enter_context(started(command, **streams)))
        errors = [copy.communicate()[1] for copy in copies]
    for copy, text in zip(copies, errors, strict=True):
        if copy.returncode:
            raise failed(program[0], Finished(copy.returncode, "", text))
    return [_read(program[0], file) for file in files]


def _read(program: str, file: Path) -> Times:
    try:
        rows, dropped = kernels.repetitions(read_json(file))
    except BadInput as error:
        raise BenchFailed(f"{program}: exit status 0, but no valid JSON: {error}") from None
    if dropped:
        raise BenchFailed(f"{program}: {dropped[0]}")
    return {(row.kernel, row.size): row.ns for row in rows.itertuples()}
