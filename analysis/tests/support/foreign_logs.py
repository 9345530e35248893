"""Writes cycle times as other programs would have written them, in each format that is read.

All take the same times [rank, cycle] in s of ranks that meet in every cycle, and return the files.
`WRITERS` has one for each reader.
"""

from pathlib import Path

import numpy as np
import otf2

CYCLE_MS, EXCHANGE_S = 0.1, 5e-5


def exchanged(compute: np.ndarray, exchange_s: float = EXCHANGE_S) -> np.ndarray:
    """Communication of ranks that leave each exchange together, waiting included."""
    return compute.max(axis=0) - compute + exchange_s


def table(folder: Path, compute: np.ndarray) -> list[Path]:
    """One array of all ranks for each column."""
    np.savez(folder / "times.npz", compute=compute, communicate=exchanged(compute))
    return [folder / "times.npz"]


def nest(folder: Path, compute: np.ndarray, **kernel) -> list[Path]:
    """As docs/other-simulators.md writes it: `time_update` is the whole cycle."""
    ranks, cycles = compute.shape
    known = {
        "num_processes": ranks,
        "min_delay": CYCLE_MS,
        "biological_time": cycles * CYCLE_MS,
    } | kernel
    files, counter = (
        [folder / f"nest-cycles-{rank}.npz" for rank in range(ranks)],
        np.arange(cycles) % 7,
    )
    for path, own, others in zip(files, compute, exchanged(compute), strict=True):
        log = {"time_update": own + others, "time_communicate_spike_data": others}
        np.savez(path, **log, local_spike_counter=counter, **known)
    return files


def structure_aware(
    folder: Path, compute: np.ndarray, every: int = 1, apart: bool = False, log: bool = True
) -> list[Path]:
    """Six columns, and the log beside them. `apart`: communication does not include the barrier."""
    ranks, cycles = compute.shape
    ends = np.arange(cycles) % every == every - 1
    steps = compute[:, : cycles // every * every].reshape(ranks, -1, every).sum(axis=2)
    wait, local = np.zeros_like(compute), np.full_like(compute, 1e-6)
    wait[:, ends] = steps.max(axis=0) - steps
    far = np.where(ends, EXCHANGE_S + 1e-7 * np.random.default_rng(4).random(compute.shape), 0.0)
    far = far + (0 if apart else wait)
    whole, spikes = compute + far + local + (wait if apart else 0), np.arange(cycles) % 7
    files = [folder / f"cycle_time_log_{rank}" for rank in range(ranks)]
    for rank, path in enumerate(files):
        columns = [part[rank] for part in (whole, far + local, far, local, wait)]
        np.savetxt(path, np.transpose([*columns, spikes]))
        if log:
            stopwatches(folder, rank, ranks, {"biological_time": cycles * CYCLE_MS})
    return files


def stopwatches(folder: Path, rank: int, ranks: int, more: dict) -> Path:
    """`logfile_<rank>`: the kernel's status, in which some values are long arrays or words."""
    status = {
        "presim_time_simulate": 0.5,
        "biological_time": 100.0,
        "cycle_time_log": {"update": np.ones(2000)},
        "min_delay": CYCLE_MS,
        "num_processes": ranks,
        "rng_type": "mt19937_64",
        "time_simulate": 2.0,
        "time_update": np.full(48, 0.25),
        "time_communicate_spike_data": 0.4,
        **more,
        "total_memory": 1000,
    }
    path = folder / f"logfile_{rank}"
    path.write_text("".join(f"{key} {value}\n" for key, value in status.items()))
    return path


def sums(folder: Path, compute: np.ndarray, **more) -> list[Path]:
    """The stopwatches of each rank."""
    communicate = exchanged(compute).sum(axis=1)
    known = {
        "time_simulate": compute.sum(axis=1) + communicate,
        "time_communicate_spike_data": communicate,
    }
    ranks = len(compute)
    return [
        stopwatches(
            folder, rank, ranks, {name: values[rank] for name, values in (known | more).items()}
        )
        for rank in range(ranks)
    ]


def bennch(folder: Path, compute: np.ndarray) -> list[Path]:
    """A table with the older names and a run whose unknown columns are empty."""
    communicate_s = exchanged(compute).sum() / len(compute)
    run_s = compute.sum() / len(compute) + communicate_s
    head = (
        "rng_seed,num_nodes,threads_per_task,tasks_per_node,model_time_sim,wall_time_create,wall_time_sim,"
        "wall_time_phase_communicate,wall_time_phase_update,py_time_simulate"
    )
    path = folder / "bennch.csv"
    line = f"55,2,4,2,1000.0,0.1,{run_s},{communicate_s},,{run_s}"
    path.write_text(f"{head}\n{line}\n837,4,4,2,1000.0,0.1,{run_s / 2},{run_s / 8},,\n")
    return [path]


def trace(
    folder: Path, compute: np.ndarray, clocks: float = 7.0, barrier: bool = True, less: int = 0
) -> list[Path]:
    """Ranks with a barrier and MPI_Alltoall in every cycle, whose clocks are up to `clocks` s
    apart.

    The first collective call has no computing before it. The last rank has `less` cycles fewer.
    """
    ranks, cycles = compute.shape
    wait = compute.max(axis=0) - compute
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as archive:
        define = archive.definitions
        node = define.system_tree_node("node")
        region = {
            name: define.region(name) for name in ("main", "solve", "MPI_Barrier", "MPI_Alltoall")
        }
        for rank in range(ranks):
            group = define.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            writer = archive.event_writer_from_location(
                define.location("Master thread", group=group)
            )
            now = clocks * rank / ranks

            def spent(name, seconds, writer=writer):
                nonlocal now
                writer.enter(round(1e9 * now), region[name])
                now += seconds
                writer.leave(round(1e9 * now), region[name])

            writer.enter(round(1e9 * now), region["main"])
            spent("MPI_Alltoall", 1e-3)
            for cycle in range(cycles - less * (rank == ranks - 1)):
                spent("solve", compute[rank, cycle])
                if barrier:
                    spent("MPI_Barrier", wait[rank, cycle])
                spent("MPI_Alltoall", EXCHANGE_S + (0 if barrier else wait[rank, cycle]))
            writer.leave(round(1e9 * now), region["main"])
    return [folder / "traces.otf2"]


WRITERS = {
    "table": table,
    "nest": nest,
    "structure-aware": structure_aware,
    "nest-sums": sums,
    "bennch": bennch,
    "otf2": trace,
}
