"""Times that seem to be in another unit than the others, or not to be measured at all.

Ranks do similar work. Where the times of a rank, or of some of its cycles, become those of the
others if they are multiplied or divided by 1000 (a million, …), they are probably in another unit.
Single long cycles are not: a rank that loses its core for a moment may well take 1000 times as
long. Of long cycles, several have to follow on each other, or all of them have to be times of
usual cycles.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.quantities.words import number

STEP = 1000.0  #: from one unit to the next
#: Times are those of other ranks, or of other cycles of a rank, up to this factor.
TOLERANCE_OF_RANKS = 4.0
TOLERANCE = 1.5
#: Short cycles from which they are no chance, and long ones that follow on each other.
MIN_CYCLES = 5
#: Long cycles that do not follow on each other, of which all have to be times of usual cycles.
MIN_SCATTERED = 20
#: Where the usual cycles of a rank begin and end.
USUAL_FROM = 0.01
USUAL_TO = 0.99
MAX_NAMED = 5
#: Usual cycles of simulators on MPI are between these, s; others are probably in another unit.
SHORTEST_CYCLE_S = 3e-6
LONGEST_CYCLE_S = 0.1
#: Cycles differ by so much less from rank to rank than over the run, and by this share of a cycle
#: at most, where their times are those of whole cycles.
MAX_OF_COMMON = 0.1
MAX_OF_CYCLE = 0.01


def seem_other_units(compute: np.ndarray, first_rank: int = 0) -> list[str]:
    """A remark for each rank, or stretch of a rank, whose times seem to be in another unit.

    Args:
        compute: times in s, [rank, cycle].
        first_rank: what the first rank is called.

    Example:
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> seem_other_units(times)
        []
        >>> times[3] *= 1000
        >>> seem_other_units(times)
        ['the times of rank 3 are 1000 times those of the other ranks, as if in another unit']
    """
    if not compute.size:
        return []
    usual_s = np.array([np.quantile(times, 0.5, method="lower") for times in compute])
    powers = _powers_of_ranks(usual_s)
    remarks = []
    for power in np.unique(powers[powers != 0]):
        ranks = [first_rank + int(rank) for rank in np.flatnonzero(powers == power)]
        remarks.append(
            f"the times of {_named(ranks)} are {_factor(int(power))} those of the other ranks,"
            " as if in another unit"
        )
    stretches: dict[tuple[int, int, int, int], list[int]] = {}
    for rank, times in enumerate(compute):
        for stretch in _stretches(times, float(usual_s[rank])):
            stretches.setdefault(stretch, []).append(first_rank + rank)
    for (power, first, last, count), ranks in stretches.items():
        cycles = f"cycles {first} to {last}"
        if count < last - first + 1:
            cycles = f"{count} cycles from {first} to {last}"
        remarks.append(
            f"the times of {_named(ranks)} in {cycles} are {_factor(power)} those of other cycles,"
            " as if in another unit"
        )
    return remarks


def _powers_of_ranks(usual_s: np.ndarray) -> np.ndarray:
    """By which power of 1000 each rank exceeds the others, [rank]; 0 for usual ones.

    Args:
        usual_s: the usual time of each rank, [rank].
    """
    powers = np.zeros(len(usual_s), dtype=int)
    positive = usual_s > 0
    if positive.sum() < 2:
        return powers
    reference = np.quantile(usual_s[positive], 0.5, method="lower")
    ratios = usual_s[positive] / reference
    powers[positive] = np.rint(np.log(ratios) / np.log(STEP)).astype(int)
    others = usual_s[positive & (powers == 0)]
    as_others = usual_s / STEP ** powers.astype(np.float64)
    least = others.min() / TOLERANCE_OF_RANKS
    most = others.max() * TOLERANCE_OF_RANKS
    fits = (as_others >= least) & (as_others <= most)
    powers[~fits] = 0
    return powers


def _stretches(times: np.ndarray, usual_s: float) -> Iterator[tuple[int, int, int, int]]:
    """The power of 1000, the first and the last cycle and the number of the cycles of a rank that
    seem to be in another unit.

    Args:
        times: of the rank in s, [cycle].
        usual_s: its usual time.
    """
    if usual_s <= 0:
        return
    step = np.sqrt(STEP)
    unusual = np.flatnonzero((times > 0) & ((times > step * usual_s) | (times < usual_s / step)))
    if len(unusual) < MIN_CYCLES:
        return
    ratios = times[unusual].astype(np.float64) / usual_s
    powers = np.rint(np.log(ratios) / np.log(STEP)).astype(int)
    usual = np.delete(times, unusual).astype(np.float64)
    least, most = np.quantile(usual, (USUAL_FROM, USUAL_TO))
    for power in np.unique(powers):
        cycles = unusual[powers == power]
        as_usual = times[cycles] / STEP ** float(power)
        fits = (as_usual >= least / TOLERANCE) & (as_usual <= most * TOLERANCE)
        if power > 0 and not _all_usual(as_usual, least, most):
            fits &= _follow_on_each_other(cycles)
        cycles = cycles[fits]
        if len(cycles) >= MIN_CYCLES:
            yield int(power), int(cycles[0]), int(cycles[-1]), len(cycles)


def _all_usual(as_usual: np.ndarray, least: float, most: float) -> bool:
    """Whether long cycles would be usual ones in another unit, too many and too alike for chance.

    Usual cycles that differ much tell nothing.
    """
    if len(as_usual) < MIN_SCATTERED or most > TOLERANCE * least:
        return False
    low, high = np.quantile(as_usual, (USUAL_FROM, USUAL_TO))
    middle = float(np.median(as_usual))
    return bool(low > least / 1.1 and high < most * 1.1 and least <= middle <= most)


def _follow_on_each_other(cycles: np.ndarray, least: int = MIN_CYCLES) -> np.ndarray:
    """Which of some cycles are among at least so many that follow on each other, bool."""
    breaks = np.flatnonzero(np.diff(cycles) > 1) + 1
    pieces = np.split(np.arange(len(cycles)), breaks)
    follow = np.zeros(len(cycles), dtype=bool)
    for piece in pieces:
        follow[piece] = len(piece) >= least
    return follow


def _factor(power: int) -> str:
    """How many times as long, in words."""
    factor = f"{STEP ** abs(power):.0f}"
    return f"{factor} times" if power > 0 else f"1/{factor} of"


def _named(ranks: list[int]) -> str:
    """Ranks in words."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) > MAX_NAMED:
        return f"{len(ranks)} ranks ({ranks[0]}, {ranks[1]}, …)"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def seems_another_unit(cycle_s: float) -> list[str]:
    """A remark where a cycle of a simulator is unlikely to take so long.

    Args:
        cycle_s: usual time of a cycle, s.

    Example:
        >>> seems_another_unit(1e-3), len(seems_another_unit(1.3)), len(seems_another_unit(1.3e-6))
        ([], 1, 1)
    """
    if SHORTEST_CYCLE_S <= cycle_s <= LONGEST_CYCLE_S:
        return []
    return [f"a cycle usually takes {number(cycle_s)} s: is the unit right?"]


def seem_whole_cycles(compute: np.ndarray) -> list[str]:
    """A remark where ranks differ so little in each cycle that their times seem to hold waiting.

    Ranks that meet in every cycle have the same whole cycles; what they compute differs.

    Args:
        compute: times in s, [rank, cycle].

    Example:
        >>> random = np.random.default_rng(1)
        >>> compute_s = random.normal(1e-3, 1e-5, (4, 1000))
        >>> seem_whole_cycles(compute_s)
        []
        >>> whole_s = np.tile(compute_s.max(axis=0), (4, 1)) + random.normal(0, 1e-7, (4, 1000))
        >>> seem_whole_cycles(whole_s)
        ['the times of all ranks are nearly the same in every cycle: is this cycle_time, ...
    """
    ranks, cycles = compute.shape
    if ranks < 2 or cycles < MIN_SCATTERED:
        return []
    mean = compute.mean(axis=0, dtype=np.float64)
    changes = float(np.median(np.abs(np.diff(mean))))
    differences = []
    for times in compute:
        differences.append(float(np.median(np.abs(np.diff(times - mean)))))
    largest = max(differences)
    most = min(MAX_OF_COMMON * changes, MAX_OF_CYCLE * float(mean.mean()))
    if changes > 0 and largest <= most:
        return [
            "the times of all ranks are nearly the same in every cycle: is this cycle_time, the"
            " whole cycle, rather than compute?"
        ]
    return []


def seem_unmeasured(compute: np.ndarray, first_rank: int = 0) -> list[str]:
    """A remark where ranks compute 0 s in many cycles one after the other, or unlike the others.

    A coarse clock shows zeros here and there on all ranks.

    Args:
        compute: times in s, [rank, cycle].
        first_rank: what the first rank is called.

    Example:
        >>> times = np.full((4, 1000), 1e-3)
        >>> times[2, 300:500] = 0
        >>> seem_unmeasured(times)
        ['200 zeros on rank 2, in cycles 300 to 499: was nothing measured there?']
    """
    zeros = np.array([int(np.count_nonzero(times == 0)) for times in compute])
    odd = zeros > 0
    if np.quantile(zeros, 0.5, method="lower") > 0:
        for rank in np.flatnonzero(odd):
            cycles = np.flatnonzero(compute[rank] == 0)
            odd[rank] = _follow_on_each_other(cycles, MIN_SCATTERED).any()
    if not odd.any():
        return []
    cycles = np.flatnonzero((compute[odd] == 0).any(axis=0))
    named = _named([first_rank + int(rank) for rank in np.flatnonzero(odd)])
    return [
        f"{zeros[odd].sum()} zeros on {named}, in cycles {cycles[0]} to {cycles[-1]}: was nothing"
        " measured there?"
    ]
