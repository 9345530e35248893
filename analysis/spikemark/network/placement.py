"""Where neurons are: how many of each population every virtual process (rank, thread) has.

These are the rules of the mini-app's placements (miniapp/src/description/placement). A rule gives every area
its consecutive ranks, (first, number). Each is one function, listed in PLACEMENTS. The neurons of an area are
dealt to its virtual processes in turn. A placement is named by its rule, by a rule with weights of ranks
(placement_weights.py) or by the path of a placement file (placement_file.py).
"""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole

from .description import Description
from .fields import Network
from .placement_field import FILE
from .placement_file import Placement, read, residues
from .placement_weights import placed, split


def round_robin(network: Network, ranks: int) -> list[tuple[int, int]]:
    """Every area lives on all ranks; neurons are dealt without regard to areas, neuron 0 to rank 0."""
    return [(0, ranks)] * len(network.areas)


def area(network: Network, ranks: int) -> list[tuple[int, int]]:
    """Area a lives on rank a mod R."""
    areas = len(network.areas)
    if areas < ranks:
        raise BadInput(f"ranks={ranks}: placement 'area' has {areas} areas for at most as many ranks")
    return [(number % ranks, 1) for number in range(areas)]


def area_group(network: Network, ranks: int) -> list[tuple[int, int]]:
    """An area lives on consecutive ranks in proportion to its size; small areas share a rank.

    The limit on the neurons of a rank is the smallest for which first fit, the largest area first, needs no
    more ranks than there are; ranks left over split the fullest. Ranks are numbered by their lowest area.
    """
    sizes = np.zeros(len(network.areas), dtype=np.int64)
    np.add.at(sizes, network.area_of, [p.size for p in network.populations])
    return list(grouped(tuple(sizes.tolist()), ranks))


@lru_cache(maxsize=128)
def grouped(of_areas: tuple[int, ...], ranks: int) -> tuple[tuple[int, int], ...]:
    """The ranks of each area with so many neurons; a search asks for the same places again and again."""
    sizes = np.array(of_areas, dtype=np.int64)
    low, high = 1, int(sizes.sum())
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sum(n for _, n in _pack(sizes, middle)) <= ranks else (middle + 1, high)
    bins = _pack(sizes, low)
    for _ in range(ranks - sum(n for _, n in bins)):
        _spend_rank(sizes, bins)

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


def _spend_rank(sizes: np.ndarray, bins: list[list]) -> None:
    fullest = max(bins, key=lambda b: sizes[b[0]].sum() / b[1])
    filled = sorted(a for a in fullest[0] if sizes[a] > 0)
    if len(filled) == 1:
        fullest[1] += 1
    else:
        fullest[0].remove(filled[0])
        bins.append([[filled[0]], 1])


Rule = Callable[[Network, int], list[tuple[int, int]]]
PLACEMENTS: dict[str, Rule] = {"round_robin": round_robin, "area": area, "area_group": area_group}


def check_name(placement: str) -> None:
    """Raises BadInput for a placement that is neither a rule nor a file."""
    if split(placement)[0] not in PLACEMENTS and not placement.endswith(FILE):
        raise BadInput(f"placement={placement!r}; allowed: {', '.join(PLACEMENTS)}, or a file ({FILE})")


def spans(description: Description, placement: str, ranks: int) -> list[tuple[int, int]]:
    """The ranks of each area, (first, number). Where a file places areas on ranks that do not follow each
    other, others lie between them. Raises BadInput as `neurons`."""
    check_name(placement)
    check_whole("ranks", ranks)
    placement = without_equal_weights(placement, ranks)
    if placement in PLACEMENTS:
        return PLACEMENTS[placement](description.network, ranks)
    held = areas_on_ranks(description, placement, ranks)
    found = [held[held[:, 0] == number, 1:] for number in range(len(description.network.areas))]
    return [
        (int(r[:, 0].min()), int(r.sum(axis=1).max() - r[:, 0].min())) if len(r) else (0, 1) for r in found
    ]


def areas_on_ranks(description: Description, placement: str, ranks: int) -> np.ndarray:
    """Which consecutive ranks hold neurons of an area: rows (area, first rank, number of ranks), ascending.

    Raises BadInput as `neurons`.
    """
    placement = without_equal_weights(placement, ranks)
    if placement in PLACEMENTS:
        found = spans(description, placement, ranks)
        return np.c_[np.arange(len(found)), np.array(found).reshape(-1, 2)]
    made, (which, unit, _, _) = _of_ranges(description.network, placement, ranks)
    area_of = np.array(description.network.area_of)
    return np.unique(np.c_[area_of[unit], made.rank[which], made.over[which]], axis=0)


def sharing(where: np.ndarray, ranks: int) -> np.ndarray:
    """The number of the group of each rank, [rank], where ranks that share an area are in one.

    `where` as from `areas_on_ranks`.
    """
    lowest = list(range(ranks))  # a rank of the same group, at most as high

    def join(a: int, b: int) -> None:
        ends = []
        for rank in (a, b):
            while lowest[rank] != rank:
                lowest[rank] = rank = lowest[lowest[rank]]
            ends.append(rank)
        lowest[max(ends)] = min(ends)

    reach, begins = list(range(ranks)), {}
    for number, first, n in where.tolist():
        reach[first] = max(reach[first], first + n - 1)
        join(begins.setdefault(number, first), first)
    last = 0
    for rank in range(ranks):
        if rank and rank <= last:
            join(rank - 1, rank)
        last = max(last, reach[rank])
    for rank in range(ranks):
        lowest[rank] = lowest[lowest[rank]]
    return np.unique(lowest, return_inverse=True)[1]


def neurons(description: Description, placement: str, ranks: int, threads: int) -> np.ndarray:
    """Neurons of each population on each virtual process, [population, rank, thread].

    Raises BadInput for an unknown placement, fewer than one rank or thread, more ranks than it can serve, and
    a file that is for other ranks or another network.
    """
    check_whole("threads", threads)
    network, placement = description.network, without_equal_weights(placement, ranks)
    if placement not in PLACEMENTS:
        check_name(placement)
        return _neurons_of_ranges(network, placement, ranks, threads)
    places = spans(description, placement, ranks)
    counts = np.zeros((len(network.populations), ranks, threads), dtype=np.int64)
    start, begins = 0, {}  # gid of the first neuron of a population, and of each area
    for p, (population, area_number) in enumerate(zip(network.populations, network.area_of, strict=True)):
        begin = 0 if placement == "round_robin" else begins.setdefault(area_number, start)
        first, n = places[area_number]
        dealt = residues(start - begin, population.size, n * threads)
        counts[p, first : first + n] = dealt.reshape(threads, n).T
        start += population.size
    return counts


def _neurons_of_ranges(network: Network, placement: str, ranks: int, threads: int) -> np.ndarray:
    """Like `neurons`. The threads of a rank take turns from one range to the next."""
    made, pieces = _of_ranges(network, placement, ranks)
    counts = np.zeros((len(network.populations), ranks, threads), dtype=np.int64)
    dealt = np.zeros(ranks, dtype=np.int64)  # neurons on each rank so far
    for which, unit, start, count in zip(*pieces, strict=True):
        rank, over = int(made.rank[which]), int(made.over[which])
        at_first = int(start - made.origin[which]) % over
        turn = int(dealt[rank + at_first]) % threads
        found = residues(at_first + turn * over, int(count), over * threads).reshape(threads, over).T
        counts[unit, rank : rank + over] += found
        dealt[rank : rank + over] += found.sum(axis=1)
    return counts


def without_equal_weights(placement: str, ranks: int) -> str:
    """The rule alone where a placement gives all ranks the same weight."""
    rule, weights = split(placement)
    return rule if weights is not None and len(weights) == ranks and np.ptp(weights) == 0 else placement


def ranges(network: Network, placement: str, ranks: int) -> Placement:
    """The ranges of a file, or of a rule with weights. Raises BadInput as `neurons`."""
    sizes = np.array([p.size for p in network.populations], dtype=np.int64)
    rule, weights = split(placement)
    if weights is not None:
        return placed(sizes, np.array(network.area_of), rule, weights, ranks)
    file = Path(placement)
    changed = (file.stat().st_mtime_ns, file.stat().st_size) if file.is_file() else None
    return _read(file, int(sizes.sum()), changed).on(ranks, placement)


def _of_ranges(network: Network, placement: str, ranks: int) -> tuple[Placement, tuple[np.ndarray, ...]]:
    """The ranges, and these cut where populations end (`Placement.cut`)."""
    sizes = np.array([p.size for p in network.populations], dtype=np.int64)
    found = ranges(network, placement, ranks)
    return found, found.cut(np.cumsum(sizes) - sizes, sizes)


@lru_cache(maxsize=8)
def _read(path: Path, neurons: int, changed: tuple[int, int] | None) -> Placement:
    """As `read`; a file that has not `changed` is read once."""
    return read(path, neurons)
