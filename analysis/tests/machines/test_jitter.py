"""Jitter means one thing: what calibration reads, prediction computes with, and simulation draws."""

import numpy as np
import pytest
from small_machine import Machine

from spikemark.machines.jitter import LEAST, Jitter
from spikemark.machines.values import Values
from spikemark.measuring import runs as calibration
from spikemark.models import recursion, serial
from spikemark.models.recursion import Lane
from spikemark.prediction import meeting
from spikemark.running.simulation import times

JITTERS = {
    "plain": Jitter(0.1),
    "correlated": Jitter(0.1, 9.0),
    "anticorrelated": Jitter(0.1, 0.2),
    "minor mode": Jitter(0.1, 1.0, 0.006, 8.8),
    "given correlation": Jitter(0.1, 1.0, 0.01, 3.0, correlation=0.5),
    "unequal nodes": Jitter(0.05, 1.0, 0.0, 1.0, 0.1),
}


def draw(jitter: Jitter, ranks: int, cycles: int, ranks_per_node: int = 1, seed: int = 1) -> np.ndarray:
    """Times that a simulated run is given, of ranks whose mean is 1 s, [rank, cycle]."""
    means = np.full((ranks, 3), 1 / 3)
    return times.draw(means, cycles, jitter, seed, ranks_per_node).sum(axis=2, dtype=float)


def lockstep(means, jitter, window, ranks_per_node=1):
    group = meeting.Group(means, jitter, ranks_per_node)
    return meeting.lockstep([group], window) - means.mean()


@pytest.mark.parametrize("name", [name for name in JITTERS if name != "unequal nodes"])
@pytest.mark.parametrize("window", [1, 10])
def test_predicted_and_simulated_ranks_wait_as_long(name, window):
    jitter = JITTERS[name]
    drawn = recursion.evaluate(draw(jitter, 16, 60_000), [Lane(window)]).waiting_per_cycle_s
    assert lockstep(np.ones(16), jitter, window) == pytest.approx(drawn, rel=0.05)


@pytest.mark.parametrize("ranks_per_node", [1, 4])
def test_ranks_of_a_node_share_its_mean(ranks_per_node):
    """Few nodes differ less than many ranks; the mean over many draws of the nodes."""
    jitter, means = JITTERS["unequal nodes"], np.ones(8)
    drawn = np.mean([
        recursion.evaluate(draw(jitter, 8, 100, ranks_per_node, seed), [Lane(1)]).waiting_per_cycle_s
        for seed in range(400)
    ])  # fmt: skip
    assert lockstep(means, jitter, 1, ranks_per_node) == pytest.approx(drawn, rel=0.05)
    alone = lockstep(means, jitter, 1, 8)
    assert alone == pytest.approx(lockstep(means, Jitter(0.05), 1), rel=0.01)


def test_a_short_correlation_time_is_less_than_independence():
    means = np.ones(32)
    short, none = (lockstep(means, Jitter(0.1, time), 10) for time in (0.2, 1.0))
    assert short < 0.6 * none
    assert Jitter(0.1, 0.0).rho == Jitter(0.1, LEAST).rho > -1


@pytest.mark.parametrize("name", ["plain", "correlated", "minor mode"])
def test_calibration_reads_what_was_drawn(name):
    """The mean is that of the kernel times; CV, correlation, share and factor are those of the profile."""
    jitter = JITTERS[name]
    times = draw(jitter, 4, 100_000)
    found = calibration.fluctuation(times)
    assert times.mean() == pytest.approx(1, rel=0.01)
    assert found.cv == pytest.approx(jitter.cv, rel=0.05)
    assert found.correlation_time == pytest.approx(jitter.correlation_time, rel=0.1)
    assert found.share == pytest.approx(jitter.minor_share, rel=0.1, abs=1e-4)
    if jitter.minor_share:
        assert found.factor == pytest.approx(jitter.minor_factor, rel=0.05)


def test_the_correlation_from_cycle_to_cycle_has_the_integrated_time():
    for time in (0.5, 1.0, 9.0):
        rho = Jitter(0.1, time).rho ** np.arange(400)
        assert serial.integrated_time(rho, c=400.0) == pytest.approx(time, rel=1e-6)


def test_what_is_asked_for_is_taken_from_the_profile_unless_it_is_given():
    inputs = Values(Machine())
    assert Jitter.of(inputs, "a test") == Jitter(0.1)
