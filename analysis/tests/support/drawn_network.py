"""Networks of a run description drawn synapse by synapse, and their routes counted: the slow, plain
way.
"""

import numpy as np
from brute_force import draw

from spikemark.network.description import Description


def needs(
    described: Description, rank: np.ndarray, ranks: int, rng: np.random.Generator
) -> np.ndarray:
    """[neurons, ranks] whether a neuron has a synapse on a rank, in one draw of the network."""
    source, target = draw(described.network, rng)
    found = np.zeros((described.neurons, ranks), bool)
    found[source, rank[target]] = True
    return found


def rank_of_neurons(placement) -> np.ndarray:
    """[neurons] the rank of every neuron, one at a time."""
    found = np.full(placement.end[-1], -1)
    for first, end, rank, over, origin in zip(
        placement.first,
        placement.end,
        placement.rank,
        placement.over,
        placement.origin,
        strict=True,
    ):
        for k in range(first, end):
            assert found[k] == -1
            found[k] = rank + (k - origin) % over
    assert (found >= 0).all()
    return found


def pairs(needed: np.ndarray, rank: np.ndarray, ranks: int) -> np.ndarray:
    """[ranks, ranks] routes from rank to other rank."""
    found = np.zeros((ranks, ranks))
    np.add.at(found, rank, needed)
    np.fill_diagonal(found, 0)
    return found


def hops(needed: np.ndarray, rank: np.ndarray, sizes, side: str, merged: bool) -> list[np.ndarray]:
    """[level] of [ranks, ranks]: what every rank sends to each other, one neuron and target at a
    time.
    """
    ranks = needed.shape[1]
    coordinates = np.transpose(np.unravel_index(np.arange(ranks), sizes, order="F"))
    order = range(len(sizes)) if side == "sender" else range(len(sizes) - 1, -1, -1)
    flows = [np.zeros((ranks, ranks)) for _ in sizes]
    for k in range(len(needed)):
        used = set()
        for r in np.flatnonzero(needed[k]):
            if r == rank[k]:
                continue
            at = coordinates[rank[k]]
            for hop, axis in enumerate(order):
                to = at.copy()
                to[axis] = coordinates[r, axis]
                link = (hop, *(np.ravel_multi_index(place, sizes, order="F") for place in (at, to)))
                if link[1] != link[2] and link not in used:
                    flows[hop][link[1:]] += 1
                    used |= {link} if merged else set()
                at = to
    return flows
