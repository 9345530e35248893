"""Plans and how ranks wait under them, against the recursion of lanes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.models.recursion import Lane, evaluate
from spikemark.models.statistics import lump
from spikemark.network.meetings import plan
from spikemark.network.schedules import SCHEDULES
from spikemark.waiting.predictor import cut, met
from spikemark.waiting.replay import Replay


@given(
    ranks=st.integers(2, 5),
    windows=st.integers(2, 30),
    window=st.integers(1, 3),
    lag=st.integers(0, 3),
    exchange=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 99),
)
def test_with_a_lag_as_the_recursion(ranks, windows, window, lag, exchange, seed):
    c = np.random.default_rng(seed).random((ranks, windows * window))
    asked = plan("overlapped", window * (lag + 1), ranks, lag)
    steps = c.reshape(ranks, windows, window).sum(axis=2)
    found = met(steps, asked, exchange)
    course = evaluate(c, [Lane(window, lag, exchange_s=exchange)]).waiting_s.mean(axis=0)
    expected = course.reshape(windows, window).sum(axis=1)
    assert found.series[:-1] == pytest.approx(expected[:-1], abs=1e-12)  # the last holds the drain
    if not lag:
        assert found.series == pytest.approx(expected, abs=1e-12)
        assert found.drain == 0


def test_runs_side_by_side_are_independent():
    steps = np.random.default_rng(2).random((3, 4, 50))
    asked = plan("overlapped", 2, 4)
    together = met(steps, asked, 0.1)
    for run, alone in enumerate(steps):
        one = met(alone, asked, 0.1)
        assert together.series[run] == pytest.approx(one.series)
        assert together.drain[run] == pytest.approx(float(one.drain))


def test_drain_is_what_the_recursion_waits_at_the_end():
    c = np.random.default_rng(3).normal(1, 0.1, (200, 4, 400))  # as many runs, to compare means
    found = met(c, plan("overlapped", 2, 4))
    total = evaluate(c, [Lane(1, 1)]).waiting_s.mean(axis=1).sum(axis=-1).mean()
    assert (found.series.sum(axis=-1) + found.drain).mean() == pytest.approx(total, rel=0.02)


def test_a_short_run_with_a_lag_is_asked_about_as_short():
    """Ranks begin level and end together: a run of 50 cycles waits otherwise than one of 1000."""
    c = np.random.default_rng(5).normal(1, 0.1, (8, 1000))
    fitted = Replay.fit(c)
    asked = plan("overlapped", 4, 8)
    for cycles in (50, 250, 1000):
        pieces = cut(lump(c, 2), cycles // 2)
        assert pieces.shape == (1000 // cycles, 8, cycles // 2)
        exact = [evaluate(one, [Lane(1, 1)]).waiting_s.mean(axis=0).sum() for one in pieces]
        made = fitted.predict("overlapped", 4, cycles=cycles)
        assert made.cycles == cycles
        assert made.waiting_s == pytest.approx(np.mean(exact), rel=0.1)
    with pytest.raises(BadInput, match="cycles=7: delay_ratio=4 of overlapped needs at least 8"):
        fitted.predict("overlapped", 4, cycles=7)
    short, long = (fitted.predict("overlapped", 4, cycles=n).waiting_per_cycle_s for n in (50, 1000))
    assert short > 1.2 * long  # the end weighs more
    run = met(lump(c, 2), asked)
    assert run.per_window(500) == pytest.approx(run.series.mean())
    assert run.per_window(10**9) == pytest.approx(run.series[250:].mean())


@pytest.mark.parametrize(("ratio", "group_period"), [(6, 2), (6, 3), (4, 1), (4, 4), (2, 6), (5, None)])
def test_groups_as_the_recursion(ratio, group_period):
    c = np.random.default_rng(4).random((6, 60))
    asked = plan("hierarchical", ratio, 6, group_period=group_period)
    steps = c.reshape(6, -1, asked.step).sum(axis=2)
    assert asked.group in (2, 3)
    group = tuple(m // asked.group for m in range(6))
    lanes = [Lane(group_period or ratio, group=group), Lane(ratio)]
    expected = evaluate(c, lanes).waiting_s.mean(axis=0).sum()
    assert met(steps, asked).series.sum() == pytest.approx(expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_has_a_plan(schedule):
    made = plan(schedule, 6, 4)
    assert (made.schedule, made.ranks) == (schedule, 4)
    assert made.window * (made.lag + 1) == made.delay_ratio
    assert made.window % made.step == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("fast", 1, 2), "schedule='fast': known are conventional"),
        (("structure_aware", 0, 2), "delay_ratio=0: an integer of at least 1"),
        (("structure_aware", 2, 0), "ranks=0"),
        (("structure_aware", 2, 2, 1), "lag=1: only the schedule overlapped"),
        (("overlapped", 5, 2, 1), "delay_ratio=5: with lag=1 a multiple of 2"),
        (("overlapped", 5, 2, -1), "lag=-1"),
        (("hierarchical", 6, 4, None, 4), "group_period=4: a divisor or a multiple"),
        (("conventional", 1, 4, None, 4), "group_period=4: only the schedule hierarchical"),
    ],
)
def test_impossible_plans_are_refused(arguments, complaint):
    with pytest.raises(BadInput, match=complaint):
        plan(*arguments)
