"""What Du et al. run: voxels in sequence, then swaps between the fullest ranks and empty ones.

Voxels of the fullest rank are exchanged for smaller ones of ranks with little load, until the largest load is
within a threshold of the mean. A load is the larger of two shares of the mean: neurons, and outgoing traffic.
"""

from collections.abc import Iterator

import numpy as np

from spikemark.prediction.partition.problem import Method, Problem, State, unevenness_of

from .sequential import place as in_order

THRESHOLD = 1.002  # the least that the public code asks for
EMPTIEST, SHOWN, MOST = 32, 200, 200_000


def place(problem: Problem, earlier: State | None) -> Iterator[State]:
    """States after every few swaps, until the threshold is met or no swap helps."""
    rank = in_order(problem).copy() if earlier is None else earlier["rank"].copy()
    loads, capacity = problem.loads, problem.capacity
    sums = np.array([np.bincount(rank, kind, problem.ranks) for kind in loads.T]).T  # [ranks, 2]
    stuck: set[int] = set()
    for number in range(MOST):
        if number % SHOWN == 0:
            yield {"rank": rank.copy()}
        order = np.argsort(-sums.max(axis=1) / capacity, kind="stable")
        full = next((r for r in order[:EMPTIEST] if r not in stuck), None)
        if full is None or unevenness_of(loads, rank, capacity).max() <= THRESHOLD:
            break
        if _swap(loads, rank, sums, capacity, int(full), order[::-1][:EMPTIEST]):
            stuck.clear()
        else:
            stuck.add(int(full))
    yield {"rank": rank.copy()}


def _swap(
    loads: np.ndarray, rank: np.ndarray, sums: np.ndarray, capacity: np.ndarray, full: int, empty: np.ndarray
) -> bool:
    """Make the move or swap between rank `full` and one of `empty` after which the fuller one has least.

    False where none makes it less full.
    """
    own = np.flatnonzero(rank == full)
    others = np.flatnonzero(np.isin(rank, empty[empty != full]))
    there = rank[others]
    own_share, shares = capacity[full], capacity[empty]
    best, found = sums[full].max() / own_share - 1e-9, None
    for v in own:
        swapped = loads[others] - loads[v]  # what `full` gains
        here_after, there_after = (sums[full] + swapped).max(axis=1), (sums[there] - swapped).max(axis=1)
        after = np.maximum(here_after / own_share, there_after / capacity[there])
        w = int(after.argmin()) if len(others) else -1
        if w >= 0 and after[w] < best:
            best, found = after[w], (v, others[w])
        left = (sums[full] - loads[v]).max() / own_share
        moved = np.maximum(left, (sums[empty] + loads[v]).max(axis=1) / shares)
        moved[empty == full] = np.inf
        if moved.min() < best and len(own) > 1:
            best, found = moved.min(), (v, int(empty[moved.argmin()]) - len(rank))
    if found is None:
        return False
    v, w = found
    to = w + len(rank) if w < 0 else rank[w]
    for piece, target in ((v, to), *(((w, full),) if w >= 0 else ())):
        sums[rank[piece]] -= loads[piece]
        sums[target] += loads[piece]
        rank[piece] = target
    return True


METHOD = Method("greedy_swap", "in sequence, then swaps that even out neurons and traffic (Du et al.)", place,
                weighted=True, searches=True)  # fmt: skip
