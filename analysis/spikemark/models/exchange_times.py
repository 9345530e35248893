"""Times of the exchanges of the mini-app, each made of calls of MPI (loggp.py).

A put is a message, and MPI_Win_fence the end of it and a barrier (Gerstenberger, Besta, Hoefler
2013, doi 10.1145/2503210.2503286). In shared memory (Hoefler et al. 2013, doi
10.1007/s00607-013-0324-2), reading what another rank has written is a message within the node.
Exchanges that are composed of others are in prediction/partition/routed.py.

To add the cost of an exchange, write a function of `Collectives` and `Traffic` that returns
seconds, and enter it in EXCHANGES. Where SimGrid simulates other times, DIFFERENCES says why.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput

from .loggp import Collectives, Traffic, largest_power, powers_below, put_sums, rounds
from .mpi_rules import BRUCK, DOUBLING, LINEAR

#: Bytes of a size that is sent ahead.
COUNT_BYTES = 4.0
#: Words with which a fixed buffer begins, and bytes of a word.
LINE_WORDS, WORD_BYTES = 16, 4
#: Words of the header of a fixed buffer, at most.
HEADER_WORDS = 2
#: Standard deviations by which the largest window of a run exceeds the mean.
LARGEST_WINDOW_SD = 4


def _buffer_bytes(traffic: Traffic) -> float:
    """Bytes of a fixed buffer: it doubles from a cache line on, until the largest window fits.

    Numbers of spikes are taken to be Poisson.
    """
    words = traffic.most_bytes / WORD_BYTES
    largest = words + LARGEST_WINDOW_SD * np.sqrt(words) + HEADER_WORDS
    doublings = max(0, np.ceil(np.log2(largest / LINE_WORDS)))
    return float(WORD_BYTES * LINE_WORDS * 2.0**doublings)


def _sizes_and_words(traffic: Traffic) -> Traffic:
    """A message with its size, for every pair of ranks that has something to say."""

    def with_sizes() -> Traffic:
        linked = traffic.links.messages
        sent = traffic.bytes + COUNT_BYTES * linked
        return Traffic(sent, linked, traffic.node, card=traffic.card)

    return traffic.kept("sizes and words", with_sizes)


def _alltoallv(net: Collectives, traffic: Traffic) -> Any:
    """Sizes, then spikes."""
    return net.alltoall(traffic.dense(COUNT_BYTES)) + net.alltoallv(traffic)


def _ialltoallv(net: Collectives, traffic: Traffic) -> Any:
    """Sizes, then spikes, which go to ranks by number.

    All messages of a non-blocking exchange start at once, in Open MPI (libnbc) as in SimGrid;
    MPICH, which combines sizes of 8 and more ranks, is taken to do the same.
    """
    sizes_s = net.alltoallv(traffic.dense(COUNT_BYTES), LINEAR)
    return sizes_s + net.messages(traffic, by_number=True)


def _alltoall(net: Collectives, traffic: Traffic) -> Any:
    """Buffers of fixed size."""
    return net.alltoall(traffic.dense(_buffer_bytes(traffic)))


def _persistent(net: Collectives, traffic: Traffic) -> Any:
    """Buffers of fixed size, by a request that was made once."""
    return net.alltoall(traffic.dense(_buffer_bytes(traffic)), "alltoall_init")


def _neighbors(net: Collectives, traffic: Traffic) -> Any:
    """Sizes, then spikes, between ranks that have something to say."""
    return net.messages(traffic.links, unit_bytes=COUNT_BYTES) + net.messages(traffic)


def _direct(net: Collectives, traffic: Traffic) -> Any:
    """One message for every pair of ranks that has something to say, by number."""
    return net.messages(traffic.each, by_number=True)


def _sparse(net: Collectives, traffic: Traffic) -> Any:
    """Messages that are not empty, and a barrier that tells that there are no more."""
    return net.messages(traffic, by_number=True) + net.barrier(traffic)


def _allgather(net: Collectives, traffic: Traffic) -> Any:
    """Buffers of fixed size; a second call, for spikes that do not fit, is rare.

    A rank that gathers sends everyone the same, since nearly every spike has a target on every
    rank.
    """
    return net.allgather(traffic, _buffer_bytes(traffic))


def _allgatherv(net: Collectives, traffic: Traffic) -> Any:
    """Sizes, then spikes, of everyone to everyone."""
    sizes_s = net.allgather(traffic, COUNT_BYTES)
    return sizes_s + net.allgather(traffic, traffic.most_bytes, "allgatherv")


def _put(net: Collectives, traffic: Traffic) -> Any:
    """Spikes and their sizes are put, and a fence ends the exchange."""
    return net.messages(_sizes_and_words(traffic)) + net.barrier(traffic)


def _put_bruck(net: Collectives, traffic: Traffic) -> Any:
    """Blocks of a growing number of ranks are put round."""
    return _put_blocks(net, traffic, rounds("allgather", BRUCK, traffic.ranks, 1))


def _put_doubling(net: Collectives, traffic: Traffic) -> Any:
    """Pairs of ranks put their blocks into each other.

    Ranks beyond the largest power of two hand their block in, and get all at the end.
    """
    ranks = traffic.ranks
    core = largest_power(ranks)
    in_core = np.arange(core)
    first_blocks = np.where(in_core < ranks - core, 2, 1)  # that a rank of the core begins with
    blocks: list[Any] = []
    for d in powers_below(core):
        of_groups = np.add.reduceat(first_blocks, in_core[::d])
        blocks.append(np.pad(of_groups[in_core // d], (0, ranks - core)))
    if ranks > core:
        blocks = [1, *blocks, ranks]
    senders = [step.sender for step in rounds("barrier", DOUBLING, ranks, 0)]
    return _put_blocks(net, traffic, zip(senders, blocks, strict=True))


def _put_blocks(net: Collectives, traffic: Traffic, steps: Iterable[tuple[np.ndarray, Any]]) -> Any:
    """Seconds of steps, each with a fence, in which ranks put blocks into each other.

    Args:
        net: times of calls.
        traffic: what is exchanged.
        steps: the rank that puts into each rank, which is itself where nobody does, [receiver];
            and the number of blocks that each rank puts, a number or [sender].
    """
    seconds: Any = 0.0
    block_bytes = _buffer_bytes(traffic)
    fence_s = net.barrier(traffic)
    for sender, blocks in steps:
        senders = np.ascontiguousarray(sender, dtype=np.int64).tobytes()
        put = put_sums(traffic.place(None), senders, tuple(np.ravel(blocks).tolist()))
        seconds = seconds + net.messages(put, unit_bytes=block_bytes) + fence_s
    return seconds


def _shared(net: Collectives, traffic: Traffic) -> Any:
    """A barrier, and everyone reads what others have written for it."""
    nodes = len(np.unique(traffic.node))
    if nodes > 1:
        raise BadInput(
            field="exchange",
            value="shared",
            reason=f"{traffic.ranks} ranks on {nodes} nodes",
            expected="one node",
        )
    return net.barrier(traffic) + net.messages(traffic.each)


#: Seconds of each exchange of the mini-app, by its name: a number, or [setting] as costs have them.
EXCHANGES: dict[str, Callable[[Collectives, Traffic], Any]] = {
    "alltoallv": _alltoallv,
    "ialltoallv": _ialltoallv,
    "alltoall": _alltoall,
    "persistent": _persistent,
    "neighbor": _neighbors,
    "ineighbor": _neighbors,
    "p2p": _direct,
    "direct": _direct,
    "sparse": _sparse,
    "allgather": _allgather,
    "allgatherv": _allgatherv,
    "rma_put": _put,
    "rma_doubling": _put_doubling,
    "rma_bruck": _put_bruck,
    "shared": _shared,
}

_FIXED_BUFFERS = (
    "buffers double until the largest window fits; predicted ones leave room for rare windows"
)
#: Where predicted and simulated exchanges may differ by more than 30 %, and why: by the name of an
#: exchange.
DIFFERENCES = {
    "alltoall": _FIXED_BUFFERS,
    "allgather": _FIXED_BUFFERS,
    "p2p": (
        "a simulated look for a message takes 0.1 us, whether one is there or not; a predicted one"
        " takes none"
    ),
    "rma_put": (
        "a fence of SimGrid has two barriers, while messages travel; a predicted one follows them"
    ),
    "rma_doubling": "a fence of SimGrid has two barriers, a predicted one has one",
    "rma_bruck": "a fence of SimGrid has two barriers, a predicted one has one",
    "two_level": (
        "predicted for ranks that sit in several columns; the others wait for them afterwards"
    ),
    "allgatherv": (
        "few bytes are gathered and broadcast, and SimGrid broadcasts in a way of its own"
    ),
}
LIKE_MEASURED = "this machine"
ROUTES = "several switches"
#: The same, of any exchange on some machines.
PLACES = {
    LIKE_MEASURED: (
        "its calls are predicted from measured tables, and the simulation has messages only"
    ),
    ROUTES: (
        "large messages: predicted with a congestion assumed for static routes, simulated on such"
        " routes"
    ),
}
TABLES = "interconnect.tables."


def differences(exchanges: Iterable[str], paths: Iterable[str], routes: bool = False) -> list[str]:
    """Say where predicted and simulated exchanges may differ by more than 30 %, and why.

    Args:
        exchanges: names of the exchanges of all lanes.
        paths: of the values that the machine profile has.
        routes: True if its congestion is the one assumed for static routes, and there are enough
            nodes for it.

    Returns:
        Lines.

    Example:
        >>> differences(["direct"], paths=[])
        []
    """
    reasons = {name: DIFFERENCES[name] for name in exchanges if name in DIFFERENCES}
    if any(path.startswith(TABLES) for path in paths):
        reasons[LIKE_MEASURED] = PLACES[LIKE_MEASURED]
    if routes:
        reasons[ROUTES] = PLACES[ROUTES]
    return [
        f"predicted and simulated exchange may differ by over 30 % ({subject}): {reason}"
        for subject, reason in reasons.items()
    ]
