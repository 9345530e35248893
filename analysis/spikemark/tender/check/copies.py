"""Are cycle times copies: of another repetition, shifted, reordered, scaled, or within one run?

Ranks of numbers are compared, not numbers, so that scaling does not matter. Four looks:

- The correlation of ranks (Spearman) of each phase over the same cycles, and over cycles that are shifted by
  up to SHIFTS. Measured repetitions of one network share its activity: their times of deliver correlate by up
  to 0.99, those of its quick phases by less than 0.97. In a copy, all phases correlate; one of them may be
  disturbed. Repetitions of different runs are not shifted. Injected times are drawn, the same ones in each
  repetition, and waiting follows from them: neither is compared.
- The order of each PATTERN successive times of computing, without deliver. There are 2e13 orders of 16
  numbers, so that few occur twice by chance; of a copy they occur again, wherever it was moved.
- The total of each phase and rank. Cycles in another order keep them; of a scaled copy, all change alike.
- Two successive cycles that took the same time in every phase. Clocks tell nanoseconds, so that this hardly
  happens; where cycles were copied, it happens everywhere.

Only stretches of long runs are looked at. Nobody can choose them, since they follow from all times.
"""

from __future__ import annotations

import math

from .arrays import Times
from .record import Repetition, drawn

SEGMENT, SHIFTS = 512, 400
LEAST = 200  # values that are compared
PATTERN, LOOKED_UP, MOST_KEPT = 16, 400, 60_000
SAME_ORDERS = 0.3  # share of orders that occur in both
MOST_ORDERED = 64  # whose orders are looked at
FEWEST_TOTALS, ALIKE = 4, 1e-4  # totals that are compared; relative, by which their ratios may differ
SAME_CYCLES = 0.01  # share of pairs of cycles that occur again
TIMED = 3  # phases that took time in cycles that are looked for again, or whose correlations are compared
DRAWN = ("inject", "synchronise", "overlap_wait")  # follow from the description, or from other ranks
ACTIVE = ("deliver", "exchange")  # follow from the activity, too


class Course:
    """Data to compare of one repetition: times in s per cycle of rank 0, and of all ranks in stretches.

    `places`: shares of the run at which stretches lie, that of rank 0 and that of all ranks.
    """

    def __init__(self, one: Repetition, places: tuple) -> None:
        self.folder = one.folder
        times: Times = one.times
        self.ranks, self.cycles = times.ranks, times.cycles
        length = min(times.cycles, SEGMENT + 2 * SHIFTS)
        block = times.block(0, int(places[0] * (times.cycles - length)), length)
        phases = one.record["phases"]
        self.parts = {
            name: list(block[p :: len(phases)]) for p, name in enumerate(phases) if name not in DRAWN
        }
        self.totals = sorted(total for totals in one.sums for total in totals if total > 0)
        self.orders, self.pairs, self.number = [], set(), 0
        self._look_at_ranks(one, places[1])

    def _look_at_ranks(self, one: Repetition, place: float) -> None:
        """Keeps the orders of successive times of computing and the pairs of cycles, up to MOST_KEPT."""
        times, phases = one.times, one.record["phases"]
        width = len(phases)
        own = [p for p, name in enumerate(phases) if name not in DRAWN + ACTIVE]
        ranks = min(times.ranks, MOST_ORDERED)
        length = min(times.cycles, max(PATTERN, MOST_KEPT // ranks))
        for rank in range(ranks):
            block = times.block(rank, int(place * (times.cycles - length)), length)
            values = _summed([block[p::width] for p in own])
            self.orders += [_order(values[i : i + PATTERN]) for i in range(len(values) - PATTERN + 1)]
            for at in range(0, len(block) - width, width):
                pair = block[at : at + 2 * width]
                if len(pair) - pair.count(0.0) >= 2 * TIMED:
                    self.pairs.add(pair.tobytes())
                    self.number += 1


def places_of(found: list) -> tuple:
    """Where to look at repetitions, as shares of a run; they follow from all of their times."""
    text = "".join(f"{one.folder} {one.sums}" for one in found)
    return drawn(text, 0), drawn(text, 1)


def _summed(columns: list) -> list:
    return [sum(parts) for parts in zip(*columns)]


def _order(values: list) -> tuple:
    return tuple(sorted(range(len(values)), key=values.__getitem__))


def repeated(a: Course):
    """Why cycles of a repetition are copies of others of it, as a text; None if they do not seem to be."""
    share = 1 - len(a.pairs) / max(a.number, 1)
    if a.number >= LEAST and share > SAME_CYCLES:
        return f"{share:.0%} of all pairs of successive cycles occur again, with the same times of all phases"
    return None


def same(a: Course, b: Course, limit: float, one_run: bool = True):
    """Why two repetitions are copies, as a text; None if they do not seem to be.

    `one_run`: they are of one network.
    """
    value, shift = _closest(a.parts, b.parts, one_run)
    if value > limit:
        moved = f", moved by {shift} cycles" if shift else ""
        return f"the correlation of their phases is {value:.4f}{moved}; allowed is up to {limit:g}"
    shared = len(a.pairs & b.pairs)
    if len(a.pairs) >= LEAST and shared > SAME_CYCLES * len(a.pairs):
        return f"{shared} pairs of successive cycles have the same times of all phases in both"
    if len(a.totals) == len(b.totals) >= FEWEST_TOTALS:
        ratios = [x / y for x, y in zip(a.totals, b.totals)]
        if max(ratios) < (1 + ALIKE) * min(ratios):
            return f"the time of every phase and rank is {ratios[0]:.6g} of the other's"
    step = max(1, len(a.orders) // LOOKED_UP)
    asked = a.orders[::step]
    known = set(b.orders)
    share = sum(order in known for order in asked) / max(len(asked), 1)
    if len(asked) >= LEAST and share > SAME_ORDERS:
        return f"{share:.0%} of the orders of {PATTERN} successive times of computing occur in both"
    return None


def _closest(a: dict, b: dict, shifted: bool) -> tuple:
    """(correlation of the phases, shift), the larger one of no shift and the likeliest shift."""
    names = [name for name in a if name in b]
    best = (_together([(a[name], b[name]) for name in names]), 0)
    own, other = _summed([a[name] for name in names]), _summed([b[name] for name in names])
    if not shifted or min(len(own), len(other)) < SEGMENT + 2 * SHIFTS:
        return best
    shift = _likeliest(own, other)
    pieces = [slice(SHIFTS + by, SHIFTS + by + SEGMENT) for by in (0, shift)]
    return max(best, (_together([(a[name][pieces[0]], b[name][pieces[1]]) for name in names]), shift))


def _together(pairs: list) -> float:
    """The least correlation of all phases but one; 0 where fewer than TIMED have times in enough cycles."""
    found = []
    for a, b in pairs:
        usable = [i for i in range(min(len(a), len(b))) if a[i] > 0 and b[i] > 0]
        if len(usable) >= LEAST:
            found.append(_correlation(_ranked([a[i] for i in usable]), _ranked([b[i] for i in usable])))
    return sorted(found)[1] if len(found) >= TIMED else 0.0


def _likeliest(a: list, b: list) -> int:
    """The shift at which times correlate most."""
    own, other = _unit(_ranked(a[SHIFTS : SHIFTS + SEGMENT])), _ranked(b)
    lengths = _lengths(other, SEGMENT)

    def correlation(shift: int) -> float:
        first = SHIFTS + shift
        product = _product(own, other[first : first + SEGMENT])  # the mean of `own` is 0
        return product / lengths[first] if lengths[first] > 0 else 0.0

    return max(range(-SHIFTS, SHIFTS + 1), key=correlation)


def _lengths(values: list, number: int) -> list:
    """How long each piece of so many values is, by where it begins, if its mean is taken off."""
    total, squares = sum(values[:number]), _product(values[:number], values[:number])
    found = []
    for first, value in enumerate(values[: len(values) - number + 1]):
        found.append(math.sqrt(max(squares - total * total / number, 0.0)))
        if first + number < len(values):
            total += values[first + number] - value
            squares += values[first + number] ** 2 - value**2
    return found


def _ranked(values: list) -> list:
    """The rank of each value; equal values share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, first = [0.0] * len(values), 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first : last + 1]:
            found[i] = (first + last) / 2
        first = last + 1
    return found


def _unit(values: list) -> list:
    mean = sum(values) / len(values)
    apart = [v - mean for v in values]
    length = math.sqrt(_product(apart, apart))
    return [v / length for v in apart] if length > 0 else [0.0] * len(values)


def _product(a: list, b: list) -> float:
    return sum(map(float.__mul__, a, b))


def _correlation(a: list, b: list) -> float:
    return _product(_unit(a), _unit(b))
