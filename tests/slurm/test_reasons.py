"""Runs and jobs that fail on a real Slurm, and what is said about them."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import swept

from spikemark.core import job_end, places, reasons
from spikemark.core.slurm import INHERITED

ROOT = Path(__file__).parents[2]
SPIKEMARK = [sys.executable, "-m", "spikemark"]


@pytest.fixture
def inside(slurm, monkeypatch):
    """This process is on the login node of the private Slurm."""
    for name in [name for name in os.environ if INHERITED.match(name)]:
        monkeypatch.delenv(name)
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    return slurm


@pytest.fixture
def planned(tmp_path):
    """A results folder with the plan of one run: two ranks on each of two nodes."""
    results, (run,) = swept.planned(tmp_path / "results", ranks=4)
    return results, run.id


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Returns a function that makes a script stand in for the mini-app."""

    def write(body: str, shell: str = "/bin/sh") -> None:
        path = tmp_path / "miniapp"
        path.write_text(f"#!{shell}\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setenv("SPIKEMARK_MINIAPP", str(path))

    return write


def carried_out(slurm, results, run) -> subprocess.CompletedProcess:
    """What `spikemark run` says in an allocation of two nodes."""
    return slurm.run("salloc", "--quiet", "--nodes=2", "--exclusive", *SPIKEMARK, "run", results.path, run)


def test_bad_input_is_told_in_the_words_of_the_mini_app(slurm, planned):
    results, run = planned
    description = results.read_description(run)
    results.description(run).write_text(json.dumps({**description, "seed": "x"}))
    done = carried_out(slurm, results, run)
    assert done.returncode == 1
    assert re.search(rf"run {run} failed: miniapp: seed: .*; allowed: ", done.stderr), done.stderr
    assert results.failure(run).read_text().startswith("miniapp: seed: ")


#: What the last of four ranks does while the others would sleep, and what is said about it.
ENDS = {
    "segmentation fault": ("kill -SEGV $$", r"ended by SIGSEGV \(segmentation fault\) on node n\d, rank 3"),
    "killed": ("kill -KILL $$", r"ended by SIGKILL \(killed\) on node n\d, rank 3"),
    "silent": ("exit 5", r"exit status 5 without a message on node n\d, rank 3"),
    "a library": (
        "echo 'libx.so: cannot open shared object file' >&2; exit 127",
        "libx.so: cannot open shared object file",
    ),
    "cancelled": ("scancel $SLURM_JOB_ID.$SLURM_STEP_ID; sleep 60", r"step \d+\.0 was cancelled"),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_rank_that_ends_badly_ends_the_run_and_is_named(how, slurm, planned, stand_in):
    results, run = planned
    action, reason = ENDS[how]
    stand_in(f"test $SLURM_PROCID = 3 && {{ {action}; }}\nexec sleep 60")
    began = time.monotonic()
    done = carried_out(slurm, results, run)
    assert done.returncode == 1 and time.monotonic() - began < 50
    assert re.search(f"failed: {reason}", done.stderr), done.stderr
    assert re.match(reason, results.failure(run).read_text())


def test_what_the_node_lacks_to_start_the_program_is_named(slurm, planned, stand_in):
    results, run = planned
    stand_in("", shell="/nowhere/sh")
    done = carried_out(slurm, results, run)
    assert re.search(r"failed: /nowhere/sh: No such file or directory on node n\d", done.stderr), done.stderr


def submitted(slurm, tmp_path, script: str, *options: str) -> tuple[str, Path]:
    """The id of a batch job, and its log."""
    file, log = tmp_path / "job.sh", tmp_path / "job.log"
    file.write_text(script)
    done = slurm.run("sbatch", "--parsable", "--nodes=2", f"--output={log}", *options, file)
    return done.stdout.strip(), log


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\nexec python3 -c 'import no_such_module'\n", "No module named 'no_such_module'"),
        (
            "#!/bin/bash\nmodule load MPI\n/nowhere/venv/bin/python x\n",
            "line 3: /nowhere/venv/bin/python: ",
        ),
        ("#!/nowhere/bash\n", "/nowhere/bash: No such file or directory on node n"),
        ("#!/bin/sh\nexit 7\n", "ended as FAILED with exit status 7 and printed nothing"),
    ],
)
def test_what_fails_before_the_run_is_told(inside, tmp_path, script, reason):
    job, log = submitted(inside, tmp_path, script)
    inside.wait_until_empty()
    assert f"job {job}" in (why := job_end.of(job).why(log.read_text())) and reason in why


def test_a_folder_that_the_node_lacks_is_named(inside, tmp_path):
    job, log = submitted(inside, tmp_path, "#!/bin/sh\npwd\n", "--output=/nowhere/job.log")
    inside.wait_until_empty()
    assert re.fullmatch(
        rf"job {job} could not be started on n\S+: does the folder /nowhere exist there\?",
        job_end.of(job).why(None),
    )
    job, log = submitted(inside, tmp_path, "#!/bin/sh\nls run.json\n", "--chdir=/nowhere/folder")
    inside.wait_until_empty()
    why = job_end.of(job).why(log.read_text())
    assert "run.json" in why and "working folder /nowhere/folder: No such file or directory on node n" in why


#: What a command says if its run has ended before the job's SIGTERM reaches it.
STEP = re.compile(r"failed: (step \d+\.0 was cancelled|Slurm ended step \d+\.0 at its time limit)")


@pytest.fixture
def sleeping(inside, planned, stand_in, tmp_path):
    """A batch job with a limit of an hour in which a run has begun; its id and its log."""
    results, run = planned
    stand_in(f"touch {tmp_path}/began; exec sleep 600")
    script = f"#!/bin/sh\nexec {shlex.join([*SPIKEMARK, 'run', str(results.path), run])}\n"
    job, log = submitted(inside, tmp_path, script, "--time=1:00:00", "--exclusive")
    until = time.monotonic() + 60
    while not (tmp_path / "began").exists():
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.1)
    return job, log


def test_a_cancelled_job_says_so(inside, sleeping):
    job, log = sleeping
    inside.run("scancel", job)
    inside.wait_until_empty()
    told = log.read_text()
    assert f"spikemark: job {job} was cancelled: the same command continues from here" in told or STEP.search(
        told
    )
    assert job_end.of(job).why(told) == f"job {job} was cancelled"


def test_the_time_limit_of_a_job_is_no_interrupt(inside, sleeping):
    """Slurm looks at limits every 30 s."""
    job, log = sleeping
    inside.run("scontrol", "update", f"job={job}", "TimeLimit=1", "EndTime=now+1")
    inside.wait_until_empty(90)
    told = log.read_text()
    reason = rf"Slurm ended job {job} at its time limit of \S+: {reasons.MORE_TIME}"
    said = re.search(f"spikemark: {reason}: the same command continues from here", told)
    assert said or STEP.search(told), told
    assert re.fullmatch(reason, job_end.of(job).why(told))


def test_results_are_named_after_the_cluster_wherever_the_command_runs(inside):
    host = socket.gethostname().split(".")[0]
    assert (places.machine_name(), places.here_name()) == (inside.name, f"{inside.name}-{host}")
    asked = "from spikemark.core import places; print(places.machine_name(), places.here_name())"
    done = inside.run("srun", "--nodes=1", sys.executable, "-c", asked)
    assert done.stdout.split() == [inside.name, inside.name], done.stderr
