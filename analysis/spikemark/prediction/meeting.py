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

POINTS, LEVELS, BEYOND = 1000, 31, 8.0  # of the quadrature over time and over nodes; standard deviations
MOST = 400_000  # drawn compute times, rank x cycle
SETTLED, SPANS, SEED = 0.3, 10, 1  # share of the cycles that is left out; windows that must fit


@dataclass(frozen=True, eq=False)
class Group:
    """Ranks, one after another, whose times scatter alike about their mean compute times [rank] in s."""

    mean_s: np.ndarray
    jitter: Jitter
    ranks_per_node: int = 1


def waiting(groups: Sequence[Group], lanes: list[Lane], quick: bool = False) -> float:
    """Mean waiting per cycle in s over all ranks; with a lag it includes waiting for a late exchange.

    `quick`: as if all ranks met once in the longest window, for a search.
    """
    ranks = sum(len(group.mean_s) for group in groups)
    if ranks == 1 or not lanes:
        return 0.0
    if quick or (len(lanes) == 1 and not lanes[0].lag and len(set(lanes[0].group or ())) <= 1):
        slowest = lockstep(groups, max(lane.period * (lane.lag + 1) for lane in lanes))
        return max(0.0, slowest - float(np.concatenate([group.mean_s for group in groups]).mean()))
    return _through_lanes(groups, lanes)


def lockstep(groups: Sequence[Group], window: int) -> float:
    """Expected time per cycle in s of the slowest of all ranks, if they meet every `window` cycles."""
    most = max(g.mean_s.max() * (1 + BEYOND * np.hypot(_sd(g, window), g.jitter.node_spread)) *
               max(1.0, g.jitter.minor_factor / g.jitter.mean) for g in groups)  # fmt: skip
    least = max(g.mean_s.max() * max(0.0, 1 - BEYOND * np.hypot(_sd(g, window), g.jitter.node_spread)) /
                g.jitter.mean for g in groups)  # fmt: skip
    grid = np.linspace(least, most, POINTS)
    below = np.ones(POINTS)
    for group in groups:
        weight, centre = _long_cycles(group.jitter, window)
        level, share = _node_levels(group)
        sd = _sd(group, window) if len(level) > 1 else np.hypot(_sd(group, window), group.jitter.node_spread)
        each = group.ranks_per_node
        nodes = Counter(
            tuple(group.mean_s[at : at + each].tolist()) for at in range(0, len(group.mean_s), each)
        )
        known: dict[float, np.ndarray] = {}
        for own, count in nodes.items():
            of_node = np.ones((len(level), POINTS))
            for mean, ranks in Counter(own).items():
                if mean not in known:
                    x = grid / (mean * level[:, None])
                    known[mean] = _below(x, centre, weight, sd)
                of_node *= known[mean] ** ranks
            below *= (share @ of_node) ** count
    return float(grid[-1] - np.trapezoid(below, grid))


def _sd(group: Group, window: int) -> float:
    return group.jitter.lumped(window) / group.jitter.mean


def _long_cycles(jitter: Jitter, window: int) -> tuple[np.ndarray, np.ndarray]:
    """How probable so many long cycles in a window are, and the mean cycle of such a window over the mean."""
    count = np.arange(window + 1)
    combinations = (
        special.gammaln(window + 1) - special.gammaln(count + 1) - special.gammaln(window - count + 1)
    )
    share = jitter.minor_share
    weight = np.exp(combinations + special.xlogy(count, share) + special.xlog1py(window - count, -share))
    kept = weight > 1e-10
    centre = (1 + count[kept] * (jitter.minor_factor - 1) / window) / jitter.mean
    return weight[kept] / weight[kept].sum(), centre


def _node_levels(group: Group) -> tuple[np.ndarray, np.ndarray]:
    """Mean times of nodes over the mean of all nodes, and their probabilities; one for a rank per node."""
    if group.ranks_per_node == 1 or group.jitter.node_spread == 0:
        return np.ones(1), np.ones(1)
    normal = np.linspace(-BEYOND / 2, BEYOND / 2, LEVELS)
    density = np.exp(-(normal**2) / 2)
    return group.jitter.level(normal), density / density.sum()


def _below(x: np.ndarray, centre: np.ndarray, weight: np.ndarray, sd: float) -> np.ndarray:
    """Probability that the mean cycle of a window takes less than x times the mean of the rank."""
    found = np.zeros_like(x)
    for one, share in zip(centre, weight, strict=True):
        found += share * (special.ndtr((x - one) / sd) if sd else (x >= one))
    return found


def _through_lanes(groups: Sequence[Group], lanes: list[Lane]) -> float:
    longest = max(lane.period * (lane.lag + 1) for lane in lanes)
    period = max(lane.period for lane in lanes)
    ranks = sum(len(group.mean_s) for group in groups)
    cycles = -(-max(SPANS * longest, min(4000, MOST // ranks)) // period) * period
    random = np.random.default_rng(SEED)
    times = []
    for group in groups:
        nodes = -(-len(group.mean_s) // group.ranks_per_node)
        level = group.jitter.level(random.standard_normal((nodes, 1)))
        node = np.arange(len(group.mean_s)) // group.ranks_per_node
        drawn = group.jitter.truth().draw(random, len(group.mean_s), cycles, 1)[0]
        times.append(level[node] * drawn * group.mean_s[:, None])
    course = recursion.evaluate(np.concatenate(times), lanes)
    return float(course.waiting_s[:, int(SETTLED * cycles) : cycles - longest].mean())
