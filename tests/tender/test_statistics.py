"""Statistics of acceptance against exact formulae, against simulated runs, and against each other."""

import math

import numpy as np
import pytest
from scipy import special, stats

from spikemark.core.errors import BadInput
from spikemark.tender import statistics
from spikemark.tender.statistics import BEST, MEAN, MEDIAN, RULES, RUNS, WORST, Groups, Spread

MADE = {MEDIAN: np.median, BEST: np.min, MEAN: np.mean, WORST: np.max}


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("rule", RULES)
def test_probabilities_are_those_of_simulated_runs(rule, runs):
    drawn = np.random.default_rng(7).standard_normal((200_000, runs))
    made = MADE[rule](drawn, axis=1)
    for z in (-1.0, 0.0, 0.3, 1.0, 2.0):
        assert statistics.exceeds(z, runs, rule) == pytest.approx((made > z).mean(), abs=0.005)


def test_one_run_is_the_same_for_every_rule():
    for rule in RULES:
        assert statistics.exceeds(0.7, 1, rule) == pytest.approx(stats.norm.sf(0.7), rel=1e-9)


@pytest.mark.parametrize("runs", [1, 3, 10, 20])
def test_the_mean_is_normal_and_with_an_estimated_spread_students_t(runs):
    for tolerance in (0.0, 0.01, 0.02, 0.05):
        z = tolerance * math.sqrt(runs) / 0.02
        assert statistics.fails(Spread(0.02), runs, tolerance, MEAN) == pytest.approx(stats.norm.sf(z))
        for degrees in (3, 9, 40):
            found = statistics.fails(Spread(0.02, degrees), runs, tolerance, MEAN)
            assert found == pytest.approx(stats.t.sf(z, degrees), abs=2e-4), (tolerance, degrees)


def test_best_worst_and_odd_median_are_binomial():
    p = stats.norm.sf(0.5)  # of one run
    assert statistics.fails(Spread(0.02), 5, 0.01, BEST) == pytest.approx(p**5)
    assert statistics.fails(Spread(0.02), 5, 0.01, WORST) == pytest.approx(1 - (1 - p) ** 5)
    assert statistics.fails(Spread(0.02), 5, 0.01, MEDIAN) == pytest.approx(stats.binom.sf(2, 5, p))


def test_two_runs_have_their_mean_as_median():
    for z in (-2.0, 0.0, 0.4, 3.0):
        assert statistics.exceeds(z, 2, MEDIAN) == pytest.approx(statistics.exceeds(z, 2, MEAN), abs=1e-8)


def test_without_tolerance_the_middle_fails_every_second_time():
    for rule, runs in ((MEDIAN, 5), (MEDIAN, 10), (MEAN, 20)):
        assert statistics.fails(Spread(0.02), runs, 0.0, rule) == pytest.approx(0.5, abs=1e-6)
    assert statistics.fails(Spread(0.02), 20, 0.0, WORST) > 0.999999
    assert statistics.fails(Spread(0.02), 20, 0.0, BEST) < 1e-6


def test_runs_that_detect_a_shortfall_follow_the_closed_form():
    for spread, tolerance in ((0.05, 0.0), (0.05, 0.02), (0.1, 0.02), (0.03, 0.01)):
        step = stats.norm.ppf(0.9) * 1.05 * spread / (0.05 - tolerance)
        assert statistics.runs_needed(Spread(spread), tolerance, MEAN) == max(1, math.ceil(step**2))
    assert statistics.runs_needed(Spread(0.02), 0.05, MEAN) is None  # the tolerance hides it
    assert statistics.runs_needed(Spread(0.02), 0.05, MEDIAN) is None


@pytest.mark.parametrize("rule", RULES)
def test_the_runs_that_detect_are_the_fewest(rule):
    spread = Spread(0.03)
    found = statistics.runs_needed(spread, 0.01, rule)
    if rule == BEST:
        assert found == 1 or found is None
        return
    assert statistics.fails(spread, found, 0.01, rule, 0.05) >= 0.9
    fewer = found - (2 if rule == MEDIAN else 1)
    assert fewer < 1 or statistics.fails(spread, fewer, 0.01, rule, 0.05) < 0.9


def test_the_remedy_of_the_mean_follows_the_closed_form():
    for spread in (0.02, 0.05, 0.1):
        exact = (stats.norm.ppf(0.95) * spread * (2 + 0.05) / 0.05) ** 2
        found = statistics.remedy(Spread(spread), MEAN)
        assert found.runs == math.ceil(exact)


@pytest.mark.parametrize("degrees", [math.inf, 12])
@pytest.mark.parametrize("rule", RULES)
def test_a_remedy_keeps_both_risks(rule, degrees):
    spread = Spread(0.02, degrees)
    found = statistics.remedy(spread, rule)
    if rule == BEST and degrees == 12:  # with many runs, the best of a bad machine is good
        assert found is None
        return
    assert found is not None and 0 <= found.least <= found.most
    for tolerance in (found.least, found.most):
        assert statistics.fails(spread, found.runs, tolerance, rule) <= 0.05 + 1e-6
        assert 1 - statistics.fails(spread, found.runs, tolerance, rule, 0.05) <= 0.05 + 1e-6


def test_too_wide_a_spread_has_no_remedy():
    assert statistics.remedy(Spread(0.3), MEAN, most=100) is None


def test_a_machine_without_noise_passes_or_fails_for_sure():
    for rule in RULES:
        assert statistics.fails(Spread(0.0), 3, 0.0, rule) == 0
        assert statistics.fails(Spread(0.0), 3, 0.02, rule, 0.05) == 1
        assert statistics.remedy(Spread(0.0), rule).runs == 1


def test_the_spread_is_pooled_over_groups_of_any_size():
    rng = np.random.default_rng(3)
    groups = Groups(
        [list(mean * (1 + 0.03 * rng.standard_normal(20))) for mean in (0.1, 1.0, 50.0)] + [[4.0]]
    )
    assert groups.spread.degrees == 57 and groups.spread.value == pytest.approx(0.03, rel=0.25)
    low, high = groups.spread.interval()
    assert low < groups.spread.value < high
    exact = 57 * groups.spread.value**2
    assert low == pytest.approx(math.sqrt(exact / stats.chi2.ppf(0.975, 57)))
    assert Spread(0.02).interval() is None


def test_resampling_normal_runs_agrees_with_the_formulae():
    z = special.ndtri((np.arange(2000) + 0.5) / 2000)  # as normal as 2000 runs can be
    groups = Groups([list(1 + 0.02 * z)])
    for rule in RULES:
        for runs in RUNS:
            for shortfall in (0.0, 0.05):
                exact = statistics.fails(Spread(0.02), runs, 0.02, rule, shortfall)
                found = statistics.resampled(groups, runs, 0.02, rule, shortfall)
                assert found == pytest.approx(exact, abs=0.015), (rule, runs, shortfall)


def test_heavy_tails_differ_where_the_worst_counts():
    """A run in ten takes 20 % longer: the worst of many then fails far more often than a normal says."""
    groups = Groups([[1.0, 1.001, 0.999, 1.0, 1.002, 0.998, 1.0, 1.001, 0.999, 1.2]])
    normal, drawn = (
        statistics.fails(groups.spread, 10, 0.05, WORST),
        statistics.resampled(groups, 10, 0.05, WORST),
    )
    assert drawn == pytest.approx(1 - 0.9**10)
    assert statistics.resampled(groups, 5, 0.02, MEDIAN) < statistics.fails(groups.spread, 5, 0.02, MEDIAN)
    assert abs(normal - drawn) > 0.05


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: Spread(-0.1), "spread=-0.1; allowed: 0 or more, below 1"),
        (lambda: Spread(math.nan), "spread=nan; allowed"),
        (lambda: Spread(0.1, 0), "degrees=0; allowed: 1 or more"),
        (lambda: Groups([[1.0], [2.0]]), "no two repetitions of one run"),
        (lambda: Groups([[1.0, 0.0]]), "not above 0"),
        (lambda: statistics.exceeds(0.0, 0, MEAN), "runs=0; allowed: a whole number"),
        (lambda: statistics.exceeds(0.0, 1, "mode"), "rule='mode'; allowed: median, best, mean, worst"),
    ],
)
def test_bad_numbers_are_refused(call, complaint):
    with pytest.raises(BadInput) as error:
        call()
    assert complaint in str(error.value)
