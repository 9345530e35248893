"""Waiting from a profile's jitter: closed forms, Monte Carlo, and what it must never do."""

import numpy as np
import pytest

from spikemark.machines.jitter import Jitter
from spikemark.models.order_statistics import expected_maximum
from spikemark.models.recursion import Lane
from spikemark.prediction import waiting
from spikemark.prediction.waiting import Group

MEAN = 100e-6
PLAIN = Jitter(cv=0.1)
KINDS = {
    "plain": PLAIN,
    "correlated": Jitter(0.1, 19.0),
    "bimodal": Jitter(0.03, 1.0, 0.02, 3.0),
    "unequal nodes": Jitter(0.05, node_spread=0.04),
    "all": Jitter(0.05, 9.0, 0.01, 2.0, 0.03),
}


def lockstep(means, jitter, window):
    """Of ranks on equal nodes, one on each."""
    return float(waiting.lockstep([Group(means, jitter)], window)[0])


def through_lanes(means, jitter, lanes):
    return float(waiting.through_lanes([Group(means, jitter)], lanes)[0])


@pytest.mark.parametrize("ranks", [2, 32, 128])
@pytest.mark.parametrize("window", [1, 10])
def test_equal_independent_ranks_are_equation_9(ranks, window):
    waited = lockstep(np.full(ranks, MEAN), PLAIN, window)
    expected = expected_maximum(ranks) * 0.1 * MEAN / np.sqrt(window)
    assert waited == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kind", [k for k in KINDS if "nodes" not in k and k != "all"])
@pytest.mark.parametrize("window", [1, 10])
def test_quadrature_agrees_with_drawing(kind, window, monkeypatch):
    """Also for unequal ranks; the drawn effects of nodes are too few to compare."""
    monkeypatch.setattr("spikemark.prediction.waiting.CYCLES", 12_000)
    means = MEAN * np.linspace(0.9, 1.1, 16)
    drawn = through_lanes(means, KINDS[kind], [Lane(window)])
    assert drawn == pytest.approx(lockstep(means, KINDS[kind], window), rel=0.05)


def test_lasting_differences_are_waited_for_in_any_window():
    still = Jitter(0.0)
    means = np.array([1.0, 2.0, 4.0])
    for window in (1, 10):
        assert lockstep(means, still, window) == pytest.approx(4 - 7 / 3, rel=1e-2)
    uneven = Jitter(0.0, node_spread=0.05)
    assert lockstep(np.ones(32), uneven, 10) == pytest.approx(0.05 * expected_maximum(32), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_more_ranks_never_wait_less_and_longer_windows_never_more(kind):
    ranks = [lockstep(np.full(m, MEAN), KINDS[kind], 5) for m in (1, 2, 3, 8, 32, 128, 512)]
    assert ranks[0] == 0 and (np.diff(ranks) > 0).all()
    windows = [lockstep(np.full(32, MEAN), KINDS[kind], d) for d in (1, 2, 5, 10, 20)]
    assert (np.diff(windows) <= 1e-9 * MEAN).all()


def test_waiting_scales_with_the_time():
    for kind in KINDS.values():
        one = lockstep(np.full(8, MEAN), kind, 10)
        assert lockstep(np.full(8, 3 * MEAN), kind, 10) == pytest.approx(3 * one, rel=1e-9)
        lanes = [Lane(5, 1)]
        drawn = through_lanes(np.full(8, MEAN), kind, lanes)
        assert through_lanes(np.full(8, 3 * MEAN), kind, lanes) == pytest.approx(3 * drawn, rel=1e-9)


@pytest.mark.parametrize(("rho", "published"), [(0.0, (26, 8.1, 0.7)), (0.9, (26, 22, 7.4))])
def test_three_schedules_at_128_ranks(rho, published):
    """Excess over the mean in per cent, CV 0.1, D = 10: conventional, structure-aware, overlapped."""
    jitter = Jitter(0.1, correlation=rho)
    means = np.ones(128)
    found = (
        lockstep(means, jitter, 1),
        lockstep(means, jitter, 10),
        through_lanes(means, jitter, [Lane(5, 1)]),
    )
    # the published shares are of whole runs, whose end waits for the last rank
    for mine, theirs in zip(found, published, strict=True):
        assert 100 * mine == pytest.approx(theirs, rel=0.1, abs=0.3)


def test_groups_wait_less_than_all():
    groups = tuple(np.arange(16) // 4)
    means = np.full(16, MEAN)
    small = through_lanes(means, PLAIN, [Lane(1, 0, groups)])
    assert small == pytest.approx(lockstep(means[:4], PLAIN, 1), rel=0.05)
    assert small < lockstep(means, PLAIN, 1)


def test_an_exchange_that_is_not_hidden_is_waited_for():
    means = np.full(4, MEAN)
    hidden = through_lanes(means, PLAIN, [Lane(5, 1, exchange_s=MEAN)])
    late = through_lanes(means, PLAIN, [Lane(5, 1, exchange_s=10 * MEAN)])
    assert late > hidden + 0.5 * MEAN


@pytest.mark.parametrize("window", [1, 10])
def test_groups_scatter_each_in_its_own_way(window, monkeypatch):
    """Quadrature and drawing agree for every group; groups that scatter alike are one."""
    monkeypatch.setattr(waiting, "CYCLES", 12_000)
    means = MEAN * np.linspace(0.9, 1.1, 8)
    groups = [Group(means, PLAIN), Group(1.1 * means, KINDS["correlated"]), Group(means, KINDS["bimodal"])]
    found = waiting.lockstep(groups, window)
    assert waiting.through_lanes(groups, [Lane(window)]) == pytest.approx(found, rel=0.05)
    for kind in KINDS.values():
        for each in (1, 4):
            whole, (one, two) = Group(np.tile(means, 2), kind, each), (Group(means, kind, each),) * 2
            for waited in (
                lambda of: waiting.lockstep(of, window),
                lambda of: waiting.through_lanes(of, [Lane(window), Lane(2 * window, 1)]),
            ):
                assert waited([one, two]).mean() == pytest.approx(waited([whole])[0], rel=1e-9)
