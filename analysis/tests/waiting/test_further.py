"""Ranks that were not measured: what they are like, and when there may be none."""

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.waiting import PREDICTORS
from spikemark.waiting.further import DRAWS, MOST_TIMES, Further, check, middle
from spikemark.waiting.planted import SD_S, unequal_ranks

RANKS, CYCLES = 8, 4000


def times(spread_s: float, seed: int = 1, ranks: int = RANKS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return unequal_ranks(spread_s * rng.standard_normal(ranks), 0.8, rng, CYCLES)


def effects(measured: np.ndarray, ranks: int = MOST_TIMES * RANKS) -> np.ndarray:
    return np.array([cast.effects for cast in Further(measured).casts(ranks, SD_S)])


def test_they_are_refused_where_the_measured_ones_cannot_speak_for_them():
    check(3, 3)
    check(2, 3)
    check(16, 4)
    with pytest.raises(BadInput, match="ranks=17: at most 16, 4 times those of the run"):
        check(17, 4)
    with pytest.raises(
        BadInput, match="ranks=4: the run has 3; a prediction for more ranks needs at least 4"
    ):
        check(4, 3)
    with pytest.raises(BadInput, match="ranks=33"):
        PREDICTORS["iid"].fit(times(0.0)).predict("conventional", ranks=33)


def test_their_effects_spread_as_the_measured_ones_and_a_little_more():
    many = times(SD_S, ranks=64)
    known = many.mean(axis=1).std(ddof=1)
    assert effects(many, 256).std() == pytest.approx(known, rel=0.05)
    few = many[:4]
    assert effects(few, 16).std() > 1.1 * few.mean(axis=1).std(ddof=1)  # how they differ is hardly known


def test_equal_ranks_have_equal_further_ones():
    noise = Further(times(0.0)).parts.rank_mean_known[0]
    assert effects(times(0.0)).std() < 1.5 * noise


def test_sets_are_ordered_by_what_they_make_ranks_wait():
    measured = times(SD_S)
    slowest = effects(measured).max(axis=1) - effects(measured).mean(axis=1)
    assert slowest[:5].max() < slowest[-5:].min()
    assert len(slowest) == DRAWS


def test_their_times_have_the_course_that_all_share():
    shared = 4 * SD_S * np.sin(np.arange(CYCLES) / 100)
    for step in (1, 10):
        steps = (times(0.0) + shared).reshape(RANKS, -1, step).sum(axis=2)
        batches = list(Further(times(0.0) + shared).times(steps, step, 12))
        assert sum(len(batch) for batch in batches) == DRAWS
        assert all(batch.shape[1:] == (12, CYCLES // step) for batch in batches)
        np.testing.assert_array_equal(
            batches[0][:, :RANKS], np.broadcast_to(steps, (len(batches[0]), *steps.shape))
        )
        course = shared.reshape(-1, step).sum(axis=1)
        for further in batches[0][0, RANKS:]:
            assert np.corrcoef(further, course)[0, 1] > 0.9


@pytest.mark.parametrize("name", ["correlated", "replay"])
@pytest.mark.parametrize("schedule", ["conventional", "overlapped", "hierarchical"])
def test_intervals_are_wider_with_further_ranks_the_more_the_less_is_known(name, schedule):
    def width(measured: np.ndarray, ranks: int) -> float:
        made = PREDICTORS[name].fit(measured).predict(schedule, 10, ranks=ranks)
        low, high = made.waiting.interval
        assert 0 <= low < made.waiting_s < high
        return (high - low) / made.waiting_s

    measured = times(SD_S)
    assert width(measured, 8) < width(measured, 16)
    assert width(measured, 16) < width(measured[:4], 16)


def test_the_middle_and_what_is_beyond():
    assert middle(np.array([3.0, 1.0, 8.0])) == (3.0, (2.0, 5.0))
