"""Loads of levels: sums along the lines of a grid are those of the whole matrix of every hop."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy import sparse

from spikemark.prediction.partition import levels
from spikemark.prediction.partition.levels import Level

GRIDS = [(24,), (4, 6), (6, 4), (2, 3, 4), (4, 1, 6), (2, 2, 3, 2), (24, 1)]


class Placed:
    """What `loads` asks of Hits: traffic onto sets of ranks."""

    def __init__(self, pairs: np.ndarray) -> None:
        self.pairs = pairs

    def onto(self, sets: np.ndarray, weight: None) -> np.ndarray:
        return 0.7 * self.pairs @ (sets[:, np.newaxis] == np.arange(sets.max() + 1))


def uneven(filled: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    found = rng.lognormal(0, 1, (24, 24)) * (rng.random((24, 24)) < filled)
    np.fill_diagonal(found, 0)
    return found


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("side", levels.SIDES)
@pytest.mark.parametrize("sizes", GRIDS)
@pytest.mark.parametrize("filled", [1, 0.7, 0.2, 0])
def test_sums_along_lines_are_those_of_the_matrix(filled, sizes, side, merged):
    pairs = uneven(filled)
    hits = Placed(pairs)
    onto = (lambda sets: hits.onto(sets, None)) if merged else None
    whole = [Level.of(hop) for hop in levels.hops(pairs, sizes, side, onto)]
    for given in (pairs, sparse.csr_array(pairs)):
        found = levels.loads(hits, given, sizes, side, merged)
        for own, other in zip(found, whole, strict=True):
            for a, b in zip(astuple(own), astuple(other), strict=True):
                assert a == pytest.approx(b, rel=1e-12, abs=1e-9)
