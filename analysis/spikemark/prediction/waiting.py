"""Waiting of ranks on a machine, from what its profile says about cycle times (machines/jitter.py).

Apart from the mean time of their node, ranks scatter independently of each other about the means that the
loads give. Where all ranks meet at the end of a window and leave it together, waiting is the expected maximum
of unequal ranks, by quadrature of the product of their distribution functions (L26, eqs 2-9, extended to
unequal ranks, correlation, a second mode and nodes). Else the times are drawn and go through the lanes
(models/recursion.py). Ranks on different parts of a machine scatter as the profile of each part says.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

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
LEAST_DRAWS, DRAWN = 8, 20_000  # of arrivals: windows at least, and ranks x windows
SPANS = 10  # times that all windows on their way fit into what is drawn
WHY = "waiting for the slowest rank"
#: The period of a lane in cycles, and its groups, [rank].
Met = tuple[int, np.ndarray]


@dataclass(frozen=True, eq=False)
class Group:
    """Ranks, one after another, whose times scatter alike about their mean compute times [rank] in s."""

    mean_s: np.ndarray
    jitter: Jitter
    ranks_per_node: int = 1


def lockstep(groups: Sequence[Group], window: int) -> np.ndarray:
    """Mean waiting per cycle in s of the ranks of each group, [group], if all meet every `window` cycles."""
    if sum(len(group.mean_s) for group in groups) == 1:
        return np.zeros(1)
    spreads = [_Spread.of(group, window) for group in groups]
    # Nobody leaves before the slowest group can.
    grid = np.linspace(max(s.limits[0] for s in spreads), max(s.limits[1] for s in spreads), POINTS)
    below = np.ones(POINTS)
    for spread in spreads:
        spread.multiply(below, grid)
    expected = grid[-1] - np.trapezoid(below, grid)
    return np.array([max(0.0, float(expected - spread.mean_s)) for spread in spreads])


@dataclass(frozen=True, eq=False)
class _Spread:
    """How the mean cycle of a window is distributed for the ranks of a group.

    It is a mixture over numbers of minor cycles, [minor], whose centres have these weights, and over levels
    of nodes, [level], with their shares; all over the mean of the rank.
    """

    group: Group
    centre: np.ndarray
    weight: np.ndarray
    level: np.ndarray
    share: np.ndarray
    sd: float
    beyond: float  # how far times may reach beyond the centres

    @classmethod
    def of(cls, group: Group, window: int) -> "_Spread":
        jitter = group.jitter
        minors = np.arange(window + 1)
        weight = _binomial(minors, window, jitter.minor_share)
        kept = weight > RARE
        minors, weight = minors[kept], weight[kept] / weight[kept].sum()
        centre = (1 + minors * (jitter.minor_factor - 1) / window) / jitter.mean
        within = jitter.lumped(window) / jitter.mean
        both = np.hypot(within, jitter.node_spread)
        sd = within if group.ranks_per_node > 1 else both
        return cls(group, centre, weight, *_levels(jitter, group.ranks_per_node), sd, BEYOND * both)

    @property
    def mean_s(self) -> float:
        return self.weight @ self.centre * self.group.mean_s.mean()

    @property
    def limits(self) -> tuple[float, float]:
        """Before the first of these times no rank is done, after the second all are."""
        mean_s, centre = self.group.mean_s, self.centre
        least = mean_s.min() * (min(centre.min(), 1.0) - self.beyond)
        return least, mean_s.max() * (centre.max() + self.beyond)

    def multiply(self, below: np.ndarray, grid: np.ndarray) -> None:
        """Multiply `below` by the probabilities that all ranks of the group are done, [point]."""
        for own, count in _nodes(self.group.mean_s, self.group.ranks_per_node).items():
            of_node = np.ones((len(self.level), len(grid)))
            for mean, ranks in Counter(own).items():
                of_node *= [
                    _below(grid / (mean * b), self.centre, self.weight, self.sd) ** ranks for b in self.level
                ]
            below *= (self.share @ of_node) ** count


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


def arrivals(groups: Sequence[Group], met: Sequence[Met]) -> np.ndarray:
    """When ranks come to the last of these meetings, after a window that all of them began together, drawn,
    [draw, rank] in s. Cycles are independent from one meeting to the next.
    """
    ranks, met = sum(len(group.mean_s) for group in groups), nested(met)
    window, parts = met[0][0], met[-1][0] // met[0][0]
    draws = max(LEAST_DRAWS, DRAWN // (ranks * parts))
    normal, share, of_node = _numbers(draws * parts, ranks)
    of_node = np.repeat(of_node[::parts], parts, axis=0)  # a node stays as slow as it is
    found, first, first_node = [], 0, 0
    for group in groups:
        spread, own = _Spread.of(group, window), slice(first, first + len(group.mean_s))
        node = first_node + np.arange(len(group.mean_s)) // group.ranks_per_node
        kind = np.searchsorted(np.cumsum(spread.weight)[:-1], share[:, own])
        level = group.jitter.level(of_node[:, node]) if len(spread.level) > 1 else 1.0
        found.append(window * group.mean_s * level * (spread.centre[kind] + spread.sd * normal[:, own]))
        first, first_node = own.stop, node[-1] + 1
    return through_meetings(np.concatenate(found, axis=1), met)


def nested(met: Sequence[Met]) -> list[Met]:
    """The last of some meetings, and of those before it the ones that lead to it: every period is a multiple
    of that before.
    """
    found = [met[-1]]
    for period, group in reversed(met[:-1]):
        if found[0][0] % period == 0:
            found.insert(0, (period, group))
    return found


def through_meetings(took: np.ndarray, met: Sequence[Met]) -> np.ndarray:
    """When ranks come to the last of nested meetings, [draw, rank], from the times of windows of the first,
    [window, rank]. Ranks of a group leave a meeting together.
    """
    for (period, group), (longer, _) in pairwise(met):
        for members in (np.flatnonzero(group == one) for one in np.unique(group)):
            took[:, members] = took[:, members].max(axis=1, keepdims=True)
        took = took.reshape(-1, longer // period, took.shape[1]).sum(axis=1)
    return took


@lru_cache(maxsize=8)
def _numbers(draws: int, ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal, uniform and normal numbers, [draw, rank] each."""
    random = np.random.default_rng(SEED)
    shape = (draws, ranks)
    return random.standard_normal(shape), random.random(shape), random.standard_normal(shape)


def through_lanes(groups: Sequence[Group], lanes: list[Lane]) -> np.ndarray:
    """The same, [group], of drawn times; with a lag it includes waiting for a late exchange."""
    sizes = [len(group.mean_s) for group in groups]
    if sum(sizes) == 1:
        return np.zeros(1)
    longest = max((lane.period * (lane.lag + 1) for lane in lanes), default=1)
    period = max((lane.period for lane in lanes), default=1)
    cycles = -(-max(CYCLES, SPANS * longest) // period) * period
    ends = np.cumsum([0, *sizes])
    own = [slice(*ends[at : at + 2]) for at in range(len(groups))]
    node = _numbered(groups)
    times = [
        _relative(group.jitter, node, cycles)[:, ranks] * group.mean_s[:, None]
        for group, ranks in zip(groups, own, strict=True)
    ]
    course = recursion.evaluate(np.concatenate(times, axis=1), lanes)
    last = cycles - longest  # then nothing may remain on its way
    return np.array([float(course.waiting_s[:, ranks, int(SETTLED * cycles) : last].mean()) for ranks in own])


def _numbered(groups: Sequence[Group]) -> tuple[int, ...]:
    """The node of each rank, numbered through all groups."""
    found, first = [], 0
    for group in groups:
        of_rank = first + np.arange(len(group.mean_s)) // group.ranks_per_node
        found += of_rank.tolist()
        first = found[-1] + 1
    return tuple(found)


@lru_cache(maxsize=8)
def _relative(jitter: Jitter, node: tuple[int, ...], cycles: int) -> np.ndarray:
    """Drawn cycle times over the mean of the rank, [run, rank, cycle], for the node of each rank.

    Every jitter has the same seed, and is drawn for all ranks: so equal parts of a machine have the times of
    one.
    """
    of_cycles, of_nodes = (np.random.default_rng([SEED, number]) for number in range(2))
    level = jitter.level(of_nodes.standard_normal((RUNS, node[-1] + 1, 1)))
    return level[:, list(node)] * jitter.truth().draw(of_cycles, len(node), cycles, RUNS)
