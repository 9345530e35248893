"""Compute times of simulated runs: what is drawn has the mean, scatter and correlation that was asked for."""

import json

import numpy as np
import pytest
import synthetic
from synthetic_record import PHASES

from spikemark.core.errors import BadInput
from spikemark.machines.jitter import Jitter
from spikemark.models import serial
from spikemark.running.simulation import compute_times

MEAN_S = np.array([[60e-6, 30e-6, 10e-6], [120e-6, 30e-6, 0.0]])
CYCLES = 400_000
JITTERS = {
    "independent": Jitter(0.1),
    "correlated": Jitter(0.1, 19.0),
    "minor mode": Jitter(0.1, 1.0, 0.01, 3.0),
    "correlated with a minor mode": Jitter(0.1, 10.0, 0.01, 3.0),
}


@pytest.mark.parametrize("name", JITTERS)
def test_drawn_times_have_mean_scatter_and_correlation_time(name):
    asked = JITTERS[name]
    times = compute_times.draw(MEAN_S, CYCLES, asked, seed=1)
    assert times.shape == (2, CYCLES, 3) and times.dtype == np.float32
    assert times.mean(axis=1, dtype=float) == pytest.approx(MEAN_S, rel=0.01)
    cycle = times.sum(axis=2, dtype=float)
    long = cycle > 2 * MEAN_S.sum(axis=1, keepdims=True)
    assert long.mean() == pytest.approx(asked.minor_share, rel=0.15, abs=1e-4)
    ordinary = cycle / np.where(long, asked.minor_factor, 1)
    assert ordinary.std(axis=1) / ordinary.mean(axis=1) == pytest.approx([asked.cv] * 2, rel=0.05)
    rho = serial.pooled_autocorrelation(ordinary, 200)
    assert serial.integrated_time(rho) == pytest.approx(asked.correlation_time, rel=0.1)


def test_a_correlation_given_is_that_from_cycle_to_cycle():
    times = compute_times.draw(MEAN_S, 100_000, Jitter(0.1, correlation=0.9), seed=1).sum(axis=2, dtype=float)
    assert serial.pooled_autocorrelation(times, 1)[1] == pytest.approx(0.9, abs=0.01)


def test_phases_of_a_cycle_scatter_together():
    times = compute_times.draw(MEAN_S, 100, Jitter(0.1), seed=1)
    assert times[0, :, 0] / times[0, :, 2] == pytest.approx(np.full(100, 6.0), rel=1e-5)


def test_ranks_of_one_node_share_its_deviation():
    mean_s = np.full((2000, 3), 1e-5)
    ratio = (
        compute_times.draw(mean_s, 1, Jitter(0.0, node_spread=0.05), seed=1, ranks_per_node=2)[:, 0].sum(
            axis=1
        )
        / 3e-5
    )
    assert np.array_equal(ratio[::2], ratio[1::2])
    assert ratio[::2].std() == pytest.approx(0.05, rel=0.1)


def test_a_ranks_times_depend_on_the_seed_and_its_number_alone():
    jitter = Jitter(0.1, 10.0, 0.01, 2.0, 0.02)
    two, one = (compute_times.draw(MEAN_S[:n], 50, jitter, seed=3) for n in (2, 1))
    assert np.array_equal(two[:1], one)
    assert not np.array_equal(two, compute_times.draw(MEAN_S, 50, jitter, seed=4))
    assert not np.array_equal(two[0] / MEAN_S[0].sum(), two[1] / MEAN_S[1].sum())


def test_replayed_times_are_those_of_the_run(tmp_path):
    run = synthetic.write_run(tmp_path / "run", ranks=2, cycles=100)
    times = compute_times.replayed(run, 2, 100)
    at = [PHASES.index(name) for name in compute_times.PHASES]
    assert np.array_equal(times, np.load(run / "cycles.npy")[:, :, at])
    with pytest.raises(BadInput, match="has 2 ranks: allowed are as many as asked for, 4"):
        compute_times.replayed(run, 4, 100)
    with pytest.raises(BadInput, match="has 100 measured cycles: allowed are as many as described, 50"):
        compute_times.replayed(run, 2, 50)
    array = np.load(run / "cycles.npy")
    array[1, 5, 0] = np.nan
    np.save(run / "cycles.npy", array)
    with pytest.raises(BadInput, match="deliver time nan s of rank 1 in cycle 5"):
        compute_times.replayed(run, 2, 100)


def test_measured_cycles_follow_from_the_description(tmp_path):
    run = json.loads((synthetic.write_run(tmp_path / "run", cycles=70) / "record.json").read_text())
    assert compute_times.cycles(run["description"]) == 70
    assert compute_times.cycles({"time": {"simulate_ms": 12}}) == 120
    for time, complaint in (
        ({}, "simulate_ms: missing"),
        ({"simulate_ms": 0}, "time.simulate_ms=0; allowed"),
    ):
        with pytest.raises(BadInput, match=complaint):
            compute_times.cycles({"time": time})
