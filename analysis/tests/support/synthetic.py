"""Writes a synthetic but format-true run directory (miniapp/FORMAT.md): planted truth of the tests.

Compute times are Gaussian with the given mean, coefficient of variation, serial correlation and
spread of the rank means; waiting follows from them by the rule of the barrier, and the counts from
a network that is really drawn.
"""

import copy
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import brute_force
import numpy as np
import pandas as pd
from small_network import describe

from spikemark.core.fields import assign
from spikemark.models.statistics import lump
from spikemark.network.description import Description, read_description
from spikemark.records.record import COUNTED

SHARES = {"deliver": 0.55, "update": 0.35, "collocate": 0.10}  # of the compute time
PHASES = ["deliver", "update", "thread_wait", "collocate", "synchronise", "exchange"]
RANK_COLUMNS = ["rank", *COUNTED, "peak_bytes", "build_s", "simulate_s"]
EXCHANGE_S = 2e-6
#: Of a record, as a meter gives it.
ENERGY = {
    "source": "powercap",
    "status": "ok",
    "gross_j": 12.5,
    "idle_power_w": None,
    "net_j": None,
    "duration_s": 0.4,
    "readings": 4,
    "coverage": 1.0,
    "nodes": 1,
    "sampling_cost": 1e-4,
    "reason": None,
    "channels": [],
}


def compute_times(
    ranks: int, cycles: int, mean_s: float, cv: float, ar1: float, rank_sd: float, seed: int
) -> np.ndarray:
    """Compute times in seconds, [rank, cycle].

    Args:
        ranks: number of ranks.
        cycles: number of cycles.
        mean_s: mean over ranks and cycles.
        cv: standard deviation over mean of the cycles of a rank.
        ar1: correlation of a cycle with the one before.
        rank_sd: standard deviation of the means of ranks over the mean.
        seed: of all draws.
    """
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((ranks, cycles))
    if ar1:
        from scipy.signal import lfilter  # takes longer to import than all else here

        noise[:, 1:] *= np.sqrt(1 - ar1**2)
        noise = lfilter([1], [1, -ar1], noise, axis=1)  # each cycle from the one before
    means = mean_s * (1 + rank_sd * rng.standard_normal((ranks, 1)))
    return np.maximum(means + cv * mean_s * noise, 0.01 * mean_s)


def waiting_s(compute: np.ndarray, window: int = 1) -> np.ndarray:
    """How long each rank waits for the slowest in all windows, [rank].

    `compute`: compute times [rank, cycle]; `window`: cycles from one barrier to the next.
    """
    lumped = lump(compute, window)
    return (lumped.max(axis=0) - lumped).sum(axis=1)


def phase_times(compute: np.ndarray, window: int, barrier: bool = True) -> np.ndarray:
    """[rank, cycle, phase] in seconds: all ranks wait at the end of each window for the last."""
    ranks, cycles = compute.shape
    times = np.zeros((ranks, cycles, len(PHASES)))
    for name, share in SHARES.items():
        times[:, :, PHASES.index(name)] = share * compute
    barrier_phase, exchange_phase = PHASES.index("synchronise"), PHASES.index("exchange")
    starts = np.arange(0, cycles, window)
    lumped = np.add.reduceat(compute, starts, axis=1)
    ends = np.append(starts[1:], cycles) - 1  # the last window may be a short one
    times[:, ends, barrier_phase] = lumped.max(axis=0) - lumped
    times[:, ends, exchange_phase] = EXCHANGE_S if ranks > 1 else 0.0
    if not barrier:
        times[:, :, exchange_phase] += times[:, :, barrier_phase]
        times[:, :, barrier_phase] = np.nan
    return times


def phase_summary(times, phases=PHASES) -> dict:
    """`timing.phases` of times in s, [rank, cycle, phase]; those of NaN were not timed."""
    summary = {}
    for name, sums in zip(phases, times.sum(axis=1).T, strict=True):
        if np.isnan(sums).any():
            reason = "record.barrier is false"
            summary[name] = {"mean_s": None, "max_s": None, "reason": reason}
        else:
            summary[name] = {"mean_s": float(sums.mean()), "max_s": float(sums.max())}
    return summary


def write_run(
    directory,
    *,
    schedule: str = "conventional",
    placement: str | None = None,
    delay_ratio: int = 10,
    ranks: int = 2,
    threads: int = 1,
    cycles: int = 1000,
    mean_s: float = 50e-6,
    cv: float = 0.1,
    ar1: float = 0.0,
    rank_sd: float = 0.0,
    seed: int = 1,
    description: dict | None = None,
    nodes: list[str] | None = None,
    slower: dict[str, float] | None = None,
    launch: dict | None = None,
    **overrides,
) -> Path:
    """Write `record.json`, `cycles.npy`, `ranks.csv` under `directory` (created) and return it.

    `overrides` replace fields of the record; `__` separates levels: `timing__real_time_factor=3.0`.
    `nodes` are the names of the nodes of the ranks, [rank], and `slower` says by which factor ranks
    compute longer there; `launch` is the content of launch.json. `description` gives the network
    and the `record` switches; time, schedule, placement and D come from the arguments.
    """
    window = delay_ratio if schedule == "structure_aware" else 1
    run = copy.deepcopy(description) or describe(areas=max(2, ranks), delay_ratio=delay_ratio)
    run |= {
        "seed": seed,
        "schedule": schedule,
        "placement": placement or ("round_robin" if schedule == "conventional" else "area"),
        "delay_ratio": delay_ratio,
    }
    _complete(run, cycles)
    seconds = cycles * run["time"]["cycle_ms"] / 1e3
    counts = brute_force.count(run, schedule, run["placement"], ranks, threads, seconds, seed)
    compute = compute_times(ranks, cycles, mean_s, cv, ar1, rank_sd, seed)
    if slower:
        compute *= np.array([[slower.get(node, 1.0)] for node in nodes])
    times = phase_times(compute, window, run["record"]["barrier"])
    table = _per_rank(counts, times, -(-cycles // window))
    record = _record(run, counts, times, table, threads, seconds, window)
    if nodes:
        names = list(dict.fromkeys(nodes))
        table["node"] = [names.index(node) for node in nodes]
        record["host"] |= {"name": nodes[0], "nodes": len(names), "node_names": names}
        record["host"]["per_node"] = [node(name, nodes.count(name)) for name in names]
    for key, value in overrides.items():
        assign(record, key.replace("__", "."), value)

    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if run["record"]["cycles"]:
        np.save(directory / "cycles.npy", times.astype(np.float32))
    table.to_csv(directory / "ranks.csv", index=False)
    (directory / "record.json").write_text(json.dumps(record, indent=1))
    if launch is not None:
        (directory / "launch.json").write_text(json.dumps(launch))
    return directory


def _complete(run: dict, cycles: int) -> None:
    """Fills in what a record says of its description beside what was given."""
    cycle_ms = run["time"].get("cycle_ms", run["time"].get("resolution_ms", 0.1))
    run["time"] = {
        "resolution_ms": 0.1,
        "warmup_ms": 0,
        **run["time"],
        "cycle_ms": cycle_ms,
        "simulate_ms": round(cycles * cycle_ms, 9),
    }
    run.setdefault("exchange", "alltoallv")
    run["record"] = {"cycles": True, "spikes": False, "barrier": True, **run.get("record", {})}


def node(name: str, ranks: int) -> dict:
    """An entry of host.per_node."""
    return {
        "name": name,
        "cpu": "synthetic CPU",
        "cores": 2,
        "memory_bytes": 2**33,
        "ranks": ranks,
        "governor": "performance",
        "frequency_min_hz": 1_500_000_000,
        "frequency_max_hz": 3_000_000_000,
    }


def _per_rank(counts, times, windows: int) -> pd.DataFrame:
    """The table ranks.csv."""
    ranks = len(times)
    messages = windows * (ranks - 1)
    columns = {name: getattr(counts, name) for name in COUNTED if hasattr(counts, name)}
    columns |= {
        "rank": np.arange(ranks),
        "external_events": 0,
        "messages": messages,
        "bytes_sent": 8 * (messages + counts.spikes * (ranks - 1)),
        "peak_bytes": 20_000_000 + 24 * counts.synapses,
        "build_s": 0.05,
        "simulate_s": np.nansum(times, axis=(1, 2)),
    }
    return pd.DataFrame(columns)[RANK_COLUMNS]


def _lanes(run: dict, ranks: int, cycles: int, window: int, totals: dict) -> list[dict]:
    """The lanes of a record: one, or with the structure-aware schedule two."""
    description = read_description(run)
    area = np.array(description.network.area_of)
    projection, source, target = description.network.connections
    between = np.unique(projection[area[source] != area[target]]).tolist()
    within = np.setdiff1d(np.arange(len(description.network.projections)), between).tolist()
    if run["schedule"] != "structure_aware":
        every = range(len(description.network.projections))
        return [_lane(description, run, "world", 1, every, ranks, ranks, cycles, totals)]
    return [
        _lane(description, run, "near", 1, within, 1, ranks, cycles, totals),
        _lane(description, run, "far", window, between, ranks, ranks, cycles, totals),
    ]


def _lane(
    description: Description,
    run: dict,
    name: str,
    period: int,
    projections: Sequence[int],
    sharing: int,
    ranks: int,
    cycles: int,
    totals: dict,
) -> dict:
    """A lane of a record, that carries these projections between groups of `sharing` ranks."""
    sizes = {population.name: population.size for population in description.network.populations}
    synapses = 0
    for number in projections:
        projection = description.network.projections[number]
        synapses += round(projection.synapses) * sizes[projection.target]
    shortest = min((description.delays[number][0] for number in projections), default=None)
    shortest_ms = slack_ms = None
    if shortest is not None:
        shortest_ms = round(shortest * run["time"]["resolution_ms"], 9)
        slack_ms = round(shortest_ms - period * run["time"]["cycle_ms"], 9)
    exchanges = sharing > 1
    return {
        "name": name,
        "period": period,
        "lag": 0,
        "exchange": run["exchange"] if exchanges else "self",
        "ranks": sharing,
        "groups": ranks // sharing,
        "slack": slack_ms,
        "shortest_delay_ms": shortest_ms,
        "synapses": synapses,
        "windows": -(-cycles // period),
        "messages": totals["messages"] if exchanges else 0,
        "bytes_sent": totals["bytes_sent"] if exchanges else 0,
        "spikes_sent": totals["spikes"] * (sharing - 1),
    }


def _record(
    run: dict, counts, times, table: pd.DataFrame, threads: int, seconds: float, window: int
) -> dict:
    """The content of record.json."""
    ranks, cycles = times.shape[:2]
    totals = {name: int(table[name].sum()) for name in COUNTED}
    simulate, peak = float(table["simulate_s"].max()), int(table["peak_bytes"].sum())
    network = json.dumps([run["seed"], run["network"], run["time"]], sort_keys=True)
    digest = hashlib.sha256(network.encode()).hexdigest()
    return {
        "format_version": 2,
        "status": "complete",
        "checksum": digest[:16],
        "spike_checksum": digest[16:32],
        "description": run,
        "provenance": {
            "commit": "0" * 40,
            "dirty": False,
            "compiler": "synthetic 1.0",
            "flags": "-O2",
            "mpi_library": "synthetic MPI 3.1",
            "version": "0.1.0",
            "started": "2026-01-01T00:00:00Z",
        },
        "host": {
            "name": "synthetic",
            "system": "Linux",
            "cpu": "synthetic CPU",
            "cores": 2,
            "threads_per_core": 1,
            "sockets": 1,
            "memory_bytes": 2**33,
            "virtual_machine": True,
            "nodes": 1,
            "foreign_load": 0.1,
            "cache_bytes": {"L1d": 32768, "L2": 1048576, "L3": None},
            "binding": [[r] for r in range(ranks)],
        },
        "warnings": ["virtual machine: times may be disturbed by other guests"],
        "ranks": ranks,
        "threads": threads,
        "totals": totals,
        "timing": {
            "build_s": 0.05,
            "simulate_s": simulate,
            "model_s": seconds,
            "cycles": cycles,
            "real_time_factor": simulate / seconds,
            "timer_overhead": 6 * 25e-9 * cycles / simulate,
            "timer_read_s": 25e-9,
            "phases": phase_summary(times),
        },
        "memory": {
            "peak_bytes": peak,
            "bytes_per_synapse": peak / totals["synapses"] if totals["synapses"] else None,
            "parts": {
                "neurons": 16 * totals["neurons"],
                "synapses": 8 * totals["synapses"],
                "lists": 8 * counts.lists,
                "routes": 4 * counts.lists,
                "ring": 160 * totals["neurons"],
                "buffers": 65536 * ranks,
                "log": times.size * 4,
            },
        },
        "lanes": _lanes(run, ranks, cycles, window, totals),
        "phases": PHASES,
        "meters": [],
        "energy": None,
    }


def job(
    number: int, began_s: float = 0.0, cluster: str = "toy", wall_s: float = 1.0, **changes
) -> dict:
    """The launch.json of a run in a job of Slurm."""
    return {
        "command": ["srun", "miniapp"],
        "launcher": "srun",
        "environment": {},
        "began_s": began_s,
        "wall_s": wall_s,
        "allocation": {
            "cluster": cluster,
            "job": str(number),
            "partition": "main",
            "nodes": [],
            "modules": ["gcc/13"],
            **changes,
        },
    }


def edit(directory: Path, change=None, **fields) -> Path:
    """Edits record.json: by `change` of its content, and fields, in which `__` separates levels."""
    path = Path(directory) / "record.json"
    content = json.loads(path.read_text())
    if change is not None:
        change(content)
    for name, value in fields.items():
        assign(content, name.replace("__", "."), value)
    path.write_text(json.dumps(content))
    return Path(directory)


def overlap(directory: Path) -> None:
    """Turns a run that `write_run` made of one lane into an overlapped one.

    As the mini-app records it, it has the lanes of the schedule and no barrier: what was waiting
    there becomes the phase overlap_wait.
    """

    def change(record):
        (world,) = record["lanes"]
        lag = record["description"].get("lag", 1)
        period = record["description"]["delay_ratio"] // (lag + 1)
        near = {**world, "name": "near", "exchange": "self", "ranks": 1, "groups": record["ranks"]}
        far = {**world, "name": "far", "lag": lag, "period": period}
        record["lanes"] = [near, far]
        record["phases"] = [*PHASES, "overlap_wait"]
        phases = record["timing"]["phases"]
        phases["overlap_wait"] = phases["synchronise"]
        phases["synchronise"] = {"mean_s": 0.0, "max_s": 0.0}

    edit(directory, change)
    if (directory / "cycles.npy").is_file():
        times, barrier = np.load(directory / "cycles.npy"), PHASES.index("synchronise")
        times = np.concatenate([times, times[:, :, barrier : barrier + 1]], axis=2)
        times[:, :, barrier] = 0
        np.save(directory / "cycles.npy", times)
