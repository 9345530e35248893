"""Which counts of the kernel rise when time is lost: shares by coincidence, not by proof.

An interval between two readings is exposed to a cause if the cause was counted more often per second than in
95 % of the intervals that lost nothing. The share of a cause is the attributable fraction of epidemiology
(Levin 1953; Miettinen 1974): what exposed intervals lost beyond the rate at which unexposed ones lost,

    A = (Y1 - T1 Y0 / T0) / (Y0 + Y1),

with Y the lost time and T the length of exposed (1) and unexposed (0) intervals. The share is 0 on average
for a cause that has nothing to do with the loss, however often it is counted. Causes come together (a packet
is an interrupt and a softirq), so those that stand out share the fraction of their union as the parts of a
budget do: each cause gets what it adds, averaged over all orders (Eide & Gefeller 1995; Shapley 1953).

Intervals: jackknife over blocks of consecutive intervals. A cause stands out if its share is above 0 with
95 % for all causes together (Bonferroni).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student

ORDINARY = 0.95  # quantile of what was counted in intervals that lost nothing
FEWEST_ORDINARY = 20  # intervals that lost nothing, of a rank; fewer do not say what is ordinary
BLOCKS = 20
MOST_NAMED = 5

Name = tuple[str, str]  # source and name of a cause


@dataclass(frozen=True)
class Intervals:
    """Intervals of all ranks, one after the other: [interval] each.

    `lost_s`: time lost in it; `length_s`: its length; `block`: its part of the run, 0 to BLOCKS - 1;
    `exposed`: for each cause, whether there was unusually much of it; `per_second`: how much.
    """

    lost_s: np.ndarray
    length_s: np.ndarray
    block: np.ndarray
    exposed: Mapping[Name, np.ndarray]
    per_second: Mapping[Name, np.ndarray]


@dataclass(frozen=True)
class Coincidence:
    """A cause, how often it was counted per second where time was lost and elsewhere, and its share."""

    source: str
    name: str
    with_loss: float
    without: float
    share: Quantity

    def content(self) -> dict:
        """The content for JSON."""
        return {**vars(self), "share": self.share.content()}


def exposed(per_second: np.ndarray, lost_s: np.ndarray) -> np.ndarray | None:
    """Where there was unusually much of a cause; None where too few intervals say what is usual."""
    ordinary = per_second[lost_s == 0]
    if len(ordinary) < FEWEST_ORDINARY:
        return None
    return per_second > np.quantile(ordinary, ORDINARY) * (1 + 1e-9)


def coincidences(found: Intervals) -> list[Coincidence]:
    """The causes that stand out, the largest share first; at most MOST_NAMED."""
    causes = [name for name, where in found.exposed.items() if where.any() and not where.all()]
    level = 1 - (1 - LEVEL) / max(len(causes), 1)
    listed = []
    for name in causes:
        share = _share(found, found.exposed[name], level)
        if share.low > 0:
            hit = found.lost_s > 0
            rate = found.per_second[name]
            with_loss, without = (float(np.average(rate[i], weights=found.length_s[i])) for i in (hit, ~hit))
            listed.append(Coincidence(*name, with_loss, without, share))
    return sorted(listed, key=lambda c: -c.share.value)[:MOST_NAMED]


def divided(found: Intervals, names: list[Name]) -> dict[Name, Quantity]:
    """What each of `names` adds to the share of all of them together, averaged over all orders."""
    n = len(names)
    value = {frozenset(): np.zeros(BLOCKS + 1)}
    for size in range(1, n + 1):
        for some in combinations(names, size):
            union = np.any([found.exposed[name] for name in some], axis=0)
            value[frozenset(some)] = _deleted(found, union)
    shares = {}
    for name in names:
        total = np.zeros(BLOCKS + 1)
        for members in value:
            if name not in members:
                weight = factorial(len(members)) * factorial(n - 1 - len(members)) / factorial(n)
                total = total + weight * (value[members | {name}] - value[members])
        shares[name] = _jackknife(total, LEVEL)
    return shares


def _share(found: Intervals, where: np.ndarray, level: float = LEVEL) -> Quantity:
    return _jackknife(_deleted(found, where), level)


def _deleted(found: Intervals, where: np.ndarray) -> np.ndarray:
    """The attributable fraction of exposure `where`: of all blocks, then without each block, [BLOCKS + 1]."""

    def sums(of: np.ndarray, mask: np.ndarray) -> np.ndarray:
        blocks = np.bincount(found.block, weights=of * mask, minlength=BLOCKS)
        return np.concatenate([[blocks.sum()], blocks.sum() - blocks])

    lost_1, lost_0 = sums(found.lost_s, where), sums(found.lost_s, ~where)
    long_1, long_0 = sums(found.length_s, where), sums(found.length_s, ~where)
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = (lost_1 - long_1 * lost_0 / long_0) / (lost_0 + lost_1)
    return np.where(np.isfinite(fraction), fraction, 0.0)


def _jackknife(values: np.ndarray, level: float) -> Quantity:
    """`values`: of everything, then without each block. The share is cut to 0 to 1."""
    whole, without = float(values[0]), values[1:]
    error = np.sqrt((BLOCKS - 1) / BLOCKS * np.square(without - without.mean()).sum())
    half = student(BLOCKS - 1, level) * float(error)
    value, low, high = np.clip([whole, whole - half, whole + half], 0.0, 1.0)
    return Quantity(float(value), float(low), float(high), "", "modelled")
