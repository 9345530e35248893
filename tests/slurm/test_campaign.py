"""Sweeps as campaigns on a private Slurm, from the command to the report."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from spikemark.records.results import Results
from spikemark.running.experiments import expand, load

ROOT = Path(__file__).parents[2]
SPIKEMARK = (sys.executable, "-m", "spikemark")


class Site:
    """An experiment (by default four runs on one and two nodes), a profile of the cluster, and results."""

    def __init__(self, slurm, folder: Path, **changes):
        self.slurm, self.folder = slurm, folder
        content = yaml.safe_load((ROOT / "workflows" / "experiments" / "smoke.yaml").read_text())
        grid = [{"schedule": "conventional", "ranks": [2, 4]}]
        content.update({"name": "campaign", "grid": grid, "repetitions": 2, **changes})
        self.experiment = folder / "campaign.yaml"
        self.experiment.write_text(yaml.safe_dump(content))
        (folder / "cluster").mkdir()
        (folder / "cluster" / "slurm.yaml").write_text("poll_s: 0.3\noptions: [--exclusive]\n")
        self.results = Results(folder / "results" / "campaign" / "toy")
        self.runs = expand(load(self.experiment))

    def command(self, *options: str) -> list[str]:
        where = ["--results", str(self.folder / "results"), "--machine", "toy"]
        return [*SPIKEMARK, "sweep", str(self.experiment), *where, *options]

    def sweep(self, *options: str, **environment: str) -> subprocess.CompletedProcess:
        profile = ["--profile", str(self.folder / "cluster")]
        return self.slurm.run(*self.command(*profile, *options), timeout=200, **environment)

    def start(self, *options: str, **environment: str) -> subprocess.Popen:
        """Starts the command and comes back when the first job runs."""
        everything = {**os.environ, **self.slurm.environment, **environment}
        command = self.command("--profile", str(self.folder / "cluster"), *options)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, env=everything, **pipes)
        until = time.monotonic() + 60
        while not list(self.results.path.glob("unchecked/*")):
            assert process.poll() is None and time.monotonic() < until, process.communicate()
            time.sleep(0.1)
        return process

    def jobs(self) -> list[str]:
        """The ids of the jobs that were submitted."""
        files = self.results.path.glob("jobs/*.json")
        return sorted((p.stem for p in files if not p.name.endswith(".end.json")), key=int)

    def launches(self) -> list[dict]:
        """launch.json of each run in the order of the plan."""
        return [json.loads((self.results.run(run.id) / "launch.json").read_text()) for run in self.runs]


@pytest.fixture
def site(slurm, tmp_path):
    return Site(slurm, tmp_path)


class Held(NamedTuple):
    """A mini-app that begins to work only when `go` was called."""

    file: Path
    environment: dict[str, str]

    def go(self) -> None:
        self.file.touch()


@pytest.fixture
def held(tmp_path) -> Held:
    path, file = tmp_path / "held", tmp_path / "go"
    wait = f"for i in $(seq 600); do [ -e {file} ] && break; sleep 0.1; done"
    path.write_text(f'#!/bin/sh\n{wait}\nexec {ROOT}/build/miniapp "$@"\n')
    path.chmod(0o755)
    return Held(file, {"SPIKEMARK_MINIAPP": str(path)})


def test_one_job_takes_all_runs_in_order_over_its_nodes(site):
    done = site.sweep()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 runs on 2 nodes: about" in done.stdout and "node-hours (assumed)" in done.stdout
    assert site.jobs() == [site.launches()[0]["allocation"]["job"]]
    began = [launch["began_s"] for launch in site.launches()]
    ended = [launch["began_s"] + launch["wall_s"] for launch in site.launches()]
    assert all(end <= next for end, next in zip(ended, began[1:], strict=False)), "runs overlap"
    for run, launch in zip(site.runs, site.launches(), strict=True):
        allocation = launch["allocation"]
        assert (allocation["cluster"], allocation["partition"]) == ("toy", "main")
        assert len(allocation["nodes"]) == 2
        record = json.loads((site.results.run(run.id) / "record.json").read_text())
        assert record["host"]["nodes"] == run.ranks // 2
    again = site.sweep()
    assert "4 runs, 0 to measure" in again.stdout
    assert len(site.jobs()) == 1


def test_a_job_for_each_run_if_asked_for(site, held):
    process = site.start("--jobs", **held.environment)
    until = time.monotonic() + 60
    while len(list(site.results.path.glob("unchecked/*"))) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    held.go()
    said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    page = site.results.report.read_text()
    assert "the planned order was not kept, since each run was a job of its own" in page
    jobs = [launch["allocation"]["job"] for launch in site.launches()]
    assert sorted(jobs, key=int) == site.jobs()
    assert len(jobs) == 4
    sizes = [len(launch["allocation"]["nodes"]) for launch in site.launches()]
    assert sizes == [run.ranks // 2 for run in site.runs]


def test_the_budget_refuses_before_anything_is_written(site):
    done = site.sweep("--budget", "1e-6")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("spikemark: budget=1e-06: 4 runs on 2 nodes: about")
    assert not site.results.path.exists()
    assert site.slurm.queue() == []


@pytest.mark.parametrize("options", [[], ["--jobs"]])
def test_what_fails_before_the_runs_is_told_and_kept(site, options):
    profile = site.folder / "cluster" / "slurm.yaml"
    profile.write_text(profile.read_text() + "setup: [set -e, module load Nope]\n")
    done = site.sweep(*options)
    assert done.returncode == 1
    job, said = site.jobs()[0], "module: command not found"
    (line,) = [line for line in done.stderr.splitlines() if f"job {job}: line " in line]
    assert said in line and f"see {site.results.path}" in line
    if options:
        assert all(said in site.results.failure(run.id).read_text() for run in site.runs)


def test_a_cancelled_campaign_ends_and_goes_on_later(site, held):
    process = site.start(**held.environment)
    (job,) = site.jobs()
    site.slurm.run("scancel", job)
    held.go()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"job {job} was cancelled" in errors
    assert "not carried out; the same command continues" in errors
    again = site.sweep()
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(site.launches()) == 4


def test_one_cancelled_job_does_not_stop_the_others(site, held):
    process = site.start("--jobs", **held.environment)
    cancelled = site.jobs()[0]
    site.slurm.run("scancel", cancelled)
    held.go()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    (failed,) = (line for line in errors.splitlines() if line.startswith("failed: "))
    assert f"job {cancelled} was cancelled" in failed
    assert sum(site.results.measured(run.id) for run in site.runs) == 3


@pytest.mark.parametrize("options", [[], ["--jobs"]])
def test_jobs_go_on_without_the_command_and_are_found_again(site, held, options):
    process = site.start(*options, **held.environment)
    before = site.jobs()
    process.send_signal(signal.SIGKILL)
    process.wait()
    here = site.slurm.run(*site.command())  # the plain command must not measure beside the job
    assert here.returncode == 2
    (line,) = here.stderr.splitlines()
    assert "at work here; wait for them, or end them with: scancel" in line
    release = threading.Timer(5, held.go)
    release.start()
    again = site.sweep(*options)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "in the queue already: job" in again.stdout
    assert site.jobs() == before


def test_an_interrupted_command_leaves_its_jobs(site, held):
    process = site.start(**held.environment)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    (job,) = site.jobs()
    assert f"still in the queue: job {job}; the same command watches again" in said
    assert site.slurm.queue() == [job]
    site.slurm.run("scancel", job)
    site.slurm.wait_until_empty()


def test_a_job_that_runs_out_of_time_is_followed_by_another(slurm, tmp_path):
    inject = {"mean_us": 21000, "wait": "sleep"}
    fields = {"time.simulate_ms": 100, "time.warmup_ms": 0, "inject": inject}
    site = Site(slurm, tmp_path, set=fields, grid=[{"schedule": "conventional", "ranks": 2}])
    done = site.sweep("--time", "1")  # room for one of two runs, with what is kept for ending
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = site.jobs()
    assert f"job {first} ran out of time; job {second} continues" in done.stdout


def test_a_sweep_inside_an_allocation_just_works(site):
    done = site.slurm.run("salloc", "--nodes=2", "--exclusive", *site.command(), timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {launch["launcher"] for launch in site.launches()} == {"srun"}
    assert len({launch["allocation"]["job"] for launch in site.launches()}) == 1
    assert site.jobs() == []


def test_what_slurm_refuses_is_one_line(site):
    (site.folder / "cluster" / "slurm.yaml").write_text("partition: nowhere\ncores_per_node: 2\n")
    done = site.sweep()
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("spikemark: sbatch: ") and "partition" in line
