"""Waiting: replay against the recursion and closed forms, the ladder's sums, changes, refusals."""

import gc
import json
import tracemalloc
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from by_day import half_by_night
from synthetic import EXCHANGE_S, compute_times, write_run

from spikemark.core.errors import BadInput
from spikemark.models import order_statistics, statistics
from spikemark.models.injected import Truth
from spikemark.models.recursion import LaneMeetings, evaluate
from spikemark.models.statistics import lump
from spikemark.network.schedules import SCHEDULES, plan
from spikemark.records import record
from spikemark.waiting import theory, work
from spikemark.waiting.answer import answer, helps
from spikemark.waiting.bootstrap import means
from spikemark.waiting.changes import CHANGES, outcomes
from spikemark.waiting.ladder import (
    CYCLES_OF_BLOCK,
    PARTS_OF_TIME,
    clipped,
    drift_share,
    ladder,
    usual,
)
from spikemark.waiting.replay import Setting, further, predict
from spikemark.waiting.sentences import NEEDS_DELAYS
from spikemark.waiting.trace import CycleTrace, trace


def of(compute, overhead_s=0.0, exchange_s=0.0, **more) -> CycleTrace:
    """Ranks that meet in every cycle, each meeting with a cost beyond computing."""
    implied = compute.max(axis=0) - compute.mean(axis=0)
    exchanged = np.full(compute.shape[1], exchange_s)
    return CycleTrace(compute, waited=implied + overhead_s, exchanged=exchanged, **more)


def drawn(ranks=4, cycles=1000, seed=1, **truth) -> np.ndarray:
    return Truth(**{"mean_s": 1e-3, "sd_s": 1e-4} | truth).draw(
        np.random.default_rng(seed), ranks, cycles
    )


@pytest.mark.parametrize(("period", "d"), [(1, 10), (1, 7), (5, 10), (10, 10)])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_the_parts_add_up_to_the_measured_waiting(period, d, correlation):
    compute = drawn(cycles=999 // period * period, correlation=correlation, rank_sd_s=5e-5)
    sums = lump(compute, period)
    waited = (
        sums.max(axis=0)
        - sums.mean(axis=0)
        + np.random.default_rng(2).normal(1e-5, 2e-5, sums.shape[1])
    )
    found = ladder(CycleTrace(compute, period, waited, 0 * waited), d)
    total = sum(q.value for q in found.parts.values())
    assert total == pytest.approx(found.waiting.value, rel=1e-9)
    assert found.waiting.value == pytest.approx(waited.sum() / compute.shape[1])
    once = compute.mean(axis=1)
    assert found.parts["imbalance"].value == pytest.approx(once.max() - once.mean())
    assert all(found.parts[name].value >= 0 for name in PARTS_OF_TIME[:3])
    assert all(q.low <= q.value <= q.high for q in found.parts.values())


def late(compute: np.ndarray) -> np.ndarray:
    """A rank becomes slower in the course of the run."""
    times = compute.copy()
    times[3, times.shape[1] // 2 :] *= np.float32(1.3)
    return times


def interrupted(compute: np.ndarray) -> np.ndarray:
    """A rank loses its core now and then."""
    times = compute.copy()
    times[5, ::1000] += np.float32(20e-3)
    return times


@pytest.mark.slow
@pytest.mark.parametrize("planted", [late, pytest.param(interrupted, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("trace_of", "ranks", "copies"),
    [
        (trace, 64, 4.3),
        pytest.param(trace, 256, 1.4, marks=pytest.mark.nightly),
        pytest.param(of, 256, 1.5, marks=pytest.mark.nightly),
    ],
)
def test_an_answer_needs_little_more_room_than_the_times(planted, trace_of, ranks, copies):
    """With all that --json has; beside the times, which are there already.

    Most of what few ranks need is the room of a block, whatever their number: one more copy of
    their times is seen as well. What stays in memory from the first answer of a program (modules,
    random numbers) does not count.
    """
    cycles = 50_000
    compute = np.random.default_rng(3).normal(1e-3, 5e-5, (ranks, cycles)).astype(np.float32)
    run = trace_of(planted(compute))
    answer(trace_of(planted(compute[:8]))).content()
    gc.collect()
    tracemalloc.start()
    answer(run).content()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < copies * compute.nbytes, peak / compute.nbytes


@pytest.mark.parametrize(
    ("planted", "disturbed"),
    half_by_night([lambda compute: compute, late, interrupted], ["", "others used the machine"]),
)
@pytest.mark.slow
def test_some_ranks_at_a_time_give_the_same_answer(monkeypatch, planted, disturbed):
    """As all ranks at once do, but for the last digit of means."""
    compute = planted(drawn(ranks=7, cycles=1200))
    names = ["level-ranks", "slow-rank=2:1.5", "slow-rank=6:0.5", "slow-rank=0:2+level-ranks"]
    answers = []
    for ranks_at_a_time in (7, 3, 1):
        monkeypatch.setattr(work, "TIMES_OF_BLOCK", ranks_at_a_time * compute.shape[1])
        run = of(compute, overhead_s=1e-5, exchange_s=2e-5, disturbed=disturbed)
        found = [*outcomes(run, names), *helps(run)]
        answers.append({one.name: one.prediction for one in found})
    whole, *in_blocks = answers
    for answer_of_blocks in in_blocks:
        assert list(answer_of_blocks) == list(whole)
        for name, prediction in answer_of_blocks.items():
            for quantity in ("waiting", "runtime", "change", "saved"):
                found, expected = getattr(prediction, quantity), getattr(whole[name], quantity)
                assert found.value == pytest.approx(expected.value, rel=1e-12), (name, quantity)
                assert found.limits == pytest.approx(expected.limits, rel=1e-12), (name, quantity)


@pytest.mark.parametrize("more", [-1, 0, 1, 59, 60, 61])
def test_the_share_of_drift_does_not_depend_on_how_many_cycles_are_left_over(more):
    d = 60
    block = CYCLES_OF_BLOCK // d * d
    whole = drift_share(drawn(cycles=8 * block, correlation=0.99), d)
    share = drift_share(drawn(cycles=8 * block + more, correlation=0.99), d)
    assert share == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize(
    ("truth", "largest"),
    [
        ({}, "jitter"),
        ({"correlation": 0.99}, "drift"),
        ({"rank_sd_s": 1e-3, "mean_s": 1e-2}, "imbalance"),
    ],
)
def test_the_largest_part_is_what_was_planted(truth, largest):
    parts = ladder(of(drawn(8, 4000, **truth)), 20).parts
    assert max(PARTS_OF_TIME, key=lambda name: parts[name].value) == largest


def test_of_independent_times_jitter_is_what_the_theory_says():
    found = ladder(of(drawn(8, 20_000)), 10).parts["jitter"]
    assert found.value == pytest.approx(
        1e-4 * order_statistics.expected_maximum(8) * (1 - 10**-0.5), rel=0.02
    )


def test_planned_work_in_every_tenth_cycle_is_not_long():
    compute = drawn(cycles=5000)
    burst = compute.copy()
    burst[:, 9::10] += 5e-3
    plain, planned = (ladder(of(c, delay_ratio=10)) for c in (compute, burst))
    for name, q in planned.rare.items():
        assert q.value == pytest.approx(plain.rare[name].value, abs=1e-8)
    assert abs(planned.common.value) < 1e-5 < ladder(of(burst), 10).common.value
    assert (usual(burst, 10)[:, 9::10] > 5e-3).all()


def test_long_cycles_are_those_beyond_the_quantile_of_their_rank():
    compute = drawn(cycles=10_000)
    long = np.random.default_rng(3).choice(10_000, 8, replace=False)
    compute[2, long] += 0.02
    found = ladder(of(compute), 10)
    lost = clipped(compute) < compute - 1e-12
    assert lost[2, long].all() and lost.sum(axis=1) == pytest.approx(10, abs=1)
    assert sum(q.value for q in found.rare.values()) == pytest.approx(
        8 * 0.02 / 1e4 * 0.75, rel=0.1
    )
    assert not found.rare["jitter"].value < 0


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_replay_with_a_lag_is_the_recursion_to_the_end_of_the_run(lag):
    compute, t = drawn(correlation=0.9), 2e-5
    run = of(compute, exchange_s=t)
    d = 10 * (lag + 1)
    made = predict(run, Setting.from_run(run, "overlapped", d, lag=lag))
    assert made.waiting.value == pytest.approx(
        evaluate(compute, [LaneMeetings(10, lag, exchange_s=t)]).waiting_s.mean(0).sum()
    )
    assert made.waiting.low <= made.waiting.value <= made.waiting.high


@pytest.mark.parametrize("d", [1, 2, 10, 50])
def test_replay_without_a_lag_waits_for_the_slowest_of_each_window(d):
    compute = drawn(correlation=0.5)
    run = of(compute, overhead_s=1e-5, exchange_s=2e-5)
    made = predict(run, Setting.from_run(run, "structure_aware", d))
    sums, meetings = lump(compute, d), 1000 / d
    waited = (sums.max(axis=0) - sums.mean(axis=0)).sum() + 1e-5 * meetings
    assert made.waiting.value == pytest.approx(waited)
    assert made.runtime.value == pytest.approx(
        compute.mean(axis=0).sum() + waited + 2e-5 * meetings
    )
    assert made.saved.value == pytest.approx(run.waits.sum() - waited, abs=1e-12)
    whole = compute.mean(axis=0).sum() + run.waits.sum() + 2e-2
    assert made.change.value == pytest.approx(made.runtime.value / whole)


def test_groups_meet_in_between():
    compute = drawn(4)
    run = of(compute)
    made = predict(run, Setting.from_run(run, "hierarchical", 10, group_period=5))
    pairs = lump(compute, 5).reshape(2, 2, -1).max(axis=1)
    expected = lump(pairs, 2).max(axis=0).sum() - compute.mean(axis=0).sum()
    assert made.waiting.value == pytest.approx(expected)


@pytest.mark.parametrize("period", [2, 10])
def test_the_screen_says_how_often_groups_and_all_ranks_exchange(period):
    found = answer(of(drawn()), "hierarchical", delay_ratio=10, group_period=period)
    line = found.lines[1]
    assert "every 10 cycles" in line
    assert ("every 2 cycles" in line) == (period == 2)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_fewer_ranks_are_the_mean_over_all_choices(ranks):
    compute = drawn(6, 200, rank_sd_s=1e-4)
    run = of(compute)
    chosen = [lump(compute[list(some)], 5) for some in combinations(range(6), ranks)]
    expected = np.mean([(c.max(axis=0) - c.mean(axis=0)).sum() for c in chosen])
    assert predict(
        run, Setting.from_run(run, "structure_aware", 5, ranks=ranks)
    ).waiting.value == pytest.approx(expected)


def processes(ranks, seed, common=0.0, per_node=1, node=0.0, burst=0.0):
    """Independent ranks, with what all of them share, lasting effects of nodes, and planned
    work.
    """
    draw, truth = np.random.default_rng(seed), {"cycles": 2000, "seed": seed}
    compute = drawn(ranks, **truth) + common * (
        drawn(1, correlation=0.99, cycles=2000, seed=seed + 99) - 1e-3
    )
    compute += np.repeat(node * draw.standard_normal((ranks // per_node, 1)), per_node, axis=0)
    compute[:, 9::10] += burst
    return compute


@pytest.mark.parametrize("d", [1, 10])
@pytest.mark.parametrize("more", [{}, {"common": 1.0}, {"common": 0.3}, {"burst": 2e-3}])
@pytest.mark.parametrize("ranks", [4, 8])
def test_twice_the_ranks_wait_as_twice_the_ranks_do(ranks, more, d):
    """What all ranks share, and work in every tenth cycle, make nobody wait however many they
    are.
    """
    others = [lump(processes(2 * ranks, seed, **more), d) for seed in range(10, 20)]
    truth = np.mean([(c.max(axis=0) - c.mean(axis=0)).sum() for c in others])
    run = of(processes(ranks, 1, **more), delay_ratio=10)
    made, same = (
        predict(run, Setting.from_run(run, "structure_aware", d, ranks=n))
        for n in (2 * ranks, ranks)
    )
    assert made.waiting.value == pytest.approx(truth, rel=0.1)
    assert made.waiting.low <= truth <= made.waiting.high
    assert made.waiting.high - made.waiting.low > same.waiting.high - same.waiting.low


def test_further_nodes_have_effects_of_their_own():
    """Ranks of one node are late together: as many more nodes wait less than as many more ranks
    would.
    """
    how, nodes = {"per_node": 4, "node": 2e-4}, tuple("aaaabbbbccccdddd")
    truth, by = [], {"nodes": [], "ranks": []}
    for seed in range(12):
        c = lump(processes(32, 100 + seed, **how), 10)
        truth.append((c.max(axis=0) - c.mean(axis=0)).sum())
        for name, known in (("nodes", nodes), ("ranks", None)):
            run = of(processes(16, seed, **how), nodes=known)
            by[name].append(
                predict(run, Setting.from_run(run, "structure_aware", 10, ranks=32)).waiting
            )
    held = {
        name: sum(q.low <= np.mean(truth) <= q.high for q in found) for name, found in by.items()
    }
    assert held["nodes"] >= 10 and held["nodes"] >= held["ranks"]
    rows = further(processes(16, 1, **how), 32, nodes)[0].mean(axis=1).reshape(8, 4)
    assert rows.std(axis=1).max() < 0.2 * rows.mean(axis=1).std()


def test_iid_is_the_closed_form_with_the_cost_of_meetings():
    compute = drawn(8, 2000)
    run = of(compute, overhead_s=1e-5)
    spread = compute.std(ddof=1) * order_statistics.expected_maximum(8)
    found = theory.iid(run, plan("structure_aware", 10, 8))
    assert found.value == pytest.approx(200 * (10**0.5 * spread + 1e-5))
    assert (
        found.low
        <= 200 * (10**0.5 * 1e-4 * order_statistics.expected_maximum(8) + 1e-5)
        <= found.high
    )
    assert not theory.iid(run, plan("overlapped", 10, 8, 1))


def test_eq_12_with_measured_quantiles_holds_for_independent_times_but_not_for_equal_ranks():
    draw = np.random.default_rng(1)
    independent = trace(1e-3 * draw.exponential(size=(8, 20_000)))
    for one in theory.maxima(independent, 10):
        assert one.measured == pytest.approx(one.nominal, abs=0.02)
    together = trace(
        np.tile(1e-3 * draw.exponential(size=20_000), (8, 1)) + 1e-9 * draw.random((8, 20_000))
    )
    assert all(one.measured < one.nominal - 0.1 for one in theory.maxima(together, 10))


def test_estimates_contain_what_was_planted():
    truth = {"sd_s": 1e-5, "minor_share": 0.038, "minor_factor": 3.5}
    compute = drawn(4, 5000, **truth)
    long = compute > 2e-3
    compute[long] *= np.random.default_rng(4).uniform(
        0.85, 1.15, long.sum()
    )  # three to four times as long
    found = theory.estimates(trace(compute))
    assert found.minor_share.low <= 0.038 <= found.minor_share.high
    assert found.minor_factor.low <= 3.5 <= found.minor_factor.high
    found = theory.estimates(trace(drawn(8, 5000, correlation=0.8, rank_sd_s=5e-5)))
    assert found.rho_1.low <= 0.8 <= found.rho_1.high and not found.minor_share
    assert not found.spell_share
    assert found.own_sd_s.low <= 1e-4 <= found.own_sd_s.high
    assert found.correlation_time == pytest.approx(9, rel=0.25)


def test_changes_do_what_they_say():
    compute = drawn(8, 4000)
    run = of(compute, overhead_s=1e-5, exchange_s=2e-5, delay_ratio=10)
    base, *changed = outcomes(
        run, [*CHANGES, "slow-rank=3:1.5", "double-delay-ratio+halve-latency"]
    )
    by_name = {one.name: one.prediction.waiting.value for one in changed}
    implied, cost = run.implied.sum(), 4000 * 1e-5
    assert base.prediction.waiting.value == pytest.approx(implied + cost)
    assert by_name["halve-jitter"] == pytest.approx(implied / 2 + cost, rel=0.05)
    assert by_name["halve-latency"] == pytest.approx(implied + cost / 2)
    two = lump(compute, 2)
    twice = (two.max(axis=0) - two.mean(axis=0)).sum()
    assert by_name["double-delay-ratio"] == pytest.approx(twice + cost / 2)
    assert by_name["double-delay-ratio+halve-latency"] == pytest.approx(twice + cost / 4)
    slow = compute.copy()
    slow[3] *= 1.5
    assert by_name["slow-rank=3:1.5"] == pytest.approx(
        (slow.max(axis=0) - slow.mean(axis=0)).sum() + cost
    )
    (undone,) = outcomes(of(slow), ["level-ranks"])[1:]
    assert undone.prediction.waiting.value == pytest.approx(implied, rel=0.1)


@pytest.mark.parametrize("schedule", [None, "structure_aware"])
def test_the_answer_to_a_change_stands_first(schedule):
    run = of(np.random.default_rng(5).normal(1e-3, 5e-5, (4, 2000)))
    changes = ["halve-jitter", "slow-rank=2:0.9"]
    plain = answer(run, schedule, 10)
    asked = answer(run, schedule, 10, changes)
    first_lines = asked.lines[: len(changes)]
    for change, line in zip(changes, first_lines, strict=True):
        assert line.startswith(change)
    assert asked.sentence.startswith(changes[0])
    assert asked.lines[len(changes) :] == plain.lines


def test_impossible_changes_are_refused():
    run = of(drawn())
    slow = ("slow-rank=9:1.5", "slow-rank=1:0", "slow-rank=x")
    for change in (*slow, "halve-jitter=2", "halve-jitter+nothing"):
        with pytest.raises(BadInput, match=change.rpartition("+")[2]):
            outcomes(run, [change])


def test_a_change_that_the_run_cannot_answer_is_refused():
    run = of(drawn()[:, :100])
    base = Setting.from_run(run, "structure_aware", 5)
    outcomes(run, ["double-ranks"], base)
    with pytest.raises(BadInput, match="change=double-delay-ratio: ") as error:
        outcomes(run, ["double-ranks", "double-delay-ratio"], base)
    assert error.value.field == "change"


@pytest.mark.parametrize(
    ("compute", "field"),
    [
        (np.ones((1, 100)), "ranks=1"),
        (np.ones(100), "ranks="),
        (np.ones((2, 19)), "cycles=19"),
        (np.full((2, 100), -1.0), "compute=-1"),
        (np.full((2, 100), 850.0), "unit"),
    ],
)
def test_impossible_times_are_refused(compute, field):
    with pytest.raises(BadInput) as error:
        trace(compute)
    assert field in str(error.value)


@pytest.mark.parametrize(
    ("schedule", "d", "how", "field"),
    [
        ("structure_aware", 60, {}, "cycles=1000"),
        ("overlapped", 5, {"lag": 1}, "delay_ratio=5"),
        ("structure_aware", 5, {"lag": 1}, "lag=1"),
        ("conventional", 1, {"ranks": 17}, "ranks=17"),
        ("faster", 5, {}, "schedule='faster'"),
        ("hierarchical", 10, {"group_period": 3}, "group_period=3"),
    ],
)
def test_impossible_schedules_are_refused(schedule, d, how, field):
    with pytest.raises(BadInput) as error:
        Setting.from_run(of(drawn()), schedule, d, **how)
    assert field in str(error.value)


def test_runs_of_one_rank_or_whose_ranks_meet_elsewhere_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"ranks=1.* mpirun -n 2 miniapp .*--out .*one-2-ranks"):
        trace(record.load_run(write_run(tmp_path / "one", ranks=1)))
    late = trace(record.load_run(write_run(tmp_path / "aware", schedule="structure_aware")))
    assert late.period == 10
    with pytest.raises(BadInput, match="schedule=structure_aware"):
        Setting.from_run(late, "conventional")


def test_a_run_and_its_windows(tmp_path):
    run = record.load_run(
        write_run(tmp_path / "run", schedule="structure_aware", cycles=1007, ar1=0.5)
    )
    found = trace(run)
    assert found.waits.sum() == pytest.approx(
        run.record.timing.phases["synchronise"].mean_s, rel=1e-5
    )
    assert found.exchange_s == pytest.approx(EXCHANGE_S, rel=0.05)
    computing = float(found.compute.mean(axis=0).sum())
    whole = computing + found.waits.sum() + found.exchanges.sum()
    assert ladder(found).efficiency["parallel"] == pytest.approx(computing / whole, rel=1e-6)


@pytest.mark.parametrize("load", [0.0, 0.52])
@pytest.mark.slow
def test_a_disturbed_run_says_so_first_and_gets_no_advice(tmp_path, spikemark, load):
    path = write_run(tmp_path / "run", cycles=2000, cv=0.3, host__foreign_load=load)
    made = answer(trace(record.load_run(path)))
    assert bool(made.helps) == (not load)
    status, output, _ = spikemark("waiting", path)
    assert status == 0 and ("0.52" in output.splitlines()[0]) == bool(load)
    assert ("would save" in output) == (not load)


@pytest.mark.slow
def test_what_helps_is_sorted_sure_and_exact(tmp_path):
    path = write_run(tmp_path / "run", cycles=4000, cv=0.3, delay_ratio=8, host__foreign_load=0.0)
    run = trace(record.load_run(path))
    found = [one.prediction for one in answer(run).helps]
    values = [one.change.value for one in found]
    assert values == sorted(values) and all(one.change.high < 1 for one in found)
    lags = {one.plan.lag: one.plan.delay_ratio for one in found if one.plan.window > 1}
    assert lags == {0: run.largest(), 1: run.largest(1)}


def test_intervals_scatter_as_means_of_correlated_series_do():
    """Against the spread of the means of many such series; independent times would give a fourth of
    it.
    """
    series = drawn(400, 2000, correlation=0.9, seed=5)
    true = series.mean(axis=1).std()
    found = np.mean([means(one[:, None]).draws.std() for one in series[:20]])
    assert 0.9 < found / true < 1.6


@pytest.mark.slow
def test_the_verb_reads_files_and_folders_and_prints_all_of_it(spikemark, refusal, tmp_path):
    np.save(tmp_path / "times.npy", 1e3 * drawn())
    status, output, _ = spikemark("waiting", tmp_path / "times.npy", "--unit", "ms")
    assert status == 0 and all(f"  {name} " in output for name in PARTS_OF_TIME)
    assert max(map(len, output.splitlines())) < 240 and len(output.splitlines()) < 20
    run, overlapped = (
        write_run(tmp_path / "run", cv=0.2),
        ("--schedule", "overlapped", "--delay-ratio", 10),
    )
    for more in ((), ("--details",), (*overlapped, "--change", "halve-jitter")):
        status, output, errors = spikemark("waiting", run, *more)
        assert status == 0 and output, errors
    printed = json.loads(spikemark("waiting", run, *overlapped, "--json")[1])
    assert printed["replay"]["lag"] == 1 and printed["iid"]["value"] is None
    for words in (("--lag", 1), ("--unit", "s"), ("--change", "faster"), ("--schedule", "faster")):
        assert words[0].strip("-") in refusal("waiting", run, *words)
    words = ("waiting", tmp_path / "times.npy", "--unit", "ms", "--schedule", "overlapped")
    status, output, _ = spikemark(*words)
    assert status == 0 and "--delay-ratio" in output


def test_equal_times_make_nobody_wait():
    run = of(np.full((3, 200), 1e-3))
    found = ladder(run)
    assert [q.value for q in found.parts.values()] == pytest.approx([0.0] * 4, abs=1e-15)
    assert theory.estimates(run).rho_1.value is None
    assert compute_times(2, 20, 1e-3, 0, 0, 0, 1).std() == 0


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"schedule": "structure_aware", "delay_ratio": 4}, "delay_ratio"),
        ({"schedule": "overlapped", "delay_ratio": 4}, "delay_ratio"),
        ({"schedule": "overlapped", "delay_ratio": 4, "lag": 3}, "delay_ratio"),
        ({"schedule": "hierarchical", "delay_ratio": 4}, "delay_ratio"),
        ({"schedule": "structure_aware", "delay_ratio": 4, "ranks": 2}, "delay_ratio"),
        ({"delay_ratio": 4}, "delay_ratio"),
        ({"schedule": "structure_aware", "changes": ["double-delay-ratio"]}, "change"),
    ],
)
def test_ranks_never_meet_more_rarely_than_the_delays_allow(tmp_path, asked, field):
    run = trace(record.load_run(write_run(tmp_path / "run", ranks=4, delay_ratio=3)))
    assert run.largest() == 3
    with pytest.raises(BadInput) as error:
        answer(run, **asked)
    assert error.value.field == field
    allowed = answer(run, "structure_aware", delay_ratio=3)
    assert allowed.asked.plan.window == 3


@pytest.mark.parametrize("schedule", [*SCHEDULES, None])
@pytest.mark.parametrize("lag", [None, 2])
def test_d_is_assumed_alike_for_every_schedule_of_mere_times(schedule, lag):
    """Ten, or the largest below of which the lag leaves whole windows."""
    if lag is not None and schedule != "overlapped":
        return
    found = answer(of(drawn()), schedule, lag=lag)
    assumed = [line for line in found.lines if "--delay-ratio" in line]
    if schedule is not None and not SCHEDULES[schedule].uses_delay_ratio:
        assert not assumed
        return
    ratio = (found.asked or found.rarely).plan.delay_ratio
    assert ratio == (10 if lag is None else 9)
    assert len(assumed) == 1 and f"D = {ratio} " in assumed[0]
    stated = answer(of(drawn()), schedule, ratio, lag=lag)
    assert stated.asked == found.asked or stated.asked.waiting == found.asked.waiting
    assert not [line for line in stated.lines if "--delay-ratio" in line]


def test_nobody_knows_whether_the_network_of_mere_times_allows_a_window():
    known = answer(of(drawn()), delay_ratio=5)
    assert known.lines.count(NEEDS_DELAYS) == 1
    asked = answer(of(drawn()), "structure_aware", delay_ratio=5)
    assert asked.lines.count(NEEDS_DELAYS) == 1


@pytest.mark.parametrize("schedule", [None, "structure_aware", "conventional"])
@pytest.mark.parametrize(
    ("name", "value"), [("delay_ratio", 0), ("delay_ratio", -5), ("ranks", 0), ("group_period", 0)]
)
def test_numbers_of_a_schedule_are_positive(schedule, name, value):
    with pytest.raises(BadInput) as error:
        answer(of(drawn()), schedule, **{name: value})
    assert error.value.field == name


@pytest.mark.parametrize(
    ("schedule", "d", "how"),
    [
        ("structure_aware", 1, {}),
        ("structure_aware", 10, {}),
        ("overlapped", 10, {"lag": 0}),
        ("overlapped", 10, {"lag": 1}),
        ("overlapped", 12, {"lag": 3}),
        ("hierarchical", 1, {}),
        ("hierarchical", 10, {}),
        ("hierarchical", 10, {"group_period": 2}),
    ],
)
def test_doubling_changes_one_field_of_the_plan_and_what_follows_from_it(schedule, d, how):
    run = of(drawn())
    base = replace(Setting.from_run(run, schedule, d, **how), cost=0.5)
    follows = {"double-delay-ratio": {"window"}, "double-ranks": {"group"}}
    doubled = {"double-delay-ratio": "delay_ratio", "double-ranks": "ranks"}
    for change, field in doubled.items():
        changed = CHANGES[change](base, run)
        before, after = vars(base.plan), vars(changed.plan)
        assert after[field] == 2 * before[field] and changed.cost == base.cost
        for name in before.keys() - {field} - follows[change]:
            assert after[name] == before[name], name
    rarely = CHANGES["double-delay-ratio"](base, run).plan
    assert rarely.window == 2 * base.plan.window


def test_doubling_d_of_a_schedule_without_one_keeps_the_cost_of_a_meeting():
    run = of(drawn())
    for schedule in ("conventional", "placement_only"):
        base = replace(Setting.from_run(run, schedule), cost=0.5)
        rarely = CHANGES["double-delay-ratio"](base, run)
        assert (rarely.plan.schedule, rarely.plan.window) == ("structure_aware", 2)
        assert rarely.cost == base.cost


def test_halving_the_jitter_keeps_planned_work_in_every_tenth_cycle():
    """As if the work of that cycle came on top afterwards."""
    compute = drawn(4, 2000)
    planned = np.zeros(2000)
    planned[::10] = 2e-3
    expected = outcomes(of(compute, delay_ratio=10), ["halve-jitter"])[1].prediction
    found = outcomes(of(compute + planned, delay_ratio=10), ["halve-jitter"])[1].prediction
    assert found.waiting.value == pytest.approx(expected.waiting.value, rel=0.02)


@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.float16, np.longdouble])
def test_times_of_any_numbers_are_answered_as_floating_point_ones(kind):
    random = np.random.default_rng(1)
    compute = random.integers(1, 4, (4, 400)).astype(kind)
    compute[2] += 1
    asked = ["level-ranks", "slow-rank=1:1.5", "halve-jitter"]
    found = answer(trace(compute), changes=asked)
    expected = answer(trace(compute.astype(np.float64)), changes=asked)
    for one, other in zip(found.changes, expected.changes, strict=True):
        assert one.prediction.waiting.value == pytest.approx(other.prediction.waiting.value)
    assert found.ladder.parts == expected.ladder.parts


@pytest.mark.parametrize(
    "compute",
    [
        np.ones((2, 100), dtype=bool),
        np.full((2, 100), "1e-3"),
        np.full((2, 100), None),
        np.full((2, 100), 1e-3 + 1e-4j),
        np.full((2, 100), np.timedelta64(1, "ms")),
    ],
)
def test_what_is_no_number_is_refused(compute):
    for function in (trace, statistics.times):
        with pytest.raises(BadInput) as error:
            function(compute)
        assert error.value.field == "cycle times" and "\n" not in str(error.value)


def test_ranks_that_meet_rarely_are_not_replayed_as_if_they_met_often():
    run = of(drawn())
    late = CycleTrace(run.compute, period=10)
    for replayed in (Setting.from_run, partial(Setting.meeting_rarely, every=20)):
        with pytest.raises(BadInput) as error:
            replayed(late)
        assert error.value.field == "schedule"
