"""Traffic of routing in levels: words travel through bridges and correct one coordinate in every hop.

N = g_1 g_2 … g_k ranks have k coordinates; rank = c_1 + g_1 (c_2 + g_2 (c_3 + …)). So ranks that differ in
the first coordinate alone form a group of g_1 neighbours. With bridges on the sender's side, level 1 corrects
the first coordinate, so that the bridge lies in the sender's group; on the receiver's side, the last one
is corrected first. With merging, a spike that several ranks behind a bridge need travels to it once.

Files may say otherwise where ranks sit and which bridges two levels take (forwarding.py).

Two levels may have a smaller last group, as the exchange two_level has (miniapp/src/transport/exchange):
then bridges are on the sender's side, nothing is merged, and a member of that group is the bridge for
several columns.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput

from .forwarding import NONE, Forwarding
from .traffic import Hits

SIDES = ("sender", "receiver")
Pairs = np.ndarray | sparse.csr_array
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # of a matrix: rows, columns, values
#: What each rank sends onto sets of ranks, [ranks, sets], given the set of every rank, [ranks].
Onto = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Hop:
    """Loads of one hop: `flow` [sender, receiver] of the hop, nothing to oneself; `forwarded` [ranks] is
    the part that did not start on the sender; `runs` are the runs of words of all ranks together."""

    flow: sparse.csr_array
    forwarded: np.ndarray
    runs: int


@dataclass(frozen=True)
class Level:
    """Loads of one level in routes, [ranks]; `forwarded` is the part that did not start on the rank."""

    sent: np.ndarray
    received: np.ndarray
    forwarded: np.ndarray
    partners: np.ndarray  # ranks that each sends to
    largest: float  # load from one rank to another
    runs: float  # of words that a rank sends, on the mean

    @classmethod
    def of(cls, hop: Hop) -> "Level":
        sent = np.asarray(hop.flow.sum(axis=1)).ravel()
        received = np.asarray(hop.flow.sum(axis=0)).ravel()
        largest = float(hop.flow.data.max(initial=0.0))
        partners = np.diff(hop.flow.indptr)
        return cls(sent, received, hop.forwarded, partners, largest, hop.runs / len(sent))


def dimensions(text: str, ranks: int) -> tuple[int, ...]:
    """The sizes in '40x50'. Raises BadInput for others than whole numbers whose product is `ranks`.

    The product of two may be larger, if the last of the groups is smaller then: 7 ranks are 3x3.
    """
    parts = text.split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadInput(f"levels={text!r}: whole numbers with an x between them, such as 40x50")
    sizes = tuple(map(int, parts))
    if math.prod(sizes) != ranks and not ragged(sizes, ranks):
        raise BadInput(f"levels={text!r}: {math.prod(sizes)} ranks; the placement has {ranks}")
    return sizes


def ragged(sizes: tuple[int, ...], ranks: int) -> bool:
    """True if these are two levels of so many ranks with a last group that is smaller than the others."""
    return len(sizes) == 2 and sizes[0] * (sizes[1] - 1) < ranks < math.prod(sizes)


def check_side(side: str) -> None:
    """Raises BadInput for an unknown side."""
    if side not in SIDES:
        raise BadInput(f"side={side!r}: {' or '.join(SIDES)}")


def check(sizes: tuple[int, ...], ranks: int, side: str, merged: bool) -> None:
    """Raises BadInput for an unknown side, and for sizes that do not fit to the ranks."""
    check_side(side)
    text = "x".join(map(str, sizes))
    if ragged(sizes, ranks):
        if side != "sender" or merged:
            raise BadInput(
                f"levels={text}: with a smaller last group, bridges are on the sender's side, and nothing is"
                f" merged; or choose sizes whose product is {ranks}"
            )
    elif math.prod(sizes) != ranks:
        raise BadInput(f"levels={text}: {math.prod(sizes)} ranks instead of {ranks}")


def messages(ranks: int, levels: int) -> float:
    """Messages of a rank with that many equal levels, k (N^(1/k) - 1); not whole where the root is not."""
    return levels * (ranks ** (1 / levels) - 1)


def worth(ranks: int, levels: int, message_s: float, latency_s: float, bandwidth: float) -> float:
    """Bytes per rank and exchange below which one level more takes less time, with even traffic.

    k levels take k latencies, k (N^(1/k) - 1) messages of `message_s` each, and k times the bytes:
    T_k = k L + o k (N^(1/k) - 1) + k V / B. Negative where one level more never pays.
    """
    fewer = messages(ranks, levels) - messages(ranks, levels + 1)
    return bandwidth * (message_s * fewer - latency_s)


def best_group(ranks: int, inner_s: float = 1.0, outer_s: float = 1.0) -> float:
    """The size of groups with the fewest seconds for messages: inner_s (g - 1) + outer_s (N / g - 1)."""
    return math.sqrt(ranks * outer_s / inner_s)


def most_equal(ranks: int, levels: int) -> tuple[int, ...]:
    """The dimensions whose product is `ranks` with the fewest messages, ascending."""
    if levels == 1:
        return (ranks,)
    divisors = [d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0]
    divisors += [ranks // d for d in divisors]
    found = [tuple(sorted((d, *most_equal(ranks // d, levels - 1)))) for d in set(divisors)]
    return min(found, key=lambda sizes: (sum(sizes), sizes))


def loads(
    hits: Hits | None,
    pairs: Pairs,
    sizes: tuple[int, ...],
    side: str = "sender",
    merged: bool = False,
    weight: np.ndarray | None = None,
) -> list[Level]:
    """Loads of all levels, in the order of hops.

    `pairs` is T of the same hits and `weight` [U] (Hits.between). Without merging, nothing else of the hits
    is asked. Raises BadInput as `check`.
    """
    onto = (lambda key: hits.onto(key, weight)) if merged else None
    check(sizes, pairs.shape[0], side, merged)
    stops = _Stops(sizes, pairs.shape[0], side)
    return [
        _level(stops, *parts) if _has_short_lines(stops, *parts) else Level.of(_hop(stops, *parts))
        for parts in _parts(pairs, stops, onto)
    ]


def hops(
    pairs: Pairs,
    sizes: tuple[int, ...],
    side: str = "sender",
    onto: Onto | None = None,
    files: Forwarding = NONE,
) -> list[Hop]:
    """Amounts that ranks send in every hop, in their order, of anything additive: routes, words, bytes.

    `pairs` [ranks, ranks] is what ranks have for each other; with `onto`, a hop to a set of ranks carries
    what that gives, except for the last. Raises BadInput as `check`.
    """
    ranks = pairs.shape[0]
    check(sizes, ranks, side, onto is not None)
    stops = _Stops(sizes, ranks, side, files)
    return [_hop(stops, *parts) for parts in _parts(pairs, stops, onto)]


def _parts(pairs: Pairs, stops: "_Stops", onto: Onto | None) -> Iterator[tuple[int, *Entries]]:
    """Every hop with the sources, the targets and the loads that it is about."""
    entries = _entries(pairs)
    last = len(stops.sizes) - 1
    for hop in range(len(stops.sizes)):
        if onto is None or hop == last:
            yield hop, *entries
        else:
            parts = [_merged(onto, *keys) for keys in stops.keys(hop + 1)]
            yield hop, *map(np.concatenate, zip(*parts, strict=True))


def _merged(onto: Onto, senders: np.ndarray, key: np.ndarray, member: np.ndarray) -> Entries:
    """What these senders have for each set of ranks, as if it were for one member of the set."""
    own, number, load = _entries(onto(key))
    asked = np.isin(own, senders)
    return own[asked], member[number[asked]], load[asked]


def _entries(matrix: Pairs) -> Entries:
    """The values that are not 0."""
    if isinstance(matrix, np.ndarray):
        rows, columns = np.nonzero(matrix)
        return rows, columns, matrix[rows, columns]
    entries = matrix.tocoo()
    return entries.row, entries.col, entries.data


def _has_short_lines(stops: "_Stops", hop: int, *entries: np.ndarray) -> bool:
    """True if all pairs of ranks in lines of the hop are few beside the entries."""
    return not stops.ragged and stops.ranks * stops.sizes[stops.order[hop]] <= 4 * len(entries[0])


def _level(stops: "_Stops", hop: int, source: np.ndarray, target: np.ndarray, load: np.ndarray) -> Level:
    """The sums of a hop without its matrix: along its lines, a rank has few others to send to."""
    axis = stops.order[hop]
    size, along = stops.sizes[axis], stops.coordinate[axis]
    at, to = stops.after(hop, source, target), along[target]
    flow = np.bincount(at * size + to, load, stops.ranks * size).reshape(stops.ranks, size)
    flow[np.arange(stops.ranks), along] = 0  # stays where it is
    sent = flow.sum(axis=1)
    forwarded = np.zeros(stops.ranks)
    if hop:
        own = np.flatnonzero(at == source)
        first = load[own] * (along[source[own]] != to[own])
        forwarded = np.maximum(sent - np.bincount(source[own], first, stops.ranks), 0)
    lines = flow.reshape(-1, size, int(stops.strides[axis]), size)  # [line, sender in it, line, receiver]
    received = lines.sum(axis=1).swapaxes(1, 2).ravel()
    runs = np.count_nonzero(along[source] != to) / stops.ranks
    return Level(sent, received, forwarded, (flow > 0).sum(axis=1), float(flow.max(initial=0.0)), runs)


def _hop(stops: "_Stops", hop: int, source: np.ndarray, target: np.ndarray, load: np.ndarray) -> Hop:
    at, to = stops.after(hop, source, target), stops.after(hop + 1, source, target)
    moves = at != to
    at, to, load, source = at[moves], to[moves], load[moves], source[moves]
    flow = sparse.coo_array((load, (at, to)), shape=(stops.ranks, stops.ranks)).tocsr()
    passed = at != source
    return Hop(flow, np.bincount(at[passed], load[passed], stops.ranks), len(load))


class _Stops:
    """Ranks that hold the words after each hop."""

    def __init__(self, sizes: tuple[int, ...], ranks: int, side: str, files: Forwarding = NONE) -> None:
        self.ranks, self.group, self.side, self.bridge = ranks, sizes[0], side, files.bridge
        position = np.arange(ranks) if files.position is None else files.position
        self.at = np.argsort(position)  # the rank at each position
        self.ragged = ragged(sizes, ranks)
        self.order = list(range(len(sizes)))
        if side == "receiver":
            self.order.reverse()
        self.sizes = sizes
        self.strides = np.cumprod([1, *sizes[:-1]])
        steps = zip(self.strides, sizes, strict=True)
        self.coordinate = [position // stride % g for stride, g in steps]
        self.part = [stride * c for stride, c in zip(self.strides, self.coordinate, strict=True)]

    def after(self, hop: int, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The ranks that have the words of these pairs after so many hops."""
        if self.bridge is not None and hop == 1:
            return self.over_bridges(source, target)
        if self.ragged and hop == 1:
            first = source - source % self.group
            return first + target % self.group % np.minimum(self.group, self.ranks - first)
        done = [self.part[d] for d in self.order[:hop]]
        kept = [self.part[d] for d in self.order[hop:]]
        nowhere = np.zeros(self.ranks, dtype=np.int64)
        return self.at[sum(kept, nowhere)[source] + sum(done, nowhere)[target]]

    def over_bridges(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The ranks that have these words after the first of two hops, where a table chooses the bridges."""
        ends = (source, target) if self.side == "sender" else (target, source)
        own, elsewhere = self.coordinate[1][ends[0]], ends[1]
        bridge = self.at[own * self.group + self.bridge[own, elsewhere]]
        near = target if self.side == "sender" else source
        return np.where(own == self.coordinate[1][elsewhere], near, bridge)

    def keys(self, hop: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Senders, the set that each rank is in for them after so many hops, [ranks], and one rank of each
        set, [sets]."""
        everyone = np.arange(self.ranks)
        if self.bridge is not None and self.side == "sender":
            for group, bridge in enumerate(self.bridge):
                own = self.coordinate[1] == group
                key = np.where(own, self.coordinate[0], bridge)
                yield everyone[own], key, np.unique(key, return_index=True)[1]
            return
        done = self.order[:hop]
        key = np.ravel_multi_index([self.coordinate[d] for d in done], [self.sizes[d] for d in done])
        yield everyone, key, np.unique(key, return_index=True)[1]


def total(levels: list[Level]) -> np.ndarray:
    """[ranks] words sent and received on all levels."""
    return np.sum([level.sent + level.received for level in levels], axis=0)


def partners(levels: list[Level]) -> np.ndarray:
    """[ranks] connections on all levels together."""
    return np.sum([level.partners for level in levels], axis=0)
