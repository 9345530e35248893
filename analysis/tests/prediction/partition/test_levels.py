"""Loads of levels: sums along the lines of a grid are those of the whole matrix of every hop."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy import sparse

from spikemark.prediction.partition import levels
from spikemark.prediction.partition.forwarding import Forwarding
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


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("side", levels.SIDES)
@pytest.mark.parametrize("sizes", [(4, 6), (2, 3, 4)])
def test_an_order_only_renames_ranks(sizes, side, merged):
    """What a rank sends is what the rank at its position sends without an order."""
    pairs = uneven(0.5)
    position = np.random.default_rng(3).permutation(24)
    at = np.argsort(position)
    moved = pairs[at][:, at]  # by position
    usual = levels.hops(moved, sizes, side, _onto(moved, merged))
    found = levels.hops(pairs, sizes, side, _onto(pairs, merged), Forwarding(position))
    for own, other in zip(usual, found, strict=True):
        assert other.flow.toarray()[at][:, at] == pytest.approx(own.flow.toarray())
        assert other.forwarded[at] == pytest.approx(own.forwarded)


def _onto(pairs: np.ndarray, merged: bool):
    return (lambda sets: Placed(pairs).onto(sets, None)) if merged else None


@pytest.mark.parametrize("side", levels.SIDES)
def test_a_table_moves_words_to_its_bridges(side):
    """Word by word, with ranks in an order of their own."""
    pairs, size = uneven(0.5), 4
    rng = np.random.default_rng(4)
    position, bridge = rng.permutation(24), rng.integers(0, size, (6, 24))
    at, flows = np.argsort(position), np.zeros((2, 24, 24))
    for s, r in np.argwhere(pairs > 0):
        own, away = (s, r) if side == "sender" else (r, s)
        group = position[own] // size
        via = at[group * size + bridge[group, away]]
        if position[away] // size == group:
            via = r if side == "sender" else s
        flows[0, s, via] += pairs[s, r] * (s != via)
        flows[1, via, r] += pairs[s, r] * (via != r)
    found = levels.hops(pairs, (size, 6), side, None, Forwarding(position, bridge))
    for hop, expected in zip(found, flows, strict=True):
        assert hop.flow.toarray() == pytest.approx(expected)


@pytest.mark.parametrize("side", levels.SIDES)
def test_the_usual_table_changes_nothing(side):
    """Through member j for members j of other groups, merged or not."""
    pairs, bridge = uneven(0.5), np.tile(np.arange(24) % 4, (6, 1))
    for merged in (False, True):
        usual = levels.hops(pairs, (4, 6), side, _onto(pairs, merged))
        found = levels.hops(pairs, (4, 6), side, _onto(pairs, merged), Forwarding(None, bridge))
        for own, other in zip(usual, found, strict=True):
            assert other.flow.toarray() == pytest.approx(own.flow.toarray())
