"""Chooses the ranks of a machine that a dry run runs: the largest, the smallest, and others at random."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction.loads import Loads
from spikemark.records.phases import COMPUTE, THREADS

LARGEST, SMALLEST, RANDOM, EQUAL = "largest", "smallest", "random", "one of equals"
ALIKE = 1e-3  # relative difference of expected counts below which ranks count as alike


@dataclass(frozen=True)
class Sample:
    """`why` of every rank that is to run, by its number, ascending."""

    why: dict[int, str]

    @property
    def ranks(self) -> list[int]:
        return list(self.why)


def work(loads: Loads) -> np.ndarray:
    """Expected counts per cycle by which a rank's time in each part of COMPUTE grows, [rank, part]."""
    counts = {
        "deliver": loads.of_rank(loads.events),
        "update": loads.of_rank(loads.neurons).sum(axis=0),
        THREADS: loads.of_rank(loads.events),
        "collocate": loads.collocated,
    }
    return np.stack([counts[part] for part in COMPUTE], axis=1).astype(np.float64)


def choose(counts: np.ndarray, number: int, seed: int) -> Sample:
    """`number` of the ranks with these counts [rank, part of COMPUTE].

    The first has the most synaptic events, the second the fewest, the others are drawn. Where all ranks have
    the same counts, the first and the last rank stand for these two. Raises BadInput for more than there are.
    """
    ranks = len(counts)
    if not 1 <= number <= ranks:
        raise BadInput(f"sample={number}; allowed: 1 to {ranks}, the ranks of --of")
    keys = [counts[:, COMPUTE.index(part)] for part in ("collocate", "update", "deliver")]
    keys = [np.round(key / key.max(), 9) if key.max() > 0 else key for key in keys]
    order = np.lexsort([np.arange(ranks)[::-1], *keys])  # the last is the largest, of equals the first rank
    names = (EQUAL, EQUAL) if alike(counts) else (LARGEST, SMALLEST)
    why = {int(order[-1]): names[0]}
    if number > 1:
        why[int(order[0])] = names[1]
    left = [rank for rank in range(ranks) if rank not in why]
    drawn = np.random.default_rng(seed).permutation(left)[: number - len(why)]
    why |= {int(rank): RANDOM for rank in drawn}
    return Sample(dict(sorted(why.items())))


def alike(counts: np.ndarray) -> bool:
    """True if all ranks are expected to do the same in every part."""
    most = counts.max(axis=0)
    return bool(np.all(most - counts.min(axis=0) <= ALIKE * most))


def filled(number: int, side_by_side: int, ranks: int) -> int:
    """The number of ranks to run so that every one has as many neighbours, if there are enough ranks."""
    return min(ranks, -(-number // side_by_side) * side_by_side)
