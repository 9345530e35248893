"""The error of the mean of a correlated series, against another implementation and against the truth."""

import numpy as np
import pytest

from spikemark.waiting import series
from spikemark.waiting.planted import ar1


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
def test_block_length_is_that_of_politis_and_white(correlation):
    from arch.bootstrap import optimal_block_length

    x = ar1(correlation, (3000,), np.random.default_rng(3))
    covariance = series.autocovariance(x)
    theirs = float(optimal_block_length(x)["stationary"].iloc[0])
    # it counts a row of insignificant lags from one lag later
    assert series._politis_white(covariance / covariance[0]) == pytest.approx(theirs, rel=0.1)


def test_error_is_that_of_the_stationary_bootstrap():
    from arch.bootstrap import StationaryBootstrap

    x, block = ar1(0.8, (1000,), np.random.default_rng(3)), 20
    drawn = StationaryBootstrap(block, x, seed=1).var(np.mean, 3000).item() ** 0.5
    assert series.bootstrapped(series.autocovariance(x), block) == pytest.approx(drawn, rel=0.06)


def test_integrated_correlation_sets_the_error():
    rho, n = 0.9, 200_000
    found = series.mean(3 + ar1(rho, (n,), np.random.default_rng(1)))
    assert found.error == pytest.approx(np.sqrt((1 + rho) / (1 - rho) / n), rel=0.1)
    assert found.block >= 0.8 * series.TIMES / -np.log(rho)


@pytest.mark.parametrize("decay", [10.0, 300.0])
def test_decay_time(decay):
    assert series.decay_time(np.exp(-np.arange(10_000) / decay)) == pytest.approx(decay, rel=0.1)


@pytest.mark.parametrize(("correlation", "n"), [(0.0, 100), (0.9, 1000), (0.99, 10_000)])
def test_intervals_hold_the_mean(correlation, n):
    trials = 400
    x = ar1(correlation, (trials, n), np.random.default_rng(7))
    intervals = np.array([series.mean(one).interval() for one in x])
    held = ((intervals[:, 0] <= 0) & (intervals[:, 1] >= 0)).mean()
    assert 0.90 < held < 0.99  # nominal 0.95; a standard error of 0.011


def test_what_the_mean_took_does_not_hide_the_decay_time():
    """Long phases, few of them: far lags are correlated negatively, as they add up to -1/2."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = np.repeat(rng.random(60) < 0.2, rng.geometric(1 / 20, 60)).astype(float)
        if 0 < x.sum() < len(x):
            covariance = series.autocovariance(x)
            found.append(series.decay_time(covariance / covariance[0]))
    assert np.mean(np.array(found) > 5) > 0.95
    assert np.median(found) == pytest.approx(20, rel=0.5)


def test_the_slope_is_half_the_skewness():
    """Of independent elements: variance / n changes by skewness * SD / n with the mean."""
    x = np.random.default_rng(9).lognormal(0, 0.4, 300)
    skewness = ((x - x.mean()) ** 3).mean() / x.std() ** 3
    assert series.mean(x).slope == pytest.approx(skewness / 2 / len(x) ** 0.5, rel=0.3)
    assert series.mean(-x).slope == pytest.approx(-series.mean(x).slope)
    low, high = series.mean(x).interval()
    assert high - x.mean() > x.mean() - low


def test_intervals_hold_the_share_of_long_phases():
    held = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        long = rng.geometric(1 / 40, 400)
        x = np.repeat(rng.random(400) < 0.8, long)[:2000].astype(float)
        low, high = series.mean(x).interval()
        held.append(low <= 0.8 <= high)
    assert np.mean(held) > 0.90  # nominal 0.95; a standard error of 0.013


def test_constant_series_is_known():
    found = series.mean(np.full(50, 2.5))
    assert (found.value, found.error) == (2.5, 0.0)
    assert found.interval() == (2.5, 2.5)


@pytest.mark.parametrize("n", range(2, 20))
def test_short_series_have_intervals(n):
    """Runs of few windows, also where neighbours cancel."""
    for x in (np.random.default_rng(n).normal(size=n), np.arange(n) % 2.0, np.arange(float(n))):
        found = series.mean(x)
        low, high = found.interval()
        assert np.isfinite([low, high]).all() and low < found.value < high
