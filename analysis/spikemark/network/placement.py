"""Where neurons are: how many of each population every virtual process (rank, thread) has.

These are the rules of the mini-app's placements (miniapp/src/description/placement). A placement gives
every area its consecutive ranks, (first, number). Each is one function, listed in PLACEMENTS. The neurons
of an area are dealt to its virtual processes in turn.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole

from .description import Description
from .fields import Network


def residues(start: int, size: int, modulus: int) -> np.ndarray:
    """How many of the numbers start ... start + size - 1 leave each remainder modulo `modulus`, [modulus]."""
    whole, rest = divmod(size, modulus)
    return whole + ((np.arange(modulus) - start) % modulus < rest)


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
    return list(_grouped(tuple(sizes.tolist()), ranks))


@lru_cache(maxsize=128)
def _grouped(of_areas: tuple[int, ...], ranks: int) -> tuple[tuple[int, int], ...]:
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


Placement = Callable[[Network, int], list[tuple[int, int]]]
PLACEMENTS: dict[str, Placement] = {"round_robin": round_robin, "area": area, "area_group": area_group}


def spans(description: Description, placement: str, ranks: int) -> list[tuple[int, int]]:
    """The ranks of each area, (first, number). Raises BadInput as `neurons`."""
    if placement not in PLACEMENTS:
        raise BadInput(f"placement={placement!r}: known are {', '.join(PLACEMENTS)}")
    check_whole("ranks", ranks)
    return PLACEMENTS[placement](description.network, ranks)


def neurons(description: Description, placement: str, ranks: int, threads: int) -> np.ndarray:
    """Neurons of each population on each virtual process, [population, rank, thread].

    Raises BadInput for an unknown placement, fewer than one rank or thread, and more ranks than it can serve.
    """
    check_whole("threads", threads)
    places = spans(description, placement, ranks)
    network = description.network
    counts = np.zeros((len(network.populations), ranks, threads), dtype=np.int64)
    start, begins = 0, {}  # gid of the first neuron of a population, and of each area
    for p, (population, area_number) in enumerate(zip(network.populations, network.area_of, strict=True)):
        begin = 0 if placement == "round_robin" else begins.setdefault(area_number, start)
        first, n = places[area_number]
        dealt = residues(start - begin, population.size, n * threads)
        counts[p, first : first + n] = dealt.reshape(threads, n).T
        start += population.size
    return counts
