"""Planted parameters of the cycle times are recovered within their intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spikemark.models.statistics import lump
from spikemark.waiting.components import Components
from spikemark.waiting.estimates import Estimates, estimates
from spikemark.waiting.planted import ar1

RANKS, CYCLES = 6, 6000
CAUTIOUS = 0.9999  # so that no example fails by chance


def found(times: np.ndarray, level: float = CAUTIOUS) -> Estimates:
    return estimates(Components(times), level)


def holds(estimate, truth: float) -> bool:
    return estimate.low <= truth <= estimate.high


@settings(max_examples=20)
@given(
    mean=st.floats(20, 100),
    cv=st.floats(0.02, 0.12),
    correlation=st.sampled_from([0.0, 0.3, 0.8, 0.95]),
    rank_cv=st.sampled_from([0.0, 0.01, 0.1]),
    shared=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 9999),
)
def test_planted_parameters(mean, cv, correlation, rank_cv, shared, seed):
    rng = np.random.default_rng(seed)
    effects = rank_cv * mean * rng.standard_normal((RANKS, 1))
    effects -= effects.mean()
    sd = cv * mean
    times = mean + effects + sd * ar1(correlation, (RANKS, CYCLES), rng)
    times += shared * sd * ar1(correlation, (1, CYCLES), rng)
    here = found(times)
    assert holds(here.mean_s, mean)
    assert holds(here.own_sd_s, sd)
    assert holds(here.common_sd_s, shared * sd)
    assert holds(here.rho_1, correlation)
    assert here.correlation_time == pytest.approx((1 + correlation) / (1 - correlation), rel=0.5)
    for effect, estimate in zip(effects[:, 0], here.rank_effects_s, strict=True):
        assert holds(estimate, effect)
    assert not here.minor_share and not here.minor_factor


@settings(max_examples=15)
@given(
    share=st.floats(0.005, 0.3),
    factor=st.floats(1.7, 4.0),
    correlation=st.sampled_from([0.0, 0.8]),
    seed=st.integers(0, 9999),
)
def test_planted_minor_mode(share, factor, correlation, seed):
    rng = np.random.default_rng(seed)
    times = 50 + 4 * ar1(correlation, (RANKS, CYCLES), rng)
    times[rng.random(times.shape) < share] *= factor
    here = found(times)
    assert holds(here.minor_share, share)
    assert holds(here.minor_factor, factor)


def test_slow_drift_is_no_second_mode():
    for seed in range(10):
        assert not found(50 + 5 * ar1(0.999, (2, 2000), np.random.default_rng(seed))).minor_share


def test_equal_ranks_that_drift_are_taken_for_equal():
    times = 50 + 5 * ar1(0.95, (8, 4000), np.random.default_rng(1))
    unequal = times + np.linspace(-5, 5, 8)[:, None]
    assert Components(times).shrinkage < 0.6
    assert Components(unequal).shrinkage > 0.9
    assert np.ptp(Components(times).rank_effects) < 0.6 * np.ptp(times.mean(axis=1))


def test_spread_that_makes_ranks_wait_is_unbiased_under_drift():
    rng = np.random.default_rng(2)
    found = [Components(50 + 5 * ar1(0.99, (8, 1000), rng)).across for _ in range(200)]
    assert np.mean(found) == pytest.approx(25, rel=0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize("window", [2, 10, 50])
def test_variance_of_sums_follows_from_the_autocorrelation(correlation, window):
    """D sigma_e^2 (1 + 2 sum_{k<D} (1 - k/D) rho_k)."""
    times = 50 + 5 * ar1(correlation, (8, 20_000), np.random.default_rng(5))
    cycle, sums = Components(times), Components(lump(times, window))
    k = np.arange(1, window)
    weighted = 2 * np.sum((1 - k / window) * cycle.autocovariance[1:window])
    assert sums.own == pytest.approx(window * (cycle.autocovariance[0] + weighted), rel=0.05)


def test_parts_add_up():
    rng = np.random.default_rng(3)
    times = 50 + 5 * ar1(0.5, (4, 3000), rng) + np.array([[-3.0], [0], [1], [2]]) + ar1(0.9, (1, 3000), rng)
    parts = Components(times)
    assert parts.own + parts.rank_effects.var(ddof=1) == pytest.approx(parts.across)
    residuals = np.array([parts.residual(rank) for rank in range(4)])
    means = residuals.mean(axis=1) + parts.rank_effects
    assert residuals.var(axis=1).mean() + means.var(ddof=1) == pytest.approx(parts.across)
    assert parts.rank_effects.sum() == pytest.approx(0, abs=1e-9)
    assert np.corrcoef(parts.common_course, parts.step_means)[0, 1] == pytest.approx(1)


def test_times_that_do_not_vary():
    here = found(np.full((3, 100), 2.0))
    assert (here.mean_s.value, here.own_sd_s.value, here.common_sd_s.value) == (2.0, 0.0, 0.0)
    assert here.rho_1.reason == "the times do not vary" and here.minor_share.reason
