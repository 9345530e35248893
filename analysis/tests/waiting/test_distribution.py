"""The slowest of unequal ranks by quadrature: closed forms, Blom, brute force over all choices."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spikemark.models import order_statistics
from spikemark.waiting.distribution import Distribution, Slowest

Z = np.linspace(-6, 6, 1201)
NORMAL = Distribution(Z, stats.norm.cdf(Z))


@pytest.mark.parametrize("ranks", [2, 8, 32, 128])
def test_equal_ranks_are_order_statistics(ranks):
    found = Slowest.of([NORMAL] * ranks, np.zeros(ranks), ranks).expected()
    assert found == pytest.approx(order_statistics.expected_maximum(ranks), abs=2e-3)
    assert found == pytest.approx(stats.norm.ppf((ranks - 0.375) / (ranks + 0.25)), rel=0.06)


def test_two_unequal_ranks_have_a_closed_form():
    apart = 1.3
    found = Slowest.of([NORMAL] * 2, np.array([0.0, apart]), 2).expected()
    theta = np.sqrt(2)
    exact = apart * stats.norm.cdf(apart / theta) + theta * stats.norm.pdf(apart / theta)  # Clark 1961
    assert found == pytest.approx(exact, abs=1e-3)


def test_a_choice_of_ranks_is_the_mean_over_all_choices():
    effects = np.array([-1.0, 0.0, 0.3, 2.0, 0.5])
    for ranks in (1, 2, 3, 4):
        each = [
            Slowest.of([NORMAL] * ranks, effects[list(some)], ranks).expected()
            for some in combinations(range(len(effects)), ranks)
        ]
        assert Slowest.of([NORMAL] * 5, effects, ranks).expected() == pytest.approx(np.mean(each), abs=2e-3)


@given(
    effects=st.lists(st.floats(-3, 3), min_size=2, max_size=6), seed=st.integers(0, 999), skewed=st.booleans()
)
@settings(max_examples=25)
def test_more_ranks_never_reduce_the_expected_maximum(effects, seed, skewed):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(0, 0.8, 500) if skewed else rng.standard_normal(500)
    own = Distribution.of(values, float(values.std()), values.min(), values.max())
    found = [
        Slowest.of([own] * len(effects), np.array(effects), ranks).expected()
        for ranks in range(1, len(effects) + 1)
    ]
    assert np.all(np.diff(found) >= -1e-9)


@pytest.mark.parametrize("draw", ["standard_normal", "standard_exponential", "standard_cauchy"])
def test_distribution_keeps_mean_spread_and_tail(draw):
    values = getattr(np.random.default_rng(5), draw)(50_000)
    values = values[np.abs(values) < 1000]
    values -= values.mean()
    own = Distribution.of(values, float(values.std()), values.min(), values.max())
    density = np.diff(own.below)
    middle = (own.times[1:] + own.times[:-1]) / 2
    assert density @ middle == pytest.approx(0.0, abs=1e-6 * values.std())
    assert density @ middle**2 == pytest.approx(values.var(), rel=1e-6)
    far = float(np.quantile(values, 0.999))
    assert own.cdf(np.array([far]))[0] == pytest.approx(0.999, abs=3e-4)
    drawn = values[: 49_000 // 16 * 16].reshape(-1, 16).max(axis=1)
    expected = Slowest.of([own] * 16, np.zeros(16), 16).expected()
    assert expected == pytest.approx(drawn.mean(), abs=4 * drawn.std() / len(drawn) ** 0.5)


def test_weighted_values_are_values_that_happened_more_often():
    values = np.random.default_rng(6).standard_normal(1000)
    often = np.random.default_rng(7).integers(0, 4, 1000)
    weighted = Distribution.of(values, 1.0, values.min(), values.max(), often / often.mean())
    repeated = Distribution.of(np.repeat(values, often), 1.0, values.min(), values.max())
    assert weighted.times == pytest.approx(repeated.times)
    assert weighted.below == pytest.approx(repeated.below)


def test_the_product_of_measured_distributions_is_not_biased():
    """Four ranks in one of two phases, each seen ten times: the slowest is right on average."""
    rng, found = np.random.default_rng(8), []
    for _ in range(2000):
        slow = (rng.random((4, 10)) < 0.5).astype(float)
        own = [Distribution.of(one, 0.5, 0.0, 1.0) for one in slow]
        found.append(Slowest.of(own, np.zeros(4), 4).expected())
    error = np.std(found) / len(found) ** 0.5
    assert np.mean(found) == pytest.approx(1 - 0.5**4, abs=4 * error)
    assert error < 0.005


def test_given_one_rank_averages_to_the_maximum():
    effects = np.array([-1.0, 0.5, 0.5])
    slowest = Slowest.of([NORMAL] * 3, effects, 3)
    for rank, below in enumerate(slowest.below):
        table = slowest.given(rank)
        assert np.diff(below) @ (table[1:] + table[:-1]) / 2 == pytest.approx(slowest.expected(), abs=2e-3)
