"""The compute times that a simulated run gets: drawn from the jitter of a machine, or replayed from a run.

float32 [rank, cycle, (deliver, update, collocate)] in seconds, of the measured cycles. A simulated rank has
one thread, which updates until the last thread of the rank for which it stands would have ended.
"""

from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.jitter import Jitter
from spikemark.network.description import read_time
from spikemark.records import dry_run
from spikemark.records.dry_run import DryRun
from spikemark.records.imported import CycleTimes, run_or_times
from spikemark.records.phases import COMPUTE, THREADS

PHASES = tuple(part for part in COMPUTE if part != THREADS)
NODES = 2**32  # streams of nodes lie beyond those of ranks


def draw(
    mean_s: np.ndarray,
    cycles: int,
    jitter: Jitter,
    seed: int,
    ranks_per_node: int = 1,
    first: int = 0,
    first_node: int = 0,
) -> np.ndarray:
    """Times about the means `mean_s` [rank, phase]; the phases of a cycle scatter together.

    A rank's times depend on the seed and its number alone, so that runs of other schedules, or of more ranks,
    meet the same jitter. Ranks of one node share its deviation. `first` and `first_node`: the numbers of the
    first rank and its node, if these are the ranks of one part of a machine.
    """
    ranks = len(mean_s)
    truth = jitter.truth()
    times = np.empty((ranks, cycles, len(PHASES)), dtype=np.float32)
    for rank in range(ranks):
        node = first_node + rank // ranks_per_node
        level = jitter.level(_stream(seed, NODES + node).standard_normal())
        factor = level * truth.draw(_stream(seed, first + rank), 1, cycles)[0]
        times[rank] = factor[:, None] * mean_s[rank]
    return times


def _stream(seed: int, number: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[seed, number]))


def replayed(run: Path, ranks: int, cycles: int) -> np.ndarray:
    """The measured times of a run. Raises BadInput for a run with other numbers of ranks or cycles."""
    found = dry_run.load(run) if dry_run.is_dry_run(run) else run_or_times(run)
    if isinstance(found, DryRun):
        times = _of_one_thread(found.times())
        checked = times
    elif isinstance(found, CycleTimes):  # nobody told its phases apart
        none = np.zeros_like(found.compute)
        times, checked = np.stack([none, found.compute, none], axis=-1), found.compute
    else:
        mixed = found.record.mixed  # then update holds the waiting of threads
        parts = [found.phase(name) for name in COMPUTE if not (mixed and name == THREADS)]
        times = np.stack(parts, axis=-1)
        times = times if mixed else _of_one_thread(times)
        checked = found.compute()  # raises BadInput for impossible times
    if len(checked) != ranks:
        raise BadInput(f"compute={run}: has {len(checked)} ranks: allowed are as many as asked for, {ranks}")
    if times.shape[1] != cycles:
        raise BadInput(
            f"compute={run}: has {times.shape[1]} measured cycles: allowed are as many as described, {cycles}"
        )
    return times


def _of_one_thread(times: np.ndarray) -> np.ndarray:
    """Converts [rank, cycle, part of COMPUTE] to PHASES, float32; update includes waiting of threads."""
    found = times[:, :, [COMPUTE.index(name) for name in PHASES]].astype(np.float32)
    found[:, :, PHASES.index("update")] += times[:, :, COMPUTE.index(THREADS)]
    return found


def cycles(description: dict) -> int:
    """Measured cycles of a description. Raises BadInput if its times do not give them."""
    time = read_time(description)
    if not time.cycles:
        raise BadInput(f"time.simulate_ms: missing; allowed is at least one cycle, {time.cycle_ms:g} ms")
    return time.cycles
