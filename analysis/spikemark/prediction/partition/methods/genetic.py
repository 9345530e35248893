"""The genetic algorithm that Du et al. compare with; its fitness is the largest size of a rank.

As published: 100 permutations, 20 000 generations, fitness max/mean of the ranks' neurons. A permutation is
cut into ranks with equally many voxels. Its operators are not published. Here, each generation keeps the
better half, and every other permutation becomes a copy of a kept one in which a few pairs are exchanged.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, State

PERMUTATIONS, GENERATIONS, EXCHANGES = 100, 20_000, 2
SHOWN = 50  # generations between two states


def _sums(sizes: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """[permutations, ranks] neurons."""
    return np.array([np.add.reduceat(sizes[row], starts) for row in order])


def place(problem: Problem, earlier: State | None) -> Iterator[State]:
    """States after every few generations; `order` [permutations, Q] and `done` are kept to go on from."""
    sizes, ranks = problem.sizes, problem.ranks
    count = len(sizes)
    rank_at = np.arange(count) * ranks // count  # rank of each place in a permutation
    starts = np.searchsorted(rank_at, np.arange(ranks))
    if earlier is None:
        rng = problem.rng()
        order = np.array([rng.permutation(count) for _ in range(PERMUTATIONS)]).astype(np.int32)
        done = 0
    else:
        order, done = earlier["order"].copy(), int(earlier["done"])
    sums = _sums(sizes, order, starts)
    half = PERMUTATIONS // 2
    while True:
        rank = np.empty(count, np.int64)
        rank[order[sums.max(axis=1).argmin()]] = rank_at
        yield {"rank": rank, "order": order, "done": np.array(done)}
        if done >= GENERATIONS:
            return
        rng = problem.rng(done)
        for _ in range(min(SHOWN, GENERATIONS - done)):
            ranked = np.argsort(sums.max(axis=1), kind="stable")
            kept, lost = rng.permutation(ranked[:half]), ranked[half:]
            order[lost], sums[lost] = order[kept[: len(lost)]], sums[kept[: len(lost)]]
            for a, b in rng.integers(count, size=(EXCHANGES, 2, len(lost))):
                first, second = order[lost, a], order[lost, b]
                order[lost, a], order[lost, b] = second, first
                gained = sizes[second] - sizes[first]
                sums[lost, rank_at[a]] += gained
                sums[lost, rank_at[b]] -= gained
            done += 1


METHOD = Method(
    "genetic", "genetic algorithm on sizes alone, as Du et al. compare with", place, searches=True
)
