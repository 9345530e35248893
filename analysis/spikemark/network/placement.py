"""Where neurons are: how many of each population every virtual process (rank, thread) has.

These are the rules of the mini-app's placements (miniapp/src/description/placement). A rule gives
every area its consecutive ranks, (first, number); the neurons of an area are dealt to its virtual
processes in turn. With weights, in any unit, ranks have unequal shares. placement_file.py says how
a placement is named.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from spikemark.core import memory
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.fields import check_whole
from spikemark.quantities.words import counted

from .description import Description
from .named_files import FileState, file_state
from .placement_file import Placement, read_placement, residues
from .placement_text import FILE, split

#: Ranks of a run, and its ranks times their threads: those that the mini-app takes.
MAX_RANKS, MAX_PROCESSES = 1_000_000, 10_000_000
#: Steps of a bisection for the largest load of a rank.
HALVINGS = 60
#: Factor that keeps an upper limit above what rounding may make of it.
ABOVE_ROUNDING = 1.000001

#: Of each area its first rank, and how many.
Spans = list[tuple[int, int]]


class Populations(Protocol):
    """What has neurons to be placed, such as `Network`."""

    @property
    def sizes(self) -> np.ndarray: ...  #: neurons of each population, [population]
    @property
    def areas(self) -> Collection[object]: ...  #: names of the areas
    @property
    def area_of(self) -> Sequence[int] | np.ndarray: ...  #: number of the area of each population


def round_robin(network: Populations, ranks: int) -> Spans:
    """Every area lives on all ranks; neurons are dealt without regard to areas.

    Neuron 0 goes to rank 0.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2)).network
        >>> round_robin(network, ranks=4)
        [(0, 4), (0, 4)]
    """
    return [(0, ranks) for _ in network.areas]


def area(network: Populations, ranks: int) -> Spans:
    """Area a lives on rank a mod R.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2)).network
        >>> area(network, ranks=2)
        [(0, 1), (1, 1)]
    """
    areas = len(network.areas)
    if areas < ranks:
        raise BadInput(
            field="placement",
            value="area",
            reason=f"cannot deal {counted(areas, 'area')} to {ranks} ranks",
            expected=f"at most {counted(areas, 'rank')}, or placement area_group",
        )
    return [(number % ranks, 1) for number in range(areas)]


def area_group(network: Populations, ranks: int) -> Spans:
    """An area lives on consecutive ranks in proportion to its size; small areas share a rank.

    The limit on the neurons of a rank is the smallest for which first fit, the largest area first,
    needs no more ranks than there are; ranks left over split the fullest. Ranks are numbered by
    their lowest area.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2)).network
        >>> area_group(network, ranks=4)
        [(0, 2), (2, 2)]
    """
    return list(grouped(tuple(sizes_of_areas(network).tolist()), ranks))


def sizes_of_areas(network: Populations) -> np.ndarray:
    """Neurons of each area, [area].

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> options = {"areas": 2, "neurons_per_area": 600, "indegree": 40}
        >>> sizes_of_areas(read_description(mam_benchmark.describe(**options)).network)
        array([600, 600])
    """
    return np.bincount(network.area_of, network.sizes).astype(np.int64)


@dataclass
class _Bin:
    """Areas that share ranks."""

    areas: list[int]  #: numbers
    ranks: int  #: one, or several for one area


@lru_cache(maxsize=128)
def grouped(sizes_by_area: tuple[int, ...], ranks: int) -> tuple[tuple[int, int], ...]:
    """The ranks of each area, (first, number), as of `area_group`.

    A search asks for the same places again and again.

    Example:
        >>> grouped((100, 300, 100), ranks=4)
        ((0, 1), (1, 2), (3, 1))
    """
    sizes = np.array(sizes_by_area, dtype=np.int64)
    low = 1
    high = int(sizes.sum())
    while low < high:
        middle = (low + high) // 2
        if sum(bin_.ranks for bin_ in _pack(sizes, middle)) <= ranks:
            high = middle
        else:
            low = middle + 1
    bins = _pack(sizes, low)
    ranks_left = ranks - sum(bin_.ranks for bin_ in bins)
    for _ in range(ranks_left):
        _split_fullest(bins, sizes)
    spans = {}
    first_rank = 0
    for bin_ in sorted(bins, key=lambda bin_: min(bin_.areas)):
        for number in bin_.areas:
            spans[number] = (first_rank, bin_.ranks)
        first_rank += bin_.ranks
    return tuple(spans[number] for number in range(len(sizes)))


def _split_fullest(bins: list[_Bin], sizes: np.ndarray) -> None:
    """Give the fullest bin one rank more, in place."""
    fullest = max(bins, key=lambda bin_: sizes[bin_.areas].sum() / bin_.ranks)
    with_neurons = sorted(number for number in fullest.areas if sizes[number] > 0)
    if len(with_neurons) == 1:
        fullest.ranks += 1
    else:
        fullest.areas.remove(with_neurons[0])
        bins.append(_Bin([with_neurons[0]], 1))


def _pack(sizes: np.ndarray, most: int) -> list[_Bin]:
    """Bins in which no rank has more than `most` neurons: first fit, the largest area first."""
    bins: list[_Bin] = []
    room = np.zeros(
        len(sizes), dtype=np.int64
    )  # for neurons in a bin; none in one of several ranks
    for number in sorted(range(len(sizes)), key=lambda number: (-sizes[number], number)):
        size = int(sizes[number])
        fitting = np.flatnonzero(room[: len(bins)] >= size)
        if len(fitting):
            bins[fitting[0]].areas.append(number)
            room[fitting[0]] -= size
        else:
            room[len(bins)] = most - size if size <= most else -1
            bins.append(_Bin([number], max(1, -(-size // most))))
    return bins


#: The rules, by name: network, ranks -> ranks of each area.
PLACEMENTS: dict[str, Callable[[Populations, int], Spans]] = {
    "round_robin": round_robin,
    "area": area,
    "area_group": area_group,
}


def weighted_group(sizes: np.ndarray, weights: np.ndarray) -> Spans:
    """Areas on the ranks in their order, so that the largest load over weight is the least.

    An area goes to the rank of the last one if it fits, else to the next rank, or to as many as it
    needs. Ranks that are left go to the last area, where that makes no rank fuller than the others.

    Args:
        sizes: neurons of each area, shape [area].
        weights: what each rank shall have, in any unit, shape [rank].

    Example:
        >>> weighted_group(np.array([200, 100]), np.array([2.0, 1.0]))
        [(0, 1), (1, 1)]
    """
    low = float(sizes.sum() / np.cumsum(weights)[-1])
    high = float(sizes.sum() / weights[0] * ABOVE_ROUNDING)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _laid(sizes, weights, middle)[1] <= len(weights):
            high = middle
        else:
            low = middle
    spans, used = _laid(sizes, weights, high)
    ranks_left = len(weights) - used
    if not ranks_left:
        return spans
    last = int(np.flatnonzero(sizes)[-1])
    first, number = spans[last]
    alone = all(sizes[other] == 0 or spans[other][0] != first for other in range(last))
    if alone:
        spans[last] = (first, number + ranks_left)
    elif sizes[last] <= high * np.cumsum(weights[used:])[-1]:
        spans[last] = (used, ranks_left)
    return spans


def _laid(sizes: np.ndarray, weights: np.ndarray, most: float) -> tuple[Spans, int]:
    """The ranks of each area if no rank has more than `most` times its weight, and their number.

    The number is one more than there are where they are too few.
    """
    spans: Spans = []
    rank = 0
    room = 0.0
    for size in sizes.tolist():
        if size == 0:
            spans.append((max(rank - 1, 0), 1))
        elif size <= room:
            spans.append((rank - 1, 1))
            room -= size
        else:
            first = rank
            room = 0.0
            while room < size and rank < len(weights):
                room += most * weights[rank]
                rank += 1
            if room < size:
                return spans, len(weights) + 1
            spans.append((first, rank - first))
            room = room - size if rank - first == 1 else 0.0
    return spans, rank


def _weighted_round_robin(sizes: np.ndarray, weights: np.ndarray) -> Spans:
    """Every area lives on all ranks."""
    return [(0, len(weights)) for _ in sizes]


#: The rules that heed weights: sizes of areas, weights -> ranks of each area.
WEIGHTED: dict[str, Callable[[np.ndarray, np.ndarray], Spans]] = {
    "round_robin": _weighted_round_robin,
    "area_group": weighted_group,
}


class Ranges(NamedTuple):
    """Columns of a `Placement`, [range] each."""

    end: np.ndarray
    rank: np.ndarray
    over: np.ndarray
    origin: np.ndarray


def spread(sizes: np.ndarray, spans: np.ndarray, weights: np.ndarray) -> Placement:
    """Place units of neurons, each on its ranks by their weights.

    Args:
        sizes: neurons of each unit, shape [unit].
        spans: first rank and number of ranks of each unit, shape [unit, 2].
        weights: of all ranks, in any unit, shape [rank].

    Example:
        >>> units = np.array([40, 60])
        >>> spans = np.array([[0, 1], [1, 2]])  # the second unit lies on two ranks
        >>> spread(units, spans, weights=np.ones(3)).per_rank.tolist()
        [40.0, 30.0, 30.0]
    """
    first = np.cumsum(sizes) - sizes
    parts = []
    for begin, number in np.unique(spans, axis=0):
        inside = (spans == (begin, number)).all(axis=1)
        parts.append(dealt(first[inside], sizes[inside], weights[begin : begin + number], begin))
    end = np.concatenate([part.end for part in parts])
    order = np.argsort(end)
    return Placement.from_ranges(
        ranks=len(weights),
        end=end[order],
        rank=np.concatenate([part.rank for part in parts])[order],
        over=np.concatenate([part.over for part in parts])[order],
        origin=np.concatenate([part.origin for part in parts])[order],
    )


def dealt(
    first: np.ndarray,
    sizes: np.ndarray,
    weights: np.ndarray,
    begin: int = 0,
) -> Ranges:
    """Cut units of neurons between runs of equal ranks, which deal their parts.

    Sums of shares are rounded, so that errors of many units do not add up.

    Args:
        first: first neuron of each unit, shape [unit].
        sizes: neurons of each unit, shape [unit].
        weights: of the ranks, in any unit, shape [rank].
        begin: number of the first of these ranks.

    Example:
        >>> ranges = dealt(np.array([0]), np.array([100]), weights=np.ones(4))
        >>> ranges.end.tolist(), ranges.over.tolist()  # one range, in turn on four ranks
        ([100], [4])
    """
    first_ranks = np.flatnonzero(np.diff(weights, prepend=np.nan) != 0)  # of each run
    sums = np.cumsum(weights)
    shares = sums[np.append(first_ranks[1:], len(weights)) - 1] / sums[-1]
    before = np.cumsum(sizes) - sizes
    # Neurons of a unit on the runs so far, [unit, run].
    low = np.rint(np.multiply.outer(before, shares))
    high = np.rint(np.multiply.outer(before + sizes, shares))
    cut = np.maximum.accumulate(high - low, axis=1).astype(np.int64).clip(0, sizes[:, None])
    end = first[:, None] + cut
    end[:, -1] = first + sizes
    start = np.c_[first, end[:, :-1]]
    count = end - start
    turn = np.cumsum(count, axis=0) - count  # neurons of earlier units on the run
    over = np.broadcast_to(np.diff(first_ranks, append=len(weights)), end.shape)
    rank = np.broadcast_to(begin + first_ranks, end.shape)
    origin = start - turn % over
    filled = end > start
    return Ranges(end[filled], rank[filled], over[filled], origin[filled])


def check_name(placement: str) -> str:
    """The placement.

    Raises:
        BadInput: for one that is neither a rule nor a file.

    Example:
        >>> check_name("area_group")
        'area_group'
    """
    if split(placement)[0] not in PLACEMENTS and not placement.endswith(FILE):
        expected = f"{', '.join(PLACEMENTS)}, or a file ({FILE})"
        raise unknown_name("placement", placement, PLACEMENTS, expected=expected)
    return placement


def ranges(
    network: Populations, placement: str | Placement, ranks: int | None
) -> tuple[Placement, bool]:
    """The ranges of neurons of any placement, and whether a rule without weights made them.

    Args:
        network: of which the neurons are.
        placement: a rule, with weights or without, a file, or ranges.
        ranks: number of ranks; None for those of a file.

    Raises:
        BadInput: as `neurons`.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> options = {"areas": 2, "neurons_per_area": 600, "indegree": 40}
        >>> network = read_description(mam_benchmark.describe(**options)).network
        >>> placement, by_rule = ranges(network, "area", ranks=2)
        >>> placement.first.tolist(), placement.end.tolist(), placement.rank.tolist(), by_rule
        ([0, 600], [600, 1200], [0, 1], True)
    """
    if isinstance(placement, Placement):
        return placement, False
    check_name(placement)
    if placement.endswith(FILE):
        check_whole("ranks", 1 if ranks is None else ranks, most=MAX_RANKS)
        neurons = int(np.cumsum(network.sizes)[-1])
        path = Path(placement)
        return _read(path, neurons, file_state(path)).on(ranks, placement), False
    if ranks is None:
        raise BadInput(
            field="ranks",
            reason="missing",
            expected=f"the number of ranks for placement {placement!r}",
            code="missing",
        )
    check_whole("ranks", ranks, most=MAX_RANKS)
    rule, weights = split(placement)
    if weights is not None and len(weights) == ranks and np.ptp(weights) == 0:
        weights = None  # as the mini-app does
    if weights is None:
        return _by_rule(network, rule, ranks), True
    return _by_weights(network, rule, weights, ranks), False


def _by_rule(network: Populations, rule: str, ranks: int) -> Placement:
    """The ranges of a rule without weights."""
    area_of = np.array(network.area_of)
    end = np.cumsum(network.sizes)
    spans = np.array(PLACEMENTS[rule](network, ranks))
    if rule == "round_robin":
        origin = np.zeros(len(end))
    else:
        _, first_populations = np.unique(area_of, return_index=True)
        first_neurons = (end - network.sizes)[first_populations]  # of each area
        origin = first_neurons[area_of]
    first_rank, number = spans[area_of].T
    return Placement.from_ranges(ranks, end, first_rank, number, origin, rule)


def _by_weights(
    network: Populations,
    rule: str,
    weights: np.ndarray,
    ranks: int,
) -> Placement:
    """The ranges of a rule with weights. Raises BadInput for weights that it does not take."""
    field = "placement.weights"
    if rule not in WEIGHTED:
        reason = f"with placement {rule!r}"
        raise BadInput(
            field=field,
            reason=reason,
            expected=" or ".join(WEIGHTED),
        )
    if len(weights) != ranks:
        expected = f"{ranks}, one for each rank"
        raise BadInput(
            field=field,
            reason=f"{len(weights)} values",
            expected=expected,
        )
    spans = np.array(WEIGHTED[rule](sizes_of_areas(network), weights))
    placement = spread(network.sizes, spans[np.array(network.area_of)], weights)
    return replace(placement, method=rule, weights=weights)


@lru_cache(maxsize=8)
def _read(path: Path, neurons: int, state: FileState | None) -> Placement:
    """As `read_placement`; a file whose state has not changed is read once."""
    return read_placement(path, neurons)


def areas_on_ranks(description: Description, placement: str | Placement, ranks: int) -> np.ndarray:
    """Which consecutive ranks hold neurons of an area.

    A rule gives ranks to an area without neurons, too.

    Returns:
        Rows (area, first rank, number of ranks), ascending.

    Raises:
        BadInput: as `neurons`.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = read_description(mam_benchmark.describe(areas=2))
        >>> areas_on_ranks(description, "area", ranks=2).tolist()
        [[0, 0, 1], [1, 1, 1]]
    """
    network = description.network
    placed, by_rule = ranges(network, placement, ranks)
    if by_rule:
        spans_of_areas = np.array(PLACEMENTS[placed.method](network, ranks))
        return np.column_stack([np.arange(len(network.areas)), spans_of_areas])
    which, unit, _, _ = placed.cut(network.sizes)
    areas = np.array(network.area_of)[unit]
    return np.unique(np.c_[areas, placed.rank[which], placed.over[which]], axis=0)


def spans(description: Description, placement: str | Placement, ranks: int) -> Spans:
    """The ranks of each area, (first, number).

    Where a file places areas on ranks that do not follow each other, others lie between them.

    Raises:
        BadInput: as `neurons`.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = read_description(mam_benchmark.describe(areas=2))
        >>> spans(description, "area_group", ranks=4)
        [(0, 2), (2, 2)]
    """
    limits: dict[int, tuple[int, int]] = {}  # of each area: first rank, rank behind the last
    for number, first, count in areas_on_ranks(description, placement, ranks).tolist():
        begin, end = limits.get(number, (first, first))
        limits[number] = min(begin, first), max(end, first + count)
    areas = range(len(description.network.areas))
    limits_in_order = [limits.get(number, (0, 1)) for number in areas]
    return [(first, end - first) for first, end in limits_in_order]


def sharing(where: np.ndarray, ranks: int) -> np.ndarray:
    """The number of the group of each rank, [rank], where ranks that share an area are in one.

    Groups are numbered by their lowest rank.

    Args:
        where: rows (area, first rank, number of ranks), as from `areas_on_ranks`.
        ranks: number of ranks.

    Example:
        >>> sharing(np.array([[0, 0, 2], [1, 2, 1]]), ranks=3).tolist()
        [0, 0, 1]
    """
    area_of, first, number = where.T
    begun = np.bincount(first + 1, minlength=ranks + 1)
    ended = np.bincount(first + number, minlength=ranks + 1)
    spans_across = (begun - ended).cumsum()[1:ranks]  # spans that a rank shares with the next one
    block_of = np.append(0, np.cumsum(spans_across == 0))  # ranks that follow each other, [rank]
    _, area = np.unique(area_of, return_inverse=True)
    block = block_of[first]  # of each row
    lowest = np.arange(block_of[-1] + 1)  # block that each block is known to be joined with
    while True:
        of_area = np.full(len(where), len(lowest))
        np.minimum.at(of_area, area, lowest[block])
        joined = lowest.copy()
        np.minimum.at(joined, block, of_area[area])
        joined = joined[joined]
        if (joined == lowest).all():
            break
        lowest = joined
    _, group_of_block = np.unique(lowest, return_inverse=True)
    return np.asarray(group_of_block[block_of])


class DealtNeurons(NamedTuple):
    """Neurons of a population that a placement deals to ranks in turn, and there to threads."""

    population: int  #: its number
    rank: int  #: the first of the ranks
    over: int  #: how many ranks follow each other
    start: int  #: whose turn it is: the place in a round over the threads of all these ranks
    number: int  #: of neurons


def pieces_on_ranks(
    description: Description, placement: str | Placement, ranks: int, threads: int
) -> Iterator[DealtNeurons]:
    """How neurons are dealt to virtual processes, in the order of their ids.

    A round goes over the first threads of all ranks, then over the second ones, and so on.

    Raises:
        BadInput: as `neurons`.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> one_area = mam_benchmark.describe(areas=1, neurons_per_area=600, indegree=40)
        >>> description = read_description(one_area)
        >>> next(pieces_on_ranks(description, "round_robin", ranks=4, threads=1))
        DealtNeurons(population=0, rank=0, over=4, start=0, number=600)
    """
    check_whole("ranks", ranks, most=MAX_RANKS)
    check_whole("threads", threads, most=MAX_PROCESSES // ranks)
    placed, by_rule = ranges(description.network, placement, ranks)
    neurons_so_far = np.zeros(ranks, dtype=np.int64)
    cut = np.stack(placed.cut(description.network.sizes), axis=1).tolist()
    for which, population, start, number in cut:
        rank = int(placed.rank[which])
        over = int(placed.over[which])
        turn, offset = divmod(start - int(placed.origin[which]), over)
        if not by_rule:
            turn = int(neurons_so_far[rank + offset]) % threads
            neurons_so_far[rank : rank + over] += residues(offset, number, over)
        yield DealtNeurons(population, rank, over, offset + turn * over, number)


def neurons(
    description: Description,
    placement: str | Placement,
    ranks: int,
    threads: int,
) -> np.ndarray:
    """Neurons of each population on each virtual process, [population, rank, thread].

    A rule deals an area to all its threads in turn; otherwise the threads of a rank take turns from
    one range to the next.

    Raises:
        BadInput: for an unknown placement, fewer than one rank or thread, more ranks than it can
            serve, and a file that is for other ranks or another network.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> options = {"areas": 2, "neurons_per_area": 600, "indegree": 40}
        >>> description = read_description(mam_benchmark.describe(**options))
        >>> neurons(description, "round_robin", ranks=4, threads=1).tolist()  # [population, rank]
        [[[150], [150], [150], [150]], [[150], [150], [150], [150]]]
    """
    check_whole("ranks", ranks, most=MAX_RANKS)
    check_whole("threads", threads, most=MAX_PROCESSES // ranks)
    populations = len(description.network.sizes)
    counts_bytes = 8.0 * populations * ranks * threads
    memory.check(counts_bytes, f"network on {ranks} ranks of {threads} threads")
    counts = np.zeros((populations, ranks, threads), dtype=np.int64)
    for piece in pieces_on_ranks(description, placement, ranks, threads):
        population, rank, over, start, number = piece
        by_thread = residues(start, number, over * threads).reshape(threads, over)
        counts[population, rank : rank + over] += by_thread.T
    return counts
