"""Blocks of the stationary bootstrap, against numbers that the package arch 8.0.0 gave."""

import numpy as np
import pytest

from spikemark.waiting import blocks


def ar1(phi: float, n: int) -> np.ndarray:
    series = np.random.default_rng(n).normal(size=n)
    for element in range(1, n):
        series[element] += phi * series[element - 1]
    return series


# arch.bootstrap.optimal_block_length(ar1(phi, n))["stationary"]
LENGTHS = {
    (20, -0.5): 0.554400,
    (20, 0.0): 2.356588,
    (20, 0.5): 2.279328,
    (20, 0.95): 4.119756,
    (100, -0.5): 8.989995,
    (100, 0.0): 1.047067,
    (100, 0.5): 4.852786,
    (100, 0.95): 9.093875,
    (2000, -0.5): 21.420187,
    (2000, 0.0): 2.281364,
    (2000, 0.5): 13.731595,
    (2000, 0.95): 66.566493,
}
# arch.bootstrap.StationaryBootstrap(3, np.arange(12), seed=1), its first three draws
DRAWS = [
    [5, 6, 7, 11, 0, 1, 9, 10, 2, 3, 10, 11],
    [10, 11, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7],
    [5, 0, 1, 2, 3, 4, 4, 5, 6, 7, 9, 10],
]


@pytest.mark.parametrize(("n", "phi"), LENGTHS)
def test_length_of_blocks(n, phi):
    assert blocks.optimal_length(ar1(phi, n)) == pytest.approx(LENGTHS[n, phi], rel=1e-5)


def indices_of(drawn: blocks.DrawnBlocks, n: int) -> np.ndarray:
    """The elements of the series in each draw, in their order, [draw, element]."""
    of_block = zip(drawn.first, drawn.elements, strict=True)
    indices = np.concatenate([np.arange(first, first + count) % n for first, count in of_block])
    assert np.array_equal(np.repeat(drawn.draw, drawn.elements), np.arange(len(indices)) // n)
    return indices.reshape(-1, n)


def test_draws():
    drawn = blocks.drawn(3, *blocks.random_numbers(12, draws=len(DRAWS), seed=1))
    assert indices_of(drawn, 12).tolist() == DRAWS


@pytest.mark.parametrize("n", [1, 2, 50, 300])
@pytest.mark.parametrize("length", [1.0, 1.3, 5.0, 1000.0])
def test_counts_are_those_of_the_elements(n, length):
    drawn = blocks.drawn(length, *blocks.random_numbers(n, draws=20, seed=4))
    expected = [np.bincount(one, minlength=n).tolist() for one in indices_of(drawn, n)]
    assert drawn.counts(n).tolist() == expected


def test_every_element_is_drawn_equally_often_and_blocks_have_their_mean_length():
    n, length = 50, 5.0
    drawn = blocks.drawn(length, *blocks.random_numbers(n, draws=4000, seed=2))
    indices = indices_of(drawn, n)
    share = drawn.counts(n).sum(axis=0) / indices.size
    assert share == pytest.approx(1 / n, rel=0.1)
    goes_on = (np.diff(indices, axis=1) % n == 1).mean()
    # a new block follows the last one by chance in one of n
    assert goes_on == pytest.approx(1 - (1 - 1 / n) / length, abs=0.005)
