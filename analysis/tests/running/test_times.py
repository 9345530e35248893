"""Compute times and exchanges of simulated runs: drawn times have the mean and scatter that was
asked for.
"""

import numpy as np
import pytest
import synthetic
from synthetic import PHASES

from spikemark.core.errors import BadInput
from spikemark.models import serial
from spikemark.models.jitter import Jitter
from spikemark.network.presets import mam_benchmark
from spikemark.running.simulation import times
from spikemark.running.simulation.run import exchanges

pytestmark = pytest.mark.slow

MEAN_S = np.array([[60e-6, 30e-6, 10e-6], [120e-6, 30e-6, 0.0]])
CYCLES = 400_000


@pytest.mark.parametrize(
    "asked",
    [Jitter(0.1), Jitter(0.1, 19.0), Jitter(0.1, 1.0, 0.01, 3.0), Jitter(0.1, 10.0, 0.01, 3.0)],
)
def test_drawn_times_have_mean_scatter_and_correlation_time(asked):
    drawn = times.draw(MEAN_S, CYCLES, asked, seed=1)
    assert drawn.shape == (2, CYCLES, 3) and drawn.dtype == np.float32
    assert drawn.mean(axis=1, dtype=float) == pytest.approx(MEAN_S, rel=0.01)
    cycle = drawn.sum(axis=2, dtype=float)
    long = cycle > 2 * MEAN_S.sum(axis=1, keepdims=True)
    assert long.mean() == pytest.approx(asked.minor_share, rel=0.15, abs=1e-4)
    ordinary = cycle / np.where(long, asked.minor_factor, 1)
    assert ordinary.std(axis=1) / ordinary.mean(axis=1) == pytest.approx([asked.cv] * 2, rel=0.05)
    rho = serial.pooled_autocorrelation(ordinary, 200)
    assert serial.integrated_time(rho) == pytest.approx(asked.correlation_time, rel=0.1)
    assert np.allclose(drawn[0, :, 0] / drawn[0, :, 2], 6.0, rtol=1e-5)  # together


def test_a_correlation_given_is_that_from_cycle_to_cycle():
    drawn = times.draw(MEAN_S, 100_000, Jitter(0.1, correlation=0.9), seed=1).sum(
        axis=2, dtype=float
    )
    assert serial.pooled_autocorrelation(drawn, 1)[1] == pytest.approx(0.9, abs=0.01)


def test_ranks_of_one_node_share_its_deviation():
    jitter = Jitter(0.0, node_spread=0.05)
    ratio = (
        times.draw(np.full((2000, 3), 1e-5), 1, jitter, 1, ranks_per_node=2)[:, 0].sum(axis=1)
        / 3e-5
    )
    assert np.array_equal(ratio[::2], ratio[1::2])
    assert ratio[::2].std() == pytest.approx(0.05, rel=0.1)


def test_a_ranks_times_depend_on_the_seed_and_its_number_alone():
    jitter = Jitter(0.1, 10.0, 0.01, 2.0, 0.02)
    two, one = (times.draw(MEAN_S[:n], 50, jitter, seed=3) for n in (2, 1))
    assert np.array_equal(two[:1], one)
    assert np.array_equal(two[1:], times.draw(MEAN_S[1:], 50, jitter, 3, first=1, first_node=1))
    assert not np.array_equal(two, times.draw(MEAN_S, 50, jitter, seed=4))
    assert not np.array_equal(two[0] / MEAN_S[0].sum(), two[1] / MEAN_S[1].sum())


def test_replayed_times_are_those_of_the_run(tmp_path):
    run = synthetic.write_run(tmp_path / "run", ranks=2, cycles=100)
    asked = {"time": {"simulate_ms": 10}}
    found = times.replay(asked, run, 2)
    at = [PHASES.index(name) for name in times.PHASES]
    array = np.load(run / "cycles.npy")
    assert np.array_equal(found.times, array[:, :, at]) and found.facts == {"run": str(run)}
    for description, ranks, complaint in (
        (asked, 4, "has 2 ranks; expected 4"),
        ({"time": {"simulate_ms": 5}}, 2, "has 100 cycles; expected 50"),
        ({"time": {}}, 2, r"simulate_ms: missing"),
        ({"time": {"simulate_ms": 0}}, 2, r"simulate_ms=0"),
    ):
        with pytest.raises(BadInput, match=complaint):
            times.replay(description, run, ranks)
    array[1, 5, 0] = np.nan
    np.save(run / "cycles.npy", array)
    with pytest.raises(BadInput, match="deliver time nan s of rank 1 in cycle 5"):
        times.replay(asked, run, 2)


NETWORK = mam_benchmark.describe(areas=4, neurons_per_area=100, indegree=20, delay_ratio=10)
OVERLAPPED = {**NETWORK, "schedule": "overlapped"}
LANES = [{"name": "near", "group": "area"}, {"name": "far", "period": 5, "lag": 1}]


@pytest.mark.parametrize("schedule", ["overlapped", LANES])
@pytest.mark.parametrize("given", [None, {}, {"near": "alltoall"}])
def test_a_lane_with_a_lag_gets_an_exchange_that_can_be_simulated_in_time(schedule, given):
    description = {**OVERLAPPED, "schedule": schedule} | (
        {} if given is None else {"exchange": given}
    )
    before = dict(description)
    choice = exchanges(description, 4)
    (line,) = choice.remarks
    assert choice.description == {**description, "exchange": {**(given or {}), "far": "direct"}}
    assert "'direct'" in line and "far" in line and "direct" in choice.used
    assert description == before


@pytest.mark.parametrize(
    ("changes", "ranks"),
    [
        *(
            ({"exchange": given}, 4)
            for given in ("ialltoallv", {"far": "p2p"}, {"far": {"name": "two_level"}})
        ),
        *(({"schedule": schedule}, 4) for schedule in ("conventional", "structure_aware")),
        ({}, 1),  # one rank has nobody to tell
    ],
)
def test_an_exchange_that_is_named_or_has_no_lag_stays(changes, ranks):
    choice = exchanges({**OVERLAPPED, **changes}, ranks)
    assert (choice.description, choice.remarks) == ({**OVERLAPPED, **changes}, [])
