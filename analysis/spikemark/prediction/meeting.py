"""Expected waiting of ranks for the slowest one, from what a profile says of their compute times.

Ranks scatter independently about their mean times (machines/jitter.py); a node's deviation is drawn once for
the node. Where all ranks meet at the end of a window, waiting is the expected maximum of unequal ranks: the
quadrature of the product of their distribution functions (Lober et al. 2026, eqs 2-9, extended to unequal
ranks, correlation, rare long cycles and nodes). In other lanes the times are drawn and go through the
max-plus recursion (models/recursion.py).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from spikemark.machines.jitter import Jitter
from spikemark.models import recursion
from spikemark.models.recursion import Lane

POINTS, LEVELS, BEYOND = 400, 15, 8.0  # of the quadrature over time and over nodes; standard deviations
FINE, MOST_FINE = 100, 20_000  # entries of the table of a distribution function, per SD and in all
ALIKE = 1e-4  # of the longest time: means that differ by less count as equal
MOST = 200_000  # drawn compute times, rank x cycle
SETTLED, SPANS, SEED = 0.3, 10, 1  # share of the cycles that is left out; windows that must fit


@dataclass(frozen=True, eq=False)
class Group:
    """Ranks, one after another, whose times scatter alike about their mean compute times [rank] in s."""

    mean_s: np.ndarray
    jitter: Jitter
    ranks_per_node: int = 1

    def ends(self, sd: float) -> np.ndarray:
        """Shortest and longest mean cycle of a window over the mean of the rank, `BEYOND` of sd `sd` off."""
        jitter, away = self.jitter, BEYOND * sd
        longest = (1 + away) * max(1.0, jitter.minor_factor / jitter.mean)
        return np.array([max(0.0, 1 - away) / jitter.mean, longest])


def waiting(runs: Sequence[Sequence[Group]], lanes: list[Lane], quick: bool = False) -> list[float]:
    """Mean waiting per cycle in s over all ranks of each run; with a lag, also waiting for a late exchange.

    `quick`: as if all ranks met once in the longest window, for a search.
    """
    means = np.concatenate([group.mean_s for group in runs[0]])
    if len(means) == 1 or not lanes:
        return [0.0] * len(runs)
    longest = max(lane.period * (lane.lag + 1) for lane in lanes)
    if quick or (len(lanes) == 1 and not lanes[0].lag and len(set(lanes[0].group or ())) <= 1):
        return [max(0.0, lockstep(groups, longest) - float(means.mean())) for groups in runs]
    period = max(lane.period for lane in lanes)
    cycles = -(-max(SPANS * longest, min(2000, MOST // len(means))) // period) * period
    course = recursion.evaluate(np.array([_drawn(groups, cycles) for groups in runs]), lanes)
    return course.waiting_s[..., int(SETTLED * cycles) : cycles - longest].mean(axis=(1, 2)).tolist()


def _drawn(groups: Sequence[Group], cycles: int) -> np.ndarray:
    """Compute times [rank, cycle] in s; other groups of as many ranks have the same deviations."""
    random, times = np.random.default_rng(SEED), []
    for group in groups:
        node = np.arange(len(group.mean_s)) // group.ranks_per_node
        level = group.jitter.level(random.standard_normal((node[-1] + 1, 1)))
        drawn = group.jitter.truth().draw(random, len(group.mean_s), cycles)
        times.append(level[node] * drawn * group.mean_s[:, None])
    return np.concatenate(times)


def lockstep(groups: Sequence[Group], window: int) -> float:
    """Expected time per cycle in s of the slowest of all ranks, if they meet every `window` cycles."""
    own = [group.jitter.lumped(window) / group.jitter.mean for group in groups]
    whole = [np.hypot(sd, group.jitter.node_spread) for group, sd in zip(groups, own, strict=True)]
    ends = [g.mean_s.max() * g.ends(sd) for g, sd in zip(groups, whole, strict=True)]
    grid = np.linspace(*np.max(ends, axis=0), POINTS)
    below = np.ones(POINTS)
    for group, alone, both in zip(groups, own, whole, strict=True):
        jitter, each, level, share = group.jitter, group.ranks_per_node, np.ones(1), np.ones(1)
        if each > 1 and jitter.node_spread:  # quadrature over the mean times of nodes
            normal = np.linspace(-BEYOND / 2, BEYOND / 2, LEVELS)
            level, share = jitter.level(normal), special.softmax(-(normal**2) / 2)
        x, table = _distribution(group, window, alone if len(level) > 1 else both)
        starts = range(0, len(group.mean_s), each)
        step = ALIKE * grid[-1]
        alike = np.maximum(np.rint(group.mean_s / step), 1) * step
        late = alike * level.max() * x[-1] > grid[0]  # others are never the slowest
        nodes = Counter(tuple(np.sort(alike[at : at + each][late[at : at + each]]).tolist()) for at in starts)
        known = {
            mean: np.interp(grid / (mean * level[:, None]), x, table, 0.0, 1.0)
            for mean in {mean for node in nodes for mean in node}
        }
        for node, count in nodes.items():
            if not node:
                continue
            of_node = np.prod([known[mean] ** ranks for mean, ranks in Counter(node).items()], axis=0)
            below *= (share @ of_node) ** count
    return float(grid[-1] - np.trapezoid(below, grid))


def _distribution(group: Group, window: int, sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Probability that the mean cycle of a window takes less than x times the mean of the rank, over x."""
    jitter, count = group.jitter, np.arange(window + 1)
    weight = np.diff(special.bdtr(count, window, jitter.minor_share), prepend=0.0)  # of so many long cycles
    count, weight = count[weight > 1e-10], weight[weight > 1e-10]
    centre = (1 + count * (jitter.minor_factor - 1) / window) / jitter.mean
    low, high = group.ends(sd)
    entries = min(MOST_FINE, int(FINE * (high - low) / sd)) if sd else MOST_FINE
    x = np.linspace(low - 1e-9, high + 1e-9, entries)
    away = x[:, None] - centre
    return x, (special.ndtr(away / sd) if sd else away >= 0) @ (weight / weight.sum())
