"""How much of the waiting for persistent differences between ranks is due to differences between nodes.

The persistent effect of a rank is split into the effect of its node and the rest. The effect of a node is the
mean over its ranks times 1 - 1 / F, F being the mean square between nodes over that within nodes: by chance
alone, equal nodes would differ so that F is 1 (one-way layout with random effects; Searle, Casella, McCulloch
1992, 3.6). The quantiles of F give the interval. With one rank per node, the whole effect is the node's.

What nodes add to the waiting is their share of what `persistent` adds in the budget: nodes and the rest may
join in either order, one after the other, and the mean is taken (the value of Owen 1977, as that of Shapley
with parts that stay together). So both add up to `persistent`, and the other parts do not change.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from spikemark.quantities.quantity import LEVEL, Quantity

from .components import Components
from .nodes import Nodes, effects_of_nodes


@dataclass(frozen=True)
class BetweenNodes:
    """What differences between nodes cost, and which nodes are slow."""

    waiting: Quantity  # s over the run, mean over ranks; part of `persistent`
    share: Quantity  # of all waiting
    nodes: Nodes


def between_nodes(
    components: Components,
    nodes: tuple[str, ...] | None,
    persistent: Quantity,
    waited: Quantity,
    part_of: Callable[[np.ndarray], float],
) -> BetweenNodes | None:
    """The share of nodes in `persistent`; None if all ranks are on one node.

    `nodes`: the name of the node of each rank. `persistent` and `waited` are in s over the run. `part_of`
    says what some effects [rank] in s add to the waiting of one meeting if the rest of the persistent effects
    joins before and after them.
    """
    if nodes is None or len(set(nodes)) == 1 or not components.mean > 0:
        return None
    error, degrees = components.rank_mean_known
    found = effects_of_nodes([components.rank_means], [nodes], (error / components.mean, degrees))
    if found is None:
        return None
    of_nodes = _means(components.rank_effects, nodes)
    whole = part_of(components.rank_effects)
    parts = [part_of(kept * of_nodes) / whole if whole > 0 else 0.0 for kept in _kept(components, nodes)]
    value, low, high = (min(max(x, 0.0), 1.0) for x in parts)
    waiting = Quantity(
        value * persistent.value,
        min(low, value) * persistent.low,
        max(high, value) * persistent.high,
        "s",
        "modelled",
    )
    share = waiting.share_of(waited) if waited.value > 0 else Quantity(0.0, 0.0, 0.0, kind="modelled")
    return BetweenNodes(waiting, share, found)


def _means(values: np.ndarray, nodes: tuple[str, ...]) -> np.ndarray:
    """The mean over the ranks of its node for each rank, [rank]."""
    _, node = np.unique(np.asarray(nodes), return_inverse=True)
    return (np.bincount(node, values) / np.bincount(node))[node]


def _kept(components: Components, nodes: tuple[str, ...]) -> tuple[float, float, float]:
    """The share of the means of nodes that is theirs, and the ends of its interval."""
    ranks, count = len(nodes), len(set(nodes))
    if ranks == count:
        return 1.0, 1.0, 1.0
    of_nodes = _means(components.rank_means, nodes)
    between = float(np.square(of_nodes - components.mean).sum()) / (count - 1)
    within = float(np.square(components.rank_means - of_nodes).sum()) / (ranks - count)
    if not between > 0:
        return 0.0, 0.0, 0.0
    tail = (1 - LEVEL) / 2
    usual = (1.0, *(float(special.fdtri(count - 1, ranks - count, p)) for p in (1 - tail, tail)))
    return tuple(max(0.0, 1 - x * within / between) for x in usual)
