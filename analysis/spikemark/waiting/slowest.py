"""The slowest rank: how much longer it computes than the others, and what of the waiting it causes.

Its share is what its lasting difference from the mean of the others adds as a part of `persistent` in the
budget: that difference and the rest may join in either order, and the mean is taken, as for nodes
(`node_share`). Both add up to `persistent`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student

from .components import Components


@dataclass(frozen=True)
class Slowest:
    """`longer`: by how much it exceeds the mean computing of the others, 0.05 for 5 %.

    `share`: of the waiting. `certain`: it is slower than the next one by more than chance. `node`: its name;
    None if there is only one, or nobody knows.
    """

    rank: int
    node: str | None
    longer: Quantity
    share: Quantity
    certain: bool
    alone: bool  # on its node


def slowest(
    components: Components,
    nodes: tuple[str, ...] | None,
    persistent: Quantity,
    waiting: Quantity,
    part_of: Callable[[np.ndarray], float],
) -> Slowest | None:
    """The slowest rank of a run; None if the others do not compute, or nobody waits.

    `persistent` and `waiting`, in s over the run, and `part_of` are as in `node_share.between_nodes`.
    """
    means, ranks = components.rank_means, components.ranks
    rank = int(np.argmax(means))
    others = float(np.delete(means, rank).mean())
    if not (others > 0 and waiting.value > 0):
        return None
    error, degrees = components.rank_mean_known
    half = student(degrees, LEVEL) * error
    next_one = float(np.delete(means, rank).max())
    value = float(means[rank]) / others - 1
    around = half * (1 + 1 / (ranks - 1)) ** 0.5 / others
    longer = Quantity(value, max(value - around, 0.0), value + around, "", "measured")
    own = float(components.rank_effects[rank]) * (np.eye(ranks)[rank] - 1 / ranks) * ranks / (ranks - 1)
    whole = part_of(components.rank_effects)
    part = min(max(part_of(own) / whole, 0.0), 1.0) if whole > 0 else 0.0
    share = Quantity(0.0, 0.0, 0.0, "", "modelled")
    if part > 0:
        share = persistent.share_of(waiting.times(1 / part))
    certain = means[rank] - next_one > half * 2**0.5
    node = nodes[rank] if nodes and len(set(nodes)) > 1 else None
    alone = node is not None and nodes.count(node) == 1
    return Slowest(rank, node, longer, share, bool(certain), alone)
