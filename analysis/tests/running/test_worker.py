"""A worker carries out what is missing, in order, and ends in time."""

import time

import pytest
from four_runs import IDS, finish, plan

from spikemark.core.errors import BadInput
from spikemark.network.description import read
from spikemark.presets import mam_benchmark
from spikemark.running import durations, jobs, worker
from spikemark.running.carry_out import RunFailed


@pytest.fixture
def carried() -> list[str]:
    return []


@pytest.fixture
def carry_out(carried):
    def carry_out(results, run):
        carried.append(run.id)
        return finish(results, run.id)

    return carry_out


def test_only_what_is_missing_is_carried_out_in_order(tmp_path, carried, carry_out):
    results = plan(tmp_path)
    finish(results, "b")
    results.failure("c").parent.mkdir()
    results.failure("c").write_text("reason\n")
    assert worker.work(results, carry_out) == worker.Worked(["a", "d"], worker.DONE)
    assert carried == ["a", "d"]


def test_only_the_runs_of_a_job(tmp_path, carried, carry_out):
    assert worker.work(plan(tmp_path), carry_out, only=["d", "b"]).runs == carried == ["b", "d"]


def test_an_unknown_run_is_refused(tmp_path, carry_out):
    with pytest.raises(BadInput, match="'x' is not in"):
        worker.work(plan(tmp_path), carry_out, only=["x"])


@pytest.mark.parametrize(
    ("left_s", "done"),
    [
        (1e5, IDS),
        (worker.MARGIN_S + 2, IDS),  # the first run teaches that they take a second, not ten
        (worker.MARGIN_S, ["a"]),  # the first is always tried
    ],
)
def test_no_run_is_begun_that_would_not_end_in_time(tmp_path, carry_out, left_s, done):
    worked = worker.work(plan(tmp_path), carry_out, ends_s=time.monotonic() + left_s)
    assert worked == worker.Worked(done, worker.DONE if done == IDS else worker.TIME)


@pytest.mark.parametrize(
    "error", [RunFailed("the reason"), BadInput("the reason"), OSError(2, "the reason", "x")]
)
def test_a_failed_run_leaves_its_reason_and_the_others_go_on(tmp_path, carried, error):
    results = plan(tmp_path)

    def carry_out(results, run):
        carried.append(run.id)
        if run.id != "b":
            return finish(results, run.id)
        if isinstance(error, RunFailed):  # has left its reason
            results.failure(run.id).parent.mkdir()
            results.failure(run.id).write_text("the reason\n")
        raise error

    assert worker.work(results, carry_out).runs == carried == IDS
    assert "the reason" in results.failure("b").read_text()


@pytest.mark.parametrize(("alone", "whole"), [(True, True), (True, False), (False, True)])
def test_a_run_ended_by_the_limit_failed_only_if_it_had_all_the_time(tmp_path, alone, whole, monkeypatch):
    results = plan(tmp_path, guess_s=1e-3)
    ends_s = time.monotonic() + 1000
    last = "a" if alone else "b"

    def carry_out(results, run):
        if run.id != last:
            return finish(results, run.id, 1e-3)
        monkeypatch.setattr(worker.time, "monotonic", lambda: ends_s)
        raise KeyboardInterrupt  # SIGTERM of Slurm

    assert worker.work(results, carry_out, ends_s, whole=whole).why == worker.TIME
    assert results.failure(last).is_file() == (alone and whole)


def test_an_interruption_before_the_limit_passes_on(tmp_path):
    def carry_out(results, run):
        raise KeyboardInterrupt

    results = plan(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        worker.work(results, carry_out, time.monotonic() + 1000)
    assert not results.failure("a").is_file()


def test_a_run_that_its_job_ended_before_its_ranks_began_has_not_failed(tmp_path):
    results = plan(tmp_path)

    def srun(results, run):
        results.failure(run.id).parent.mkdir()
        results.failure(run.id).write_text("Slurm: Slurm job 3 has expired\n")
        raise RunFailed("Slurm: Slurm job 3 has expired")

    with pytest.raises(KeyboardInterrupt):
        worker.work(results, srun)
    assert not results.failure("a").exists()


def test_durations_learn_from_runs_that_are_alike_and_scale_the_others(tmp_path):
    results = plan(tmp_path)
    content = results.read_plan()
    runs = [*content.runs[:3], content.runs[3].model_copy(update={"ranks": 2, "guess_s": 40.0})]
    expected = durations.Durations(runs, results)
    assert (expected.total(runs), expected.basis) == (70.0, "assumed")
    finish(results, "a", 5.0)
    expected.learn(runs[0])
    assert expected.of(runs[1]) == 5.0  # another repetition
    assert expected.of(runs[3]) == 20.0  # half as long as guessed, as the other one was
    assert expected.basis == "from 1 finished run"


def test_a_guess_follows_the_work():
    small = mam_benchmark.describe(areas=2, neurons_per_area=1000, indegree=100, simulate_ms=100.0)
    long = {**small, "time": {**small["time"], "simulate_ms": 100_000.0}}
    cycles = read(small).time.cycles + read(small).time.warmup_cycles
    waits = {**small, "inject": {"mean_us": 1e6}}
    first = durations.guess_s(small, 1, 1)
    assert durations.guess_s(long, 1, 1) > durations.guess_s(long, 2, 2) > first
    assert durations.guess_s(waits, 1, 1) == pytest.approx(first + cycles)
    slow = {**small, "inject": {"per_neuron_ns": [0, 1e6]}}  # 1000 neurons on each of two ranks
    assert durations.guess_s(slow, 2, 1) == pytest.approx(durations.guess_s(small, 2, 1) + cycles)
    assert durations.guess_s({"network": {}}, 1, 1) == durations.START_S  # the mini-app will refuse it


def test_the_clock_of_the_system_may_be_set_while_a_job_runs(tmp_path, carry_out, monkeypatch):
    """A step ends no job early, fails no run, and takes nothing from a budget of node-hours."""
    results = plan(tmp_path)
    jobs.keep(results, jobs.Submitted("7", 2, 3600.0, None))
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert worker.work(results, carry_out, ends_s=time.monotonic() + 1e5, whole=True).why == worker.DONE
    for took_s in (0.0, 1800.0):
        jobs.keep_end(results, "7", took_s, worker.DONE, None)
        (job,) = jobs.all_of(results)
        assert job.node_hours == pytest.approx(2 * took_s / 3600)
