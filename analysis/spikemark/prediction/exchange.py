"""What the ranks of each lane send each other in a window, and how long that takes (models/loggp.py)."""

from functools import lru_cache

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.loggp import BROADCASTS, CROWD, EXCHANGES, WHY, Collectives, Traffic
from spikemark.network.exchanges import ALONE, COMPOSED
from spikemark.network.lanes import Lane

from .layout import Layout
from .partition import routed
from .workload import Loads

__all__ = ["CROWD", "EXCHANGES", "WHY", "barrier", "check", "groups", "seconds"]


@lru_cache(maxsize=8)  # lanes of the ways that are looked at
def groups(loads: Loads, number: int, layout: Layout) -> list[Traffic]:
    """What the ranks of every group of a lane send in a window; groups of one rank are left out.

    Of groups that send the same within one node each, only the first on equal nodes is there: they take
    equally long.
    """
    lane, found = loads.lanes[number], {}
    for group in np.unique(lane.group):
        members = np.flatnonzero(lane.group == group)
        if len(members) == 1:
            continue
        sent = lane.period * loads.words[number][np.ix_(members, members)]
        np.fill_diagonal(sent, 0.0)
        node = layout.node_of[members]
        key = (layout.share_of[node[0]], sent.tobytes()) if node[0] == node[-1] else group

        def onto(sets: np.ndarray, members: np.ndarray = members) -> np.ndarray:
            return lane.period * loads.onto(number, members, sets)

        traffic = Traffic(sent * lane.word_bytes, -np.expm1(-sent), node, onto, lane.word_bytes)
        found.setdefault(key, traffic)
    return [*found.values()]


def check(lane: Lane) -> None:
    """Raises BadInput for a back-end that does not exist, or that cannot serve so many ranks."""
    asked = routed.check(lane) if lane.exchange in COMPOSED else {"": lane.exchange}
    for role, name in asked.items():
        possible = [n for n in EXCHANGES if not (role and n in BROADCASTS)] + [*COMPOSED] * (not role)
        possible += [ALONE] * (int(lane.sizes.max()) == 1)
        if name not in possible:
            expected = f"one of {', '.join(possible)}"
            raise BadInput(f"exchange: {role}{name!r} for lane {lane.name}; expected {expected}")


def seconds(net: Collectives, lane: Lane, traffic: list[Traffic]) -> float:
    """Seconds of an exchange of the slowest group; 0 for a lane without groups."""
    if lane.exchange in COMPOSED:
        return max((routed.seconds(net, lane.composed, t, EXCHANGES) for t in traffic), default=0.0)
    return max((EXCHANGES[lane.exchange](net, t) for t in traffic), default=0.0)


def barrier(net: Collectives, lane: Lane, traffic: list[Traffic]) -> float:
    """Seconds of the barrier before an exchange, of the slowest group."""
    return max((net.barrier(t) for t in traffic), default=0.0)
