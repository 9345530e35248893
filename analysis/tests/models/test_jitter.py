"""The parameters of jitter are recovered from cycle times in which they were planted."""

import numpy as np
import pytest
from by_day import more_by_night

from spikemark.models import jitter_estimate
from spikemark.models.jitter import Jitter, slow_in_window
from spikemark.models.jitter_estimate import scattering
from spikemark.waiting import theory
from spikemark.waiting.trace import trace

PLANTED = {
    "minor mode": Jitter(0.05, 1.0, 0.02, 2.5),
    "common": Jitter(0.05, 5.0, common_share=0.3),
    "spells": Jitter(0.03, 1.0, spell_share=0.1, spell_factor=1.2, spell_cycles=800.0),
    "correlated spells": Jitter(0.05, 9.0, spell_share=0.05, spell_factor=1.3, spell_cycles=900.0),
    "all": Jitter(
        0.04,
        5.0,
        0.01,
        3.0,
        common_share=0.3,
        spell_share=0.08,
        spell_factor=1.25,
        spell_cycles=1000.0,
    ),
}
#: Nothing but normal scatter.
PLAIN = {
    "independent": Jitter(0.03),
    "correlated": Jitter(0.05, 9.0),
    "long correlation": Jitter(0.05, 99.0),
    "wide": Jitter(0.2, 2.0),
}
SEEDS = range(20)
SOME_SEEDS = [range(7), pytest.param(SEEDS, marks=pytest.mark.nightly)]
#: Of what "all" has as well.
PLANTED_BY_NIGHT = {"minor mode", "spells", "correlated spells"}


def draw(jitter: Jitter, seed: int, ranks: int = 8, cycles: int = 20_000) -> np.ndarray:
    own, shared = np.random.default_rng(seed), np.random.default_rng(1000 + seed)
    return 1e-4 * jitter.draw(own, shared, ranks, cycles)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name in PLANTED_BY_NIGHT else ())
        for name in PLANTED
    ],
)
@pytest.mark.parametrize("seeds", more_by_night(SEEDS))
def test_intervals_hold_the_planted_parameters_in_nine_of_ten_cases(seeds, name):
    planted = PLANTED[name]
    held = []
    for seed in seeds:
        estimates = theory.estimates(trace(draw(planted, seed)))
        for parameter in theory.JITTER:
            truth = getattr(planted, parameter)
            quantity = getattr(estimates, parameter)
            if truth == getattr(Jitter(0.0), parameter):
                continue
            low, high = quantity.limits
            held.append(low <= truth <= high)
    assert len(held) >= len(seeds)
    assert np.mean(held) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SOME_SEEDS, ids=len)
@pytest.mark.parametrize("name", PLAIN)
def test_nothing_is_seen_where_nothing_was_planted(name, seeds):
    for seed in seeds:
        planted = PLAIN[name]
        jitter = scattering(draw(planted, seed)).jitter
        assert jitter.spell_share == 0
        assert jitter.minor_share < 1e-5
        independent_cycles = 20_000 / planted.correlation_time
        assert jitter.common_share < 2 / independent_cycles**0.5


@pytest.mark.parametrize("name", PLANTED)
def test_means_are_left_as_they_are(name):
    times = draw(PLANTED[name], seed=1, ranks=16, cycles=100_000)
    assert times.mean() == pytest.approx(1e-4, rel=0.01)


def test_planned_work_at_one_place_of_each_window_is_no_jitter():
    times = draw(Jitter(0.02), seed=1)
    times[:, 9::10] *= 1.5
    jitter = scattering(times, place=10).jitter
    assert jitter.cv == pytest.approx(0.02, rel=0.05)
    assert jitter.minor_share < 1e-5


@pytest.mark.parametrize(("share", "cycles"), [(0.1, 50.0), (0.3, 2.0), (0.02, 3000.0)])
@pytest.mark.parametrize("window", [1, 7, 400])
def test_the_time_in_spells_of_a_window_has_the_mean_and_variance_of_a_chain(share, cycles, window):
    """Correlation from one cycle to the next: 1 - begins - ends."""
    shares, probability = slow_in_window(share, cycles, window)
    mean = probability @ shares
    assert probability.sum() == pytest.approx(1)
    assert mean == pytest.approx(share)
    length = max(cycles, 1 / (1 - share))
    rho = 1 - 1 / length / (1 - share)
    lags = np.arange(1, window)
    variance = share * (1 - share) / window
    variance *= 1 + 2 * np.sum((1 - lags / window) * rho**lags)
    assert probability @ shares**2 - mean**2 == pytest.approx(variance, rel=1e-6)


def test_limits_of_few_spells_are_wide():
    low, high = jitter_estimate.share_limits(0.1, spells=1)
    assert low < 0.01 and high > 0.7
    low, high = jitter_estimate.length_limits(1000.0, ended=1)
    assert low < 300 and high > 10_000
