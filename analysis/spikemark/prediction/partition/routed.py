"""How long an exchange in levels takes: in every hop, sets of ranks exchange by an ordinary exchange.

The hops are those of levels.py. A run of words has a frame of two words in each of them. The sets of a hop
exchange at the same time, so the slowest one sets its time; those of a node share its card. Copies between
hops are left out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network.composed import MOST_LEVELS, TWO_LEVEL, Composed
from spikemark.network.lanes import Lane
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.traffic import Traffic

from . import forwarding, levels
from .forwarding import Forwarding
from .levels import Hop, Level

FRAME_BYTES = 8.0  # of a run of words
RUN_BYTES = 4.0  # a message is taken to be empty as if its words came alone
Exchange = Callable[[Collectives, Traffic], float]


@dataclass(frozen=True)
class Step:
    """A hop: the traffic of its sets, how often one follows on another, and bytes of the busiest card."""

    parts: list[Traffic]
    times: int
    card_bytes: float


def check(lane: Lane) -> dict[str, object]:
    """The exchanges of the levels by what they are. Raises BadInput for levels that do not fit the ranks."""
    found, most = lane.composed, int(lane.sizes.max())
    where = f"for lane {lane.name}"
    if lane.exchange == TWO_LEVEL:
        if found.group is not None and (type(found.group) is not int or not 1 <= found.group <= most):
            raise BadInput(f"exchange: group={found.group!r} {where}; allowed: 1 to {most} ranks")
        return dict(zip(("inner ", "outer "), found.parts, strict=True))
    sizes, parts = found.sizes, found.parts
    if not (isinstance(sizes, tuple) and len(sizes) <= MOST_LEVELS and all(map(_positive, sizes))):
        given = list(sizes) if isinstance(sizes, tuple) else sizes
        raise BadInput(
            f"exchange: dimensions={given!r} {where}; allowed: a list of 1 to {MOST_LEVELS} whole numbers"
            " whose product is the number of ranks, such as [40, 50]"
        )
    for ranks in sorted({int(n) for n in lane.sizes if n > 1}):
        if sizes and math.prod(sizes) != ranks:
            raise BadInput(
                f"exchange: dimensions={list(sizes)} {where}; allowed: a product of {ranks}, the ranks that"
                " exchange with each other"
            )
    if not (isinstance(parts, tuple) and len(parts) == (len(sizes) or 2)):
        raise BadInput(f"exchange: parts={parts!r} {where}; allowed: one exchange, or one for each dimension")
    if found.side not in levels.SIDES:
        raise BadInput(f"exchange: side={found.side!r} {where}; allowed: {', '.join(levels.SIDES)}")
    if type(found.merged) is not bool:
        raise BadInput(f"exchange: merge={found.merged!r} {where}; allowed: true, false")
    for ranks in sorted({int(n) for n in lane.sizes if n > 1}):
        forwarding.read(found, ranks, f" {where}")
    return {f"level {number} ": part for number, part in enumerate(parts, 1)}


def _positive(size: object) -> bool:
    return type(size) is int and size > 0


def seconds(net: Collectives, composed: Composed, traffic: Traffic, exchanges: dict[str, Exchange]) -> float:
    """Seconds of an exchange of these ranks. `exchanges`: times of the ordinary ones by name."""
    key = replace(composed, parts=())
    if key not in traffic.kept:
        traffic.kept[key] = _steps(composed, traffic)
    order = reversed(composed.parts) if composed.side == "receiver" else composed.parts
    return sum(
        _seconds(net, exchanges[name], step) for name, step in zip(order, traffic.kept[key], strict=True)
    )


def _seconds(net: Collectives, exchange: Exchange, step: Step) -> float:
    slowest = max((exchange(net, part) for part in step.parts), default=0.0)
    through = net.net.latency_s + step.card_bytes / net.net.bandwidth if step.card_bytes else 0.0
    return max(step.times * slowest, through)


def _steps(composed: Composed, traffic: Traffic) -> list[Step]:
    sizes, ranks = composed.dimensions(traffic.ranks), traffic.ranks

    def onto(sets: np.ndarray) -> np.ndarray:
        words = traffic.onto(sets)
        return words * traffic.word_bytes - FRAME_BYTES * np.expm1(-words)

    files = forwarding.read(composed, ranks)
    framed = traffic.bytes + FRAME_BYTES * traffic.messages
    found = levels.hops(framed, sizes, composed.side, onto if composed.merged else None, files)
    order = range(len(sizes)) if composed.side == "sender" else range(len(sizes))[::-1]
    steps = []
    for axis, hop in zip(order, found, strict=True):
        sets, times = _sets(sizes, ranks, axis, files)
        card = _card(hop, traffic.node)
        shared = card if times == 1 else None  # sets that follow each other have the card for themselves
        parts = [_part(hop, *members, traffic.node, shared) for members in sets if len(members[0]) > 1]
        steps.append(Step(_different(parts), times, card))
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
        last = at[at // group == blocks - 1]
        full = at[at // group < blocks - 1]
        columns = [np.append(full[full % group == c], last[c % len(last)]) for c in range(group)]
        return [(own, own % group == c) for c, own in enumerate(columns)], -(-group // len(last))
    stride = math.prod(sizes[:axis])
    set_of = at // (stride * sizes[axis]) * stride + at % stride
    order = np.argsort(set_of, kind="stable").reshape(-1, sizes[axis])
    if files.position is not None:
        order = np.argsort(files.position)[order]
    return [(members, None) for members in order], 1


def _part(
    hop: Hop, members: np.ndarray, takes: np.ndarray | None, node: np.ndarray, card: float | None
) -> Traffic:
    """What the members of a set send each other; `takes` [member]: who receives in it, None: all. `card`:
    bytes of all sets together through the busiest card."""
    sent = hop.flow[members][:, members].toarray()
    if takes is not None:
        sent[:, ~takes] = 0.0
    far = len(np.unique(node[members])) > 1
    return Traffic(sent, -np.expm1(-sent / RUN_BYTES), node[members], card=card if far else None)


def _different(parts: list[Traffic]) -> list[Traffic]:
    """One of those that send the same within one node each: they take equally long."""
    found, known = [], set()
    for part in parts:
        key = part.bytes.tobytes()
        if part.far or key not in known:
            found.append(part)
        known.add(key)
    return found


def _card(hop: Hop, node: np.ndarray) -> float:
    """Bytes of the hop through the busiest card of a node, one way."""
    number = np.unique(node, return_inverse=True)[1]
    entries = hop.flow.tocoo()
    ends = number[entries.row], number[entries.col]
    away = ends[0] != ends[1]
    return max(
        (float(np.bincount(end[away], entries.data[away]).max(initial=0.0)) for end in ends), default=0.0
    )


@dataclass(frozen=True)
class Sums:
    """What the busiest rank does in a hop, in routes: ranks that it sends to, what it sends or receives, and
    the largest part of that for one rank; `runs`: of words, that a rank sends on the mean."""

    partners: float
    sent: float
    largest: float
    runs: float

    @classmethod
    def of(cls, level: Level) -> "Sums":
        most = max(level.sent.max(), level.received.max())
        return cls(float(level.partners.max()), float(most), level.largest, level.runs)


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
        sums = {
            "sent": (np.zeros(1), np.full(1, partners)),
            "near_bytes": np.zeros(1),
            "card_bytes": sent_bytes,
            "most_bytes": largest_bytes,
            "each": self,
        }
        self.__dict__.update(sums)
