"""The published theory of waiting against Monte Carlo, and against what lumped traces really wait."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import waiting_s, write_run

from spikemark.core.errors import BadInput
from spikemark.models import statistics, waiting_iid
from spikemark.models.waiting_iid import IidWaiting
from spikemark.records import record
from spikemark.waiting.iid import Iid

MEAN_S, SD_S = 50e-6, 5e-6


def independent(ranks: int, cycles: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(MEAN_S, SD_S, (ranks, cycles))


@pytest.mark.parametrize("ranks", [2, 8, 32])
@pytest.mark.parametrize("delay_ratio", [1, 2, 10, 50])
def test_equations_8_to_10_against_monte_carlo(ranks, delay_ratio):
    cycles = 100_000
    compute = independent(ranks, cycles)
    prediction = IidWaiting(MEAN_S, SD_S, ranks, cycles).predict(delay_ratio)
    runtime = statistics.lump(compute, delay_ratio).max(axis=0).sum()
    assert waiting_s(compute, delay_ratio).mean() == pytest.approx(prediction.waiting_s, rel=0.05)
    assert runtime == pytest.approx(prediction.runtime_s, rel=2e-3)
    assert prediction.runtime_s == pytest.approx(prediction.compute_s + prediction.waiting_s)


def test_fit_recovers_the_planted_distribution():
    model = IidWaiting.fit(independent(4, 50_000))
    assert (model.ranks, model.cycles) == (4, 50_000)
    assert model.mean_s == pytest.approx(MEAN_S, rel=2e-3)
    assert model.sd_s == pytest.approx(SD_S, rel=1e-2)


def test_the_predictor_is_the_same_fit_and_adds_the_barrier_of_the_fitted_run(tmp_path):
    run = record.load(write_run(tmp_path, ranks=3, cycles=40))
    theory, predictor = IidWaiting.fit(run), Iid.fit(run)
    assert (predictor.mean_s, predictor.sd_s) == pytest.approx((theory.mean_s, theory.sd_s), rel=1e-6)
    barrier_s = (run.waiting() - waiting_s(run.compute()).mean() / 40).mean() * 40
    expected = theory.predict(1).waiting_s + barrier_s
    assert predictor.predict("conventional").waiting_s == pytest.approx(expected, rel=1e-4)


def test_fitted_on_one_conventional_run_it_predicts_a_structure_aware_one(tmp_path):
    fitted = IidWaiting.fit(record.load(write_run(tmp_path / "a", cycles=20_000, ranks=4, seed=1)))
    unseen = record.load(
        write_run(tmp_path / "b", schedule="structure_aware", cycles=20_000, ranks=4, seed=2, delay_ratio=10)
    )
    measured = unseen.waiting().mean()
    assert fitted.predict(unseen.window).waiting_per_cycle_s == pytest.approx(measured, rel=0.05)


def test_serial_correlation_breaks_the_prediction(tmp_path):
    run = record.load(write_run(tmp_path, schedule="structure_aware", cycles=20_000, ranks=4, ar1=0.95))
    predicted = IidWaiting.fit(run).predict(10).waiting_per_cycle_s
    assert run.waiting().mean() > 2 * predicted


def test_equations_7_and_11_give_the_published_ratios(data):
    model = IidWaiting(MEAN_S, SD_S, 8, 1000)
    for row in pd.read_csv(data / "lober_sync_ratio.csv").to_dict("records"):
        d = int(row["D"])
        assert waiting_iid.waiting_ratio(d) == pytest.approx(row["CV_ratio=1/sqrt(D)"], abs=6e-6)
        assert model.cv(d) / model.cv() == pytest.approx(row["CV_ratio=1/sqrt(D)"], abs=6e-6)
        assert 100 * (1 - waiting_iid.waiting_ratio(d)) == pytest.approx(row["sync_reduction_pct"], abs=6e-3)


@given(delay_ratio=st.integers(1, 1000), ranks=st.integers(1, 1000), cycles=st.integers(1, 10**6))
def test_waiting_ratio_holds_for_every_prediction(delay_ratio, ranks, cycles):
    model = IidWaiting(MEAN_S, SD_S, 2, 10)
    conventional = model.predict(1, ranks, cycles)
    lumped = model.predict(delay_ratio, ranks, cycles)
    ratio = waiting_iid.waiting_ratio(delay_ratio)
    assert lumped.waiting_s == pytest.approx(ratio * conventional.waiting_s)
    assert lumped.compute_s == pytest.approx(conventional.compute_s)


@pytest.mark.parametrize("delay_ratio", [1, 10])
def test_interval_holds_the_slowest_rank(delay_ratio):
    compute = independent(8, 100_000)
    interval = IidWaiting.fit(compute).interval_of_maxima(delay_ratio, level=0.9)
    share = statistics.share_inside(statistics.lump(compute, delay_ratio).max(axis=0), interval)
    assert share == pytest.approx(0.9, abs=0.012)


def test_bad_input():
    model = IidWaiting(MEAN_S, SD_S, 2, 10)
    with pytest.raises(BadInput, match="delay_ratio=0"):
        model.predict(0)
    with pytest.raises(BadInput, match="m=0"):
        model.predict(1, ranks=0)
    with pytest.raises(BadInput, match="cycles=0"):
        model.predict(1, cycles=0)
    with pytest.raises(BadInput, match="two cycle times"):
        IidWaiting.fit(np.ones((1, 1)))
    with pytest.raises(BadInput, match="shape"):
        IidWaiting.fit(np.ones(5))
