"""Sweeps from end to end with the real mini-app on tiny networks."""

import fcntl
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import yaml

from spikemark.records.results import Results
from spikemark.running.experiments import expand, load

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MINIAPP = ROOT / "build" / "miniapp"
EXPERIMENTS = sorted(p.stem for p in (ROOT / "workflows" / "experiments").glob("*.yaml"))


def spikemark(*arguments, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "spikemark", *map(str, arguments)],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def records(results: Results) -> dict[str, int]:
    """When each record was written."""
    return {path.parent.name: path.stat().st_mtime_ns for path in results.path.glob("runs/*/record.json")}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The finished sweep of `smoke`: what it said, and where its results are."""
    root = tmp_path_factory.mktemp("results")
    done = spikemark("sweep", "smoke", "--machine", "here", "--results", root)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, Results(root / "smoke" / "here")


def again(results: Results, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    root = results.path.parents[1]
    return spikemark("sweep", "smoke", "--machine", "here", "--results", root, *arguments, **environment)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_miniapp_accepts_every_description(name, tmp_path):
    descriptions = {str({**run.description, "seed": 0}): run for run in expand(load(name))}

    def explain(run):
        path = tmp_path / f"{run.id}.json"
        path.write_text(json.dumps(run.description))
        command = [MINIAPP, "--explain", path, "--ranks", str(run.ranks)]
        return run, subprocess.run(command, capture_output=True, text=True)

    with ThreadPoolExecutor() as pool:
        for run, done in pool.map(explain, descriptions.values()):
            assert done.returncode == 0, f"{run.label}: {done.stderr}"


def test_sweep_measures_collects_and_reports(smoke):
    done, results = smoke
    runs = expand(load("smoke"))
    assert set(records(results)) == {run.id for run in runs}
    lines = done.stdout.splitlines()
    assert [line.split("]")[0] for line in lines if line.startswith("[")] == [f"[{i}/8" for i in range(1, 9)]
    measured = [line.split("] ")[1].split("  ")[0] for line in lines if line.startswith("[")]
    assert measured == [run.label for run in runs]  # in the order of the plan
    assert lines[-2] == str(results.report)
    assert results.report.is_file()
    assert len(lines[-1]) > 20


def test_all_schedules_find_the_same_spikes(smoke):
    table = pd.read_parquet(smoke[1].summary)
    assert len(table) == 8
    assert table["network"].nunique() == table["checksum"].nunique() == 1
    assert set(table["schedule"]) == {"conventional", "placement_only", "structure_aware"}


def test_nothing_is_measured_again(smoke):
    """This holds after editing the analysis or the workflow, and after rebuilding the mini-app."""
    _, results = smoke
    before = records(results)
    now = time.time()
    touched = [
        *ROOT.glob("analysis/spikemark/*.py"),
        *ROOT.glob("workflows/**/*.smk"),
        *ROOT.glob("Snakefile"),
    ]
    times = {path: path.stat() for path in touched}
    builds = results.path / "other-build"
    shutil.copy(MINIAPP, builds)
    try:
        for path in touched:
            os.utime(path, (now + 5, now + 5))
        done = again(results, SPIKEMARK_MINIAPP=str(builds))
    finally:
        for path, was in times.items():
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert done.returncode == 0, done.stderr
    assert "0 to measure" in done.stdout
    assert records(results) == before


def test_only_what_is_missing_is_measured(smoke):
    _, results = smoke
    before = records(results)
    gone = sorted(before)[0]
    shutil.rmtree(results.run(gone))
    plan = again(results, "--dry-run")
    assert plan.returncode == 0
    states = {line.split()[1]: line.split()[0] for line in plan.stdout.splitlines()[:-1]}
    assert states == {run: "missing" if run == gone else "done" for run in before}
    said = re.search(r"8 runs, 7 done, 1 missing, about (\d+) s \(from 7 finished runs\): ", plan.stdout)
    taken = [json.loads(path.read_text())["wall_s"] for path in results.path.glob("runs/*/launch.json")]
    assert min(taken) - 1 <= int(said[1]) <= max(taken) + 1
    assert gone not in records(results)
    done = again(results)
    assert done.returncode == 0, done.stderr
    after = records(results)
    assert set(after) == set(before)
    assert [run for run in before if after[run] != before[run]] == [gone]


def test_dry_run_writes_nothing(tmp_path):
    done = spikemark("sweep", "smoke", "--dry-run", "--results", tmp_path)
    assert done.returncode == 0
    listed = [line.split(maxsplit=2)[1] for line in done.stdout.splitlines()[:-1]]
    assert listed == [run.id for run in expand(load("smoke"))]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def faulty(tmp_path):
    """An experiment with two runs, one of which the mini-app refuses; and where its results will be."""
    content = yaml.safe_load((ROOT / "workflows" / "experiments" / "smoke.yaml").read_text())
    content.update(name="faulty", ranks=1, grid=[{"record.cycles": [3, True]}])
    path = tmp_path / "faulty.yaml"
    path.write_text(yaml.safe_dump(content))
    return path, Results(tmp_path / "faulty" / "here")


def test_page_says_so_when_no_run_is_complete(faulty, tmp_path):
    path, results = faulty
    content = yaml.safe_load(path.read_text())
    content["grid"] = [{"record.cycles": 3}]
    path.write_text(yaml.safe_dump(content))
    done = spikemark("sweep", path, "--machine", "here", "--results", tmp_path)
    assert done.returncode == 1
    assert "Nothing to report yet" in done.stdout
    assert str(results.report) in done.stdout
    assert "no run is complete" in done.stderr
    (run,) = expand(load(path))
    reason = results.failure(run.id).read_text().splitlines()[0]
    assert html.escape(reason, quote=False) in results.report.read_text()


def test_run_by_hand(smoke):
    """A run that was measured already is refused and stays unchanged."""
    _, results = smoke
    before = {path: path.is_file() and path.read_bytes() for path in results.path.rglob("*")}
    id = expand(load("smoke"))[0].id
    done = spikemark("run", results.path, id)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "measured already" in line
    assert {path: path.is_file() and path.read_bytes() for path in results.path.rglob("*")} == before


def test_a_failed_run_is_named_and_the_rest_goes_on(faulty, tmp_path):
    path, results = faulty
    arguments = ("sweep", path, "--machine", "here", "--results", tmp_path)
    done = spikemark(*arguments)
    assert done.returncode == 1
    bad, good = sorted(expand(load(path)), key=lambda run: run.description["record"]["cycles"] is True)
    assert set(records(results)) == {good.id}
    (failed,) = (line for line in done.stderr.splitlines() if line.startswith("failed: "))
    reason = results.failure(bad.id).read_text().splitlines()[0]
    assert failed == f"failed: {bad.label}: {reason}"
    assert "record.cycles" in reason
    assert f"{bad.label}  FAILED: {reason}" in done.stdout
    assert str(results.report) in done.stdout
    before = records(results)
    done = spikemark(*arguments)  # tries the failed one again, and only that
    assert done.returncode == 1
    assert "2 runs, 1 to measure" in done.stdout
    assert records(results) == before


@pytest.fixture
def under_way(faulty, tmp_path):
    """A sweep of `faulty` at its first run, which never ends; and whether that run is still there."""
    slow = tmp_path / "slow"
    sleep = f"sleep 600.{os.getpid()}"  # of this process: other checkouts may be tested at the same time
    slow.write_text(f"#!{shutil.which('bash')}\ntouch {tmp_path}/started\nexec {sleep}\n")
    slow.chmod(0o755)
    job = subprocess.Popen(
        [sys.executable, "-m", "spikemark", "sweep", faulty[0], "--machine", "here", "--results", tmp_path],
        env={**os.environ, "SPIKEMARK_MINIAPP": str(slow)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "started").exists():
        assert job.poll() is None
        time.sleep(0.1)
    with job:
        yield job, lambda: bool(subprocess.run(["pgrep", "-f", sleep], capture_output=True).stdout)
        job.kill()


def test_interrupted_sweep_ends_everything_and_goes_on(faulty, under_way, tmp_path):
    path, results = faulty
    job, still_there = under_way
    blocked = spikemark("sweep", path, "--machine", "here", "--results", tmp_path)
    assert blocked.returncode == 2
    (line,) = blocked.stderr.splitlines()
    assert f"`spikemark sweep {path} " in line
    label = next(run.label for run in expand(load(path)))
    assert f", at run {label} (process {job.pid}); wait for it, or stop it with `kill {job.pid}`" in line
    job.send_signal(signal.SIGINT)
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 130
    assert errors == "spikemark: interrupted: the same command continues from here\n"
    assert not still_there()
    with open(results.path / ".lock") as lock:  # nothing that measures is left
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert records(results) == {}
    done = spikemark("sweep", path, "--machine", "here", "--results", tmp_path)
    assert len(records(results)) == 1, done.stdout + done.stderr


def test_killed_sweep_takes_its_worker_and_its_run_with_it(faulty, under_way):
    """The next command then finds the folder free, as after an interruption."""
    _, results = faulty
    job, still_there = under_way
    job.kill()
    job.wait()
    deadline = time.monotonic() + 60
    while still_there():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with open(results.path / ".lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert records(results) == {} and not list(results.path.glob("unchecked/*"))


def test_report_alone(smoke):
    _, results = smoke
    results.report.unlink()
    root = results.path.parents[1]
    done = spikemark("report", "smoke", "--machine", "here", "--results", root)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(results.report)
    assert results.report.is_file()


def test_workflow_that_cannot_start_is_reported(faulty, tmp_path):
    path, _ = faulty
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "config.yaml").write_text("executor: nowhere\n")
    done = spikemark("sweep", path, "--results", tmp_path, "--profile", tmp_path / "profile")
    assert done.returncode == 1
    assert "2 runs not carried out" in done.stderr
    assert "nowhere" in done.stderr


def test_job_that_cannot_start_is_reported_by_name(faulty, tmp_path):
    """Also checks that a profile's setting of the launcher reaches the job."""
    path, _ = faulty
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "config.yaml").write_text("cores: all\nconfig:\n  - launcher=qsub\n")
    done = spikemark("sweep", path, "--results", tmp_path, "--profile", tmp_path / "profile")
    assert done.returncode == 1
    for run in expand(load(path)):
        assert f"failed: {run.label}: spikemark: launcher: 'qsub' is not allowed" in done.stderr


@pytest.mark.parametrize("profile", sorted(p.parent for p in ROOT.glob("workflows/profiles/*/config.yaml")))
def test_every_profile_of_snakemake_is_understood(smoke, profile):
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--executor", "dryrun", "--nolock"]
    where = ["--snakefile", ROOT / "Snakefile", "--directory", smoke[1].path, "--profile", profile]
    done = subprocess.run([*command, *where], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakemake_measures_the_same_runs(faulty, tmp_path):
    path, results = faulty
    done = spikemark("sweep", path, "--machine", "here", "--results", tmp_path, "--profile", "laptop")
    assert done.returncode == 1
    assert len(records(results)) == len(done.stderr.splitlines()) - 1 == 1, done.stderr
