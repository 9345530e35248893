"""Are two repetitions copies of each other: shifted in time, on other ranks, scaled, or with noise on top?

Ranks of numbers are compared, not numbers, so that scaling does not matter. Two looks:

- The correlation of ranks (Spearman) of compute, waiting and exchange over the same cycles, and of compute
  over cycles that are shifted by up to SHIFTS. Measured repetitions of one network share its activity, so
  their compute times correlate, too, but not so closely.
- The order of each PATTERN successive compute times. There are 2e13 orders of 16 numbers, so that few occur
  twice by chance; of a copy they occur again, wherever it was moved.
"""

from __future__ import annotations

import math

from .arrays import Times
from .record import Repetition
from .times import BARRIERS

SEGMENT, SHIFTS = 512, 400
LEAST = 200  # values that are compared
PATTERN, LOOKED_UP, MOST_KEPT = 16, 400, 60_000
SAME_ORDERS = 0.3  # share of orders that occur in both


class Course:
    """Data to compare of one repetition: times in s per cycle of rank 0 from the middle of the run."""

    def __init__(self, one: Repetition) -> None:
        self.folder = one.folder
        times: Times = one.times
        self.ranks, self.cycles = times.ranks, times.cycles
        length = min(times.cycles, SEGMENT + 2 * SHIFTS)
        block = times.block(0, (times.cycles - length) // 2, length)
        self.parts = {"compute": _columns(one, block, None)}
        for name in ("synchronise", "overlap_wait", "exchange"):
            self.parts[name] = _columns(one, block, name)
        self.orders = _all_orders(one)


def _columns(one: Repetition, block, phase) -> list:
    phases = one.record["phases"]
    own = [p for p, name in enumerate(phases) if (name not in BARRIERS if phase is None else name == phase)]
    if not own:
        return [0.0] * (len(block) // len(phases))
    return [sum(parts) for parts in zip(*(block[p :: len(phases)] for p in own))]


def _all_orders(one: Repetition) -> list:
    """The orders of successive compute times, of all ranks, up to MOST_KEPT."""
    times, found = one.times, []
    each = max(PATTERN, MOST_KEPT // min(times.ranks, 64))
    for rank in range(min(times.ranks, 64)):
        length = min(times.cycles, each)
        compute = _columns(one, times.block(rank, 0, length), None)
        found += [_order(compute[i : i + PATTERN]) for i in range(length - PATTERN + 1)]
    return found


def _order(values: list) -> tuple:
    return tuple(sorted(range(len(values)), key=values.__getitem__))


def same(a: Course, b: Course, limit: float):
    """Why two repetitions are copies, as a text; None if they do not seem to be."""
    for name, own in a.parts.items():
        value, shift = _closest(own, b.parts[name], name == "compute")
        if value > limit:
            moved = f", moved by {shift} cycles" if shift else ""
            return f"the correlation of {name} is {value:.4f}{moved}; allowed is up to {limit:g}"
    step = max(1, len(a.orders) // LOOKED_UP)
    asked = a.orders[::step]
    known = set(b.orders)
    share = sum(order in known for order in asked) / max(len(asked), 1)
    if len(asked) >= LEAST and share > SAME_ORDERS:
        return f"{share:.0%} of the orders of {PATTERN} successive compute times occur in both"
    return None


def _closest(a: list, b: list, shifted: bool) -> tuple:
    """(largest correlation of ranks over the shifts, shift); (0, 0) where too few cycles have times."""
    usable = [i for i in range(min(len(a), len(b))) if a[i] > 0 and b[i] > 0]
    if len(usable) < LEAST:
        return 0.0, 0
    best = (_correlation(_ranked([a[i] for i in usable]), _ranked([b[i] for i in usable])), 0)
    if not shifted or len(usable) < len(a) or len(usable) < SEGMENT + 2 * SHIFTS:
        return best
    own = _unit(_ranked(a[SHIFTS : SHIFTS + SEGMENT]))
    other = _ranked(b)
    for shift in range(-SHIFTS, SHIFTS + 1):
        found = _product(own, _unit(other[SHIFTS + shift : SHIFTS + shift + SEGMENT]))
        best = max(best, (found, shift))
    return best


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
