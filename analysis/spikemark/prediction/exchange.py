"""How long the exchanges of a lane take: what ranks send each other in a window, on an interconnect.

One function per back-end of the mini-app that is understood, listed in EXCHANGES; sizes travel ahead where
the back-end sends them ahead (miniapp/src/transport/exchange).
"""

from collections.abc import Callable

import numpy as np

from spikemark.errors import BadInput
from spikemark.prediction.lanes import Lane
from spikemark.prediction.loads import Loads
from spikemark.prediction.network import Interconnect, Traffic

COUNT_BYTES = 4.0  # of a size that is sent ahead
ROOM = 2.0  # of buffers of fixed size over what they carry on average


def _two_calls(net: Interconnect, traffic: Traffic) -> float:
    data = min(net.messages(traffic), net.alltoall(traffic))
    return net.alltoall(traffic.dense(COUNT_BYTES)) + data


def _fixed(net: Interconnect, traffic: Traffic) -> float:
    return net.alltoall(traffic.dense(ROOM * float(traffic.bytes.max()) + COUNT_BYTES))


def _partners(net: Interconnect, traffic: Traffic) -> float:
    linked = (traffic.bytes > 0).astype(float)
    sizes = Traffic(COUNT_BYTES * linked, linked, traffic.node)
    return net.messages(sizes) + net.messages(traffic)


def _direct(net: Interconnect, traffic: Traffic) -> float:
    return net.messages(Traffic(traffic.bytes, (traffic.bytes > 0).astype(float), traffic.node))


def _sparse(net: Interconnect, traffic: Traffic) -> float:
    return net.messages(traffic) + net.barrier(traffic)


def _broadcast(net: Interconnect, traffic: Traffic) -> float:
    own = float(traffic.bytes.max())  # nearly every spike has a target on every rank
    return net.allgather(traffic, COUNT_BYTES) + net.allgather(traffic, own)


EXCHANGES: dict[str, Callable[[Interconnect, Traffic], float]] = {
    "alltoallv": _two_calls, "ialltoallv": _two_calls, "alltoall": _fixed, "persistent": _fixed,
    "neighbor": _partners, "ineighbor": _partners, "p2p": _direct, "direct": _direct, "sparse": _sparse,
    "allgather": _broadcast, "allgatherv": _broadcast,
}  # fmt: skip


def groups(loads: Loads, number: int, ranks_per_node: int) -> list[Traffic]:
    """What the ranks of every group of a lane send in a window; ranks alone are left out."""
    lane, words = loads.lanes[number], loads.words[number]
    found = []
    for group in np.unique(lane.group):
        members = np.flatnonzero(lane.group == group)
        if len(members) == 1:
            continue
        sent = lane.period * words[np.ix_(members, members)]
        np.fill_diagonal(sent, 0.0)
        found.append(Traffic(sent * lane.word_bytes, -np.expm1(-sent), members // ranks_per_node))
    return found


def check(lane: Lane) -> None:
    """Raises BadInput for a back-end without a model."""
    if lane.exchange not in EXCHANGES and not lane.alone:
        raise BadInput(
            f"exchange={lane.exchange!r}: no model of its time; there is one of {', '.join(EXCHANGES)}"
        )


def seconds(net: Interconnect, lane: Lane, traffic: list[Traffic]) -> float:
    """An exchange of the slowest group; 0 for a lane without any."""
    return max((EXCHANGES[lane.exchange](net, t) for t in traffic), default=0.0)


def barrier(net: Interconnect, traffic: list[Traffic]) -> float:
    """The barrier before it."""
    return max((net.barrier(t) for t in traffic), default=0.0)
