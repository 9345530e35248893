"""What intervals promise holds for groups of runs made of real cycles: planted differences, fixed
seeds.
"""

import numpy as np
import pytest
from by_day import half_by_night
from compared import cycles_s, drawn

from spikemark.diff.compare import between
from spikemark.diff.estimate import ASSUMPTION, HISTORY, REPEATED, VarianceComponents
from spikemark.diff.times import CYCLE

pytestmark = pytest.mark.slow

TRIALS, REPETITIONS = 400, 5
MOST_ALARMS = 0.05 + 2 * (0.05 * 0.95 / TRIALS) ** 0.5


def compared(
    rng, change=0.0, repetitions=REPETITIONS, spread=0.02, sessions=0.0, known=None, apart=False
):
    """The estimate of a cycle of two groups, the second longer by `change`."""
    runs = []
    for factor in (1.0, 1 + change):
        session = factor * (1 + sessions * rng.standard_normal())
        runs += [drawn(rng, session, spread) for _ in range(repetitions)]
    second = np.repeat([False, True], repetitions)
    return between(runs, second, [1] * len(runs), known_spread=known, apart=apart)[CYCLE]


def trials(change=0.0, **options):
    """[trial]: whether the interval lies above 0, and whether it holds the change."""
    rng = np.random.default_rng(7)
    found = [compared(rng, change, **options) for _ in range(TRIALS)]
    intervals = np.array([one.interval() for one in found]) / np.array(
        [[one.first_s] for one in found]
    )
    truth = change * np.array([1.0] * TRIALS)
    held = (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
    return intervals, held, found


@pytest.mark.parametrize(("spread", "repetitions"), half_by_night([0.0, 0.1], [2, 5]))
def test_unchanged_runs_raise_alarms_in_at_most_five_per_cent(spread, repetitions):
    _, held, found = trials(spread=spread, repetitions=repetitions)
    assert {one.spread for one in found} == {REPEATED}
    assert 1 - held.mean() <= MOST_ALARMS


@pytest.mark.parametrize("repetitions", [1, 5])
def test_sessions_that_drift_raise_alarms_in_at_most_five_per_cent(repetitions):
    """What sessions have in common is assumed where one side was measured after the other."""
    drifting = {"sessions": 0.02, "repetitions": repetitions}
    _, held, found = trials(apart=True, **drifting)
    assert all(one.sessions_assumed for one in found)
    assert 1 - held.mean() <= MOST_ALARMS
    if repetitions > 2:
        assert 1 - trials(**drifting)[1].mean() > MOST_ALARMS  # as if they had been made in turns


@pytest.mark.parametrize("change", [0.1, -0.2])
def test_intervals_hold_the_planted_change(change):
    _, held, _ = trials(change)
    assert 1 - held.mean() <= MOST_ALARMS
    assert 1 - held.mean() >= 0.01  # nor are they far too wide


def test_ten_per_cent_are_found_in_nine_of_ten_cases():
    intervals, *_ = trials(0.1, spread=0.02)
    assert (intervals[:, 0] > 0).mean() >= 0.9
    assert (
        intervals[:, 0] > 0.05
    ).mean() >= 0.5  # with --fail-above 5%, one needs more or quieter runs


@pytest.mark.parametrize("spread", [0.02, 0.05])
def test_a_single_pair_is_not_taken_for_more_than_it_is(spread):
    """The cycles of a run know nothing of the run-to-run spread, which is assumed."""
    _, held, found = trials(spread=spread, repetitions=1)
    assert {one.spread for one in found} == {ASSUMPTION}
    assert 1 - held.mean() <= MOST_ALARMS


def test_a_history_replaces_the_assumption():
    rng = np.random.default_rng(3)
    before = np.array(cycles_s([drawn(rng, spread=0.02) for _ in range(31)]))
    known = {CYCLE: VarianceComponents(before.var(ddof=1) / before.mean() ** 2, 30)}
    intervals, held, found = trials(spread=0.02, repetitions=1, known=known)
    assert {one.spread for one in found} == {HISTORY}
    assert 1 - held.mean() <= MOST_ALARMS
    widths = np.diff(intervals).mean(), np.diff(trials(spread=0.02, repetitions=1)[0]).mean()
    assert widths[0] < 0.7 * widths[1]
