"""Expected waiting of ranks for the slowest one, from what a profile says of their compute times.

Ranks scatter independently about their mean times (models/jitter.py); a node's deviation is drawn
once for the node. Where all ranks meet at the end of a window, waiting is the expected maximum of
unequal ranks: the quadrature of the product of their distribution functions (Lober et al. 2026, eqs
2-9, extended to unequal ranks, correlation, rare long cycles and nodes). In other lanes the times
are drawn and go through the max-plus recursion (models/recursion.py).

The quadrature costs some milliseconds. The recursion goes through at most MAX_DRAWN compute times
of each run, MAX_AT_ONCE side by side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np

from spikemark.models import recursion
from spikemark.models.jitter import Jitter, Noise, slow_in_window, times_of_runs
from spikemark.models.recursion import LaneMeetings

TIME_POINTS = 400  #: of the quadrature over ordinary times, and over longer ones
NODE_LEVELS = 15  #: of the quadrature over the mean times of nodes
BEYOND = 8.0  #: standard deviations, after which a distribution ends
ENTRIES_PER_SD = 100  #: of the table of a distribution function
MAX_ENTRIES = 20_000  #: of that table
#: Tables that are kept, up to 320 KB each: of all settings of what is uncertain, for ranks alone on
#: their nodes and for others, and of what a search asks in between. Other ranks of the same machine
#: scatter by the same distributions.
KEPT_TABLES = 192
EQUAL_MEANS = 1e-4  #: of the longest mean: means that differ by less count as equal
CENTRES = 200  #: different mean cycles of a window, beside normal scatter
RARE = 1e-10  #: numbers of long cycles that are less probable do not count
IMPOSSIBLE = 1e-20  #: times that all ranks keep less probably do not count
MAX_DRAWN = 200_000  #: drawn compute times of a run, rank x cycle
MAX_AT_ONCE = 2_000_000  #: compute times of the runs that are evaluated side by side (16 MB)
MAX_CYCLES = 2000  #: drawn, unless WINDOWS windows are longer
WINDOWS = 10  #: that must fit into the drawn cycles
SETTLED = 0.3  #: share of the cycles that is left out at the beginning
SEED, COMMON_SEED = 1, 2


@dataclass(frozen=True, eq=False)
class SimilarRanks:
    """Ranks, one after another, whose times scatter alike about their mean compute times."""

    mean_s: np.ndarray  #: [rank], in seconds per cycle
    jitter: Jitter
    ranks_per_node: int = 1


class Distribution(NamedTuple):
    """Distribution function of the mean cycle of a window over the mean of the rank, in a table
    with equal steps.
    """

    low: float  #: the mean cycle of the first entry
    high: float  #: that of the last one
    below: np.ndarray  #: [entry], probability of less
    slope: np.ndarray  #: [entry], of `below` to the next entry

    def at(self, times_s: np.ndarray, means_s: np.ndarray | float) -> np.ndarray:
        """Probability of less than some times with a mean, which broadcast; linear between entries.

        As `np.interp`, which would search for each place and take three times as long.
        """
        per_entry = (len(self.below) - 1) / (self.high - self.low)
        place: np.ndarray = times_s * (per_entry / means_s)
        place -= self.low * per_entry
        np.maximum(place, 0, out=place)
        whole = np.floor(place)
        entry = whole.astype(np.intp)
        place -= whole
        # The slope is 0 at the last entry, and so beyond it.
        place *= self.slope.take(entry, mode="clip", out=whole)
        place += self.below.take(entry, mode="clip", out=whole)
        return place


def waiting(
    runs: Sequence[Sequence[SimilarRanks]], lanes: list[LaneMeetings], quick: bool = False
) -> list[float]:
    """Mean waiting per cycle in s over all ranks of each run; with a lag, also waiting for a late
    exchange.

    Args:
        runs: the ranks of each run, in groups; all runs have groups of the same sizes.
        lanes: in which ranks meet; times of exchanges with a lag may differ between runs.
        quick: as if all ranks met once in the longest window, for a search.

    Example:
        >>> ranks = SimilarRanks(np.full(8, 1e-3), Jitter(cv=0.1))
        >>> lane = LaneMeetings(period=1)
        >>> [waiting_s] = waiting([[ranks]], [lane])
        >>> round(1e3 * waiting_s, 3)  # ms in a cycle of 1 ms
        0.142
    """
    means = np.concatenate([group.mean_s for group in runs[0]])
    if len(means) == 1 or not lanes:
        return [0.0] * len(runs)
    longest = max(lane.period * (lane.lag + 1) for lane in lanes)
    if quick or _all_meet(lanes):
        mean_s = float(means.mean())
        return [max(0.0, _lockstep(groups, longest) - mean_s) for groups in runs]
    period = max(lane.period for lane in lanes)
    fitting = max(WINDOWS * longest, min(MAX_CYCLES, MAX_DRAWN // len(means)))
    cycles = -(-fitting // period) * period
    settled = slice(int(SETTLED * cycles), cycles - longest)
    noises = _noises(runs[0], cycles)
    means_of_runs: list[float] = []
    at_once = max(1, MAX_AT_ONCE // (len(means) * cycles))
    for first in range(0, len(runs), at_once):
        part = slice(first, first + at_once)
        lanes_of_part = [_of_runs(lane, part) for lane in lanes]
        course = recursion.evaluate(_times(runs[part], noises), lanes_of_part)
        waiting_s = course.waiting_s  # [run, rank, cycle]
        means_of_runs += waiting_s[..., settled].mean(axis=(1, 2)).tolist()
    return means_of_runs


def _of_runs(lane: LaneMeetings, part: slice) -> LaneMeetings:
    """A lane as some of the runs have it."""
    if np.ndim(lane.exchange_s) == 0:
        return lane
    return replace(lane, exchange_s=np.asarray(lane.exchange_s)[part])


def _all_meet(lanes: list[LaneMeetings]) -> bool:
    """Whether there is one lane, in which all ranks meet at the end of each window."""
    if len(lanes) > 1 or lanes[0].lag:
        return False
    groups = set(lanes[0].group or ())
    return len(groups) <= 1


def _noises(groups: Sequence[SimilarRanks], cycles: int) -> list[tuple[np.ndarray, Noise]]:
    """Random numbers of each group: standard normal ones of its nodes, [node, 1], and of cycles."""
    random = np.random.default_rng(SEED)
    shared = np.random.default_rng(COMMON_SEED)
    common_state = shared.bit_generator.state
    noises = []
    for group in groups:
        shared.bit_generator.state = common_state
        ranks = len(group.mean_s)
        nodes = -(-ranks // group.ranks_per_node)
        of_nodes = random.standard_normal((nodes, 1))
        of_nodes -= of_nodes.mean()  # so that unequal nodes take as long on average
        noises.append((of_nodes, group.jitter.noise(random, shared, ranks, cycles)))
    return noises


def _times(
    runs: Sequence[Sequence[SimilarRanks]], noises: Sequence[tuple[np.ndarray, Noise]]
) -> np.ndarray:
    """Compute times [run, rank, cycle] in s."""
    times = []
    for groups, (of_nodes, noise) in zip(zip(*runs, strict=True), noises, strict=True):
        of_group = times_of_runs([group.jitter for group in groups], noise)
        node = np.arange(len(groups[0].mean_s)) // groups[0].ranks_per_node
        levels = [group.jitter.level(of_nodes)[node] for group in groups]
        of_group *= np.array(levels) * groups[0].mean_s[:, None]
        times.append(of_group)
    return times[0] if len(times) == 1 else np.concatenate(times, axis=1)


def _lockstep(groups: Sequence[SimilarRanks], window: int) -> float:
    """Expected time per cycle in s of the slowest of all ranks, if they meet every `window`
    cycles.
    """
    ends = []
    sds = [_window_sd(group.jitter, window) for group in groups]
    for group, sd in zip(groups, sds, strict=True):
        sd_of_rank = float(np.hypot(sd, group.jitter.node_spread))
        ends.append(group.mean_s.max() * _ends(group.jitter, sd_of_rank))
    shortest, ordinary, longest = np.max(ends, axis=0)
    grid = np.linspace(shortest, ordinary, TIME_POINTS)  # of times, in s
    if longest > ordinary:  # by long cycles and slow spells
        grid = np.append(grid, np.linspace(ordinary, longest, TIME_POINTS)[1:])
    below = np.ones(len(grid))  # probability that all ranks take less
    for group, sd in zip(groups, sds, strict=True):
        if group.ranks_per_node > 1:
            below *= _below_on_nodes(group, window, sd, grid)
        else:
            below *= _below_alone(group, window, sd, grid)
    return float(grid[-1] - np.trapezoid(below, grid))


def _window_sd(jitter: Jitter, window: int) -> float:
    """Standard deviation of the mean cycle of a window over the mean of the rank, nodes apart."""
    return float(jitter.lumped(window) / jitter.mean)


def _ends(jitter: Jitter, sd: float) -> np.ndarray:
    """Shortest, longest ordinary and longest mean cycle of a window over the mean of the rank.

    They lie BEYOND standard deviations `sd` off.
    """
    away = BEYOND * sd
    shortest = max(0.0, 1 - away) / jitter.mean
    factor = jitter.minor_factor * jitter.spell_factor
    longest = (1 + away) * max(1.0, factor / jitter.mean)
    return np.array([shortest, 1 + away, longest])


def _rounded_means(group: SimilarRanks) -> np.ndarray:
    """Mean times of ranks in steps of EQUAL_MEANS, [rank], in s."""
    step = EQUAL_MEANS * group.mean_s.max()
    rounded: np.ndarray = np.maximum(np.rint(group.mean_s / step), 1) * step
    return rounded


def _below_alone(group: SimilarRanks, window: int, sd: float, grid: np.ndarray) -> np.ndarray:
    """Probability that the mean cycle of a window takes less than each time of the grid, in s, on
    all ranks, each of which is alone on its node: the deviation of the node is its own.

    Ranks that are never the slowest do not count. `sd`: of the mean cycle, nodes apart.
    """
    jitter = group.jitter
    distribution = _distribution(jitter, window, float(np.hypot(sd, jitter.node_spread)))
    means = _rounded_means(group)
    may_be_slowest = means * distribution.high > grid[0]
    means, counts = np.unique(means[may_be_slowest], return_counts=True)
    below = distribution.at(grid, means[:, None])  # [mean, time]
    alike = counts > 1
    below[alike] **= counts[alike, None]
    return np.asarray(below.prod(axis=0))


def _below_on_nodes(group: SimilarRanks, window: int, sd: float, grid: np.ndarray) -> np.ndarray:
    """The same where ranks of a node share its deviation, over which the quadrature goes."""
    jitter = group.jitter
    level = np.ones(1)
    share = np.ones(1)  # of the nodes that have a level
    if jitter.node_spread:
        normal = np.linspace(-BEYOND / 2, BEYOND / 2, NODE_LEVELS)
        level = jitter.level(normal)
        density = np.exp(-(normal**2) / 2)
        share = density / density.sum()
    distribution = _distribution(jitter, window, sd)
    means = _rounded_means(group)
    may_be_slowest = means * level.max() * distribution.high > grid[0]
    per_node = group.ranks_per_node
    on_nodes = np.zeros((-(-len(means) // per_node), per_node))  # 0: never the slowest, or nobody
    on_nodes.flat[: len(means)] = np.where(may_be_slowest, means, 0.0)
    alike = Counter(map(tuple, np.sort(on_nodes, axis=1).tolist()))  # nodes with the same ranks
    slowest_first = sorted(alike.items(), key=lambda item: (-item[0][-1], item[0]))
    below_of_mean: dict[float, np.ndarray] = {}  # [level, time] each
    of_all = np.ones(len(grid))
    times = grid  # those that are not impossible already: the last ones of the grid
    for node, count in slowest_first:
        below_of_ranks = []
        for mean, ranks_alike in Counter(node).items():
            if not mean:
                continue
            if mean not in below_of_mean:
                below_of_mean[mean] = distribution.at(times, mean * level[:, None])
            below = below_of_mean[mean][:, -len(times) :]
            below_of_ranks.append(below**ranks_alike if ranks_alike > 1 else below)
        if below_of_ranks:
            below_of_node = reduce(np.multiply, below_of_ranks)
            of_all[-len(times) :] *= (share @ below_of_node) ** count
            times = grid[np.searchsorted(of_all, IMPOSSIBLE) :]
    of_all[: -len(times)] = 0.0
    return of_all


def _centres(jitter: Jitter, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean cycles that a window can have by its long cycles and its slow spells, over the mean of
    the rank, and the probability of each.

    Long cycles come alike in spells and outside. Means within a cell of CENTRES count as one.
    """
    from scipy import special

    count = np.arange(window + 1)  # of long cycles in the window
    of_count = np.diff(special.bdtr(count, window, jitter.minor_share), prepend=0.0)
    long = 1 + count * (jitter.minor_factor - 1) / window
    share, of_share = slow_in_window(jitter.spell_share, jitter.spell_cycles, window)
    slow = 1 + share * (jitter.spell_factor - 1)
    likely_count, likely_share = of_count > RARE, of_share > RARE
    centre = np.outer(long[likely_count], slow[likely_share]).ravel() / jitter.mean
    weight = np.outer(of_count[likely_count], of_share[likely_share]).ravel()
    if len(centre) > CENTRES:
        cell = np.rint((centre - centre.min()) / np.ptp(centre) * CENTRES).astype(int)
        sums = np.bincount(cell, centre * weight)
        weight = np.bincount(cell, weight)
        centre = sums[weight > 0] / weight[weight > 0]
        weight = weight[weight > 0]
    return centre, weight / weight.sum()


@lru_cache(maxsize=KEPT_TABLES)
def _distribution(jitter: Jitter, window: int, sd: float) -> Distribution:
    """How the mean cycle of a window is distributed; `sd`: of windows of ordinary cycles."""
    from scipy import special

    centre, weight = _centres(jitter, window)
    low, _, high = _ends(jitter, sd)
    entries = MAX_ENTRIES
    if sd:
        entries = min(MAX_ENTRIES, int(ENTRIES_PER_SD * (high - low) / sd))
    x = np.linspace(low - 1e-9, high + 1e-9, entries)
    first = np.searchsorted(x, centre - BEYOND * sd)
    last = np.searchsorted(x, centre + BEYOND * sd)
    below = np.bincount(last, weight, minlength=len(x))[: len(x)].cumsum()
    if sd:
        for begins, ends, middle, share in zip(first, last, centre, weight, strict=True):
            below[begins:ends] += share * special.ndtr((x[begins:ends] - middle) / sd)
    below[-1] = 1.0
    slope = np.append(np.diff(below), 0.0)
    return Distribution(float(x[0]), float(x[-1]), below, slope)
