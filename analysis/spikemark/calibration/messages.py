"""Exchanges and single messages between the ranks of this node."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.bench import exchange_bench
from spikemark.bench.kernel_bench import BenchFailed, failed
from spikemark.core import launch, places
from spikemark.core.process import watch
from spikemark.machines.profile import Value

from .effort import Effort
from .values import measured, repeated

EXCHANGES = ("alltoall", "allgather")
LIMIT_S = 600
LARGE, LARGEST, MANY = 1 << 20, 1 << 22, 64  # bytes, bytes, messages; of bench/bench_messages.c
SELECTORS = {"Open MPI": "ompi", "Intel": "impi", "MPICH": "mpich"}
ALONE = "there is one core, so there are no messages between ranks"
ONE_NODE = "one node does not show it"
#: (Bytes, messages in a row) -> seconds until the answer, see bench/bench_messages.c.
Times = dict[tuple[int, int], float]
BETWEEN_NODES = ("topology", "nodes_per_leaf", "latency", "bandwidth")


def exchanges(cores: int, effort: Effort, folder: Path) -> pd.DataFrame | None:
    """Times of one repetition, see `exchange_times.contract`; None on one core. Raises BenchFailed."""
    if cores < 2:
        return None
    options = {
        "filter": f"^({'|'.join(EXCHANGES)})$",
        "bytes": ",".join(map(str, effort.bytes)),
        "repetitions": 1,
        "min-time": effort.exchange_s,
    }
    ranks = [n for n in exchange_bench.default_ranks(cores) if n > 1]
    return exchange_bench.bench(folder, ranks, options).table


def tables(rounds: list[pd.DataFrame]) -> tuple[dict[str, Any], dict[str, str]]:
    """Tables and selector by path, interconnect.…, and what is unknown about it, with reasons."""
    unknown = {f"interconnect.{name}": ONE_NODE for name in BETWEEN_NODES}
    unknown["interconnect.eager"] = "not measured"
    if not rounds:
        inside = ("latency_node", "bandwidth_node", "gap", "selector", "tables")
        return {}, unknown | {f"interconnect.{name}": ALONE for name in inside}
    table = pd.concat(rounds)
    found: dict[str, Any] = {}
    for name in EXCHANGES:
        groups = table[table["exchange"] == name].groupby(["ranks", "bytes"])["exchange_s"]
        found[f"interconnect.tables.{name}"] = _rows(groups)
    barriers = table.assign(bytes=0).groupby(["ranks", "bytes"])["barrier_s"]
    found["interconnect.tables.barrier"] = _rows(barriers)
    library = table["mpi_library"].iloc[0]
    for start, name in SELECTORS.items():
        if library.startswith(start):
            found["interconnect.selector"] = measured(name, None, detail=library.split(",")[0])
    return found, unknown


def _rows(groups) -> Value:
    """A table of medians in us; its reference says how far repetitions are apart."""
    low, high = (groups.min() / groups.median()).min(), (groups.max() / groups.median()).max()
    rows = [(int(ranks), int(size), 1e6 * float(s)) for (ranks, size), s in groups.median().items()]
    detail = f"medians; single repetitions are {low:.2g} to {high:.2g} times as long"
    return measured(rows, "us", detail=detail)


def one_round(cores: int, effort: Effort) -> Times:
    """Messages between the first and the last core; none if there is only one. Raises BenchFailed."""
    if cores < 2:
        return {}
    program = str(places.program("bench_messages"))
    command = [program, "--repetitions", "1", "--min-time", str(effort.exchange_s)]
    start = launch.launch(None, command, launch.Layout(cores))
    finished = watch(start, LIMIT_S)
    if finished.status != 0:
        raise failed(program, finished)
    try:
        found = json.loads(finished.output)["measurements"]
        return {(m["bytes"], m["messages"]): float(m["round_s"]) for m in found}
    except (ValueError, KeyError, TypeError) as error:
        raise BenchFailed(f"{program}: exit status 0, but no valid JSON: {error}") from None


def derived(rounds: list[Times]) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, and what is unknown, from the rounds.

    Latency: half a round trip of empty messages. Bandwidth: how time grows from 1 to 4 MiB. Gap: how it grows
    with the number of empty messages. Rounds in which the time does not grow were disturbed and are left out.
    """
    rounds = [times for times in rounds if times]
    if not rounds:
        return {}, {}
    latency = [1e6 * times[0, 1] / 2 for times in rounds]
    large = [times[LARGEST, 1] - times[LARGE, 1] for times in rounds]
    many = [times[0, MANY] - times[0, 1] for times in rounds]
    bandwidth = [1e-9 * (LARGEST - LARGE) / s for s in large if s > 0]
    gap = [1e6 * s / (MANY - 1) for s in many if s > 0]
    ends = "between the first and the last core"
    values, unknown = {}, {}
    for name, found, unit, detail in (
        ("latency_node", latency, "us", f"half a round trip {ends}"),
        ("bandwidth_node", bandwidth, "GB/s", f"one message of 1 to 4 MiB {ends}"),
        ("gap", gap, "us", f"within the node, {MANY} empty messages {ends}"),
    ):
        if found:
            values[f"interconnect.{name}"] = repeated(found, unit, detail)
        else:
            unknown[f"interconnect.{name}"] = "every repetition was disturbed"
    return values, unknown
