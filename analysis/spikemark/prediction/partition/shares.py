"""Weights of ranks: how much each rank of an unequal machine shall have of a network."""

from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction.layout import Layout, threads_of
from spikemark.prediction.performance import compute_s
from spikemark.prediction.workload import Counting, rates_of
from spikemark.records.record import Run

from .graph import Graph
from .methods import divide

LIMITS = 1e-6, 1e6  # of a weight
ENOUGH, ROUNDS = 0.01, 20  # slowest rank over the mean less 1, at which the search ends; rounds at most


def of_run(run: Run) -> np.ndarray:
    """[ranks] neurons over the mean cycle of each rank of a run, which makes ranks compute equally long if a
    rank's time is in proportion to its neurons. Raises BadInput for a rank without neurons."""
    neurons = run.ranks["neurons"].to_numpy(dtype=float)
    for rank in np.flatnonzero(neurons == 0)[:1]:
        raise BadInput(f"--weights-from={run.path}: rank {rank} has no neurons; expected some on every rank")
    return neurons / run.compute().mean(axis=1)


def of_machine(
    graph: Graph, machine: Any, ranks: int, threads: int | None, ranks_per_node: int | None,
    on: dict[str, int] | None, method: str, seed: int, rate_hz: float | None,
) -> tuple[np.ndarray, dict[str, Any], str]:  # fmt: skip
    """Weights [ranks] with which all ranks of a machine compute equally long, as its profile predicts; and
    for JSON these, seconds per cycle, and how unequal they are with equal weights (`_before`) and with these;
    and a line of that.

    Loads depend on the placement, so rounds of placing and predicting follow each other. Ranks of a part
    have one weight where neurons are dealt. Raises BadInput for a voxel graph, which has no kernels.
    """
    if graph.described is None:
        raise BadInput("--machine: a voxel graph has no kernels to time; expected a run description")
    threads = threads or threads_of(machine, ranks_per_node, on)
    layout = Layout.of(machine, ranks, threads, ranks_per_node, on)
    counting = Counting(graph.described, rates_of(graph.described, rate_hz).hz)
    group = np.arange(ranks) if method != "round_robin" else layout.share_of[layout.node_of]
    weights, tried = np.ones(ranks), []
    for _ in range(1 + ROUNDS):
        placed = divide(graph, ranks, method, seed, weights)
        loads = counting.loads(ranks, threads, None, placed)
        tried.append((weights, sum(compute_s(loads, machine, layout).values())))
        now = tried[-1][1]
        if now.max() <= (1 + ENOUGH) * now.mean():
            break
        longer = np.bincount(group, now) / np.bincount(group) / now.mean()
        weights = weights / np.maximum(longer, 1e-3)[group]
        weights /= weights.mean()
    best = min(tried, key=lambda found: found[1].max())
    said = {"weights": best[0].tolist(), "compute_s": best[1].tolist()}
    for end, (_, times) in ("", best), ("_before", tried[0]):
        said[f"slowest_over_mean{end}"] = float(times.max() / times.mean())
        said[f"unequal{end}_s"] = float(times.max() - times.mean())
    line = "Slowest rank over the mean, as predicted: {:.3g} ({:.3g} with equal weights)."
    return best[0], said, line.format(said["slowest_over_mean"], said["slowest_over_mean_before"])
