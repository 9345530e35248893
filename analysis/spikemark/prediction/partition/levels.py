"""Traffic of routing in levels: words travel through bridges and correct one coordinate in every hop.

N = g_1 g_2 … g_k ranks have k coordinates; rank = c_1 + g_1 (c_2 + g_2 (c_3 + …)). So ranks that differ in
the first coordinate alone form a group of g_1 neighbours. With bridges on the sender's side, level 1 corrects
the first coordinate, so that the bridge lies in the sender's group; on the receiver's side, the last one
is corrected first. With merging, a spike that several ranks behind a bridge need travels to it once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput

from .traffic import Hits

SIDES = ("sender", "receiver")


@dataclass(frozen=True)
class Level:
    """Loads of one level in routes, [ranks]; `forwarded` is the part that did not start on the rank."""

    sent: np.ndarray
    received: np.ndarray
    forwarded: np.ndarray
    partners: np.ndarray  # ranks that each sends to


def dimensions(text: str, ranks: int) -> tuple[int, ...]:
    """The sizes in '40x50'. Raises BadInput for others than whole numbers whose product is `ranks`."""
    parts = text.split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadInput(f"levels={text!r}: whole numbers with an x between them, such as 40x50")
    sizes = tuple(map(int, parts))
    if math.prod(sizes) != ranks:
        raise BadInput(f"levels={text!r}: {math.prod(sizes)} ranks; the placement has {ranks}")
    return sizes


def check_side(side: str) -> None:
    """Raises BadInput for an unknown side."""
    if side not in SIDES:
        raise BadInput(f"side={side!r}: {' or '.join(SIDES)}")


def messages(ranks: int, levels: int) -> float:
    """Messages of a rank with that many equal levels, k (N^(1/k) - 1); not whole where the root is not."""
    return levels * (ranks ** (1 / levels) - 1)


def most_equal(ranks: int, levels: int) -> tuple[int, ...]:
    """The dimensions whose product is `ranks` with the fewest messages, ascending."""
    if levels == 1:
        return (ranks,)
    divisors = [d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0]
    divisors += [ranks // d for d in divisors]
    found = [tuple(sorted((d, *most_equal(ranks // d, levels - 1)))) for d in set(divisors)]
    return min(found, key=lambda sizes: (sum(sizes), sizes))


def loads(
    hits: Hits,
    pairs: np.ndarray,
    sizes: tuple[int, ...],
    side: str = "sender",
    merged: bool = False,
    weight: np.ndarray | None = None,
) -> list[Level]:
    """Loads of all levels, in the order of hops.

    `pairs` is T of the same hits and `weight` [U] (Hits.between). Without merging, nothing else of the hits
    is asked. Raises BadInput for an unknown side, and for sizes whose
    product is another number of ranks.
    """
    check_side(side)
    if math.prod(sizes) != len(pairs):
        raise BadInput(
            f"levels={'x'.join(map(str, sizes))}: {math.prod(sizes)} ranks instead of {len(pairs)}"
        )
    coordinate = _coordinates(sizes)
    order = list(range(len(sizes)))
    if side == "receiver":
        order.reverse()
    onto = (lambda key: hits.onto(key, weight)) if merged else None
    return [
        _level(onto, pairs, sizes, coordinate, order[: hop + 1], order[hop:]) for hop in range(len(sizes))
    ]


def _coordinates(sizes: tuple[int, ...]) -> np.ndarray:
    """[levels, ranks]"""
    return np.array(np.unravel_index(np.arange(math.prod(sizes)), sizes[::-1])[::-1])


def _level(
    onto: Callable | None,
    pairs: np.ndarray,
    sizes: tuple[int, ...],
    coordinate: np.ndarray,
    done: list[int],
    todo: list[int],
) -> Level:
    """The hop after which the coordinates `done` are corrected; it begins where `todo` are still to be.

    A word from s to r is then on the rank `at` that has r's coordinates where they were corrected before,
    and s's elsewhere. It goes on to `to`, which has r's in one place more.
    """
    count, last = len(pairs), len(todo) == 1
    before, axis = done[:-1], done[-1]
    strides = np.cumprod([1, *sizes[:-1]])
    parts = coordinate * strides[:, np.newaxis]
    kept = sum(parts[d] for d in todo)  # of the source, still in place
    key_sizes = [sizes[d] for d in done]
    key = np.ravel_multi_index([coordinate[d] for d in done], key_sizes)  # of the targets
    if onto is not None and not last:
        flow = onto(key)  # [source, key]
    elif last:
        flow = np.empty_like(pairs)
        flow[:, key] = pairs
    else:
        indicator = np.zeros((count, math.prod(key_sizes)))
        indicator[np.arange(count), key] = 1
        flow = pairs @ indicator
    corrected = np.array(np.unravel_index(np.arange(flow.shape[1]), key_sizes))
    reached = sum((corrected[i] * strides[d] for i, d in enumerate(before)), np.zeros(flow.shape[1], int))
    at = kept[:, np.newaxis] + reached  # [source, key] rank that sends
    to = at + (corrected[-1] - coordinate[axis][:, np.newaxis]) * strides[axis]
    flow = np.where(at != to, flow, 0)
    own = at == np.arange(count)[:, np.newaxis]
    sent = np.bincount(at.ravel(), flow.ravel(), count)
    received = np.bincount(to.ravel(), flow.ravel(), count)
    forwarded = np.bincount(at.ravel(), np.where(own, 0, flow).ravel(), count)
    link = at * sizes[axis] + corrected[-1]  # [source, key] number of a link: sender and coordinate
    used = np.bincount(link.ravel(), flow.ravel(), count * sizes[axis]).reshape(count, -1) > 0
    return Level(sent, received, forwarded, used.sum(axis=1))


def total(levels: list[Level]) -> np.ndarray:
    """[ranks] words sent and received on all levels."""
    return np.sum([level.sent + level.received for level in levels], axis=0)


def partners(levels: list[Level]) -> np.ndarray:
    """[ranks] connections on all levels together."""
    return np.sum([level.partners for level in levels], axis=0)
