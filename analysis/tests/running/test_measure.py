"""One run of a plan, with stand-ins for the mini-app that fail in every way."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import swept

from spikemark.core.errors import BadInput
from spikemark.records import run_files
from spikemark.running.measure import RunFailed, measure

SLEEP = f"sleep 600.{os.getpid()}"  # of this process: other checkouts may be tested at the same time
WRITE = """
mkdir -p "$3"
echo '{{"status": "{status}", "ranks": {ranks}, "threads": 1}}' > "$3/record.json"
"""


def plan(folder, time_limit_s=60):
    """A results folder with the plan of one run on two ranks, and its id."""
    results, (run,) = swept.planned(folder, time_limit_s=time_limit_s)
    return results, run.id


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
    # Open MPI names no rank that ends while it still starts others; real ranks meet in MPI_Init first.
    "signal of one rank": (
        "[ $OMPI_COMM_WORLD_RANK = 1 ] && sleep 0.5 && kill -SEGV $$; exec sleep 60",
        "SIGSEGV",
    ),
    "own line": ("echo 'miniapp: seed: 7; allowed: more' >&2; exit 2", "miniapp: seed: 7; allowed: more"),
    "silent": ("exit 3", "exit status 3 without a message"),
    "no record": ("exit 0", "no valid record"),
    "half a record": ('mkdir -p "$3"; echo "{" > "$3/record.json"', "no valid record"),
    "not complete": (WRITE.format(status="running", ranks=2), "not complete"),
    "singletons": (WRITE.format(status="complete", ranks=1), "planned ranks=2, the record has 1"),
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
    miniapp(f"exec {SLEEP}")
    with pytest.raises(RunFailed, match=r"limit of 0\.5 s; time_limit_s of the experiment raises it$"):
        measure(results, run)
    assert "time limit" in results.failure(run).read_text()
    assert running(SLEEP) == b""


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
    miniapp(f"touch {tmp_path}/started-$OMPI_COMM_WORLD_RANK; exec {SLEEP}")
    job = subprocess.Popen(
        [sys.executable, "-m", "spikemark", "run", results.path, run], stderr=subprocess.PIPE
    )
    while len(list(tmp_path.glob("started-*"))) < 2:
        assert job.poll() is None
        time.sleep(0.05)
    job.terminate()
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 130
    assert len(errors.splitlines()) == 1
    assert running(SLEEP) == b""
    assert not results.run(run).exists()
    assert not results.failure(run).exists()


def test_unknown_run(planned):
    with pytest.raises(BadInput, match=r"'none' is not in .*plan\.json"):
        measure(planned[0], "none")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


REFUSALS = {
    "no miniapp": (
        lambda results, run: os.environ.update(SPIKEMARK_MINIAPP="/nowhere/miniapp"),
        "/nowhere/miniapp is not an executable file",
    ),
    "no description": (lambda results, run: results.description(run).unlink(), r"\.json: not found"),
    "a file": (lambda results, run: put(results.run(run) / "notes.txt", "mine"), r"contains 'notes\.txt'"),
    "measured": (
        lambda results, run: put(results.run(run) / "record.json", "{}"),
        "measured already; move or delete",
    ),
    "launcher": (lambda results, run: None, "launcher='bogus'; expected one of mpirun, srun"),
}


@pytest.mark.parametrize("fault", REFUSALS)
def test_what_cannot_start_changes_nothing(fault, planned, miniapp):
    results, run = planned
    plant, complaint = REFUSALS[fault]
    miniapp(WRITE.format(status="complete", ranks=2))
    put(results.failure(run), "an earlier reason")
    plant(results, run)
    before = tree(results)
    with pytest.raises(BadInput, match=complaint) as refusal:
        measure(results, run, "bogus" if fault == "launcher" else "mpirun")
    assert "\n" not in str(refusal.value)
    assert tree(results) == before


def tree(results):
    """Every file and folder of the results, with what it holds."""
    return {path: path.is_file() and path.read_bytes() for path in results.path.rglob("*")}


def test_rest_of_a_record_is_replaced(planned, miniapp):
    results, run = planned
    results.run(run).mkdir(parents=True)
    (results.run(run) / "ranks.csv").write_text("old")
    miniapp("exit 3")
    with pytest.raises(RunFailed):
        measure(results, run)
    assert (results.run(run) / "ranks.csv").is_file()  # until there is something better
    miniapp(WRITE.format(status="complete", ranks=2))
    measure(results, run)
    assert {path.name for path in results.run(run).iterdir()} == {"record.json", "launch.json"}


@pytest.mark.parametrize("left", sorted(run_files.FILES.keys() - {"record.json"}))
def test_a_run_of_which_only_the_record_was_deleted_is_measured_again(left, planned, miniapp):
    results, run = planned
    results.run(run).mkdir(parents=True)
    (results.run(run) / left).write_text("old")
    miniapp(WRITE.format(status="complete", ranks=2))
    measure(results, run)
    assert {path.name for path in results.run(run).iterdir()} == {"record.json", "launch.json"}


def test_a_fault_of_the_program_keeps_its_trace(planned, miniapp, monkeypatch):
    """Only bad input, failed programs and the operating system give a reason without one."""
    results, run = planned
    miniapp(WRITE.format(status="complete", ranks=2))
    monkeypatch.setattr("spikemark.running.measure.watch", lambda *_, **__: int("no number"))
    with pytest.raises(ValueError, match="no number"):
        measure(results, run)
    log = results.failure(run).read_text()
    assert log.startswith("ValueError: invalid literal for int() with base 10: 'no number'\n")
    assert "Traceback" in log and f"id: {run}" in log
    assert not results.run(run).exists()


def test_record_that_comes_meanwhile_is_kept(planned, miniapp):
    results, run = planned
    other = results.run(run)
    miniapp(
        f"mkdir -p {other}; echo other > {other}/record.json\n" + WRITE.format(status="complete", ranks=2)
    )
    with pytest.raises(OSError, match="not empty"):
        measure(results, run)
    assert (other / "record.json").read_text() == "other\n"
    assert list((results.path / "unchecked").iterdir()) == []


def test_a_run_imports_nothing_heavy():
    """It starts anew for every record."""
    heavy = {"numpy", "scipy", "pandas", "yaml", "rich", "snakemake", "pydantic", "typer", "statistics"}
    script = f"import sys; import spikemark.cli.run; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
