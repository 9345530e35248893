"""Writes a synthetic but format-true run directory (miniapp/FORMAT.md): the planted truth of the tests.

Compute times are Gaussian with the given mean, coefficient of variation, serial correlation and spread of the
rank means; waiting follows from them by the rule of the barrier, and the counts from a network that is
really drawn.
"""

import copy
import csv
import json
from pathlib import Path

import brute_force
import numpy as np
import synthetic_record
from small_network import describe
from synthetic_record import PHASES

from spikemark.models.statistics import lump

SHARES = {"deliver": 0.55, "update": 0.35, "collocate": 0.10}  # of the compute time
EXCHANGE_S = 2e-6


def compute_times(
    ranks: int, cycles: int, mean_s: float, cv: float, ar1: float, rank_sd: float, seed: int
) -> np.ndarray:
    """Compute times in seconds, [rank, cycle]; `rank_sd` is the SD of the rank means relative to the mean."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((ranks, cycles))
    if ar1:
        noise[:, 1:] *= np.sqrt(1 - ar1**2)
        for k in range(1, cycles):
            noise[:, k] += ar1 * noise[:, k - 1]
    means = mean_s * (1 + rank_sd * rng.standard_normal((ranks, 1)))
    return np.maximum(means + cv * mean_s * noise, 0.01 * mean_s)


def waiting_s(compute: np.ndarray, window: int = 1) -> np.ndarray:
    """How long each rank waits for the slowest in all windows, [rank], from compute times [rank, cycle]."""
    lumped = lump(compute, window)
    return (lumped.max(axis=0) - lumped).sum(axis=1)


def phase_times(compute: np.ndarray, window: int, barrier: bool = True) -> np.ndarray:
    """[rank, cycle, phase] in seconds: all ranks wait at the end of each window for the last."""
    ranks, cycles = compute.shape
    times = np.zeros((ranks, cycles, len(PHASES)))
    times[:, :, [PHASES.index(name) for name in SHARES]] = compute[:, :, None] * np.array([*SHARES.values()])
    barrier_at, exchange_at = PHASES.index("synchronise"), PHASES.index("exchange")
    starts = np.arange(0, cycles, window)
    lumped = np.add.reduceat(compute, starts, axis=1)
    waiting = lumped.max(axis=0) - lumped
    ends = np.append(starts[1:], cycles) - 1  # the last window may be a short one
    times[:, ends, barrier_at] = waiting
    if ranks > 1:
        times[:, ends, exchange_at] = EXCHANGE_S
    if not barrier:
        times[:, :, exchange_at] += times[:, :, barrier_at]
        times[:, :, barrier_at] = np.nan
    return times


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
    `nodes` are the names of the nodes of the ranks, [rank], and `slower` says by which factor ranks compute
    longer there; `launch` is the content of launch.json.
    `description` gives the network and the `record` switches; time, schedule, placement and D come from the
    arguments.
    """
    structure_aware = schedule == "structure_aware"
    window = delay_ratio if structure_aware else 1
    placement = placement or ("round_robin" if schedule == "conventional" else "area")
    run = (
        copy.deepcopy(description) if description else describe(areas=max(2, ranks), delay_ratio=delay_ratio)
    )
    cycle_ms = run["time"].get("cycle_ms", run["time"].get("resolution_ms", 0.1))
    run["time"] = {"resolution_ms": 0.1, "warmup_ms": 0, **run["time"]}
    run["time"].update(cycle_ms=cycle_ms, simulate_ms=round(cycles * cycle_ms, 9))
    run.update(seed=seed, schedule=schedule, placement=placement, delay_ratio=delay_ratio)
    run.setdefault("exchange", "alltoallv")
    run["record"] = {"cycles": True, "spikes": False, "barrier": True, **run.get("record", {})}

    seconds = cycles * cycle_ms / 1e3
    counts = brute_force.count(run, schedule, placement, ranks, threads, seconds, seed)
    barrier = run["record"]["barrier"]
    compute = compute_times(ranks, cycles, mean_s, cv, ar1, rank_sd, seed)
    if slower:
        compute *= np.array([[slower.get(node, 1.0)] for node in nodes])
    times = phase_times(compute, window, barrier)
    windows = -(-cycles // window)
    per_rank = synthetic_record.rank_rows(counts, times, ranks, windows)
    record = synthetic_record.whole(run, counts, times, per_rank, ranks, threads, seconds, window)
    if nodes:
        names = list(dict.fromkeys(nodes))
        for row, node in zip(per_rank, nodes, strict=True):
            row["node"] = names.index(node)
        record["host"] |= {"name": nodes[0], "nodes": len(names), "node_names": names}
        record["host"]["per_node"] = [synthetic_record.node(name, nodes.count(name)) for name in names]
    for key, value in overrides.items():
        *path, last = key.split("__")
        at = record
        for step in path:
            at = at[step]
        at[last] = value
    if any(key.startswith("timing__phases__") and key.endswith("__mean_s") for key in overrides):
        times = synthetic_record.as_told(times, record)

    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if run["record"]["cycles"]:
        np.save(directory / "cycles.npy", times.astype(np.float32))
    with open(directory / "ranks.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(per_rank[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(per_rank)
    (directory / "record.json").write_text(json.dumps(record, indent=1))
    if launch is not None:
        (directory / "launch.json").write_text(json.dumps(launch))
    return directory


def job(number: int, began_s: float = 0.0, cluster: str = "toy", wall_s: float = 1.0, **changes) -> dict:
    """The launch.json of a run in a job of Slurm."""
    allocation = {
        "cluster": cluster,
        "job": str(number),
        "partition": "main",
        "nodes": [],
        "modules": ["gcc/13"],
    }
    return {
        "command": ["srun", "miniapp"],
        "launcher": "srun",
        "environment": {},
        "began_s": began_s,
        "wall_s": wall_s,
        "allocation": {**allocation, **changes},
    }


def overlap(directory: Path) -> None:
    """Turn a run that `write_run` made of one lane into an overlapped one, as the mini-app records it.

    It has the lanes of the schedule and no barrier: what was waiting there becomes the phase overlap_wait.
    """
    path = directory / "record.json"
    record = json.loads(path.read_text())
    (world,) = record["lanes"]
    lag, own = record["description"].get("lag", 1), record["description"]["delay_ratio"]
    near = {**world, "name": "near", "exchange": "self", "ranks": 1, "groups": record["ranks"]}
    record["lanes"] = [near, {**world, "name": "far", "lag": lag, "period": own // (lag + 1)}]
    record["phases"] = [*PHASES, "overlap_wait"]
    phases = record["timing"]["phases"]
    phases["overlap_wait"], phases["synchronise"] = phases["synchronise"], {"mean_s": 0.0, "max_s": 0.0}
    path.write_text(json.dumps(record))
    if (directory / "cycles.npy").is_file():
        times, at = np.load(directory / "cycles.npy"), PHASES.index("synchronise")
        times = np.concatenate([times, times[:, :, at : at + 1]], axis=2)
        times[:, :, at] = 0
        np.save(directory / "cycles.npy", times)


def level(directory: Path) -> None:
    """Turn a run that `write_run` made of one lane into a hierarchical one; its groups are single ranks."""
    path = directory / "record.json"
    record = json.loads(path.read_text())
    (world,) = record["lanes"]
    own = {**world, "exchange": "self", "ranks": 1, "groups": record["ranks"]}
    ratio = record["description"]["delay_ratio"]
    lanes = [{**own, "name": "near"}, {**own, "name": "group", "period": ratio}]
    record["lanes"] = [*lanes, {**world, "name": "far", "period": ratio}]
    path.write_text(json.dumps(record))
