"""Modes of cycle times: planted mixtures are found, noise and tails are not taken for modes."""

import numpy as np
import pytest
from synthetic import compute_times

from spikemark.models.modes import modes

SEEDS = range(20)


def mixture(rng, share, at, n=20_000):
    """Normal times about 1 with an SD of 0.1, a share of them about `at`."""
    times = rng.normal(1, 0.1, n)
    minor = rng.random(n) < share
    times[minor] *= at
    return times.reshape(4, -1)


@pytest.mark.parametrize(
    ("share", "at"), [(0.05, 2), (0.02, 10), (0.3, 1.6), (0.45, 0.4), (0.01, 3)]
)
def test_a_planted_minor_mode_is_found(share, at):
    for seed in SEEDS:
        major, minor = modes(mixture(np.random.default_rng(seed), share, at))
        assert major.at == pytest.approx(1, rel=0.05) and minor.at == pytest.approx(at, rel=0.1)
        assert minor.share == pytest.approx(
            share, abs=0.015
        ) and major.share + minor.share == pytest.approx(1)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(1, 0.1, 2000),
        lambda rng: rng.normal(1, 0.1, 50_000),
        lambda rng: rng.exponential(1, 5000),
        lambda rng: rng.lognormal(0, 1, 5000),
        lambda rng: rng.lognormal(0, 0.5, 50_000),
        lambda rng: 1 + 0.05 * np.abs(rng.standard_t(3, 5000)),
        lambda rng: compute_times(2, 10_000, 1, 0.1, 0.9, 0, int(rng.integers(1 << 30))),
    ],
)
def test_one_mode_is_one(draw):
    assert sum(len(modes(draw(np.random.default_rng(seed)))) > 1 for seed in SEEDS) == 0


@pytest.mark.parametrize("at", [0.4, 1.7, 10])
def test_every_time_belongs_to_one_mode(at):
    times = mixture(np.random.default_rng(2), 0.1, at)
    found = modes(times)
    held = np.array([mode.holds(times) for mode in found])
    assert (held.sum(axis=0) == 1).all()
    assert held.mean(axis=(1, 2)) == pytest.approx([mode.share for mode in found])
    assert times[held[1]].mean() / times[held[0]].mean() == pytest.approx(at, rel=0.05)


def test_unequal_ranks_make_modes():
    rng = np.random.default_rng(1)
    found = modes(np.array([[1.0], [1.5], [3.0]]) + 0.05 * rng.standard_normal((3, 4000)))
    assert sorted(round(m.at, 1) for m in found) == [1.0, 1.5, 3.0]
    assert all(m.share == pytest.approx(1 / 3, abs=0.01) for m in found)


def test_modes_do_not_depend_on_the_unit():
    times = mixture(np.random.default_rng(3), 0.1, 2)
    for a, b in zip(modes(times), modes(1e-6 * times), strict=True):
        assert (1e-6 * a.at, a.share) == pytest.approx((b.at, b.share))


def test_nothing_to_find():
    assert modes(np.ones((2, 50))) == [] == modes(0.1 * np.arange(20) * 1e-12 + 0.3)
    assert len(modes(np.array([1.0, 1.1]))) == 1
