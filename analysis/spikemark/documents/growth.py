"""What a synapse costs a thread and a rank as machines grow: time of delivery, memory, look-ups, building.

The network is the full MAM-benchmark with the conventional schedule, one area for each of M ranks with T
threads. `build/bench_growth` makes the part of one thread, with the list lengths that it has there, and
delivers to it; `miniapp --explain` tells the bytes of a rank. One rank cannot be built without the others
yet, so building is measured with a rank that has all neurons and the synapses of one area.
"""

import json
import resource
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spikemark.core import launch, places
from spikemark.core.command import Launch
from spikemark.core.errors import BadInput
from spikemark.core.layout import Layout
from spikemark.core.process import watch
from spikemark.presets import mam_benchmark
from spikemark.quantities.table import Column, Table
from spikemark.records import record

from . import keep

SIZES = (2, 4, 8, 16, 32, 64, 128)  # of M, and of T
REPETITIONS = 7  # of a delivery, of which the median counts
BUILT = 3  # times
LIMIT_S = 600
AREA = 129068  # neurons
INDEGREE = 5842
PART = 8  # building has this part of the neurons of each area, and full in-degrees
LISTS_PARTS = ("synapses", "lists", "routes")


def tables() -> Iterator[Table]:
    """Four tables by M: ns per event, look-ups per event and bytes per synapse for every T; then building.

    Raises BadInput for a program that is missing or fails.
    """
    points = {(m, t): delivered(m, t) for t in SIZES for m in SIZES}
    yield _by_threads("ns_per_event", "Delivery, ns per synaptic event", "measured", points, "ns")
    yield _by_threads("lookups", "Look-ups per synaptic event", "counted", points, "lookups")
    yield _by_threads("length", "Synapses of a list on one thread", "modelled", points, "length")
    stored = {(m, t): {"bytes": bytes_per_synapse(m, t)} for m in SIZES for t in SIZES}
    yield _by_threads("bytes", "Bytes per synapse: synapses, lists and routes", "modelled", stored, "bytes")
    yield _building()


def machine() -> str:
    """The processor that this process runs on."""
    return keep.host(_built(2, 100, 10).host)


def _by_threads(name: str, title: str, kind: str, points: dict[tuple[int, int], dict], key: str) -> Table:
    """A row for each M, a column for each T."""
    columns = [Column("ranks", "M"), *(Column(f"threads_{t}", f"T = {t}", kind) for t in SIZES)]
    rows = [{"ranks": m} | {f"threads_{t}": points[m, t][key] for t in SIZES} for m in SIZES]
    return Table(columns, rows, title, name)


def _output(start: Launch) -> str:
    finished = watch(start, LIMIT_S)
    if finished.status != 0:
        raise BadInput(f"{start.command[0]}: {finished.reason}")
    return finished.output


def delivered(
    ranks: int, threads: int, repetitions: int = REPETITIONS, starts: bool = False
) -> dict[str, float]:
    """Nanoseconds of the processor and look-ups for each synaptic event of a thread, and its list length.

    `starts`: every list has a start, however short lists are.
    """
    asked = {"neurons": AREA, "indegree": INDEGREE, "ranks": ranks, "threads": threads}
    asked |= {"repetitions": repetitions, "starts": int(starts)}
    words = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    found = json.loads(_output(Launch([str(places.program("bench_growth")), *words])))
    return {
        "ns": statistics.median(found["ns_per_event"]),
        "lookups": found["lookups"] / found["synaptic_events"],
        "length": found["synapses_per_list"],
    }


def bytes_per_synapse(ranks: int, threads: int, schedule: str = "conventional") -> float:
    """Bytes of synapses, lists and routes for each synapse of the first of `ranks` ranks."""
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps(mam_benchmark.describe(full=True, areas=ranks)))
        command = [str(places.program("miniapp")), "--explain", str(path), "--json"]
        command += ["--ranks", str(ranks), "--threads", str(threads), "--set", f"schedule={schedule}"]
        rank = json.loads(_output(Launch(command)))["per_rank"][0]
    return sum(rank["memory_parts"][part] for part in LISTS_PARTS) / rank["synapses"]


def one_area(ranks: int, neurons: int, indegree: int) -> dict[str, Any]:
    """A description of `ranks` areas of which only one receives: half from itself, half from the others."""
    delay = {"distribution": "normal", "mean": 1.5, "sd": 0.75, "min": 1.0, "max": 2.0}
    fires = {"model": "ignore_and_fire", "rate_hz": 2.5}
    sizes = {"here": neurons, "elsewhere": neurons * (ranks - 1)}
    populations = [{"name": n, "area": n, "size": size, "neuron": fires} for n, size in sizes.items()]
    onto = {"target": "here", "indegree": indegree // 2, "delay": delay}
    return {
        "format_version": 1,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "warmup_ms": 0, "simulate_ms": 0.1},
        "network": {
            "populations": populations,
            "projections": [{"source": name, **onto} for name in sizes],
        },
    }


@dataclass(frozen=True)
class Built:
    """A rank that was built: seconds by the clock, processor time of the whole program, and where."""

    seconds: float
    processor: float
    synapses: int
    host: Any


def _built(ranks: int, neurons: int, indegree: int) -> Built:
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        path, out = Path(folder) / "run.json", Path(folder) / "record"
        path.write_text(json.dumps(one_area(ranks, neurons, indegree)))
        program = [str(places.program("miniapp")), str(path), "--out", str(out)]
        start = launch.launch(None, program, Layout(1, 2))
        before = _processor()
        _output(replace(start, environment=start.environment | {"OMP_WAIT_POLICY": "passive"}))
        used, found = _processor() - before, record.load(out).record
        return Built(found.timing.build_s, used, found.totals.synapses, found.host)


def _processor() -> float:
    """Seconds of the programs that this one has started and that have ended, outside the system."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _building(neurons: int = AREA // PART, indegree: int = INDEGREE, repetitions: int = BUILT) -> Table:
    """Times of building by M. Repetitions go through all M in turn; the medians count."""
    runs = {m: [] for m in SIZES}
    for _ in range(repetitions):
        for m in SIZES:
            runs[m].append(_built(m, neurons, indegree))
    columns = [
        Column("ranks", "M"),
        Column("ns", "ns per synapse", "measured"),
        Column("relative", "of M = 2", "measured"),
        Column("processor_ns", "processor, ns per synapse", "measured"),
        Column("processor_relative", "processor, of M = 2", "measured"),
    ]
    clock = {m: statistics.median(1e9 * b.seconds / b.synapses for b in found) for m, found in runs.items()}
    used = {m: statistics.median(1e9 * b.processor / b.synapses for b in found) for m, found in runs.items()}
    first = SIZES[0]
    rows = [
        {
            "ranks": m,
            "ns": clock[m],
            "relative": clock[m] / clock[first],
            "processor_ns": used[m],
            "processor_relative": used[m] / used[first],
        }
        for m in SIZES
    ]
    return Table(columns, rows, "Building, two threads", "building")
