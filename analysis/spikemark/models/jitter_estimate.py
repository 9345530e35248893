"""The parameters of jitter from cycle times: slow spells, then long cycles, then the ordinary ones.

Spells come first, since thousands of slower cycles would pass for a second mode of the times; each
rank is compared with the others, so that what all ranks share is no spell. A rank's block medians
are cut into levels by penalised least squares (models/power.py); levels above the usual one are
slow. Spells shorter than some blocks are not told from correlation. Long cycles are those beyond
the valley between the two largest modes, or far above the median. What remains has a CV, a
correlation time, and a share that is common to all ranks.

Times relative to the mean of their rank are computed rank by rank wherever they are needed, in
double precision, so that no such copy of all times of a long run is held.

Cost: some dozens of passes over the times, and levels of at most some thousand blocks for each
rank.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import modes, power, quantiles, serial
from .jitter import Jitter

#: Times of the rank of a number, [cycle].
OfRank = Callable[[int], np.ndarray]

#: Cycles so many robust standard deviations above the median are long.
LONG_DEVIATIONS = 5.0
#: Standard deviation of normal values over their median absolute deviation.
DEVIATION_PER_MAD = 1.4826
#: Deviations of relative times that are rounding errors.
SMALLEST_DEVIATION = 1e-6
#: Long cycles that are no chance, in correlation times.
MIN_LONG = 3
#: Times that are searched for modes.
MAX_TIMES_SEARCHED = 1_000_000
#: Correlation times in a block of cycles, and cycles in it at least.
TIMES_PER_BLOCK, MIN_BLOCK = 8.0, 16
#: Blocks of a rank, below which no spells are sought, and at most.
MIN_BLOCKS_OF_RANK, MAX_BLOCKS_OF_RANK = 40, 2000
#: Standard errors by which the level of a spell exceeds the usual one.
MIN_EXCESS_ERRORS = 4.0
#: Blocks that a level has at least.
MIN_LEVEL_BLOCKS = 1.5
#: Correlation that a lag has left, of the lag from which the correlation time is taken.
LAG_CORRELATION = 0.6


@dataclass(frozen=True, eq=False)
class Scattering:
    """Cycle times, told apart: which are in slow spells, which are long, and the ordinary ones."""

    jitter: Jitter  #: without the spread of nodes
    slow: np.ndarray  #: bool [rank, cycle]: in a slow spell
    long: np.ndarray  #: bool [rank, cycle]: on its own longer
    #: Times of a rank over its mean outside spells, these levelled, the mean in place of long ones.
    ordinary: OfRank
    levelled: OfRank  #: the same, with long ones as they are
    spells: int  #: number of spells that were seen
    ended: int  #: spells that ended within the trace


def scattering(times: np.ndarray, place: int = 1) -> Scattering:
    """Tell apart how cycle times scatter.

    Args:
        times: of ranks with constant work, in any unit, [rank, cycle].
        place: every so many cycles the work is alike; that of others is planned.

    Example:
        >>> rng, shared = np.random.default_rng(1), np.random.default_rng(2)
        >>> truth = Jitter(cv=0.02, minor_share=0.01, minor_factor=2.0)
        >>> found = scattering(truth.draw(rng, shared, ranks=4, cycles=5000)).jitter
        >>> f"{found.cv:.2f} {found.minor_factor:.1f} {found.spell_share}"
        '0.02 2.0 0.0'
    """
    times = np.asarray(times)
    ranks = range(len(times))
    relative = _relative(times, place)
    slow, spells, ended, shortest = _spells(relative, *times.shape)
    outside_spells = np.ones(len(times))
    if spells:  # spells are part of a rank's mean
        outside_spells = np.array([_mean(relative(rank), ~slow[rank]) for rank in ranks])

    def of_outside(rank: int) -> np.ndarray:
        return np.asarray(relative(rank) / outside_spells[rank])

    factor = 1.0
    if spells:
        slow_time = quantiles.median(lambda: (of_outside(rank)[slow[rank]] for rank in ranks))
        usual_time = quantiles.median(lambda: (of_outside(rank)[~slow[rank]] for rank in ranks))
        factor = max(slow_time / usual_time, 1.0)

    def levelled(rank: int) -> np.ndarray:
        times_of_rank = of_outside(rank)
        times_of_rank[slow[rank]] /= factor
        return times_of_rank

    long = _long(levelled, *times.shape)
    others = times.size - long.sum()
    mean = sum(levelled(rank)[~long[rank]].sum() for rank in ranks) / others
    squares = sum(((levelled(rank)[~long[rank]] - mean) ** 2).sum() for rank in ranks)
    minor_factor = 1.0
    if long.any():
        mean_of_long = sum(levelled(rank)[long[rank]].sum() for rank in ranks) / long.sum()
        minor_factor = float(mean_of_long / mean)

    def ordinary(rank: int) -> np.ndarray:
        return np.where(long[rank], mean, levelled(rank))

    cycles = max(slow.sum() / max(ended, 1) - shortest, 1.0) if spells else 1.0
    jitter = Jitter(
        cv=float((squares / others) ** 0.5 / mean),
        correlation_time=_correlation_time(ordinary(rank) for rank in ranks),
        minor_share=float(long.mean()),
        minor_factor=minor_factor,
        common_share=common_share(ordinary(rank) for rank in ranks),
        spell_share=float(slow.mean()),
        spell_factor=factor,
        spell_cycles=float(cycles),
    )
    return Scattering(jitter, slow, long, ordinary, levelled, spells, ended)


def _mean(times: np.ndarray, chosen: np.ndarray) -> float:
    """The mean of the times that are chosen, both [cycle]."""
    return float(np.sum(times * chosen) / chosen.sum())


def _relative(times: np.ndarray, place: int) -> OfRank:
    """Times over the mean of their rank, and over that of their place in a window."""
    ranks, cycles = times.shape
    means = np.array([max(row.astype(np.float64).mean(), 1e-300) for row in times])

    def of_mean(rank: int) -> np.ndarray:
        return np.asarray(times[rank].astype(np.float64) / means[rank])

    if place < 2 or cycles < 2 * place:
        return of_mean
    total = np.zeros(cycles)
    for rank in range(ranks):
        total += of_mean(rank)
    cycle = np.arange(cycles) % place
    of_place = np.bincount(cycle, total / ranks) / np.bincount(cycle)
    usual = np.maximum(of_place[cycle], 1e-300)
    return lambda rank: np.asarray(of_mean(rank) / usual)


def common_share(ordinary: Iterable[np.ndarray]) -> float:
    """Share of the variance that all ranks have in common, of times of each rank, [cycle].

    The variance of the mean over M ranks is k + (1 - k) / M of that of one rank.

    Example:
        >>> common_share(np.array([[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]))
        1.0
    """
    ranks = 0
    total = np.zeros(1)
    squares = 0.0
    for times in ordinary:
        deviation = times - times.mean()
        total = total + deviation
        squares += float((deviation**2).mean())
        ranks += 1
    variance = squares / ranks
    if ranks < 2 or variance <= 0:
        return 0.0
    of_mean = float(((total / ranks) ** 2).mean()) / variance
    return float(np.clip(of_ranks(np.asarray(of_mean), ranks), 0.0, 1.0))


def of_ranks(of_mean: np.ndarray, ranks: int) -> np.ndarray:
    """The common share from the variance of the mean over ranks, over that of a rank.

    Example:
        >>> float(of_ranks(np.array(0.25), ranks=4))
        0.0
    """
    return np.asarray((of_mean - 1 / ranks) / (1 - 1 / ranks))


def _correlation_time(ordinary: Iterable[np.ndarray]) -> float:
    """Integrated autocorrelation time in cycles; 1 where nothing varies."""
    time = serial.integrated_time(serial.autocorrelation_of_ranks(ordinary))
    return 1.0 if np.isnan(time) else time


def _long(level: OfRank, ranks: int, cycles: int) -> np.ndarray:
    """Which times are long, bool [rank, cycle].

    Fewer than MIN_LONG correlation times of them may be chance.
    """
    every = max(1, ranks * cycles // MAX_TIMES_SEARCHED)
    # Copied, since a view would hold all times of the rank.
    searched = np.concatenate([level(rank)[::every].copy() for rank in range(ranks)])
    largest_modes = sorted(modes.modes(searched)[:2], key=lambda mode: mode.at)
    if len(largest_modes) > 1:
        share = 1 - largest_modes[1].share
        threshold = quantiles.quantile(lambda: map(level, range(ranks)), share)
    else:
        median = quantiles.median(lambda: map(level, range(ranks)))
        deviation = DEVIATION_PER_MAD * quantiles.median(
            lambda: (np.abs(level(rank) - median) for rank in range(ranks))
        )
        threshold = median + LONG_DEVIATIONS * max(deviation, SMALLEST_DEVIATION)
    long = np.empty((ranks, cycles), dtype=bool)
    for rank in range(ranks):
        long[rank] = level(rank) > threshold
    if long.sum() < MIN_LONG * _short_time(level, ranks, cycles):
        return np.zeros_like(long)
    return long


def _short_time(series: OfRank, ranks: int, cycles: int) -> float:
    """Correlation time in cycles from neighbours alone, which slow levels hardly touch.

    Of an autoregressive series, differences over 2 h cycles are 1 + rho^h times as large, squared,
    as those over h.
    """
    lag = 1
    near = _typical_difference(series, ranks, lag)
    while True:
        far = _typical_difference(series, ranks, 2 * lag)
        correlation = (far / near) ** 2 - 1 if near > 0 else 0.0
        if correlation < LAG_CORRELATION or 8 * lag > cycles:
            break
        lag *= 2
        near = far
    rho = float(np.clip(correlation, 0.0, 0.999) ** (1 / lag))
    return (1 + rho) / (1 - rho)


def _typical_difference(series: OfRank, ranks: int, lag: int) -> float:
    """Median over ranks and cycles of the difference between times that are `lag` cycles apart."""

    def differences(rank: int) -> np.ndarray:
        times = series(rank)
        return np.asarray(np.abs(times[lag:] - times[:-lag]))

    return quantiles.median(lambda: map(differences, range(ranks)))


class _Levels(NamedTuple):
    """The levels of the block medians of a rank, and how far each is above the usual one."""

    excess: np.ndarray  #: [level]
    blocks: np.ndarray  #: [level] how many
    noise: float  #: standard deviation of the medians within a level


def _spells(relative: OfRank, ranks: int, cycles: int) -> tuple[np.ndarray, int, int, float]:
    """Slow spells: bool [rank, cycle], their number, how many ended, and the shortest that shows.

    The shortest is in cycles.
    """
    none = np.zeros((ranks, cycles), dtype=bool), 0, 0, 0.0
    correlated = round(TIMES_PER_BLOCK * _short_time(relative, ranks, cycles))
    block = max(MIN_BLOCK, correlated, -(-cycles // MAX_BLOCKS_OF_RANK))
    blocks = cycles // block
    if ranks < 2 or blocks < MIN_BLOCKS_OF_RANK:
        return none
    medians = np.empty((ranks, blocks))
    for rank in range(ranks):
        in_blocks = relative(rank)[: blocks * block].reshape(blocks, block)
        medians[rank] = np.median(in_blocks, axis=1)
    levels = []
    for rank in range(ranks):
        others = np.median(np.delete(medians, rank, axis=0), axis=0)
        levels.append(_levels(medians[rank] - others))
    excess = _typical_excess(levels)
    if excess <= 0:
        return none
    is_slow = [_stands_out(level) & (level.excess > excess / 2) for level in levels]
    slow_blocks = np.array(
        [np.repeat(above, level.blocks) for above, level in zip(is_slow, levels, strict=True)]
    )
    starts = slow_blocks[:, 1:] & ~slow_blocks[:, :-1]
    spells = int(starts.sum() + slow_blocks[:, 0].sum())
    ended = spells - int(slow_blocks[:, -1].sum())
    of_block = np.minimum(np.arange(cycles) // block, blocks - 1)
    slow = slow_blocks[:, of_block]
    for rank in range(ranks):
        _move_edges(slow[rank], relative(rank), excess, 2 * block)
    noise = float(np.median([level.noise for level in levels]))
    penalty = 2 * power.CHANGE_PENALTY * np.log(blocks)
    shortest = max(MIN_LEVEL_BLOCKS, penalty * (noise / excess) ** 2)
    return slow, spells, ended, block * shortest


def _move_edges(slow: np.ndarray, relative: np.ndarray, excess: float, reach: int) -> None:
    """Move the ends of spells to the cycles where they divide the times best, in place.

    Args:
        slow: bool [cycle], which cycles of a rank are in spells.
        relative: times of the rank over its mean, [cycle].
        excess: of slow cycles above the usual ones.
        reach: how many cycles an end may move.
    """
    above = relative - np.median(relative[~slow]) - excess / 2
    above = np.clip(above, -excess, excess)
    edges = np.flatnonzero(np.diff(slow.astype(np.int8))) + 1
    limits = np.concatenate([[0], edges, [len(slow)]])
    for before, edge, behind in zip(limits[:-2], edges, limits[2:], strict=True):
        first = max(edge - reach, (before + edge) // 2 + 1)
        last = min(edge + reach, (edge + behind) // 2)
        begins = slow[edge]
        before_edge = np.cumsum(above[first:last]) * (1 if begins else -1)
        if not len(before_edge):
            continue
        place = first + 1 + int(np.argmin(before_edge))
        if before_edge.min() >= 0:
            place = first
        slow[first:place] = not begins
        slow[place:last] = begins


def _levels(medians: np.ndarray) -> _Levels:
    """The levels of block medians [block]; the usual one is the median over blocks."""
    levels = power.segments(medians)
    blocks = np.array([level.readings for level in levels])
    means = np.array([level.mean for level in levels])
    usual = np.median(np.repeat(means, blocks))
    noise = DEVIATION_PER_MAD * np.median(np.abs(np.diff(medians))) / 2**0.5
    return _Levels(means - usual, blocks, float(noise))


def _stands_out(levels: _Levels) -> np.ndarray:
    """Which levels noise does not explain, bool [level]."""
    return np.asarray(levels.excess > MIN_EXCESS_ERRORS * levels.noise / levels.blocks**0.5)


def _typical_excess(levels: list[_Levels]) -> float:
    """Excess of slow levels: above it lies half of the time that they cost; 0 without any."""
    excess = np.concatenate([level.excess[_stands_out(level)] for level in levels])
    blocks = np.concatenate([level.blocks[_stands_out(level)] for level in levels])
    if not len(excess):
        return 0.0
    order = np.argsort(excess)
    cost = np.cumsum((excess * blocks)[order])
    return float(excess[order][np.searchsorted(cost, cost[-1] / 2)])


def share_limits(share: float, spells: int) -> tuple[float, float]:
    """The 95 % interval of the share of slow cycles, of so many spells that were seen.

    Spells and what lies between them last exponentially, so that the ratio of their means follows
    the F distribution of 2 n and 2 n degrees of freedom.

    Example:
        >>> low, high = share_limits(0.1, spells=10)
        >>> round(low, 2), round(high, 2)
        (0.04, 0.21)
    """
    from scipy.special import fdtri

    odds = share / (1 - share)
    wider = float(fdtri(2 * spells, 2 * spells, 0.975))
    return odds / wider / (1 + odds / wider), odds * wider / (1 + odds * wider)


def length_limits(cycles: float, ended: int) -> tuple[float, float]:
    """The 95 % interval of the mean length of spells in cycles, of so many that ended.

    Lengths are exponential, so that 2 n times their mean over the true one follows chi squared of
    2 n degrees of freedom.

    Example:
        >>> low, high = length_limits(1000.0, ended=10)
        >>> round(low), round(high)
        (585, 2085)
    """
    from scipy.special import chdtri

    n = max(ended, 1)
    return 2 * n * cycles / float(chdtri(2 * n, 0.025)), 2 * n * cycles / float(
        chdtri(2 * n, 0.975)
    )


def factor_limits(found: Scattering) -> tuple[float, float]:
    """The 95 % interval of how many times as long slow cycles are.

    A median of normal times errs sqrt(pi / 2) as much as their mean; correlated cycles count as
    fewer.

    Example:
        >>> rng, shared = np.random.default_rng(1), np.random.default_rng(2)
        >>> truth = Jitter(cv=0.02, spell_share=0.1, spell_factor=1.5, spell_cycles=500)
        >>> found = scattering(truth.draw(rng, shared, ranks=4, cycles=20_000))
        >>> low, high = factor_limits(found)
        >>> low < 1.5 < high
        True
    """
    jitter = found.jitter
    slow = found.slow.sum() / jitter.correlation_time
    others = (~found.slow).sum() / jitter.correlation_time
    half = 1.96 * (np.pi / 2) ** 0.5 * jitter.cv * (1 / max(slow, 1) + 1 / max(others, 1)) ** 0.5
    low = jitter.spell_factor * (1 - half)
    return max(float(low), 1.0), float(jitter.spell_factor * (1 + half))
