"""Renumbers the ranks of a placement so that ranks that exchange most form a group.

Levels group ranks by number (levels.py), so a grouping is an order of ranks.
"""

from dataclasses import replace

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network.placement_file import Placement

from .graph import Graph
from .traffic import expected


def by_traffic(pairs: np.ndarray, group: int) -> np.ndarray:
    """[ranks] new number of every rank: groups of `group` ranks, each grown from the busiest rank left.

    A group takes the rank that exchanges most with the ranks it has, one after another. `pairs` is T.
    """
    count = len(pairs)
    both = pairs + pairs.T
    busy = both.sum(axis=1)
    left = np.ones(count, bool)
    number = np.empty(count, np.int64)
    pull = busy
    for place in range(count):
        if place % group == 0:
            pull = busy.astype(float)
            at = int(np.where(left, pull, -1).argmax())
            pull = both[at].astype(float)
        else:
            at = int(np.where(left, pull, -1).argmax())
            pull += both[at]
        left[at] = False
        number[at] = place
    return number


def check(ranks: int, group: int | None) -> None:
    """Raises BadInput for a size of groups that does not divide the number of ranks; None is no size."""
    if group is not None and ranks % group:
        raise BadInput(f"group={group}: {ranks} ranks are to be divided into groups of equal size")


def grouped(graph: Graph, placement: Placement, group: int) -> Placement:
    """The placement with groups by traffic. Raises BadInput as `renumbered` and `check`."""
    check(placement.ranks, group)
    return renumbered(placement, by_traffic(expected(graph, placement).pairs, group))


def renumbered(placement: Placement, number: np.ndarray) -> Placement:
    """The same with other numbers of ranks.

    Raises BadInput where neurons are dealt to several ranks, and where ranks are not equal: a number then
    stands for a weight.
    """
    if placement.weights is not None:
        raise BadInput("--group: ranks with weights keep their numbers; allowed: --group or --weights")
    if (placement.over > 1).any():
        raise BadInput(f"placement={placement.method!r}: neurons that are dealt to ranks cannot be grouped")
    return replace(placement, rank=number[placement.rank])
