"""One run of a plan, with stand-ins for the mini-app that fail in every way."""

import json
import shutil
import subprocess
import sys
import time

import pytest

from spikemark import sweep
from spikemark.errors import BadInput
from spikemark.experiment import Experiment, expand
from spikemark.measure import RunFailed, measure
from spikemark.results import Results

WRITE = """
mkdir -p "$3"
echo '{{"status": "{status}", "ranks": {ranks}, "threads": 1}}' > "$3/record.json"
"""


def plan(folder, time_limit_s=60):
    """A results folder with the plan of one run on two ranks, and its id."""
    chosen = Experiment(
        name="x",
        title="x",
        preset={"name": "mam-benchmark", "options": {"areas": 2, "neurons_per_area": 50, "indegree": 10}},
        grid=[{"schedule": "conventional"}],
        ranks=2,
        shuffle_seed=1,
        time_limit_s=time_limit_s,
    )
    results = Results(folder)
    runs = expand(chosen)
    sweep.plan(chosen, runs, results)
    return results, runs[0].id


@pytest.fixture
def planned(tmp_path):
    return plan(tmp_path / "results")


@pytest.fixture
def miniapp(tmp_path, monkeypatch):
    """Returns a function that makes a shell script stand in for the mini-app."""

    def stand_in(body: str) -> None:
        path = tmp_path / "miniapp"
        path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setenv("SPIKEMARK_MINIAPP", str(path))

    return stand_in


FAILURES = {
    "message": ("echo first >&2; echo 'seed: 7 is not allowed' >&2; exit 2", "seed: 7 is not allowed"),
    "signal": ("kill -SEGV $$", "SIGSEGV"),
    "silent": ("exit 3", "exit status 3 without a message"),
    "no record": ("exit 0", "no valid record"),
    "half a record": ('mkdir -p "$3"; echo "{" > "$3/record.json"', "no valid record"),
    "not complete": (WRITE.format(status="running", ranks=2), "not complete"),
    "singletons": (WRITE.format(status="complete", ranks=1), "asked for 2 ranks, the record says 1"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_failure_leaves_a_reason_and_nothing_else(case, planned, miniapp):
    results, run = planned
    body, reason = FAILURES[case]
    miniapp(body)
    with pytest.raises(RunFailed, match=reason):
        measure(results, run)
    log = results.failure(run).read_text().splitlines()
    assert reason in log[0]
    assert "run: conventional ranks=2 seed=1" in log
    assert any(line.startswith("command: ") and "mpirun" in line for line in log)
    assert not results.run(run).exists()
    assert list((results.path / "unchecked").iterdir()) == []


def test_time_limit_ends_the_run(miniapp, tmp_path):
    results, run = plan(tmp_path / "results", time_limit_s=0.5)
    miniapp("exec sleep 47.12")
    with pytest.raises(RunFailed, match=r"not finished within the time limit of 0\.5 s"):
        measure(results, run)
    assert "time limit" in results.failure(run).read_text()
    assert running("sleep 47.12") == b""


def running(command: str) -> bytes:
    return subprocess.run(["pgrep", "-f", command], capture_output=True).stdout


def test_success_keeps_the_record_and_removes_an_old_failure(planned, miniapp):
    results, run = planned
    miniapp("exit 3")
    with pytest.raises(RunFailed):
        measure(results, run)
    results.run(run).mkdir(parents=True)  # as Snakemake does before a job
    miniapp(WRITE.format(status="complete", ranks=2))
    assert measure(results, run) == results.run(run)
    assert results.measured(run)
    assert not results.failure(run).exists()
    start = json.loads((results.run(run) / "launch.json").read_text())
    assert start["command"][0] == "mpirun"
    assert start["environment"]["OMP_NUM_THREADS"] == "1"


def test_interruption_ends_all_ranks(planned, miniapp, tmp_path):
    results, run = planned
    miniapp(f"touch {tmp_path}/started-$OMPI_COMM_WORLD_RANK; exec sleep 47.11")
    job = subprocess.Popen(
        [sys.executable, "-m", "spikemark", "run", results.path, run], stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 20
    while len(list(tmp_path.glob("started-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    job.terminate()
    _, errors = job.communicate(timeout=20)
    assert job.returncode == 130
    assert errors.decode() == "spikemark: interrupted: the same command goes on from here\n"
    assert running("sleep 47.11") == b""
    assert not results.run(run).exists()
    assert not results.failure(run).exists()


def test_unknown_run(planned):
    with pytest.raises(BadInput, match=r"'none' is not in .*plan\.json"):
        measure(planned[0], "none")


def test_missing_miniapp(planned, monkeypatch):
    monkeypatch.setenv("SPIKEMARK_MINIAPP", "/nowhere/miniapp")
    with pytest.raises(BadInput, match="/nowhere/miniapp is not an executable file"):
        measure(*planned)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format_version": 99}'])
def test_bad_plan(tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(BadInput, match=r"plan\.json"):
        Results(tmp_path).read_plan()
