"""Placements for ranks of unequal weights: what each rank shall have of a network, in any unit.

A text such as `area_group:1x64,0.5x2` names a rule and the weights of 64 ranks and 2 others. The mini-app
does the same with the field `weights` (miniapp/src/description/placement_weights.c).
"""

import math
from collections.abc import Callable

import numpy as np

from spikemark.core.errors import BadInput, shown

from .placement_field import FILE, SEPARATOR, TIMES
from .placement_file import Placement

LIMITS = 1e-12, 1e12  # of a weight
HALVINGS = 60
ALLOWED = "a positive number for each rank, such as 1,0.5 or 1x64,0.5x2 (64 ranks of weight 1, then 2 of 0.5)"

Spans = list[tuple[int, int]]  # of each area its first rank, and how many


def split(text: str) -> tuple[str, np.ndarray | None]:
    """The rule and the weights [ranks] of a text; None for a rule alone or a file.

    Raises BadInput for bad weights.
    """
    rule, given, words = text.partition(SEPARATOR)
    if not given or text.endswith(FILE):
        return text, None
    return rule, read(words, f"placement={shown(text)}: weights")


def read(words: str, field: str, limits: tuple[float, float] = LIMITS) -> np.ndarray:
    """Weights of a text such as 1x64,0.5x2. Raises BadInput, which begins with `field`, for anything else."""
    found: list[float] = []
    for word in words.split(","):
        value, cross, times = word.partition(TIMES)
        try:
            weight, count = float(value), int(times) if cross else 1
        except ValueError:
            weight, count = math.nan, 0
        if not limits[0] <= weight <= limits[1] or not 1 <= count <= 1_000_000:
            raise BadInput(f"{field}: {shown(word)}; allowed: {ALLOWED}")
        found += [weight] * count
    return np.array(found)


def round_robin(sizes: np.ndarray, weights: np.ndarray) -> Spans:
    """Every area on all ranks."""
    return [(0, len(weights))] * len(sizes)


def area_group(sizes: np.ndarray, weights: np.ndarray) -> Spans:
    """Areas with `sizes` neurons on the ranks in their order; the largest load over weight is the least.

    An area goes to the rank of the last one if it fits, else to the next rank, or to as many as it needs.
    """
    low, high = float(sizes.sum() / np.cumsum(weights)[-1]), float(sizes.sum() / weights[0] * 1.000001)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _laid(sizes, weights, middle)[1] <= len(weights):
            high = middle
        else:
            low = middle
    spans, used = _laid(sizes, weights, high)
    return _spent(sizes, weights, spans, used, high)


def _laid(sizes: np.ndarray, weights: np.ndarray, most: float) -> tuple[Spans, int]:
    """The ranks of each area if no rank has more than `most` times its weight, and how many that takes; one
    more than there are where they are too few."""
    spans, rank, room = [], 0, 0.0
    for size in sizes.tolist():
        if size == 0:
            spans.append((max(rank - 1, 0), 1))
        elif size <= room:
            spans.append((rank - 1, 1))
            room -= size
        else:
            first, room = rank, 0.0
            while room < size and rank < len(weights):
                room += most * weights[rank]
                rank += 1
            if room < size:
                return spans, len(weights) + 1
            spans.append((first, rank - first))
            room = room - size if rank - first == 1 else 0.0
    return spans, rank


def _spent(sizes: np.ndarray, weights: np.ndarray, spans: Spans, used: int, most: float) -> Spans:
    """Gives the ranks that are left to the last area, where that makes no rank fuller than `most` allows."""
    left, last = len(weights) - used, int(np.flatnonzero(sizes)[-1])
    if not left:
        return spans
    first, n = spans[last]
    alone = all(sizes[a] == 0 or spans[a][0] != first for a in range(last))
    if alone:
        spans[last] = first, n + left
    elif sizes[last] <= most * np.cumsum(weights[used:])[-1]:
        spans[last] = used, left
    return spans


#: The rules that heed weights: sizes of areas, and weights -> ranks of each area.
WEIGHTED: dict[str, Callable[[np.ndarray, np.ndarray], Spans]] = {
    "round_robin": round_robin,
    "area_group": area_group,
}


def placed(sizes: np.ndarray, area: np.ndarray, rule: str, weights: np.ndarray, ranks: int) -> Placement:
    """Where populations with `sizes` neurons, in these areas, live by a rule of WEIGHTED.

    Raises BadInput for another number of weights than ranks, and for a rule that knows equal ranks only.
    """
    if rule not in WEIGHTED:
        raise BadInput(f"placement.weights: with placement {rule!r}; allowed: with {', '.join(WEIGHTED)}")
    if len(weights) != ranks:
        raise BadInput(f"placement.weights: {len(weights)} values; allowed: {ranks}, one for each rank")
    of_area = np.bincount(area, sizes, area.max() + 1).astype(np.int64)
    spans = np.array(WEIGHTED[rule](of_area, weights))[area]
    return spread(sizes, spans, weights, rule).sharing(weights)


def spread(sizes: np.ndarray, spans: np.ndarray, weights: np.ndarray, method: str) -> Placement:
    """Units with `sizes` neurons, each on its ranks by their weights: `spans` [unit], (first, number)."""
    first, columns = np.cumsum(sizes) - sizes, []
    for begin, n in np.unique(spans, axis=0):
        own = (spans == (begin, n)).all(axis=1)
        columns.append(np.array(dealt(first[own], sizes[own], weights[begin : begin + n], begin)))
    end, rank, over, origin = np.concatenate(columns, axis=1)
    order = np.argsort(end)
    return Placement.of(len(weights), *(part[order] for part in (end, rank, over, origin)), method)


def dealt(first: np.ndarray, sizes: np.ndarray, weights: np.ndarray, begin: int = 0) -> tuple:
    """Units of neurons cut between runs of equal ranks, which deal their parts: end, rank, over, origin.

    The ranks with these weights are numbered from `begin`. Sums of shares are rounded, so that errors of many
    units do not add up.
    """
    run = np.flatnonzero(np.diff(weights, prepend=np.nan) != 0)  # first ranks
    sums = np.cumsum(weights)
    shares = sums[np.append(run[1:], len(weights)) - 1] / sums[-1]
    before = np.cumsum(sizes) - sizes
    # neurons of a unit on the runs so far, [unit, run]
    low, high = (np.rint(np.multiply.outer(at, shares)) for at in (before, before + sizes))
    cut = np.maximum.accumulate(high - low, axis=1).astype(np.int64).clip(0, sizes[:, None])
    end = first[:, None] + cut
    end[:, -1] = first + sizes
    starts = np.c_[first, end[:, :-1]]
    turn = np.cumsum(end - starts, axis=0) - (end - starts)  # neurons of earlier units on the run
    over = np.broadcast_to(np.diff(run, append=len(weights)), end.shape)
    columns = end, np.broadcast_to(begin + run, end.shape), over, starts - turn % over
    return tuple(column[end > starts] for column in columns)
