"""Cycle statistics on arrays small enough to reckon by hand, and their identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from small_network import describe
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.models import statistics
from spikemark.records import record

COMPUTE = np.array([[1.0, 2.0, 3.0, 4.0, 9.0], [2.0, 2.0, 1.0, 1.0, 9.0]])
TIMES = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 40)), elements=st.floats(0, 1e3))


def test_by_hand():
    np.testing.assert_array_equal(statistics.lump(COMPUTE, 2), [[3, 7], [4, 2]])  # the fifth cycle left out
    np.testing.assert_array_equal(statistics.maxima(COMPUTE), [2, 2, 3, 4, 9])
    np.testing.assert_array_equal(statistics.maxima(COMPUTE, 2), [4, 7])
    assert statistics.runtime_s(COMPUTE) == 20
    assert statistics.runtime_s(COMPUTE, 2) == 11
    np.testing.assert_array_equal(statistics.waiting_s(COMPUTE), [1, 5])
    np.testing.assert_array_equal(statistics.waiting_s(COMPUTE, 2), [1, 5])
    assert statistics.waiting_per_cycle_s(COMPUTE, 2) == 6 / 2 / 4


def test_distribution():
    found = statistics.describe(COMPUTE)
    assert (found.window, found.count, found.mean_s) == (1, 10, 3.4)
    assert found.sd_s == pytest.approx(COMPUTE.std(ddof=1))
    assert found.cv == pytest.approx(found.sd_s / 3.4)
    assert found.percentiles_s[50.0] == 2
    np.testing.assert_allclose(found.rank_means_s, [3.8, 3.0])
    np.testing.assert_allclose(found.rank_sds_s, COMPUTE.std(axis=1, ddof=1))


def test_a_single_value_has_no_spread():
    found = statistics.describe(np.array([[2.0]]))
    assert found.mean_s == 2
    assert np.isnan([found.sd_s, found.cv, *found.rank_sds_s]).all()


@given(TIMES, st.data())
def test_identities(compute, data):
    window = data.draw(st.integers(1, compute.shape[1]))
    whole = compute[:, : compute.shape[1] // window * window]
    waiting = statistics.waiting_s(compute, window)
    assert (waiting >= 0).all()
    # every rank computes or waits until the slowest has finished
    np.testing.assert_allclose(whole.sum(axis=1) + waiting, statistics.runtime_s(compute, window), rtol=1e-9)
    # lumping never makes anyone wait longer
    assert statistics.runtime_s(whole, window) <= statistics.runtime_s(whole) * (1 + 1e-12)
    per_cycle = statistics.waiting_per_cycle_s(compute, window)
    np.testing.assert_allclose(per_cycle, waiting.mean() / whole.shape[1], rtol=1e-9, atol=1e-12)


def test_share_of_maxima_follows_equation_12():
    compute = np.random.default_rng(2).gamma(2.0, 1.0, (8, 100_000))  # of any distribution
    for p in (0.01, 0.05, 0.4):
        assert statistics.share_of_maxima_above(compute, p) == pytest.approx(1 - (1 - p) ** 8, abs=0.006)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_measured_waiting_is_the_waiting_the_compute_times_imply(tmp_path, schedule):
    run = record.load(write_run(tmp_path, schedule=schedule, ranks=3, ar1=0.5, rank_sd=0.1))
    implied = statistics.waiting_s(run.compute(), run.window) / run.record.timing.cycles
    np.testing.assert_allclose(run.waiting().mean(axis=1), implied, rtol=1e-4)


def test_waiting_without_a_barrier_is_unknown_not_zero(tmp_path):
    description = describe()
    description["record"]["barrier"] = False
    run = record.load(write_run(tmp_path, description=description))
    assert run.waiting() is None and run.spent_s("waiting") is None


@pytest.mark.parametrize("shape", [(3,), (0, 5), (2, 0), (2, 3, 4)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(BadInput, match="shape"):
        statistics.describe(np.zeros(shape))


@pytest.mark.parametrize("window", [0, 6, -1])
def test_impossible_windows_are_refused(window):
    with pytest.raises(BadInput, match=f"window={window}: allowed are 1 to 5"):
        statistics.lump(COMPUTE, window)


def test_impossible_fraction_is_refused():
    with pytest.raises(BadInput, match="p=0"):
        statistics.share_of_maxima_above(COMPUTE, 0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lumping_keeps_leading_axes_and_the_precision(kind):
    runs = np.arange(24, dtype=kind).reshape(2, 3, 4)
    found = statistics.lump(runs, 2)
    assert found.dtype == kind and found.shape == (2, 3, 2)
    np.testing.assert_array_equal(found, runs[..., ::2] + runs[..., 1::2])
    np.testing.assert_array_equal(statistics.lump(runs[0, 0], 3), [3])
    np.testing.assert_array_equal(statistics.lump(runs, 1), runs)
