"""Weights of ranks: how much each rank of an unequal machine shall have of a network."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction.layout import AnyMachine, MachineLayout, threads_of
from spikemark.prediction.performance import compute_s
from spikemark.prediction.workload import Counting, rates_of
from spikemark.records.record import Run

from .graph import Graph
from .methods import divide

LIMITS = 1e-6, 1e6  #: of a weight
EVEN_ENOUGH = 0.01  #: slowest rank over the mean less 1, at which the search ends
MAX_ROUNDS = 20  #: of placing and predicting, after the first
SMALLEST_TIME = 1e-3  #: of a rank to the mean, for its next weight


@dataclass(frozen=True, eq=False)
class WeightedTimes:
    """Weights of ranks, and the compute times with them."""

    weights: np.ndarray  #: [rank], of mean 1
    compute_s: np.ndarray  #: [rank], seconds per cycle

    @property
    def slowest_over_mean(self) -> float:
        """Compute time of the slowest rank over that of a mean one."""
        return float(self.compute_s.max() / self.compute_s.mean())

    @property
    def unequal_s(self) -> float:
        """What the slowest rank computes longer than a mean one, in seconds per cycle."""
        return float(self.compute_s.max() - self.compute_s.mean())


@dataclass(frozen=True, eq=False)
class EqualTimes:
    """Weights with which the ranks of a machine compute equally long, as far as possible."""

    best: WeightedTimes
    equal: WeightedTimes  #: with equal weights, for comparison

    @property
    def sentence(self) -> str:
        """How even the weights make the ranks."""
        return (
            f"Slowest rank over the mean, as predicted: {self.best.slowest_over_mean:.3g}"
            f" ({self.equal.slowest_over_mean:.3g} with equal weights)."
        )

    def content(self) -> dict[str, Any]:
        """The weights for JSON, beside equal ones."""
        return {
            "weights": self.best.weights.tolist(),
            "compute_s": self.best.compute_s.tolist(),
            "slowest_over_mean": self.best.slowest_over_mean,
            "unequal_s": self.best.unequal_s,
            "slowest_over_mean_before": self.equal.slowest_over_mean,
            "unequal_before_s": self.equal.unequal_s,
        }


def of_run(run: Run) -> np.ndarray:
    """[ranks] neurons over the mean cycle of each rank of a run.

    They make ranks compute equally long if a rank's time is in proportion to its neurons. Raises
    BadInput for a rank without neurons.

    Example:
        >>> from spikemark.records.record import load_run
        >>> int(of_run(load_run("tests/golden/analysis/records/slow-rank-8")).argmin())
        5
    """
    neurons = run.ranks["neurons"].to_numpy(dtype=float)
    empty = np.flatnonzero(neurons == 0)
    if len(empty):
        raise BadInput(
            f"weights_from={run.path}: rank {empty[0]} has no neurons; expected some on every rank",
            field="weights_from",
        )
    weights: np.ndarray = neurons / run.compute().mean(axis=1)
    return weights


def of_machine(
    graph: Graph,
    machine: AnyMachine,
    ranks: int,
    threads: int | None,
    ranks_per_node: int | None,
    on: dict[str, int] | None,
    method: str,
    seed: int,
    rate_hz: float | None,
) -> EqualTimes:
    """Weights [ranks] with which all ranks of a machine compute equally long, as its profile
    predicts.

    Loads depend on the placement, so rounds of placing and predicting follow each other. Ranks of a
    part have one weight where neurons are dealt.

    Raises BadInput for a voxel graph, which has no kernels.

    Example:
        >>> from pathlib import Path
        >>> from spikemark import machines
        >>> from spikemark.prediction.partition import graph
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> network = graph.load(Path("tests/golden/analysis/networks/unequal-5.json"))
        >>> times = of_machine(network, jureca, 5, 1, None, None, "area_group", 1, None)
        >>> times.best.weights.round(2).tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if graph.described is None:
        raise BadInput(
            field="machine",
            reason="a voxel graph has no kernels to time",
            expected="a run description",
        )
    threads = threads or threads_of(machine, ranks_per_node, on)
    layout = MachineLayout.from_machine(machine, ranks, threads, ranks_per_node, on)
    counting = Counting(graph.described, rates_of(graph.described, rate_hz).hz)
    group = np.arange(ranks)  # ranks with one weight
    if method == "round_robin":
        group = layout.share_of[layout.node_of]
    weights = np.ones(ranks)
    rounds: list[WeightedTimes] = []
    for _ in range(1 + MAX_ROUNDS):
        placement = divide(graph, ranks, method, seed, weights)
        loads = counting.loads(ranks, threads, None, placement)
        by_part = compute_s(loads, machine, layout)
        current = WeightedTimes(weights, np.asarray(sum(by_part.values())))
        rounds.append(current)
        if current.compute_s.max() <= (1 + EVEN_ENOUGH) * current.compute_s.mean():
            break
        weights = _next_weights(current, group)
    best = min(rounds, key=lambda times: float(times.compute_s.max()))
    return EqualTimes(best, rounds[0])


def _next_weights(times: WeightedTimes, group: np.ndarray) -> np.ndarray:
    """Weights in inverse proportion to the mean time of each group of ranks, [rank]."""
    time_of_group = np.bincount(group, times.compute_s) / np.bincount(group)
    relative = time_of_group / times.compute_s.mean()
    weights: np.ndarray = times.weights / np.maximum(relative, SMALLEST_TIME)[group]
    weights /= weights.mean()
    return weights
