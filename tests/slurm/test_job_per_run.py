"""One batch job for each run: `snakemake --executor slurm`, as docs/clusters.md says."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import experiment, records, script, workflow

from spikemark.running.experiments import expand, load_experiment

#: Versions that go with the Snakemake of setup/constraints.txt. Only this test needs them.
PLUGINS = (
    "snakemake-executor-plugin-slurm==2.8.0",
    "snakemake-executor-plugin-slurm-jobstep==0.6.1",
)


@pytest.fixture(scope="module")
def plugins(tmp_path_factory) -> Path:
    """A folder with Snakemake's executor for Slurm, from PyPI."""
    folder = tmp_path_factory.mktemp("plugins")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "--no-deps", "--target", folder, *PLUGINS], capture_output=True)
    if done.returncode:
        pytest.skip(f"no {PLUGINS[0]} from PyPI: {done.stderr.decode().splitlines()[-1]}")
    return folder


@pytest.fixture
def commands(slurm, tmp_path) -> Path:
    """A folder with the commands of this private Slurm.

    The plugin takes SLURM_CONF from the environment of a job; other Slurms have their file in /etc.
    """
    conf = shlex.quote(slurm.environment["SLURM_CONF"])
    for name in ("srun", "scontrol", "squeue", "sinfo"):
        script(tmp_path / "bin" / name, f'SLURM_CONF={conf} exec {shutil.which(name)} "$@"')
    return tmp_path / "bin"


def test_each_run_is_a_job_with_its_nodes_and_all_runs_agree(slurm, commands, plugins, tmp_path):
    layouts = {"ranks": [1, 2], "ranks_per_node": 1, "grid": [{"schedule": "conventional"}]}
    file, results = experiment(tmp_path, **layouts, time_limit_s=120)
    command = workflow(file, results)
    options = ["--executor", "slurm", "--jobs", "2", "--slurm-no-account"]
    options += ["--slurm-status-command", "squeue", "--seconds-between-status-checks", "2"]
    options += ["--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10"]
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = slurm.run(*command, *options, PATH=path, PYTHONPATH=str(plugins), timeout=240)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    runs = expand(load_experiment(file))
    assert records(results).keys() == {run.id for run in runs}
    jobs, checksums = set(), set()
    for run in runs:
        launch = json.loads((results.run(run.id) / "launch.json").read_text())
        record = json.loads((results.run(run.id) / "record.json").read_text())
        assert launch["launcher"] == "srun" and record["host"]["nodes"] == run.ranks
        assert len(launch["allocation"]["nodes"]) == run.ranks
        jobs.add(launch["allocation"]["job"])
        checksums.add(record["checksum"])
    assert len(jobs) == len(runs) == 2 and len(checksums) == 1
    assert results.report.is_file()
