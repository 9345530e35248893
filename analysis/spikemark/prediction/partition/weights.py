"""Weights of ranks: how much each rank of an unequal machine shall have of a network."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import placement_file
from spikemark.network.placement_file import weights_of
from spikemark.prediction.layout import Layout
from spikemark.prediction.performance import compute_s
from spikemark.prediction.workload import Counting, rates_of
from spikemark.records.record import Run

from .graph import Graph
from .methods import divide

LIMITS = 1e-6, 1e6  # of a weight
ENOUGH, ROUNDS = 0.01, 20  # slowest rank over the mean less 1, at which the search ends; rounds at most


def read(text: str, ranks: int) -> np.ndarray:
    """[ranks] weights. Raises BadInput for what is not a list such as 1x64,0.5x2, and for other numbers."""
    found = weights_of(text, f"--weights={text}", LIMITS)
    if len(found) != ranks:
        raise BadInput(f"--weights={text}: {len(found)} weights; expected {ranks}, such as 1x64,0.5x2 for 66")
    return found


def of_run(run: Run, ranks: int) -> np.ndarray:
    """[ranks] neurons over the mean cycle of each rank of a run, which makes ranks compute equally long if a
    rank's time is in proportion to its neurons. Raises BadInput for other ranks, and for one without neurons.
    """
    if len(run.ranks) != ranks:
        raise BadInput(f"--weights-from={run.path}: a run of {len(run.ranks)} ranks; expected {ranks}")
    neurons = run.ranks["neurons"].to_numpy(dtype=float)
    for rank in np.flatnonzero(neurons == 0)[:1]:
        raise BadInput(f"--weights-from={run.path}: rank {rank} has no neurons; expected some on every rank")
    return neurons / run.compute().mean(axis=1)


def of_machine(
    graph: Graph, machine: Any, layout: Layout, threads: int, method: str, seed: int, rate_hz: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights with which all ranks of a machine compute equally long, as its profile predicts; and seconds
    per cycle with equal weights and with these, [ranks] each.

    Loads depend on the placement, so rounds of placing and predicting follow each other. Ranks of a part
    have one weight where neurons are dealt. Raises BadInput for a voxel graph, which has no kernels.
    """
    if graph.described is None:
        raise BadInput("--machine: a voxel graph has no kernels to time; expected a run description")
    counting = Counting(graph.described, rates_of(graph.described, rate_hz).hz)
    group = np.arange(layout.ranks) if method != "round_robin" else layout.share_of[layout.node_of]

    def seconds(weights: np.ndarray) -> np.ndarray:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "placed.json"
            placement_file.write(path, divide(graph, layout.ranks, method, seed, weights))
            loads = counting.loads(layout.ranks, threads, None, str(path))
        return sum(compute_s(loads, machine, layout).values())

    weights = np.ones(layout.ranks)
    before = now = seconds(weights)
    best = float(now.max()), weights, now
    for _ in range(ROUNDS):
        if now.max() <= (1 + ENOUGH) * now.mean():
            break
        longer = np.bincount(group, now) / np.bincount(group) / now.mean()
        weights = weights / np.maximum(longer, 1e-3)[group]
        weights /= weights.mean()
        now = seconds(weights)
        best = min(best, (float(now.max()), weights, now), key=lambda found: found[0])
    return best[1], before, best[2]
