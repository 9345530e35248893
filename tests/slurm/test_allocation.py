"""One allocation works through a sweep: `sbatch workflows/clusters/allocation.sh --configfile
…`.
"""

import itertools
import json
import os
import sys
from pathlib import Path

import pytest
from checkout import ROOT, experiment, records, until, workflow

from spikemark.running.experiments import expand, load_experiment

SCRIPT = ROOT / "workflows" / "clusters" / "allocation.sh"


class Sweep:
    """A small experiment on one and on two nodes, and the jobs that work on it."""

    def __init__(self, slurm, folder: Path, **changes):
        plain = {
            "grid": [{"schedule": "conventional"}],
            "ranks": 2,
            "repetitions": 3,
            "ranks_per_node": [1, 2],
        }
        self.file, self.results = experiment(folder, **{**plain, **changes})
        self.slurm, self.log = slurm, folder / "log"
        self.runs = expand(load_experiment(self.file))

    def submit(self, *options: str) -> str:
        command = [
            "sbatch",
            "--parsable",
            f"--output={self.log}-%j",
            "--open-mode=append",
            "--nodes=2",
        ]
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        words = workflow(self.file, self.results)[3:]  # without Python's
        done = self.slurm.run(*command, *options, SCRIPT, *words, PATH=path)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def records(self) -> dict[str, int]:
        return records(self.results)

    def launch(self, run: str) -> dict:
        return json.loads((self.results.run(run) / "launch.json").read_text())

    def ended(self, job: str) -> str:
        """The state of a job that has ended."""
        self.slurm.wait_until_empty(300)
        said = self.slurm.run("scontrol", "show", "job", job).stdout
        return said.partition("JobState=")[2].split()[0]

    def check(self) -> None:
        """Every run was made once, in the order of the plan, alone, on its nodes, with the same
        spikes.
        """
        assert self.records().keys() == {run.id for run in self.runs}
        assert not any(self.results.path.glob("failed/*"))
        launched = [self.launch(run.id) for run in self.runs]
        spans = [(one["began_s"], one["began_s"] + one["wall_s"]) for one in launched]
        assert spans == sorted(spans)
        assert all(before[1] < after[0] + 0.01 for before, after in itertools.pairwise(spans))
        checksums = set()
        for run, one in zip(self.runs, launched, strict=True):
            record = json.loads((self.results.run(run.id) / "record.json").read_text())
            checksums.add(record["checksum"])
            assert record["host"]["nodes"] == 2 // run.ranks_per_node
            assert set(record["host"]["node_names"]) <= set(one["allocation"]["nodes"])
            assert one["launcher"] == "srun"
        assert len(checksums) == 1


@pytest.fixture
def sweep(slurm, tmp_path):
    yield lambda **changes: Sweep(slurm, tmp_path, **changes)
    slurm.cancel_all()
    slurm.wait_until_empty()


def test_one_allocation_makes_all_runs_on_one_and_two_nodes(sweep):
    small = sweep()
    job = small.submit()
    assert small.ended(job) == "COMPLETED", Path(f"{small.log}-{job}").read_text()
    small.check()
    assert (small.results.path / "report.html").is_file()


def test_from_term_on_no_run_begins_and_the_next_job_goes_on(sweep):
    """Slurm sends TERM to the batch script before the limit (--signal=B:TERM@N), as `scancel` does
    here.
    """
    small = sweep()
    first, second = small.submit(), small.submit()
    until(lambda: len(small.records()) >= 2)
    small.slurm.run("scancel", "--batch", "--signal=TERM", first)
    assert small.ended(second) == "COMPLETED", Path(f"{small.log}-{second}").read_text()
    assert small.ended(first) == "COMPLETED"
    jobs = [small.launch(run.id)["allocation"]["job"] for run in small.runs]
    assert jobs == sorted(jobs) and set(jobs) == {first, second}
    small.check()


@pytest.mark.parametrize("end", ["cancelled", "node down"])
def test_a_run_that_is_cut_has_not_failed_and_the_next_job_makes_it(end, sweep, slurm):
    long = {"time.warmup_ms": 10, "time.simulate_ms": 10_000}  # so that a run is seen at work
    small = sweep(ranks_per_node=1, repetitions=2, set=long)
    job = small.submit()
    until(lambda: any(small.results.path.glob("unchecked/*/record*")))
    node = slurm.run("squeue", "--noheader", f"--jobs={job}", "--format=%N").stdout
    assert node.strip()
    if end == "cancelled":
        slurm.run("scancel", job)
    else:
        first = slurm.run("scontrol", "show", "hostnames", node.strip()).stdout.split()[-1]
        slurm.run("scontrol", "update", f"nodename={first}", "state=down", "reason=test")
    try:
        assert small.ended(job) == {"cancelled": "CANCELLED", "node down": "NODE_FAIL"}[end]
        before = small.records()
        assert len(before) < 2 and not any(small.results.path.glob("failed/*"))
        assert small.ended(small.submit()) == "COMPLETED"
    finally:
        if end == "node down":
            slurm.run("scontrol", "update", f"nodename={first}", "state=resume")
    assert before.items() <= small.records().items()
    small.check()
