"""Cycle statistics on arrays small enough to reckon by hand."""

import numpy as np
import pytest
from small_network import describe
from synthetic import waiting_s, write_run

from spikemark.core.errors import BadInput
from spikemark.models import statistics
from spikemark.records import record

COMPUTE = np.array([[1.0, 2.0, 3.0, 4.0, 9.0], [2.0, 2.0, 1.0, 1.0, 9.0]])


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware"])
def test_measured_waiting_is_the_waiting_the_compute_times_imply(tmp_path, schedule):
    run = record.load(write_run(tmp_path, schedule=schedule, ranks=3, ar1=0.5, rank_sd=0.1))
    implied = waiting_s(run.compute(), run.window)
    np.testing.assert_allclose(run.waiting().sum(axis=1), implied, rtol=1e-4)


def test_waiting_without_a_barrier_is_unknown_not_zero(tmp_path):
    description = describe()
    description["record"]["barrier"] = False
    run = record.load(write_run(tmp_path, description=description))
    assert run.waiting() is None and run.spent_s("waiting") is None


@pytest.mark.parametrize("shape", [(3,), (0, 5), (2, 0), (2, 3, 4)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(BadInput, match="shape"):
        statistics.times(np.zeros(shape))


@pytest.mark.parametrize("window", [0, 6, -1])
def test_impossible_windows_are_refused(window):
    with pytest.raises(BadInput, match=f"window={window}: allowed are 1 to 5"):
        statistics.lump(COMPUTE, window)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lumping_keeps_leading_axes_and_the_precision(kind):
    runs = np.arange(24, dtype=kind).reshape(2, 3, 4)
    found = statistics.lump(runs, 2)
    assert found.dtype == kind and found.shape == (2, 3, 2)
    np.testing.assert_array_equal(found, runs[..., ::2] + runs[..., 1::2])
    np.testing.assert_array_equal(statistics.lump(runs[0, 0], 3), [3])
    np.testing.assert_array_equal(statistics.lump(runs, 1), runs)
    np.testing.assert_array_equal(statistics.lump(COMPUTE, 2), [[3, 7], [4, 2]])  # the fifth cycle left out
