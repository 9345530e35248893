"""Medians, factors, intervals, refusals: from tables that are known."""

from math import comb

import numpy as np
import pandas as pd
import pytest

from spikemark.bench.peers import factors
from spikemark.bench.peers.table import COMPARED

AHEAD = {"speed": 4.0, "events_per_s_core": 5.0, "bytes_per_synapse": 8.0, "build_s": 16.0}


def table(peer=None, rounds=5, threads=(1, 2)) -> pd.DataFrame:
    """Trials in which the mini-app is ahead by AHEAD in every round, though rounds differ tenfold."""
    rows = []
    for number in range(1, rounds + 1):
        for count in threads:
            drift = 10.0**number * count
            base = {"round": number, "threads": count, "disturbed": False}
            base |= {"neurons": 200, "synapses": 4000, "model_s": 1.0, "mean_rate_hz": 2.5}
            mine = {q.name: drift for q in COMPARED}
            theirs = {
                q.name: drift / AHEAD[q.name] if q.larger_is_better else drift * AHEAD[q.name]
                for q in COMPARED
            }
            rows.append({"program": "miniapp", **base, **mine})
            rows.append({"program": "peer", **base, **theirs, **(peer or {})})
    return pd.DataFrame(rows)


def test_factors_are_taken_within_rounds_and_above_one_is_ahead():
    found = factors.factors(table(), ["peer"], [1, 2])
    assert {(e.threads, e.quantity) for e in found} == {(t, q) for t in (1, 2) for q in AHEAD}
    for entry in found:
        ahead = pytest.approx(AHEAD[entry.quantity])
        assert (entry.median, entry.low, entry.high, entry.rounds) == (ahead, ahead, ahead, 5)


def test_scaling_is_taken_within_rounds():
    found = {e.program: e for e in factors.scaling(table())}
    assert set(found) == {"miniapp", "peer"}
    assert all(e.median == pytest.approx(2) and (e.threads, e.over) == (2, 1) for e in found.values())
    assert factors.scaling(table(threads=(1,))) == []


@pytest.mark.parametrize(
    ("peer", "words"),
    [
        ({"mean_rate_hz": 2.53}, "mean rates differ by more than 1%: 2.5 and 2.53"),
        ({"synapses": 3999}, "not the same network: synapses 4000 in miniapp, 3999 in peer"),
        ({"neurons": 199}, "neurons"),
    ],
)
def test_another_network_or_rate_is_refused(peer, words):
    found = factors.factors(table(peer), ["peer"], [1, 2])
    assert all(entry.median is None and words in entry.reason for entry in found)


def test_rates_within_one_percent_agree():
    assert factors.refusal(table({"mean_rate_hz": 2.52}), "peer", 1) is None
    emerging = factors.EMERGING_RATE_TOLERANCE
    assert factors.refusal(table({"mean_rate_hz": 2.53}), "peer", 1, emerging) is None
    assert "more than 3%" in factors.refusal(table({"mean_rate_hz": 2.6}), "peer", 1, emerging)


def test_what_was_not_measured_is_null_with_a_reason():
    trials = table({"bytes_per_synapse": np.nan})
    found = {e.quantity: e for e in factors.factors(trials, ["peer", "other"], [1]) if e.peer == "peer"}
    assert found["bytes_per_synapse"].median is None
    assert found["bytes_per_synapse"].reason == "not measured"
    assert found["speed"].median == pytest.approx(AHEAD["speed"])
    assert factors.refusal(trials, "other", 1) == "other was not measured"


def test_rounds_that_lack_one_side_are_left_out_and_disturbed_ones_counted():
    trials = table(rounds=5, threads=(1,))
    trials = trials.drop(trials[(trials["program"] == "peer") & (trials["round"] == 2)].index)
    trials.loc[(trials["program"] == "miniapp") & (trials["round"] == 3), "disturbed"] = True
    speed = next(e for e in factors.factors(trials, ["peer"], [1]) if e.quantity == "speed")
    assert (speed.rounds, speed.disturbed) == (4, 1)


def test_medians_put_the_miniapp_first():
    found = factors.medians(table({"speed": 7.0}))
    assert [e.program for e in found[:4]] == ["miniapp"] * 4
    peer = next(e for e in found if (e.program, e.threads, e.quantity) == ("peer", 1, "speed"))
    assert peer.median == 7


@pytest.mark.parametrize("n", range(1, 30))
def test_interval_has_the_confidence_it_states(n):
    """The k-th smallest and largest of n miss the median when fewer than k values lie on one side of it."""
    skip, confidence = factors.interval(n)

    def held(k):
        return 1 - 2 * sum(comb(n, i) for i in range(k + 1)) / 2**n

    assert confidence == pytest.approx(max(0, held(skip)))
    assert confidence >= factors.CONFIDENCE or skip == 0
    if 2 * (skip + 1) < n:
        assert held(skip + 1) < factors.CONFIDENCE  # no narrower one would do
    assert n - 1 - skip >= skip


def test_known_intervals():
    assert factors.interval(5) == (0, pytest.approx(0.9375))
    assert factors.interval(8) == (1, pytest.approx(1 - 18 / 256))


def test_intervals_hold_the_median_as_often_as_they_say():
    rng = np.random.default_rng(1)
    samples = rng.exponential(size=(4000, 8))
    found = [factors.estimate(row) for row in samples]
    held = np.mean([e.low <= np.log(2) <= e.high for e in found])
    assert held == pytest.approx(found[0].confidence, abs=0.015)


def test_nothing_known_is_not_zero():
    found = factors.estimate([np.nan, np.nan])
    assert (found.median, found.low, found.rounds, found.reason) == (None, None, 0, "not measured")
