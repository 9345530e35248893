"""Effective number of independent ranks: planted dependence, invariance, what cannot be told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from synthetic import compute_times

from spikemark.core.errors import BadInput
from spikemark.waiting.maxima import independent_ranks


@pytest.mark.parametrize("ranks", [2, 8, 64])
@pytest.mark.parametrize(("ar1", "rank_sd"), [(0.0, 0.0), (0.9, 0.3)])
def test_independent_ranks_count_in_full(ranks, ar1, rank_sd):
    """Whatever their serial correlation and lasting differences."""
    found = [independent_ranks(compute_times(ranks, 600, 1.0, 0.1, ar1, rank_sd, seed)) for seed in range(30)]
    assert sum(x.low <= ranks <= x.high for x in found) >= 27
    assert np.mean([x.value for x in found]) == pytest.approx(ranks, rel=0.03)


def test_long_runs_have_intervals_that_hold():
    found = [independent_ranks(compute_times(4, 10_000, 1.0, 0.1, 0.95, 0.1, seed)) for seed in range(20)]
    assert sum(x.low <= 4 <= x.high for x in found) >= 18
    assert np.mean([x.high - x.low for x in found]) < 1


def together(share: float, ranks: int = 8, windows: int = 20_000) -> np.ndarray:
    """Normal times of which a share of the variance is common to all ranks."""
    rng = np.random.default_rng(5)
    own = rng.standard_normal((ranks, windows))
    return np.sqrt(share) * rng.standard_normal((1, windows)) + np.sqrt(1 - share) * own


def test_a_common_mode_leaves_fewer():
    found = [independent_ranks(together(share)) for share in (0, 0.3, 0.6, 0.9, 1)]
    values = [x.value for x in found]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(8, rel=0.02) and values[-1] == pytest.approx(1, rel=1e-3)


def test_groups_of_equal_ranks_count_once():
    times = np.repeat(np.random.default_rng(2).random((3, 5000)), 4, axis=0)
    found = independent_ranks(times)
    assert found.low < 3 < found.high and found.value == pytest.approx(3, rel=0.03)


def test_the_number_is_the_one_of_equation_12():
    """Two normal ranks of known correlation: the mean of -ln V by quadrature."""
    rho = 0.6
    v = (np.arange(400) + 0.5) / 400
    x = stats.norm.ppf(v)
    below = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf(np.column_stack([x, x]))
    mean = np.sum(below / v) / 400  # of -ln V: the integral of P(V <= v) / v
    assert independent_ranks(together(rho, ranks=2, windows=100_000)).value == pytest.approx(
        1 / mean, rel=0.01
    )


@settings(max_examples=25)
@given(seed=st.integers(0, 99), ranks=st.integers(2, 6), scale=st.floats(1e-6, 1e3))
def test_unit_and_order_of_ranks_do_not_matter(seed, ranks, scale):
    rng = np.random.default_rng(seed)
    times = rng.lognormal(0, 1, (ranks, 200))
    found = independent_ranks(times)
    assert independent_ranks(scale * times[rng.permutation(ranks)]) == found
    assert found.value > 0.99 and found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.random.default_rng(1).random((1, 100)), "1 ranks, 100 windows"),
        (np.random.default_rng(1).random((2, 19)), "at least 2 ranks and 20 windows"),
        (np.ones((2, 100)), "do not vary"),
        (np.ones(100), "expected"),
    ],
)
def test_what_tells_nothing_is_refused(times, message):
    with pytest.raises(BadInput, match=message):
        independent_ranks(times)
