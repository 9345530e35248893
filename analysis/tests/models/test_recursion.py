"""The recursion of lanes: published cases, the Monte Carlo table, an event by event evaluation."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_network import describe
from synthetic import compute_times, write_run

from spikemark.core.errors import BadInput
from spikemark.models import order_statistics, recursion
from spikemark.models.injected import Truth
from spikemark.models.recursion import LaneMeetings, evaluate, lanes_of
from spikemark.models.statistics import lump
from spikemark.records import record

MONTE_CARLO_D = 10


def step_by_step(c: np.ndarray, lane: LaneMeetings) -> np.ndarray:
    """When each rank ends, by the recursion as it is written down: one lane of all ranks, whole
    windows.
    """
    ranks, cycles = c.shape
    windows = c.reshape(ranks, cycles // lane.period, lane.period).sum(axis=2)
    done = []  # F[m, k]
    for k in range(windows.shape[1]):
        ready = np.zeros(ranks) if k == 0 else done[k - 1].copy()
        if k - 1 - lane.lag >= 0:
            ready = np.maximum(ready, done[k - 1 - lane.lag].max() + lane.exchange_s)
        done.append(ready + windows[:, k])
    return np.full(ranks, done[-1].max() + lane.exchange_s)


@given(
    ranks=st.integers(2, 5),
    windows=st.integers(1, 7),
    period=st.integers(1, 4),
    lag=st.integers(0, 3),
    exchange_s=st.sampled_from([0.0, 0.4]),
    seed=st.integers(0, 99),
)
def test_one_lane_follows_the_recursion(ranks, windows, period, lag, exchange_s, seed):
    c = np.random.default_rng(seed).random((ranks, windows * period))
    lane = LaneMeetings(period, lag, exchange_s=exchange_s)
    course = evaluate(c, [lane])
    assert course.end_s == pytest.approx(step_by_step(c, lane))
    transport = 0 if lag else windows * exchange_s
    assert c.sum(axis=1) + course.waiting_s.sum(axis=1) + transport == pytest.approx(course.end_s)
    assert (course.waiting_s >= 0).all()


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    cycles=st.integers(1, 23),
    period=st.integers(1, 3),
    windows=st.integers(1, 4),
    lag=st.integers(0, 2),
    nested=st.booleans(),
    seed=st.integers(0, 99),
)
def test_groups_go_on_as_their_ranks_do(sizes, cycles, period, windows, lag, nested, seed):
    random = np.random.default_rng(seed)
    order = random.permutation(sum(sizes))
    near = np.repeat(np.arange(len(sizes)), sizes)
    far = random.integers(0, 2, size=len(near))
    if nested:
        far = random.integers(0, 2, size=len(sizes))[near]
    lanes = [
        LaneMeetings(period, 0, tuple(near[order].tolist()), exchange_s=0.1),
        LaneMeetings(period * windows, lag, tuple(far[order].tolist()), exchange_s=0.3),
        LaneMeetings(period * windows, lag, exchange_s=0.2),
    ]
    compute = random.random((3, len(near), cycles))
    by_groups = evaluate(compute, lanes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursion._Meeting, "of_groups", lambda *_: None)
        by_ranks = evaluate(compute, lanes)
    assert by_groups.waiting_s == pytest.approx(by_ranks.waiting_s, rel=1e-12, abs=1e-13)
    assert by_groups.end_s == pytest.approx(by_ranks.end_s, rel=1e-13)


@pytest.mark.parametrize("window", [1, 2, 5])
def test_without_a_lag_it_is_waiting_for_the_slowest(window):
    c = compute_times(4, 100, 1e-3, 0.1, 0.5, 0.05, seed=3)
    course = evaluate(c, [LaneMeetings(window)])
    slowest = lump(c, window).max(axis=0).sum()  # L26, eqs 3-4
    assert course.waiting_per_cycle_s == pytest.approx((slowest - c.sum(axis=1).mean()) / 100)
    assert course.end_s == pytest.approx(slowest)


def test_ranks_alone_and_empty_lists_make_nobody_wait():
    c = compute_times(3, 20, 1e-3, 0.1, 0, 0, seed=1)
    for lanes in ([], [LaneMeetings(1, group=(0, 1, 2))]):
        course = evaluate(c, lanes)
        assert not course.waiting_s.any()
        assert course.end_s == pytest.approx(c.sum(axis=1))


def test_groups_wait_for_their_own_and_then_for_all():
    c = np.array([[1.0, 1.0], [2.0, 1.0], [5.0, 1.0], [3.0, 1.0]])
    near, far = LaneMeetings(1, group=(0, 0, 1, 1)), LaneMeetings(2)
    waiting = evaluate(c, [near, far]).waiting_s
    assert waiting[:, 0].tolist() == [1, 0, 0, 2]
    assert waiting[:, 1].tolist() == [3, 3, 0, 0]  # 3 at the far lane, the near ones are even
    interleaved = evaluate(c[[0, 2, 1, 3]], [LaneMeetings(1, group=(7, 4, 7, 4)), far]).waiting_s
    assert interleaved[[0, 2, 1, 3]].tolist() == waiting.tolist()


@given(
    periods=st.sampled_from([(1,), (3,), (1, 3), (3, 1), (1, 2, 4), (2, 3), (40,), (1, 40)]),
    cycles=st.sampled_from([1, 3, 7, 12, 40, 80, 81, 120]),
    lag=st.integers(0, 2),
    exchange_s=st.sampled_from([0.0, 0.4]),
    block=st.sampled_from([2, 7, 40, 256]),
    seed=st.integers(0, 99),
)
def test_windows_side_by_side_are_those_one_after_another(
    periods, cycles, lag, exchange_s, block, seed
):
    """The lane with the longest period is of all ranks, and may have a lag."""
    c = np.random.default_rng(seed).random((2, 6, cycles))
    near = (0, 1, 0, 2, 2, 1)
    far = LaneMeetings(max(periods), lag, exchange_s=exchange_s)
    lanes = [
        far if p == far.period else LaneMeetings(p, group=near, exchange_s=exchange_s)
        for p in periods
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursion, "_independent_span", lambda meetings: 0)
        expected = evaluate(c, lanes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursion, "MAX_TIMES_AT_ONCE", block)
        found = evaluate(c, lanes)
    assert found.waiting_s == pytest.approx(expected.waiting_s, abs=1e-12)
    assert found.end_s == pytest.approx(expected.end_s)


def test_leading_axes_are_runs_of_their_own():
    c = Truth(1.0, 0.1, 0.5).draw(np.random.default_rng(2), 4, 30, runs=3)
    together = evaluate(c, [LaneMeetings(5, 1)])
    for run in range(3):
        assert together.waiting_s[run] == pytest.approx(
            evaluate(c[run], [LaneMeetings(5, 1)]).waiting_s
        )


@pytest.mark.parametrize(
    ("correlation", "conventional", "structure_aware", "overlapped"),
    [(0.0, 0.26, 0.081, 0.007), (0.9, 0.26, 0.22, 0.074), (0.99, 0.26, 0.255, 0.19)],
)
def test_monte_carlo_table(correlation, conventional, structure_aware, overlapped):
    """M = 128, D = 10, CV 0.1: excess over the mean compute time, of which the table has two
    digits.
    """
    c = Truth(1.0, 0.1, correlation).draw(np.random.default_rng(5), 128, 8000)
    d = MONTE_CARLO_D
    ends = [
        evaluate(c, [lane]).end_s.max()
        for lane in (LaneMeetings(1), LaneMeetings(d), LaneMeetings(d // 2, 1))
    ]
    found = [end / (8000 * c.mean()) - 1 for end in ends]
    assert found == pytest.approx([conventional, structure_aware, overlapped], rel=0.05, abs=0.001)
    assert found[0] == pytest.approx(0.1 * order_statistics.expected_maximum(128), rel=0.05)


def test_lanes_of_a_run(tmp_path):
    run = record.load_run(
        write_run(tmp_path / "run", schedule="structure_aware", ranks=2, cycles=100)
    )
    lanes = lanes_of(run)
    assert [(lane.period, lane.lag) for lane in lanes] == [(1, 0), (10, 0)]
    measured = run.waiting().mean()
    assert evaluate(run.compute(), lanes).waiting_per_cycle_s == pytest.approx(measured, rel=1e-4)


def test_waiting_without_a_barrier_is_unknown_not_zero(tmp_path):
    description = describe()
    description["record"]["barrier"] = False
    run = record.load_run(write_run(tmp_path, description=description))
    assert run.waiting() is None and run.spent_s("waiting") is None


def test_lanes_between_some_of_the_ranks_are_refused(tmp_path):
    path = write_run(tmp_path / "run", schedule="structure_aware", ranks=4, cycles=100)
    content = json.loads((path / "record.json").read_text())
    content["lanes"][1] |= {
        "ranks": 3,
        "groups": 2,
    }  # as of a lane from and to areas of three ranks
    (path / "record.json").write_text(json.dumps(content))
    with pytest.raises(BadInput, match="lane far has 2 groups of up to 3 of 4 ranks"):
        lanes_of(record.load_run(path))
