"""Jitter means one thing: what calibration reads, prediction computes with, and simulation
draws.
"""

from dataclasses import replace

import numpy as np
import pytest
from small_machine import Machine

from spikemark.machines.jitter import jitter_of
from spikemark.machines.values import Values
from spikemark.models import recursion, serial
from spikemark.models.jitter import MIN_CORRELATION_TIME, Jitter, times_of_runs
from spikemark.models.jitter_estimate import scattering, share_limits
from spikemark.models.recursion import LaneMeetings
from spikemark.prediction import meeting
from spikemark.running.simulation import times

JITTERS = {
    "plain": Jitter(0.1),
    "correlated": Jitter(0.1, 9.0),
    "anticorrelated": Jitter(0.1, 0.2),
    "minor mode": Jitter(0.1, 1.0, 0.006, 8.8),
    "given correlation": Jitter(0.1, 1.0, 0.01, 3.0, correlation=0.5),
    "unequal nodes": Jitter(0.05, 1.0, 0.0, 1.0, 0.1),
    "common": Jitter(0.1, 4.0, common_share=0.5),
    "spells": Jitter(0.03, spell_share=0.1, spell_factor=1.3, spell_cycles=300.0),
    "short spells": Jitter(0.03, spell_share=0.1, spell_factor=1.3, spell_cycles=5.0),
    "all": Jitter(
        0.05, 4.0, 0.01, 3.0, 0.0, 0.3, spell_share=0.1, spell_factor=1.2, spell_cycles=500.0
    ),
}


def draw(
    jitter: Jitter, ranks: int, cycles: int, ranks_per_node: int = 1, seed: int = 1
) -> np.ndarray:
    """Times that a simulated run is given, of ranks whose mean is 1 s, [rank, cycle]."""
    means = np.full((ranks, 3), 1 / 3)
    return times.draw(means, cycles, jitter, seed, ranks_per_node).sum(axis=2, dtype=float)


def lockstep(means, jitter, window, ranks_per_node=1):
    group = meeting.SimilarRanks(means, jitter, ranks_per_node)
    return meeting._lockstep([group], window) - means.mean()


@pytest.mark.parametrize("name", [name for name in JITTERS if name != "unequal nodes"])
@pytest.mark.parametrize("window", [1, 10])
def test_predicted_and_simulated_ranks_wait_as_long(name, window):
    jitter = JITTERS[name]
    times = draw(jitter, 16, 60_000)
    drawn = recursion.evaluate(times, [LaneMeetings(window)]).waiting_per_cycle_s
    assert lockstep(np.ones(16), jitter, window) == pytest.approx(drawn, rel=0.05)


@pytest.mark.parametrize("ranks_per_node", [1, 4])
def test_ranks_of_a_node_share_its_mean(ranks_per_node):
    """Few nodes differ less than many ranks; the mean over many draws of the nodes."""
    jitter, means = JITTERS["unequal nodes"], np.ones(8)
    drawn = np.mean(
        [
            recursion.evaluate(
                draw(jitter, 8, 100, ranks_per_node, seed), [LaneMeetings(1)]
            ).waiting_per_cycle_s
            for seed in range(400)
        ]
    )
    assert lockstep(means, jitter, 1, ranks_per_node) == pytest.approx(drawn, rel=0.05)
    alone = lockstep(means, jitter, 1, 8)
    assert alone == pytest.approx(lockstep(means, Jitter(0.05), 1), rel=0.01)


def test_a_short_correlation_time_is_less_than_independence():
    means = np.ones(32)
    short, none = (lockstep(means, Jitter(0.1, time), 10) for time in (0.2, 1.0))
    assert short < 0.6 * none
    assert Jitter(0.1, 0.0).rho == Jitter(0.1, MIN_CORRELATION_TIME).rho > -1


@pytest.mark.parametrize("name", ["plain", "correlated", "minor mode", "common", "spells", "all"])
def test_calibration_reads_what_was_drawn(name):
    """The mean is that of the kernel times; CV, correlation, share and factor are those of the
    profile.
    """
    jitter = JITTERS[name]
    if jitter.spell_share:
        jitter = replace(jitter, spell_cycles=4000.0)
    times = draw(jitter, 4, 100_000)
    found = scattering(times)
    read = found.jitter
    assert times.mean() == pytest.approx(1, rel=0.03 if jitter.spell_share else 0.01)
    assert read.cv == pytest.approx(jitter.cv, rel=0.05)
    assert read.correlation_time == pytest.approx(jitter.correlation_time, rel=0.1)
    assert read.minor_share == pytest.approx(jitter.minor_share, rel=0.1, abs=1e-4)
    assert read.common_share == pytest.approx(jitter.common_share, abs=0.03)
    if jitter.minor_share:
        assert read.minor_factor == pytest.approx(jitter.minor_factor, rel=0.05)
    assert (found.spells > 0) == (jitter.spell_share > 0)
    if jitter.spell_share:
        low, high = share_limits(read.spell_share, found.spells)
        assert low <= jitter.spell_share <= high
        assert read.spell_factor == pytest.approx(jitter.spell_factor, rel=0.02)
        assert read.spell_cycles == pytest.approx(jitter.spell_cycles, rel=0.5)


def test_the_correlation_from_cycle_to_cycle_has_the_integrated_time():
    for time in (0.5, 1.0, 9.0):
        rho = Jitter(0.1, time).rho ** np.arange(400)
        assert serial.integrated_time(rho, c=400.0) == pytest.approx(time, rel=1e-6)


def test_what_is_asked_for_is_taken_from_the_profile_unless_it_is_given():
    inputs = Values(Machine())
    assert jitter_of(inputs, "a test") == Jitter(0.1)


@pytest.mark.parametrize("ranks", [3, 100])
def test_runs_side_by_side_have_the_times_that_each_has_alone(ranks):
    jitters = list(JITTERS.values())
    noise = JITTERS["all"].noise(np.random.default_rng(1), np.random.default_rng(2), ranks, 500)
    together = times_of_runs(jitters, noise)
    for jitter, of_run in zip(jitters, together, strict=True):
        np.testing.assert_allclose(of_run, jitter.times(noise), rtol=1e-12)


@pytest.mark.parametrize("sd", [0.01, 0.1, 0.4])  # with the last, times end at 0
def test_a_distribution_is_looked_up_as_it_is_interpolated(sd):
    group = meeting.SimilarRanks(np.ones(2), replace(JITTERS["all"], cv=sd))
    distribution = meeting._distribution(group.jitter, 10, sd)
    x = np.linspace(distribution.low, distribution.high, len(distribution.below))
    wanted = np.linspace(0.9 * x[0], 1.1 * x[-1], 5001).reshape(3, -1)
    interpolated = np.interp(wanted, x, distribution.below)
    np.testing.assert_allclose(distribution.at(wanted, 1.0), interpolated, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_side_by_side_are_as_probably_in_time_as_one_by_one(seed):
    random = np.random.default_rng(seed)
    jitter = replace(JITTERS["all"], node_spread=0.02)
    means = random.choice(random.uniform(0.5, 1.0, 7), 20)
    grid = np.linspace(0.9, 3.0, 50)
    sd = meeting._window_sd(jitter, 5)
    together = meeting._below_alone(meeting.SimilarRanks(means, jitter), 5, sd, grid)
    one_by_one = np.ones(len(grid))
    for mean in meeting._rounded_means(meeting.SimilarRanks(means, jitter)):
        sd_of_rank = float(np.hypot(sd, 0.02))
        one_by_one *= meeting._distribution(jitter, 5, sd_of_rank).at(grid, mean)
    np.testing.assert_allclose(together, one_by_one, rtol=1e-12)
