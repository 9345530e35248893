"""Interruptions of ranks: rare, long cycles that are not part of the work.

A rank that loses its core for a moment computes some milliseconds longer in one cycle, however much
it has to do in it. So what a change makes of the work of a rank must not be made of these: an
interruption is added to the cycle on which it fell. A change of work may change how often they
come, too, if their chance is per time and not per cycle. Both cases are replayed, and the interval
of an answer covers both.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .work import blocks_of_ranks

#: An interruption moves to another rank by so many cycles at most: into the same stretch of the
#: run, but to a cycle that is independent of its own.
NEARBY_CYCLES = 5
SEED = 1
#: An interruption takes so many times the usual time of its rank beyond the usual, and so many
#: times the distance from the median down to a low quantile, which interruptions do not change; at
#: most this share of the cycles of a rank is interrupted.
INTERRUPTED_TIMES = 1.0
INTERRUPTED_SPREADS = 8.0
LOW_QUANTILE = 0.05
MAX_INTERRUPTED = 0.25


@dataclass(frozen=True)
class Interruptions:
    """The interruptions of one rank."""

    cycles: np.ndarray  #: [interruption]
    seconds: np.ndarray  #: beyond the usual cycle, [interruption]

    def kept(self, share: float) -> "Interruptions":
        """A share of them, evenly spread.

        Example:
            >>> all_of_them = Interruptions(np.arange(6), np.full(6, 8e-3))
            >>> all_of_them.kept(0.5).cycles.tolist()
            [1, 3, 5]
        """
        chosen = _every(len(self.cycles), share)
        return Interruptions(self.cycles[chosen], self.seconds[chosen])


def _every(count: int, share: float) -> np.ndarray:
    """Which of so many are in an evenly spread share, bool [count]."""
    so_far = np.floor(np.arange(count + 1) * min(share, 1.0) + 1e-9)
    return np.asarray(np.diff(so_far) > 0)


def usual(compute: np.ndarray, every: int = 1) -> np.ndarray:
    """Median time of each rank at each of `every` places of a window, [rank, cycle].

    Example:
        >>> usual(np.array([[1.0, 5.0, 2.0, 5.0, 3.0, 6.0]]), every=2)
        array([[2., 5., 2., 5., 2., 5.]])
    """
    ranks, cycles = compute.shape
    if cycles < 2 * every:
        every = 1
    windows = cycles // every
    in_windows = compute[:, : windows * every].reshape(ranks, windows, every)
    return np.tile(np.median(in_windows, axis=1), -(-cycles // every))[:, :cycles]


def interruption_limit(times: np.ndarray, beyond: np.ndarray) -> float:
    """Beyond which excess in s a cycle of a rank was interrupted; infinite where none was.

    Args:
        times: of one rank in s, [cycle].
        beyond: excess over the usual time at the same place of a window, [cycle].

    Example:
        >>> times = np.full(1000, 1e-5)
        >>> times[::100] += 8e-3
        >>> interruption_limit(times, times - np.median(times))
        1e-05
    """
    spread = -float(np.quantile(beyond, LOW_QUANTILE))
    limit = max(INTERRUPTED_TIMES * float(np.median(times)), INTERRUPTED_SPREADS * spread)
    share = float((beyond > limit).mean())
    return limit if 0 < share <= MAX_INTERRUPTED else np.inf


def interruptions(compute: np.ndarray, every: int = 1) -> list[Interruptions]:
    """The interruptions of each rank.

    Args:
        compute: times in s, [rank, cycle].
        every: cycles after which the work repeats.

    Example:
        >>> times = np.full((2, 1000), 1e-5)
        >>> times[1, 500] += 8e-3
        >>> interruptions(times)[1].cycles.tolist()
        [500]
    """
    of_ranks = []
    for times in compute:
        beyond = times - usual(times[None], every)[0]
        cycles = np.flatnonzero(beyond > interruption_limit(times, beyond))
        of_ranks.append(Interruptions(cycles, beyond[cycles].astype(np.float64)))
    return of_ranks


def long_times(series: np.ndarray, usual_cycle_s: float) -> np.ndarray:
    """What rare long values of a series take beyond its median in s, 0 elsewhere, [meeting].

    Long is what exceeds the median by more than a usual cycle, and by far more than the low side
    scatters.

    Example:
        >>> barriers = np.full(1000, 1e-6)
        >>> barriers[500] += 8e-3
        >>> float(long_times(barriers, usual_cycle_s=1e-4).sum())
        0.008
    """
    beyond = series - np.median(series)
    spread = -float(np.quantile(beyond, LOW_QUANTILE))
    limit = max(INTERRUPTED_TIMES * usual_cycle_s, INTERRUPTED_SPREADS * spread)
    return np.asarray(np.where(beyond > limit, beyond, 0.0))


def without(compute: np.ndarray, of_ranks: list[Interruptions]) -> np.ndarray:
    """Compute times [rank, cycle] in which interrupted cycles took as long as usual ones.

    Example:
        >>> times = np.full((2, 1000), 1e-5)
        >>> times[1, 500] += 8e-3
        >>> bool(without(times, interruptions(times)).max() < 1.1e-5)
        True
    """
    ordinary = compute.copy()
    for rank, events in enumerate(of_ranks):
        ordinary[rank, events.cycles] -= events.seconds.astype(compute.dtype)
    np.maximum(ordinary, 0, out=ordinary)
    return ordinary


def uninterrupted(compute: np.ndarray, of_ranks: list[Interruptions]) -> Iterator[np.ndarray]:
    """As `without`, of some ranks after the other.

    Example:
        >>> times = np.full((2, 1000), 1e-5)
        >>> [block.shape for block in uninterrupted(times, interruptions(times))]
        [(2, 1000)]
    """
    for ranks in blocks_of_ranks(compute):
        yield without(compute[ranks], of_ranks[ranks])


def put_back(ordinary: np.ndarray, of_ranks: list[Interruptions]) -> np.ndarray:
    """Adds interruptions to compute times [rank, cycle], in place.

    Example:
        >>> times = np.full((1, 4), 1e-3)
        >>> put_back(times, [Interruptions(np.array([2]), np.array([1.0]))]).round(3).tolist()
        [[0.001, 0.001, 1.001, 0.001]]
    """
    for rank, events in enumerate(of_ranks):
        np.add.at(ordinary[rank], events.cycles, events.seconds.astype(ordinary.dtype))
    return ordinary


def evenly(of_ranks: list[Interruptions], cycles: int) -> list[Interruptions]:
    """As many interruptions on each rank: those that a rank has more fall on others nearby.

    Args:
        of_ranks: the interruptions of each rank.
        cycles: of the run.

    Example:
        >>> many = Interruptions(np.arange(0, 1000, 10), np.full(100, 8e-3))
        >>> none = Interruptions(np.zeros(0, dtype=int), np.zeros(0))
        >>> [len(events.cycles) for events in evenly([many, none], 1000)]
        [50, 50]
    """
    counts = np.array([len(events.cycles) for events in of_ranks])
    lacking = np.maximum(counts.mean() - counts, 0.0)
    if lacking.sum() < 1:
        return of_ranks
    random = np.random.default_rng(SEED)
    occupied = [set(events.cycles.tolist()) for events in of_ranks]
    staying: list[Interruptions] = []
    received: list[list[tuple[int, float]]] = [[] for _ in of_ranks]  # cycle and seconds
    for events in of_ranks:
        leaves = _every(len(events.cycles), 1 - counts.mean() / max(len(events.cycles), 1))
        staying.append(Interruptions(events.cycles[~leaves], events.seconds[~leaves]))
        if not leaves.any():
            continue
        leaving = Interruptions(events.cycles[leaves], events.seconds[leaves])
        receivers = random.choice(
            len(of_ranks), size=len(leaving.cycles), p=lacking / lacking.sum()
        )
        for cycle, seconds, receiver in zip(
            leaving.cycles.tolist(), leaving.seconds.tolist(), receivers.tolist(), strict=True
        ):
            near = _free_cycle(cycle, occupied[receiver], cycles, random)
            occupied[receiver].add(near)
            received[receiver].append((near, seconds))
    return [_joined(events, more) for events, more in zip(staying, received, strict=True)]


def _joined(events: Interruptions, more: list[tuple[int, float]]) -> Interruptions:
    """Interruptions of a rank and more of them, each a cycle and seconds."""
    cycles = np.array([cycle for cycle, _ in more], dtype=int)
    seconds = np.array([seconds for _, seconds in more])
    return Interruptions(
        np.concatenate([events.cycles, cycles]), np.concatenate([events.seconds, seconds])
    )


def _free_cycle(
    cycle: int,
    occupied: set[int],
    cycles: int,
    random: np.random.Generator,
) -> int:
    """A cycle near another one that is not occupied, if there is one.

    Args:
        cycle: the other one.
        occupied: cycles in which the rank is interrupted.
        cycles: of the run.
        random: chooses among the cycles nearby.
    """
    distances = np.arange(1, NEARBY_CYCLES + 1)
    for distance in random.permutation(np.concatenate([distances, -distances])):
        near = int((cycle + distance) % cycles)
        if near not in occupied:
            return near
    return cycle
