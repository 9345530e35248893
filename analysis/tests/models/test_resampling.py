"""Rows of a few ranks as times of all: means, order in time, scaling, and how sure the mean is."""

import numpy as np
import pytest

from spikemark.models.resampling import donors, relative_uncertainty, resampled

TIMED, RANKS, CYCLES = np.array([0, 3, 7]), 8, 50
ROWS = np.random.default_rng(3).gamma(100, 1e-6, (3, CYCLES, 3)).astype(np.float32)
ALIKE = np.ones((RANKS, 3))


def test_ranks_that_ran_keep_their_times_and_the_others_take_whole_rows_turned_in_time():
    chosen = donors(TIMED, RANKS, CYCLES, np.random.default_rng(1))
    times = resampled(ROWS, TIMED, ALIKE, chosen)
    assert times.dtype == np.float32 and times.shape == (RANKS, CYCLES, 3)
    assert np.array_equal(times[TIMED], ROWS)
    others = np.setdiff1d(np.arange(RANKS), TIMED)
    for rank in others:
        assert np.array_equal(
            times[rank], np.roll(ROWS[chosen.row[rank]], -chosen.turn[rank], axis=0)
        )
    assert len(set(chosen.turn[others])) > 1, "copies in step would be late together"


def test_phases_are_scaled_by_what_ranks_have_to_do_in_them():
    work = np.ones((RANKS, 3))
    work[1] = [4, 2, 0]
    chosen = donors(TIMED, RANKS, CYCLES, np.random.default_rng(1))
    times = resampled(ROWS, TIMED, work, chosen)
    assert times[1].mean(axis=0) == pytest.approx(
        ROWS[chosen.row[1]].mean(axis=0) * [4, 2, 0], rel=1e-5
    )


def test_the_doubt_covers_the_mean_of_all_ranks():
    """In 95 % of samples of four out of sixteen ranks, within the accuracy of 2000 of them."""
    rng, work = np.random.default_rng(5), np.ones((16, 1))
    work[:, 0] = rng.uniform(1, 3, 16)
    inside = 0
    for _ in range(2000):
        truth = work * (1 + 0.05 * rng.standard_normal((16, 1)))
        timed = np.sort(rng.choice(16, 4, replace=False))
        scaled = truth[timed] * work.mean() / work[timed]
        half = relative_uncertainty(truth[timed], timed, work) * scaled.mean()
        inside += abs(scaled.mean() - (truth / work).mean() * work.mean()) <= half
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)


def test_the_doubt_of_one_rank_is_unknown_and_that_of_all_is_none():
    means = ROWS.mean(axis=1)
    assert relative_uncertainty(means[:1], TIMED[:1], ALIKE) is None
    assert relative_uncertainty(means, np.arange(3), ALIKE[:3]) == 0
    assert relative_uncertainty(means[:1], np.array([0]), ALIKE[:1]) == 0
    assert relative_uncertainty(means, TIMED, ALIKE) > 0
