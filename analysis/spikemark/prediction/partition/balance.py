"""Weights of ranks with which all of them compute equally long on a machine, as its profile predicts.

A rank takes what the kernels of its part take (prediction/phases.py) for the loads that it would have
(prediction/loads.py; nothing is drawn). Loads depend on the placement, so both are found in turn: each round
gives every rank the share with which it should take as long as the others. A node's ranks get no more than
its memory holds.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile
from spikemark.network import placement_file
from spikemark.network.placement_file import Placement
from spikemark.prediction import building, phases
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Counting, Loads
from spikemark.prediction.rates import Rates

from .divide import divide
from .graph import Graph
from .methods import weighted
from .problem import Method
from .weights import capacity

ENOUGH = 0.02  # the slowest rank over the mean one, less 1, at which the search ends
ROUNDS = 10  # at most
STEP = 4.0  # by which a share changes in a round, at most
SLOPES = 0.2, 2.0  # of time over share, in units of their ratio: least and most
SPARE = 0.99  # of a node's memory, when a round gives its ranks less


class TooLarge(BadInput):
    """The network does not fit into the memory of the nodes."""


def check(graph: Graph, method: Method) -> None:
    """Raises BadInput for a graph without a description, and for a method that knows equal ranks only."""
    if graph.described is None:
        raise BadInput("--balance: a voxel graph has no kernels to time; allowed: a run description")
    if not method.weighted:
        raise BadInput(f"--balance: method {method.name!r} knows equal ranks only; allowed: {weighted()}")


@dataclass(frozen=True)
class Task:
    """A network, the method that places it, and the machine that it is placed for."""

    graph: Graph
    method: Method
    machine: Profile | Machine
    rates: Rates
    threads: int  # of a rank
    ranks_per_node: int | None = None
    seed: int = 1

    @cached_property
    def counting(self) -> Counting:
        """Counts loads; what placements share is counted once."""
        return Counting(self.graph.described, self.rates.hz)

    def layout(self, ranks: int, on: dict[str, int] | None) -> Layout:
        """How ranks lie on parts. Raises BadInput as `parts.shares` does."""
        return Layout.of(self.machine, ranks, self.threads, self.ranks_per_node, on)

    def groups(self, layout: Layout) -> np.ndarray:
        """[rank] number of the group: ranks of one group have one weight.

        A method that deals neurons one by one deals them evenly to the ranks of a part.
        """
        if self.method.direct is None:
            return np.arange(len(layout.node_of))
        return layout.share_of[layout.node_of]


@dataclass(frozen=True)
class Trial:
    """A placement and what it makes of every rank, [rank] each."""

    placement: Placement
    layout: Layout
    want: np.ndarray  # shares of all neurons that were asked for, of sum 1
    compute_s: np.ndarray  # predicted, of a mean cycle
    node_bytes: np.ndarray  # that all ranks of its node need
    filled: np.ndarray  # the same over the memory of the node; 0 where that is unknown
    loads: Loads = field(repr=False)

    @property
    def slowest_s(self) -> float:
        """Predicted compute time of the slowest rank, seconds per cycle."""
        return float(self.compute_s.max())

    @property
    def uneven(self) -> float:
        """The compute time of the slowest rank over the mean of all."""
        mean = self.compute_s.mean()
        return self.slowest_s / float(mean) if mean else 1.0

    @property
    def unequal_s(self) -> float:
        """Mean time that ranks wait per cycle because the means of others are longer."""
        return self.slowest_s - float(self.compute_s.mean())


@dataclass(frozen=True)
class Balanced:
    """The best placement of a search. `capped` [rank] says which ranks got what their memory holds."""

    best: Trial
    equal: Trial  # the same method with equal ranks, or with the weights that the search began with
    rounds: int
    capped: np.ndarray

    @property
    def done(self) -> bool:
        """True if the ranks that memory does not limit compute equally long, to within ENOUGH."""
        return _spread(self.best, self.capped) <= ENOUGH


def balanced(
    task: Task, ranks: int, on: dict[str, int] | None = None, start: np.ndarray | None = None
) -> Balanced:
    """Place the network so that all ranks compute equally long, as far as the method allows.

    `on`: ranks by part. `start` [rank]: weights to begin with. Raises BadInput as `parts.shares` and `divide`
    do, for a network that cannot be run, and for one that does not fit into the memory of the nodes.
    """
    layout = task.layout(ranks, on)
    group = task.groups(layout)
    want = np.full(ranks, 1 / ranks) if start is None else start / start.sum()
    most = np.full(ranks, np.inf)
    equal = best = trial = tried(task, layout, want)
    earlier, rounds = None, 0
    while rounds < ROUNDS and not _finished(trial, want >= most):
        rounds += 1
        most = _at_most(trial, most, group)
        if most.sum() < 1:
            break
        want = within(_levelled(trial, earlier, group), most)
        earlier, trial = trial, tried(task, layout, want)
        best = min(best, trial, key=_rank_of)
    if best.filled.max() > 1:
        raise TooLarge(_too_large(task, best))
    return Balanced(best, equal, rounds, best.want >= most)


def tried(task: Task, layout: Layout, want: np.ndarray) -> Trial:
    """The placement by these shares [rank], and what it would take."""
    graph, ranks = task.graph, len(want)
    made = divide(graph, ranks, task.method, task.seed, capacity(want)).placement
    placed = made.check(graph.neurons, task.method.name)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "placed.json"
        placement_file.write(path, placed)
        loads = task.counting.loads(ranks, task.threads, None, str(path))
    compute_s = sum(phases.of_ranks(loads, Inputs(task.machine), layout))
    return Trial(placed, layout, want, compute_s, *_memory(task, loads, layout), loads)


def within(want: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Shares [rank] of sum 1 in proportion to `want`, none above `most`, whose sum is at least 1."""
    held = np.zeros(len(want), bool)
    while True:
        free = 1 - most[held].sum()
        found = np.where(held, most, want * (free / max(want[~held].sum(), 1e-300)))
        over = ~held & (found > most)
        if not over.any():
            return found
        held |= over


def _levelled(trial: Trial, earlier: Trial | None, group: np.ndarray) -> np.ndarray:
    """[rank] the shares with which all groups would take equally long, if times were linear in them.

    Slopes follow from an earlier trial; without one, times are in proportion to shares.
    """
    ranks = np.bincount(group)

    def mean(of_rank: np.ndarray) -> np.ndarray:
        return np.bincount(group, of_rank) / ranks

    share, seconds = mean(trial.want), np.maximum(mean(trial.compute_s), 1e-300)
    slope = seconds / share
    if earlier is not None:
        change = share - mean(earlier.want)
        moved = np.abs(change) > 1e-4 * share
        found = (seconds - mean(earlier.compute_s)) / np.where(moved, change, 1)
        slope = np.where(moved, np.clip(found, *(slope * limit for limit in SLOPES)), slope)
    level = (1 - ranks @ (share - seconds / slope)) / (ranks @ (1 / slope))
    return np.clip(share + (level - seconds) / slope, share / STEP, share * STEP)[group]


def _at_most(trial: Trial, most: np.ndarray, group: np.ndarray) -> np.ndarray:
    """[rank] the largest share that memory allows, of what this trial and earlier ones show."""
    fitting = np.where(trial.filled > 1, SPARE * trial.want / np.maximum(trial.filled, 1), np.inf)
    lowest = np.full(group.max() + 1, np.inf)
    np.minimum.at(lowest, group, np.minimum(most, fitting))
    return lowest[group]


def _memory(task: Task, loads: Loads, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Bytes of all ranks of the node of each rank [rank], and that over the node's memory."""
    needed = np.bincount(layout.node_of, building.bytes_at_most(loads))[layout.node_of]
    filled = np.zeros(loads.ranks)
    for share in layout.shares:
        room = layout.profile(task.machine, share).get("node.memory")
        if room is not None:
            filled[share.slice] = needed[share.slice] / (1e9 * room.value)
    return needed, filled


def _spread(trial: Trial, capped: np.ndarray) -> float:
    """The slowest rank over the mean of those that memory does not limit, less 1."""
    free = trial.compute_s[~capped]
    mean = free.mean() if len(free) else 0.0
    return trial.slowest_s / float(mean) - 1 if mean else 0.0


def _finished(trial: Trial, capped: np.ndarray) -> bool:
    return trial.filled.max() <= 1 and _spread(trial, capped) <= ENOUGH


def _rank_of(trial: Trial) -> tuple[float, float]:
    """Order of solutions: those that fit come first, then those with a faster slowest rank."""
    return max(1.0, float(trial.filled.max())), trial.slowest_s


def _too_large(task: Task, trial: Trial) -> str:
    rank, layout = int(trial.filled.argmax()), trial.layout
    share = layout.shares[layout.share_of[layout.node_of[rank]]]
    room = layout.profile(task.machine, share).get("node.memory").value
    return (
        f"{layout.prefix(share)}{len(trial.want)} ranks: the network does not fit: a node would need"
        f" {1e-9 * trial.node_bytes[rank]:.3g} GB; allowed: {room:g} GB"
    )
