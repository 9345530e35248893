"""Predictions from one run hold another run, whose ranks have other speeds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from by_day import half_by_night

from spikemark.models.between_runs import RANK_SD, RANK_SD_VIRTUAL, rank_sd
from spikemark.quantities.answer import as_json
from spikemark.quantities.quantity import Quantity
from spikemark.records.record import load_run
from spikemark.waiting.another_run import (
    DRAWS_OF_READING,
    ENOUGH_RANKS,
    RankDifferences,
    Reach,
    _computing_share,
    _limits,
    _shortened,
    _widened,
    predict_another_run,
)
from spikemark.waiting.answer import answer
from spikemark.waiting.replay import Setting, outcome_without_interval, predict
from spikemark.waiting.trace import CycleTrace, trace

RECORDS = Path(__file__).parents[3] / "tests" / "golden" / "analysis" / "records"
CYCLES = 600
D = 10
MEAN_S = 25e-6
JITTER = 0.05


def another(rng, work, speed_sd, assumed_sd):
    """A run [rank, cycle] of ranks with this much work, whose speeds are of this run alone."""
    speeds = np.exp(speed_sd * rng.standard_normal(len(work)))
    noise = 1 + JITTER * rng.standard_normal((len(work), CYCLES))
    return CycleTrace(MEAN_S * (work * speeds)[:, None] * noise, rank_sd=assumed_sd)


def held(ranks, work_sd, speed_sd, pairs):
    """As held_of, of ranks with other work in each pair."""
    rng = np.random.default_rng(10 * ranks)

    def pair():
        work = np.exp(work_sd * rng.standard_normal(ranks))
        return [another(rng, work, speed_sd, speed_sd) for _ in range(2)]

    return held_of(pair, pairs)


def held_of(pair, pairs):
    """The shares of pairs whose second run is inside the intervals: waiting, run time, and waiting
    at the speeds of the first run.
    """
    inside = np.zeros(3)
    for _ in range(pairs):
        first, second = pair()
        predicted = predict_another_run(first, Setting.meeting_rarely(first, D))
        truth = outcome_without_interval(second, Setting.meeting_rarely(second, D))
        for place, (quantity, name) in enumerate(
            [
                (predicted.waiting, "waiting"),
                (predicted.runtime, "runtime"),
                (predicted.same_speeds.waiting, "waiting"),
            ]
        ):
            inside[place] += quantity.low <= CYCLES * truth[name] <= quantity.high
    return inside / pairs


def check(inside):
    waiting, runtime, at_the_same_speeds = inside
    assert waiting >= 0.9
    assert runtime >= 0.9
    assert at_the_same_speeds < 0.6  # the interval of chance within a run does not hold another one


@pytest.mark.parametrize(("ranks", "work_sd"), half_by_night([2, ENOUGH_RANKS, 32], [0.0, 0.3]))
@pytest.mark.slow
def test_another_run_is_inside_the_interval(ranks, work_sd):
    check(held(ranks, work_sd, RANK_SD_VIRTUAL, pairs=20))


@pytest.mark.nightly
@pytest.mark.parametrize("ranks", [2, 4, ENOUGH_RANKS, 32])
@pytest.mark.parametrize("work_sd", [0.0, 0.03, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("speed_sd", [RANK_SD, RANK_SD_VIRTUAL])
def test_another_run_of_any_ranks_is_inside_the_interval(ranks, work_sd, speed_sd):
    check(held(ranks, work_sd, speed_sd, pairs=120))


@pytest.mark.parametrize(("ranks", "slower"), half_by_night([16, 64], [1.2, 1.3]))
@pytest.mark.slow
def test_one_slow_rank_among_equal_ones_is_slow_again(ranks, slower):
    rng = np.random.default_rng(ranks)
    work = np.ones(ranks)
    work[1] = slower
    waiting, _, _ = held_of(lambda: [another(rng, work, 0.01, RANK_SD) for _ in range(2)], 40)
    assert waiting >= 0.9


@pytest.mark.parametrize("ranks", [2, 7])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_rank_that_computes_nothing_has_an_answer(ranks, share):
    rng = np.random.default_rng(ranks)
    times = rng.normal(1e-3, 5e-5, (ranks, CYCLES))
    times[0, rng.random(CYCLES) < share] = 0.0
    text = as_json("waiting", answer(trace(times)).content())
    assert json.loads(text)["ranks"] == ranks


def test_many_equal_ranks_tell_how_speeds_vary():
    rng = np.random.default_rng(1)
    alike = another(rng, np.ones(64), 0.01, RANK_SD_VIRTUAL)
    few = replace(alike, compute=alike.compute[: ENOUGH_RANKS - 1])
    assert RankDifferences.of(alike.compute).tell_speeds(RANK_SD_VIRTUAL)
    assert not RankDifferences.of(few.compute).tell_speeds(RANK_SD_VIRTUAL)
    wide = predict_another_run(few, Setting.meeting_rarely(few, D)).waiting
    narrow = predict_another_run(alike, Setting.meeting_rarely(alike, D)).waiting
    assert (narrow.high - narrow.low) < 0.2 * (wide.high - wide.low)


def test_planted_and_simulated_times_are_the_same_in_another_run():
    run = CycleTrace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, CYCLES)))
    setting = Setting.meeting_rarely(run, D)
    assert predict_another_run(run, setting) == predict(run, setting)


def test_times_of_nobody_knows_which_machine_vary():
    run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, CYCLES)))
    assert run.rank_sd == rank_sd(None) == RANK_SD < rank_sd(True)
    explanation = answer(run)
    assert explanation.rarely.same_speeds.waiting.high < explanation.rarely.waiting.high
    assert (
        explanation.content()["rarely"]["same_speeds"]["waiting"]["value"]
        == (explanation.content()["rarely"]["waiting"]["value"])
    )


def test_the_two_causes_add_up_as_squares():
    within = Quantity(10.0, 7.0, 14.0, "s", "modelled")
    wider = _widened(within, Reach(2.0, 1.5), times=2, least=-np.inf)
    assert wider.limits == pytest.approx((10 - 5.0, 10 + 5.0))
    assert wider.value == 10.0
    assert _widened(within, Reach(0.0, 1.0), times=3).limits == pytest.approx((7.0, 15.0))
    assert _widened(within, Reach(50.0, 0.0), times=1).limits[0] == 0.0


@pytest.mark.parametrize("draws", [10, 39, DRAWS_OF_READING, 199])
def test_limits_of_draws_hold_a_further_one(draws):
    rng = np.random.default_rng(draws)
    held = []
    for _ in range(2000):
        low, high = _limits(list(rng.lognormal(size=draws)))
        held.append(low <= rng.lognormal() <= high)
    beyond = max((draws + 1) // 40, 1)
    assert np.mean(held) == pytest.approx(1 - 2 * beyond / (draws + 1), abs=0.02)


def test_what_is_shortened_keeps_meetings_together():
    rng = np.random.default_rng(1)
    compute = rng.normal(1e-3, 1e-5, (600, 3000))
    run = CycleTrace(compute, waited=rng.random(3000), exchanged=rng.random(3000), rank_sd=0.05)
    short, setting = _shortened(run, Setting.meeting_rarely(run, D), compute)
    first = int(np.flatnonzero(run.waits == short.waits[0])[0])
    assert first > 0 and first % D == 0 and short.cycles % D == 0
    assert short.cycles < run.cycles
    assert np.array_equal(short.compute, compute[:, first : first + short.cycles])
    assert np.array_equal(setting.compute, short.compute)
    assert np.array_equal(short.exchanges, run.exchanges[first : first + short.cycles])


@pytest.mark.parametrize("record", ["conventional-4", "drift-2", "slow-rank-8"])
def test_injected_times_do_not_vary_with_speed(record):
    run = trace(load_run(RECORDS / record))
    assert run.rank_sd > 0
    assert (_computing_share(run) < 0.5).all()
    varying = replace(run, work=None)
    assert (_computing_share(varying) == 1).all()
