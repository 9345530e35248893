"""Waiting for other threads of a rank is a phase: the time of the master thread at barriers of threads."""

import csv

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

THREADS = (1, 2, 3)


@pytest.fixture(scope="module", params=THREADS)
def run(request, tmp_path_factory):
    """Threads, directory and record of a run on two ranks."""
    out = tmp_path_factory.mktemp("threads") / "run"
    return request.param, out, program.record_of(out, ranks=2, threads=request.param)


def test_phases_of_the_master_thread_add_up_to_the_wall_clock_time(run):
    _, out, record = run
    assert record["format_version"] == 2
    sums = np.load(out / "cycles.npy").astype(float).sum(axis=(1, 2))
    with open(out / "ranks.csv") as file:
        walls = [float(row["simulate_s"]) for row in csv.DictReader(file)]
    assert sums == pytest.approx(walls, rel=0.02)


def test_one_thread_waits_for_nobody_and_several_do_in_every_cycle(run):
    threads, out, record = run
    waits = np.load(out / "cycles.npy")[:, :, record["phases"].index("thread_wait")]
    summary = record["timing"]["phases"]["thread_wait"]
    if threads == 1:
        assert (waits == 0).all()
        assert (summary["mean_s"], summary["max_s"]) == (0, 0)
    else:
        assert (waits > 0).all()
        assert 0 < summary["mean_s"] <= summary["max_s"]


def test_the_clock_is_read_twice_more_per_cycle_and_never_for_one_thread(run):
    """After deliver, update, collocate, the near lane and two barriers; twice more where ranks meet; and in
    the end after deliver and a barrier."""
    threads, _, record = run
    timing, (near, far) = record["timing"], record["lanes"]
    readings = timing["timer_overhead"] * timing["simulate_s"] / timing["timer_read_s"]
    several = threads > 1
    assert readings == pytest.approx((4 + 2 * several) * near["windows"] + 2 * far["windows"] + 1 + several)
