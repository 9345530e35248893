"""How long the exchanges of a lane take: what ranks send each other in a window, on an interconnect.

One function per back-end of the mini-app, listed in EXCHANGES, except for those that are composed of others
(partition/routed.py); sizes travel ahead if the back-end sends them ahead (miniapp/src/transport/exchange). A
put is a message, and MPI_Win_fence the end of it and a barrier (Gerstenberger, Besta, Hoefler 2013, doi
10.1145/2503210.2503286); in shared memory (Hoefler et al. 2013, doi 10.1007/s00607-013-0324-2) reading what
another rank has written is a message within the node.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.algorithms import LINEAR
from spikemark.network.composed import COMPOSED
from spikemark.network.exchanges import ALONE
from spikemark.network.lanes import Lane

from .collectives import Collectives
from .layout import Layout
from .loads import Loads
from .partition import routed
from .traffic import Traffic

KEPT = 8  # lanes of which the traffic is kept: those of the ways that are looked at
COUNT_BYTES = 4.0  # a size that is sent ahead
LINE_WORDS, WORD_BYTES = 16, 4  # what a fixed buffer begins with; the words that it consists of
#: Exchanges that go on while ranks compute (`overlaps` in `miniapp --list --json`); a lag needs one.
OVERLAPPING = ("ialltoallv", "ineighbor", "p2p", "direct", "sparse", "rma_put", "shared")
BROADCASTS = ("allgather", "allgatherv", "rma_doubling")  # `broadcast` in `miniapp --list --json`


def _two_calls(net: Collectives, traffic: Traffic) -> float:
    return net.alltoall(traffic.dense(COUNT_BYTES)) + net.alltoallv(traffic)


def _nonblocking(net: Collectives, traffic: Traffic) -> float:
    """All messages of a non-blocking exchange start at once, in Open MPI (libnbc) as in SimGrid.

    MPICH, which combines sizes of 8 and more ranks, is taken to do the same. The spikes go to ranks by
    number.
    """
    return net.alltoallv(traffic.dense(COUNT_BYTES), LINEAR) + net.messages(traffic, by_number=True)


def _room(traffic: Traffic) -> float:
    """Bytes of a fixed buffer: it doubles from a cache line on, until the largest window has fitted.

    That one is taken to have four standard deviations more than the mean, of Poisson numbers.
    """
    words = traffic.most_bytes / WORD_BYTES
    need = words + 4 * np.sqrt(words) + 2  # with a header of up to two words
    return WORD_BYTES * LINE_WORDS * 2.0 ** max(0, np.ceil(np.log2(need / LINE_WORDS)))


def _fixed(net: Collectives, traffic: Traffic) -> float:
    return net.alltoall(traffic.dense(_room(traffic)))


def _persistent(net: Collectives, traffic: Traffic) -> float:
    return net.alltoall(traffic.dense(_room(traffic)), "alltoall_init")


def _partners(net: Collectives, traffic: Traffic) -> float:
    linked = (traffic.bytes > 0).astype(float)
    sizes = Traffic(COUNT_BYTES * linked, linked, traffic.node)
    return net.messages(sizes) + net.messages(traffic)


def _direct(net: Collectives, traffic: Traffic) -> float:
    return net.messages(traffic.each, by_number=True)


def _sparse(net: Collectives, traffic: Traffic) -> float:
    return net.messages(traffic, by_number=True) + net.barrier(traffic)


def _own(traffic: Traffic) -> float:
    """Bytes that a rank sends everyone, since nearly every spike has a target on every rank."""
    return traffic.most_bytes


def _broadcast(net: Collectives, traffic: Traffic) -> float:
    """One call with buffers of fixed size; a second one, for spikes that do not fit, is rare."""
    return net.allgather(traffic, _room(traffic))


def _broadcast_sizes(net: Collectives, traffic: Traffic) -> float:
    return net.allgather(traffic, COUNT_BYTES) + net.allgather(traffic, _own(traffic), "allgatherv")


def _put(net: Collectives, traffic: Traffic) -> float:
    linked = (traffic.bytes > 0).astype(float)
    sizes = COUNT_BYTES * linked  # of empty puts, too
    puts = Traffic(traffic.bytes + sizes, linked, traffic.node, card=traffic.card)
    return net.messages(puts) + net.barrier(traffic)


def _doubling(net: Collectives, traffic: Traffic) -> float:
    ranks, block = traffic.ranks, _room(traffic)
    above, seconds = np.arange(ranks), 0.0
    for distance in 2 ** np.arange(int(np.ceil(np.log2(ranks)))):
        sent = np.zeros((ranks, ranks))
        sent[above, (above + distance) % ranks] = 1
        step = Traffic(block * min(distance, ranks - distance) * sent, sent, traffic.node)
        seconds += net.messages(step) + net.barrier(traffic)
    return seconds


def _shared(net: Collectives, traffic: Traffic) -> float:
    nodes = len(np.unique(traffic.node))
    if nodes > 1:
        raise BadInput(f"exchange='shared': {traffic.ranks} ranks on {nodes} nodes; allowed: on one node")
    return net.barrier(traffic) + net.messages(traffic.each)


EXCHANGES: dict[str, Callable[[Collectives, Traffic], float]] = {
    "alltoallv": _two_calls, "ialltoallv": _nonblocking, "alltoall": _fixed, "persistent": _persistent,
    "neighbor": _partners, "ineighbor": _partners, "p2p": _direct, "direct": _direct, "sparse": _sparse,
    "allgather": _broadcast, "allgatherv": _broadcast_sizes, "rma_put": _put, "rma_doubling": _doubling,
    "shared": _shared,
}  # fmt: skip


@lru_cache(maxsize=KEPT)
def groups(loads: Loads, number: int, layout: Layout) -> list[Traffic]:
    """What the ranks of every group of a lane send in a window; groups of one rank are left out.

    Of groups that send the same within one node each, only the first on equal nodes is there: they take
    equally long.
    """
    lane, words = loads.lanes[number], loads.words[number]
    found, known = [], set()
    for group in np.unique(lane.group):
        members = np.flatnonzero(lane.group == group)
        if len(members) == 1:
            continue
        sent = lane.period * words[np.ix_(members, members)]
        np.fill_diagonal(sent, 0.0)
        node = layout.node_of[members]
        if node[0] == node[-1]:
            same = layout.share_of[node[0]], sent.tobytes()
            if same in known:
                continue
            known.add(same)
        onto = partial(_onto, loads, number, members)
        found.append(Traffic(sent * lane.word_bytes, -np.expm1(-sent), node, onto, lane.word_bytes))
    return found


def _onto(loads: Loads, number: int, members: np.ndarray, sets: np.ndarray) -> np.ndarray:
    return loads.lanes[number].period * loads.onto(number, members, sets)


def check(lane: Lane) -> None:
    """Raises BadInput for a back-end that does not exist, or that cannot serve so many ranks."""
    asked, most = {"": lane.exchange}, int(lane.sizes.max())
    if lane.exchange in COMPOSED:
        asked = routed.check(lane)
    for role, name in asked.items():
        allowed = [n for n in EXCHANGES if not (role and n in BROADCASTS)] + [*COMPOSED] * (not role)
        allowed += [ALONE] * (most == 1)
        if name not in allowed:
            raise BadInput(f"exchange: {role}{name!r} for lane {lane.name}; allowed: {', '.join(allowed)}")


def seconds(net: Collectives, lane: Lane, traffic: list[Traffic]) -> float:
    """Seconds of an exchange of the slowest group; 0 for a lane without groups."""
    if lane.exchange in COMPOSED:
        return max((routed.seconds(net, lane.composed, t, EXCHANGES) for t in traffic), default=0.0)
    return max((EXCHANGES[lane.exchange](net, t) for t in traffic), default=0.0)


def barrier(net: Collectives, traffic: list[Traffic]) -> float:
    """Seconds of the barrier before an exchange, of the slowest group."""
    return max((net.barrier(t) for t in traffic), default=0.0)
