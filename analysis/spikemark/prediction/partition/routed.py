"""How long an exchange in levels takes: in every hop, sets of ranks exchange by an ordinary exchange.

The hops are those of levels.py. A run of words has a frame of two words in each of them. The sets of a hop
exchange at the same time, so the slowest one sets its time; those of a node share its card. Copies between
hops are left out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.models.loggp import Collectives, Traffic
from spikemark.network.exchanges import MOST_LEVELS, TWO_LEVEL, Composed
from spikemark.network.lanes import Lane

from . import levels
from .levels import Forwarding, Hop

FRAME_BYTES = 8.0  # of a run of words
RUN_BYTES = 4.0  # a message is taken to be empty as if its words came alone
Exchange = Callable[[Collectives, Traffic], float]
Step = tuple[list[Traffic], int, float]  # sets of a hop; how often one follows on another; bytes of a card


def check(lane: Lane) -> dict[str, object]:
    """The exchanges of the levels by what they are. Raises BadInput for levels that do not fit the ranks."""
    found, most, where = lane.composed, int(lane.sizes.max()), f"for lane {lane.name}"
    sizes, parts = found.sizes, found.parts
    ranks = sorted({int(n) for n in lane.sizes if n > 1 or len(lane.sizes) == 1})
    listed = isinstance(sizes, tuple) and len(sizes) <= MOST_LEVELS and all(map(_positive, sizes))
    product = math.prod(sizes) if listed else 1
    of_list = f"a list of 1 to {MOST_LEVELS} whole numbers with a product of as many ranks, such as [40, 50]"
    two_level = lane.exchange == TWO_LEVEL
    rules = (
        (found.group is None or (_positive(found.group) and found.group <= most),
         "group", found.group, f"1 to {most} ranks"),
        (two_level or listed, "dimensions", sizes, of_list),
        (not sizes or {product} >= {*ranks}, "dimensions", sizes, f"a product of {max(ranks, default=1)}"),
        (two_level or (isinstance(parts, tuple) and len(parts) == ((len(sizes) if listed else 0) or 2)),
         "parts", parts, "one exchange, or one for each dimension"),
        (found.side in levels.SIDES, "side", found.side, ", ".join(levels.SIDES)),
        (type(found.merged) is bool, "merge", found.merged, "true, false"),
    )  # fmt: skip
    for fits, field, value, expected in rules:
        if not fits:
            value = list(value) if isinstance(value, tuple) else value
            raise BadInput(f"exchange: {field}={shown(value)} {where}; expected {expected}")
    for number in ranks:
        levels.read_files(found, number, f" {where}")
    names = ("inner ", "outer ") if two_level else (f"level {k} " for k in range(1, len(parts) + 1))
    return dict(zip(names, parts, strict=True))


def _positive(size: object) -> bool:
    return type(size) is int and size > 0


def seconds(net: Collectives, composed: Composed, traffic: Traffic, exchanges: dict[str, Exchange]) -> float:
    """Seconds of an exchange of these ranks. `exchanges`: times of the ordinary ones by name."""
    key = replace(composed, parts=())
    if key not in traffic.kept:
        traffic.kept[key] = _steps(composed, traffic)
    order, whole = reversed(composed.parts) if composed.side == "receiver" else composed.parts, 0.0
    for name, (parts, times, card) in zip(order, traffic.kept[key], strict=True):
        slowest = max((exchanges[name](net, part) for part in parts), default=0.0)
        whole += max(times * slowest, net.net.latency_s + card / net.net.bandwidth if card else 0.0)
    return whole


def _steps(composed: Composed, traffic: Traffic) -> list[Step]:
    sizes, ranks, node = composed.dimensions(traffic.ranks), traffic.ranks, traffic.node

    def onto(sets: np.ndarray) -> np.ndarray:
        words = traffic.onto(sets)
        return words * traffic.word_bytes - FRAME_BYTES * np.expm1(-words)

    files = levels.read_files(composed, ranks)
    framed = traffic.bytes + FRAME_BYTES * traffic.messages
    found = levels.hops(framed, sizes, composed.side, onto if composed.merged else None, files)
    order = range(len(sizes)) if composed.side == "sender" else range(len(sizes))[::-1]
    steps = []
    for axis, hop in zip(order, found, strict=True):
        sets, times = _sets(sizes, ranks, axis, files)
        card, parts, known = _card(hop, node), [], set()
        for members, takes in sets:
            if len(members) == 1:
                continue
            sent = hop.flow[members][:, members].toarray()
            if takes is not None:
                sent[:, ~takes] = 0.0
            far = np.ptp(node[members]) > 0
            key = sent.tobytes()
            if far or key not in known:  # sets that send the same within one node each take equally long
                shared = card if far and times == 1 else None  # those that take turns have the card alone
                parts.append(Traffic(sent, -np.expm1(-sent / RUN_BYTES), node[members], card=shared))
            known.add(key)
        steps.append((parts, times, card))
    return steps


def _sets(
    sizes: tuple[int, ...], ranks: int, axis: int, files: Forwarding
) -> tuple[list[tuple[np.ndarray, np.ndarray | None]], int]:
    """Members of every set of ranks that meet along an axis, and how many sets a rank is in at most.

    With a smaller last group, its members sit in several columns, one after another: each gets only what is
    for members of its column, or everything (None). With a table, the second level is one set.
    """
    at = np.arange(ranks)
    if files.bridge is not None and axis == 1:
        return [(at, None)], 1
    if levels.ragged(sizes, ranks):
        group, blocks = sizes
        if axis == 0:
            return [(at[at // group == b], None) for b in range(blocks)], 1
        last, full = at[at // group == blocks - 1], at[at // group < blocks - 1]
        columns = [np.append(full[full % group == c], last[c % len(last)]) for c in range(group)]
        return [(own, own % group == c) for c, own in enumerate(columns)], -(-group // len(last))
    stride = math.prod(sizes[:axis])
    set_of = at // (stride * sizes[axis]) * stride + at % stride
    order = np.argsort(set_of, kind="stable").reshape(-1, sizes[axis])
    if files.position is not None:
        order = np.argsort(files.position)[order]
    return [(members, None) for members in order], 1


def _card(hop: Hop, node: np.ndarray) -> float:
    """Bytes of the hop through the busiest card of a node, one way."""
    entries = hop.flow.tocoo()
    ends = node[entries.row], node[entries.col]
    away = ends[0] != ends[1]
    return max(float(np.bincount(end[away], entries.data[away]).max(initial=0.0)) for end in ends)


@dataclass(frozen=True)
class Sums:
    """What the busiest rank does in a hop, in routes: ranks that it sends to, what it sends or receives, and
    the largest part of that for one rank; `runs`: of words, that a rank sends on the mean."""

    partners: float
    sent: float
    largest: float
    runs: float

    @classmethod
    def of(cls, hop: Hop) -> "Sums":
        """The sums of a hop of routes."""
        most, largest = max(hop.sent.max(), hop.received.max()), hop.flow.data.max(initial=0.0)
        return cls(float(hop.partners.max()), float(most), float(largest), hop.runs / len(hop.sent))


def of_sums(
    net: Collectives, hops: list[Sums], words: float, exchange: Exchange, word_bytes: float = 4.0
) -> list[float]:
    """Seconds of each hop of ranks with a node each, by a point-to-point exchange; a route carries `words`.

    That is the time of `seconds` if all ranks were in the set with the busiest ones, so it is no less. A
    single hop has no frames.
    """
    found = []
    for hop in hops:
        runs = hop.runs if len(hops) > 1 else 0.0
        filled = runs * -np.expm1(-words * hop.sent / runs) if runs else 0.0
        sent = word_bytes * words * hop.sent + FRAME_BYTES * filled
        found.append(exchange(net, Busiest(hop.partners, sent, word_bytes * words * hop.largest)))
    return found


class Busiest(Traffic):
    """Traffic of ranks with a node each, as sums alone: point-to-point exchanges need no more."""

    def __init__(self, partners: float, sent_bytes: float, largest_bytes: float) -> None:
        pair = np.zeros((2, 2))
        super().__init__(pair, pair, np.arange(2))
        self.__dict__.update(
            sent=(np.zeros(1), np.full(1, partners)), near_bytes=np.zeros(1), card_bytes=sent_bytes,
            most_bytes=largest_bytes, each=self,
        )  # fmt: skip
