"""Waiting that was not timed: its limits hold the truth, and stand beside it wherever it is
shown.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import compute_times, write_run

from spikemark.records import imported, record
from spikemark.records.imported import derived
from spikemark.waiting.ladder import ladder
from spikemark.waiting.replay import Setting, predict
from spikemark.waiting.trace import trace

STORED = sorted((Path(__file__).parents[2] / "data" / "own-runs").glob("*.npz"))


def holds(compute, communicate, wait):
    """Derived waiting, whose limits hold the mean of `wait`."""
    found = derived.waiting(compute, communicate)
    low, high = found.limits
    assert low <= wait.mean() <= high
    assert low <= found.waiting.mean() <= high * (1 + 1e-9)
    return found


def program(seed, ranks=4, cycles=1000, barrier=0.3, late_s=1e-4, lost=0.0, rank_sd=0.05):
    """Computing, communication and waiting [rank, cycle] in s of ranks with a barrier before each
    exchange.

    The barrier takes a share of what the exchange takes. In a share `lost` of the calls, a rank
    loses its core for 20 ms.
    """
    draw = np.random.default_rng(seed)
    compute = compute_times(
        ranks, cycles, mean_s=1e-3, cv=0.05, ar1=0.5, rank_sd=rank_sd, seed=seed
    )
    begun, wait, exchange = np.zeros(ranks), np.empty_like(compute), np.empty_like(compute)

    def late(share):
        return share * draw.exponential(late_s, ranks) + 0.02 * (draw.random(ranks) < lost)

    for cycle in range(cycles):
        come = begun + compute[:, cycle]
        go = come.max() + barrier * 2e-5 + late(barrier)
        begun = go.max() + 2e-5 + late(1.0)
        wait[:, cycle], exchange[:, cycle] = go - come, begun - go
    return compute, wait + exchange, wait


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_own_records_lie_within_the_limits_and_near_the_middle(path):
    """On 2 ranks, waiting is two to seven times as long as until the last rank comes."""
    held = np.load(path)
    found = holds(held["compute"], held["wait"] + held["exchange"], held["wait"])
    assert found.waiting.mean() == pytest.approx(held["wait"].mean(), rel=0.5)


@pytest.mark.parametrize("barrier", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("lost", [0.0, 0.01])
@pytest.mark.parametrize("late_s", [1e-7, 1e-4])
def test_made_up_programs_lie_within_the_limits(barrier, lost, late_s):
    compute, communicate, wait = program(1, barrier=barrier, lost=lost, late_s=late_s)
    holds(compute, communicate, wait)
    holds(
        compute * np.linspace(0.3, 1, len(compute))[:, None], communicate, wait
    )  # not all is in a column


def test_ranks_may_leave_an_exchange_at_different_times():
    """The compute times alone miss half of the waiting until the last rank comes."""
    compute, communicate, wait = program(1, ranks=8, barrier=0.0, rank_sd=0.02)
    assert (compute.max(axis=0) - compute.mean(axis=0)).mean() < 0.7 * wait.mean()
    timeline = derived.timeline(compute, communicate)
    assert timeline.fits.all()
    assert timeline.until_last.mean() == pytest.approx(wait.mean(), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [("wait",), ("wait", "communicate"), ()])
def test_a_run_without_its_waiting_gives_what_the_run_gives(tmp_path, spikemark, hidden):
    """Our own record with columns hidden: waiting, its parts and predictions stay within 5 %."""
    run = record.load_run(
        write_run(tmp_path / "run", ranks=8, cycles=2000, mean_s=1e-3, ar1=0.5, rank_sd=0.03)
    )
    shown = {
        "compute": run.compute(),
        "communicate": run.waiting() + run.phase("exchange"),
        "wait": run.waiting(),
    }
    kept = {name: values for name, values in shown.items() if name not in hidden}
    made = imported.save(tmp_path / "times", imported.ReadTimes(kept), {})
    (whole, truth), (blind, found) = ((one, ladder(one, 10)) for one in map(trace, (run, made)))
    assert found.waiting.value == pytest.approx(truth.waiting.value, rel=0.05)
    assert found.waiting.kind == ("modelled" if hidden else "measured")
    assert (found.exchange is None) == ("communicate" in hidden)
    for name in ("imbalance", "drift", "jitter"):
        assert found.parts[name].value == pytest.approx(truth.parts[name].value, rel=1e-4)
    ours, theirs = (predict(one, Setting.meeting_rarely(one, 10)) for one in (blind, whole))
    assert ours.waiting.value == pytest.approx(theirs.waiting.value, rel=0.05)
    if "communicate" not in hidden:
        assert ours.runtime.value == pytest.approx(theirs.runtime.value, rel=0.01)
    printed = json.loads(spikemark("waiting", made.path, "--json")[1])
    low, high = printed["waiting_s"]["interval"]
    assert low <= run.waiting().mean(axis=0).sum() <= high


def test_the_limits_reach_ladders_and_predictions():
    compute, communicate, wait = program(7, lost=0.005)
    found, about = (
        imported.ReadTimes({"compute": compute, "communicate": communicate}),
        {"placement": "area"},
    )
    made = imported.cycle_times(found, Path("x"), **about)
    run, truth = trace(made), float(wait.mean())
    found = ladder(run)
    assert found.waiting.low <= truth <= found.waiting.high
    assert found.exchange.low <= float(communicate.mean()) - truth <= found.exchange.high
    shown = {"compute": compute, "communicate": communicate, "wait": wait}
    timed = trace(imported.cycle_times(imported.ReadTimes(shown), Path("x"), **about))
    for schedule in ("structure_aware", "overlapped"):
        one = predict(run, Setting.from_run(run, schedule, 10))
        theirs = predict(timed, Setting.from_run(timed, schedule, 10)).waiting.value
        assert one.waiting.low <= theirs <= one.waiting.high
