"""Where neurons are: how many of each population every virtual process (rank, thread) has.

These are the rules of the mini-app's placements (miniapp/src/description/placement). A rule gives every area
its consecutive ranks, (first, number); the neurons of an area are dealt to its virtual processes in turn.
With weights, in any unit, ranks have unequal shares. placement_file.py says how a placement is named.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole
from spikemark.quantities.words import counted

from .description import Description, Network
from .placement_file import FILE, Placement, read, residues, split

Spans = list[tuple[int, int]]  # of each area its first rank, and how many
HALVINGS = 60


def round_robin(network: Network, ranks: int) -> Spans:
    """Every area lives on all ranks; neurons are dealt without regard to areas, neuron 0 to rank 0."""
    return [(0, ranks)] * len(network.areas)


def area(network: Network, ranks: int) -> Spans:
    """Area a lives on rank a mod R."""
    areas = len(network.areas)
    if areas < ranks:
        raise BadInput(
            f"ranks={ranks}: placement 'area' cannot deal {counted(areas, 'area')} to them; expected at most"
            f" {counted(areas, 'rank')}, or placement area_group"
        )
    return [(number % ranks, 1) for number in range(areas)]


def area_group(network: Network, ranks: int) -> Spans:
    """An area lives on consecutive ranks in proportion to its size; small areas share a rank.

    The limit on the neurons of a rank is the smallest for which first fit, the largest area first, needs no
    more ranks than there are; ranks left over split the fullest. Ranks are numbered by their lowest area.
    """
    return list(grouped(tuple(sizes_of_areas(network).tolist()), ranks))


def sizes_of_areas(network: Network) -> np.ndarray:
    """Neurons of each area, [area]."""
    return np.bincount(network.area_of, network.sizes).astype(np.int64)


@lru_cache(maxsize=128)
def grouped(of_areas: tuple[int, ...], ranks: int) -> tuple[tuple[int, int], ...]:
    """The ranks of each area with so many neurons; a search asks for the same places again and again."""
    sizes = np.array(of_areas, dtype=np.int64)
    low, high = 1, int(sizes.sum())
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sum(n for _, n in _pack(sizes, middle)) <= ranks else (middle + 1, high)
    bins = _pack(sizes, low)
    for _ in range(ranks - sum(n for _, n in bins)):  # a rank more for the fullest
        fullest = max(bins, key=lambda b: sizes[b[0]].sum() / b[1])
        filled = sorted(a for a in fullest[0] if sizes[a] > 0)
        if len(filled) == 1:
            fullest[1] += 1
        else:
            fullest[0].remove(filled[0])
            bins.append([[filled[0]], 1])
    spans, first_rank = {}, 0
    for areas, n in sorted(bins, key=lambda b: min(b[0])):
        spans |= dict.fromkeys(areas, (first_rank, n))
        first_rank += n
    return tuple(spans[number] for number in range(len(sizes)))


def _pack(sizes: np.ndarray, most: int) -> list[list]:
    """Bins [areas, ranks] in which no rank has more than `most` neurons."""
    bins: list[list] = []
    room = np.zeros(len(sizes), dtype=np.int64)  # for neurons in a bin; none in one of several ranks
    for area_number in sorted(range(len(sizes)), key=lambda a: (-sizes[a], a)):
        size = int(sizes[area_number])
        fitting = np.flatnonzero(room[: len(bins)] >= size)
        if len(fitting):
            bins[fitting[0]][0].append(area_number)
            room[fitting[0]] -= size
        else:
            room[len(bins)] = most - size if size <= most else -1
            bins.append([[area_number], max(1, -(-size // most))])
    return bins


PLACEMENTS: dict[str, Callable[[Network, int], Spans]] = {
    "round_robin": round_robin, "area": area, "area_group": area_group
}  # fmt: skip


def weighted_group(sizes: np.ndarray, weights: np.ndarray) -> Spans:
    """Areas with `sizes` neurons on the ranks in their order; the largest load over weight is the least.

    An area goes to the rank of the last one if it fits, else to the next rank, or to as many as it needs.
    Ranks that are left go to the last area, where that makes no rank fuller than the others.
    """
    low, high = float(sizes.sum() / np.cumsum(weights)[-1]), float(sizes.sum() / weights[0] * 1.000001)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _laid(sizes, weights, middle)[1] <= len(weights) else (middle, high)
    spans, used = _laid(sizes, weights, high)
    left, last = len(weights) - used, int(np.flatnonzero(sizes)[-1])
    first, n = spans[last]
    if left and all(sizes[a] == 0 or spans[a][0] != first for a in range(last)):
        spans[last] = first, n + left
    elif left and sizes[last] <= high * np.cumsum(weights[used:])[-1]:
        spans[last] = used, left
    return spans


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


#: The rules that heed weights: sizes of areas, and weights -> ranks of each area.
WEIGHTED: dict[str, Callable[[np.ndarray, np.ndarray], Spans]] = {
    "round_robin": lambda sizes, weights: [(0, len(weights))] * len(sizes),
    "area_group": weighted_group,
}


def spread(sizes: np.ndarray, spans: np.ndarray, weights: np.ndarray) -> Placement:
    """Units with `sizes` neurons, each on its ranks by their weights: `spans` [unit], (first, number)."""
    first, columns = np.cumsum(sizes) - sizes, []
    for begin, n in np.unique(spans, axis=0):
        own = (spans == (begin, n)).all(axis=1)
        columns.append(np.array(dealt(first[own], sizes[own], weights[begin : begin + n], begin)))
    end, rank, over, origin = np.concatenate(columns, axis=1)
    order = np.argsort(end)
    return Placement.of(len(weights), *(part[order] for part in (end, rank, over, origin)))


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


def check_name(placement: str) -> str:
    """The placement. Raises BadInput for one that is neither a rule nor a file."""
    if split(placement)[0] not in PLACEMENTS and not placement.endswith(FILE):
        raise BadInput.of("placement", placement, f"{', '.join(PLACEMENTS)}, or a file ({FILE})")
    return placement


def ranges(network: Any, placement: str | Placement, ranks: int | None) -> tuple[Placement, bool]:
    """The ranges of neurons of any placement, and whether a rule without weights made them.

    Of a network, or of anything else that has `sizes`, `areas` and `area_of`. `ranks`: None for those of a
    file. Raises BadInput as `neurons`.
    """
    if isinstance(placement, Placement):
        return placement, False
    check_name(placement)
    if ranks is None and not placement.endswith(FILE):
        raise BadInput(f"--ranks: missing; expected the number of ranks for placement {placement!r}")
    check_whole("ranks", 1 if ranks is None else ranks)
    sizes, area_of, end = network.sizes, np.array(network.area_of), np.cumsum(network.sizes)
    rule, weights = split(placement)
    if weights is not None and len(weights) == ranks and np.ptp(weights) == 0:
        weights = None  # as the mini-app does
    if rule in PLACEMENTS and weights is None:
        spans = np.array(PLACEMENTS[rule](network, ranks))
        begins = (end - sizes)[np.unique(area_of, return_index=True)[1]]
        origin = np.zeros(len(end)) if rule == "round_robin" else begins[area_of]
        return Placement.of(ranks, end, *spans[area_of].T, origin, rule), True
    if weights is None:
        file = Path(placement)
        changed = (file.stat().st_mtime_ns, file.stat().st_size) if file.is_file() else None
        return _read(file, int(end[-1]), changed).on(ranks, placement), False
    if rule not in WEIGHTED:
        raise BadInput(f"placement.weights: with placement {rule!r}; expected {' or '.join(WEIGHTED)}")
    if len(weights) != ranks:
        raise BadInput(f"placement.weights: {len(weights)} values; expected {ranks}, one for each rank")
    spans = np.array(WEIGHTED[rule](sizes_of_areas(network), weights))
    return replace(spread(sizes, spans[area_of], weights), method=rule, weights=weights), False


@lru_cache(maxsize=8)
def _read(path: Path, neurons: int, changed: tuple[int, int] | None) -> Placement:
    """As `read`; a file that has not `changed` is read once."""
    return read(path, neurons)


def areas_on_ranks(description: Description, placement: str, ranks: int) -> np.ndarray:
    """Which consecutive ranks hold neurons of an area: rows (area, first rank, number of ranks), ascending.

    A rule gives ranks to an area without neurons, too. Raises BadInput as `neurons`.
    """
    network = description.network
    made, by_rule = ranges(network, placement, ranks)
    if by_rule:
        return np.c_[np.arange(len(network.areas)), np.array(PLACEMENTS[made.method](network, ranks))]
    which, unit, _, _ = made.cut(network.sizes)
    return np.unique(np.c_[np.array(network.area_of)[unit], made.rank[which], made.over[which]], axis=0)


def spans(description: Description, placement: str, ranks: int) -> Spans:
    """The ranks of each area, (first, number). Where a file places areas on ranks that do not follow each
    other, others lie between them. Raises BadInput as `neurons`."""
    found = {}
    for number, first, n in areas_on_ranks(description, placement, ranks).tolist():
        begin, end = found.get(number, (first, first))
        found[number] = min(begin, first), max(end, first + n)
    ends = (found.get(number, (0, 1)) for number in range(len(description.network.areas)))
    return [(first, end - first) for first, end in ends]


def sharing(where: np.ndarray, ranks: int) -> np.ndarray:
    """The number of the group of each rank, [rank], where ranks that share an area are in one.

    `where` as from `areas_on_ranks`. Groups are numbered by their lowest rank.
    """
    from scipy.sparse.csgraph import connected_components

    of_area, first, n = where.T
    begun = np.bincount(first + 1, minlength=ranks + 1) - np.bincount(first + n, minlength=ranks + 1)
    after = np.flatnonzero(begun.cumsum()[1:ranks] > 0)  # ranks that share an area with the next one
    _, lowest, number = np.unique(of_area, return_index=True, return_inverse=True)
    edges = np.r_[after, first], np.r_[after + 1, first[lowest][number]]
    joined = sparse.coo_array((np.ones(len(edges[0])), edges), (ranks, ranks))
    return connected_components(joined, directed=False)[1]


def neurons(description: Description, placement: str, ranks: int, threads: int) -> np.ndarray:
    """Neurons of each population on each virtual process, [population, rank, thread].

    A rule deals an area to all its threads in turn; otherwise the threads of a rank take turns from one range
    to the next. Raises BadInput for an unknown placement, fewer than one rank or thread, more ranks than it
    can serve, and a file that is for other ranks or another network.
    """
    check_whole("threads", threads)
    sizes = description.network.sizes
    made, by_rule = ranges(description.network, placement, ranks)
    pieces = made.cut(sizes)
    counts = np.zeros((len(sizes), ranks, threads), dtype=np.int64)
    held = np.zeros(ranks, dtype=np.int64)  # neurons on each rank so far
    for which, unit, start, count in zip(*(part.tolist() for part in pieces), strict=True):
        rank, over = int(made.rank[which]), int(made.over[which])
        turn, at = divmod(start - int(made.origin[which]), over)
        turn = turn if by_rule else int(held[rank + at]) % threads
        found = residues(at + turn * over, count, over * threads).reshape(threads, over).T
        counts[unit, rank : rank + over] += found
        held[rank : rank + over] += found.sum(axis=1)
    return counts
