"""Slow spells: a rank that is slower in a part of the run than before it, after it, or both.

The time of a rank beyond that of the others is a series whose noise may last for many cycles. Of
all stretches between two blocks of cycles, the one counts whose mean differs most from the rest,
in standard errors. These follow from what is left without the stretch: noise of the first order,
x(t) = rho x(t - 1) + e(t), by generalised least squares, so that both the level of the stretch and
its sudden begin and end are evidence. Noise that is partly independent hides how long the other
part lasts; so the errors are also found with rho from the second and the first autocovariance, and
the larger ones count. A stretch may begin with the run or end with it, not both; one end alone is
less evidence than two, so it takes more standard errors.
"""

from dataclasses import dataclass

import numpy as np

BLOCKS = 128  #: of cycles, between which a spell may begin
MIN_BLOCKS = 32
MIN_LENGTH = 7  #: cycles of a block, whose median hardly knows interruptions
MANY_RANKS = 16  #: of which one hardly changes the median
MIN_SPELL = 3  #: blocks
#: Standard errors from which a spell is no chance, and one that begins or ends with the run; and
#: the share of a cycle that a spell adds at least.
SURE_SPELL = 10.0
SURE_CHANGE = 12.0
MIN_SLOWER = 0.05
#: A spell that neither begins nor ends with the run lasts for this share of it at most; else the
#: rest is the exception.
LONGEST_SPELL = 0.6
MAX_SPELLS = 3  #: of each rank
#: This share of a spell has to be seen at both ends, and in the times of the rank itself.
SEEN = 0.5
LARGEST_RHO = 0.999
#: Standard errors of a correlation below which it counts as chance.
SURE_CORRELATION = 1.0
SMALLEST = 1e-300  #: for 0, by which nothing can be divided


@dataclass(frozen=True)
class Spell:
    """Cycles in which a rank was slow."""

    row: int  #: of the rank among the times
    first: int  #: cycle
    last: int  #: cycle
    seconds: float  #: by which each cycle was longer than in the rest of the run
    longer: float  #: the same as a share


def spells(compute: np.ndarray) -> list[Spell]:
    """The spells in which a rank was surely slower than in the rest of the run.

    Args:
        compute: times in s, [rank, cycle].

    Example:
        >>> times = np.random.default_rng(1).normal(1e-3, 5e-5, (4, 2000))
        >>> spells(times)
        []
        >>> times[2, 800:1200] *= 2
        >>> times[3, 1700:] *= 1.5  # and stays slow
        >>> [(spell.row, spell.first, spell.last) for spell in spells(times)]
        [(2, 800, 1199), (3, 1700, 1999)]
    """
    ranks, cycles = compute.shape
    length = max(cycles // BLOCKS, MIN_LENGTH)
    count = cycles // length
    if count < MIN_BLOCKS or ranks < 2:
        return []
    blocks = np.empty((ranks, count))
    for row, times in enumerate(compute):
        blocks[row] = np.median(times[: count * length].reshape(count, length), axis=1)
    spells_of_ranks = []
    of_all = np.median(blocks, axis=0)
    for row, own in enumerate(blocks):
        others = of_all
        if ranks < MANY_RANKS:
            others = np.median(np.delete(blocks, row, axis=0), axis=0)
        for first, end, seconds in _of_rank(own, others):
            beyond = compute[row, : count * length] - np.repeat(others, length)
            in_rest = _rest(own - others, first, end)
            middle = float(np.median(in_rest)) + seconds / 2
            begin = 0
            if first > 0:
                begin = _edge(beyond - middle, first * length, length)
            stop = cycles
            if end < count:
                stop = _edge(middle - beyond, end * length, length)
            longer = seconds / max(float(np.median(_rest(own, first, end))), SMALLEST)
            spells_of_ranks.append(Spell(row, begin, stop - 1, seconds, longer))
    return spells_of_ranks


def _rest(series: np.ndarray, first: int, end: int) -> np.ndarray:
    """A series without the stretch from `first` until before `end`."""
    return np.delete(series, slice(first, end))


def _edge(beyond: np.ndarray, near: int, length: int) -> int:
    """The cycle near another one from which a series is above 0 and before which it is below."""
    first = max(near - 2 * length, 0)
    until = min(near + 2 * length, len(beyond))
    sums = np.concatenate([[0.0], np.cumsum(beyond[first:until], dtype=np.float64)])
    return first + int(sums.argmin())


def _of_rank(own: np.ndarray, others: np.ndarray) -> list[tuple[int, int, float]]:
    """The first block, the block after the last, and the seconds of the spells of a rank.

    Args:
        own: times of the rank, [block] in s.
        others: of the other ranks.
    """
    stretches: list[tuple[int, int, float]] = []
    beyond = own - others
    usual_s = float(np.median(own))
    while len(stretches) < MAX_SPELLS:
        first, end = _most_unlike(beyond)
        within = beyond[first:end].mean()
        seconds = float(within - _rest(beyond, first, end).mean())
        at_the_ends, sure = seconds, SURE_CHANGE
        if first > 0 and end < len(own):
            at_the_ends, sure = _at_both_ends(beyond, first, end), SURE_SPELL
        if seconds < MIN_SLOWER * usual_s or _errors(beyond, first, end, seconds) < sure:
            break
        of_its_own = own[first:end].mean() - _rest(own, first, end).mean()
        usually = float(np.median(beyond[first:end]) - np.median(_rest(beyond, first, end)))
        if min(at_the_ends, of_its_own, usually) < SEEN * seconds:
            break
        stretches.append((first, end, seconds))
        beyond = beyond.copy()
        beyond[first:end] -= seconds
    return stretches


def _most_unlike(series: np.ndarray) -> tuple[int, int]:
    """Begin and end of the stretch whose mean exceeds the rest most, for its length."""
    count = len(series)
    sums = np.concatenate([[0.0], np.cumsum(series - series.mean())])
    first, end = np.triu_indices(count + 1, MIN_SPELL)
    in_the_middle = (first > 0) & (end < count) & (end - first <= LONGEST_SPELL * count)
    until_then = (first == 0) & (end <= count - MIN_SPELL)
    from_then_on = (first >= MIN_SPELL) & (end == count)
    allowed = in_the_middle | until_then | from_then_on
    first = first[allowed]
    end = end[allowed]
    lengths = end - first
    scores = (sums[end] - sums[first]) / np.sqrt(lengths * (1 - lengths / count))
    best = int(scores.argmax())
    return int(first[best]), int(end[best])


def _at_both_ends(series: np.ndarray, first: int, end: int) -> float:
    """By how much a stretch exceeds what is before it, or after it, whichever is less.

    Args:
        series: [block] in s.
        first: block of the stretch, not 0.
        end: block after it, not beyond the last.
    """
    return float(series[first:end].mean() - max(series[:first].mean(), series[end:].mean()))


def _errors(series: np.ndarray, first: int, end: int, seconds: float) -> float:
    """By how many standard errors a stretch exceeds the rest.

    Args:
        series: [block] in s.
        first: block of the stretch.
        end: block after it.
        seconds: by which it exceeds the rest.
    """
    step = np.zeros(len(series))
    step[first:end] = 1
    rest = series - seconds * step
    rest -= rest.mean()
    variance = max(float(rest @ rest), SMALLEST)
    covariance = float(rest[1:] @ rest[:-1])
    rho = float(np.clip(covariance / variance, 0, LARGEST_RHO))
    slow_rho = rho  # of fluctuations that last for longer than most of the noise
    if covariance > SURE_CORRELATION * variance / len(rest) ** 0.5:
        later = float(rest[2:] @ rest[:-2])
        slow_rho = float(np.clip(later / covariance, rho, LARGEST_RHO))
    errors: list[float] = []
    for of_noise in (rho, slow_rho):
        noise = rest[1:] - of_noise * rest[:-1]
        shape = step[1:] - of_noise * step[:-1]
        shape -= shape.mean()
        seen = series[1:] - of_noise * series[:-1]
        norm = float(shape @ shape) ** 0.5
        errors.append(float(shape @ seen) / norm / max(float(noise.std()), SMALLEST))
    return min(errors)
