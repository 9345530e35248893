"""The genetic algorithm that Du et al. compare with; its fitness is the largest size of a rank.

As published: 100 permutations, 20 000 generations, fitness max/mean of the ranks' neurons. A permutation is
cut into ranks with equally many voxels. Its operators are not published. Here, each generation keeps the
better half, and every other permutation becomes a copy of a kept one in which a few pairs are exchanged.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.partition.problem import Method, Problem, State

PERMUTATIONS, GENERATIONS, EXCHANGES = 100, 20_000, 2
SHOWN = 50  # generations between two states


def _fitness(sizes: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """[permutations] largest number of neurons of a rank."""
    return np.add.reduceat(sizes[order], starts, axis=1).max(axis=1)


def place(problem: Problem, earlier: State | None) -> Iterator[State]:
    """States after every few generations; `order` [permutations, Q] and `done` are kept to go on from."""
    sizes = problem.sizes.astype(float)
    count = len(sizes)
    rank_at = np.arange(count) * problem.ranks // count  # rank of each place in a permutation
    starts = np.searchsorted(rank_at, np.arange(problem.ranks))
    if earlier is None:
        rng = problem.rng()
        order = np.array([rng.permutation(count) for _ in range(PERMUTATIONS)]).astype(np.int32)
        done = 0
    else:
        order, done = earlier["order"].copy(), int(earlier["done"])
    fitness = _fitness(sizes, order, starts)
    half = PERMUTATIONS // 2
    while True:
        best = order[fitness.argmin()]
        rank = np.empty(count, np.int64)
        rank[best] = rank_at
        yield {"rank": rank, "order": order.copy(), "done": np.array(done)}
        if done >= GENERATIONS:
            return
        rng = problem.rng(done)
        for _ in range(min(SHOWN, GENERATIONS - done)):
            ranked = np.argsort(fitness, kind="stable")
            kept, lost = ranked[:half], ranked[half:]
            order[lost] = order[rng.permutation(kept)[: len(lost)]]
            rows = lost[:, np.newaxis]
            for a, b in rng.integers(count, size=(EXCHANGES, 2, len(lost), 1)):
                order[rows, a], order[rows, b] = order[rows, b], order[rows, a]
            fitness[lost] = _fitness(sizes, order[lost], starts)
            done += 1


METHOD = Method("genetic", "genetic algorithm on sizes alone, as Du et al. compare with", place)
