"""Waiting of ranks on a machine, from what its profile says about cycle times (machines/jitter.py).

Apart from the mean time of their node, ranks scatter independently of each other about the means that the
loads give. Where all ranks meet at the end of a window and leave it together, waiting is the expected maximum
of unequal ranks, by quadrature of the product of their distribution functions (L26, eqs 2-9, extended to
unequal ranks, correlation, a second mode and nodes). Else the times are drawn and go through the lanes
(models/recursion.py).
"""

from collections import Counter
from functools import lru_cache

import numpy as np
from scipy import special

from spikemark.machines.jitter import Jitter
from spikemark.models import recursion
from spikemark.models.recursion import Lane

POINTS = 2000  # of the quadrature over time
LEVELS = 41  # of the quadrature over the mean times of nodes
BEYOND = 8.0  # standard deviations
RARE = 1e-10  # numbers of minor cycles in a window that are left out
CYCLES, RUNS, SETTLED, SEED = 1000, 2, 0.3, 1
SPANS = 10  # times that all windows on their way fit into what is drawn
WHY = "waiting for the slowest rank"


def lockstep(mean_s: np.ndarray, jitter: Jitter, window: int, ranks_per_node: int = 1) -> float:
    """Mean waiting per cycle in s of ranks with mean compute times [rank] that meet every `window` cycles."""
    if len(mean_s) == 1:
        return 0.0
    minors = np.arange(window + 1)
    weight = _binomial(minors, window, jitter.minor_share)
    kept = weight > RARE
    minors, weight = minors[kept], weight[kept] / weight[kept].sum()
    centre = (1 + minors * (jitter.minor_factor - 1) / window) / jitter.mean  # of the mean cycle of a window
    level, share = _levels(jitter, ranks_per_node)
    within = jitter.lumped(window) / jitter.mean
    sd = within if ranks_per_node > 1 else np.hypot(within, jitter.node_spread)  # over the mean of the rank
    beyond = BEYOND * np.hypot(within, jitter.node_spread)
    grid = np.linspace(
        mean_s.min() * (min(centre.min(), 1.0) - beyond), mean_s.max() * (centre.max() + beyond), POINTS
    )
    below = np.ones(POINTS)
    for own, count in _nodes(mean_s, ranks_per_node).items():
        of_node = np.ones((len(level), POINTS))
        for mean, ranks in Counter(own).items():
            of_node *= [_below(grid / (mean * b), centre, weight, sd) ** ranks for b in level]
        below *= (share @ of_node) ** count
    expected = grid[-1] - np.trapezoid(below, grid)
    return max(0.0, float(expected - weight @ centre * mean_s.mean()))


def _levels(jitter: Jitter, ranks_per_node: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean times of nodes over the mean of all nodes, and their probabilities.

    If a node has one rank, its deviation counts as that of the rank, and every node has the mean.
    """
    if ranks_per_node == 1 or jitter.node_spread == 0:
        return np.ones(1), np.ones(1)
    normal = np.linspace(-BEYOND / 2, BEYOND / 2, LEVELS)
    density = np.exp(-(normal**2) / 2)
    return jitter.level(normal), density / density.sum()


def _nodes(mean_s: np.ndarray, ranks_per_node: int) -> Counter[tuple[float, ...]]:
    """The means of the ranks of a node -> how many nodes hold such ranks."""
    return Counter(
        tuple(mean_s[first : first + ranks_per_node].tolist())
        for first in range(0, len(mean_s), ranks_per_node)
    )


def _below(x: np.ndarray, centre: np.ndarray, weight: np.ndarray, sd: float) -> np.ndarray:
    """Probability that the mean cycle of a window takes less than x times the mean of the rank."""
    if sd == 0:
        return (x[:, None] >= centre) @ weight
    return special.ndtr((x[:, None] - centre) / sd) @ weight


def _binomial(k: np.ndarray, n: int, p: float) -> np.ndarray:
    if p == 0:
        return (k == 0).astype(float)
    if p == 1:
        return (k == n).astype(float)
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.exp(logs + k * np.log(p) + (n - k) * np.log1p(-p))


def through_lanes(mean_s: np.ndarray, jitter: Jitter, lanes: list[Lane], ranks_per_node: int = 1) -> float:
    """Mean waiting per cycle in s, of drawn times; with a lag it includes waiting for a late exchange."""
    if len(mean_s) == 1:
        return 0.0
    longest = max((lane.period * (lane.lag + 1) for lane in lanes), default=1)
    period = max((lane.period for lane in lanes), default=1)
    cycles = -(-max(CYCLES, SPANS * longest) // period) * period
    times = _relative(jitter, len(mean_s), cycles, ranks_per_node) * mean_s[:, None]
    course = recursion.evaluate(times, lanes)
    last = cycles - longest  # then nothing may remain on its way
    return float(course.waiting_s[..., int(SETTLED * cycles) : last].mean())


@lru_cache(maxsize=4)
def _relative(jitter: Jitter, ranks: int, cycles: int, ranks_per_node: int) -> np.ndarray:
    """Drawn cycle times over the mean of the rank, [run, rank, cycle]; every jitter has the same seed."""
    of_cycles, of_nodes = (np.random.default_rng([SEED, number]) for number in range(2))
    level = jitter.level(of_nodes.standard_normal((RUNS, -(-ranks // ranks_per_node), 1)))
    each = np.repeat(level, ranks_per_node, axis=1)[:, :ranks]
    return each * jitter.truth().draw(of_cycles, ranks, cycles, RUNS)
