"""Real runs inside an outer job, under taskset and under a quota: they start, and stay where they
may.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import MINIAPP, OPEN_MPI, ROOT

from spikemark.records.judged import warnings

pytestmark = pytest.mark.slow

#: Starts the mini-app on two ranks, as sweeps do, and waits for its end.
STARTER = """
import sys
from spikemark import launch
from spikemark.launch.layout import LaunchLayout
from spikemark.launch.process import watch
done = watch(launch.launch("mpirun", sys.argv[1:], LaunchLayout(2)), 300)
sys.exit(done.reason if done.status else 0)
"""
#: What Slurm tells a step on one node.
STEP = {
    "SLURM_JOB_ID": "7",
    "SLURM_JOBID": "7",
    "SLURM_NODELIST": "n7",
    "SLURM_JOB_NODELIST": "n7",
    "SLURM_NNODES": "1",
    "SLURM_TASKS_PER_NODE": "1",
    "SLURM_PROCID": "0",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "n7",
    "PMI_RANK": "0",
    "PMI_SIZE": "1",
    "PMIX_RANK": "0",
    "PMIX_NAMESPACE": "slurm.pmix.7.0",
    "PMIX_SERVER_URI2": "x",
}
CGROUP = Path("/sys/fs/cgroup/cpu")


@pytest.fixture
def record_of(tmp_path):
    """Returns a function that gives the record of a run on two ranks behind a command `around`."""

    def run(*around: str, **variables: str) -> dict:
        out = tmp_path / "run"
        program = [MINIAPP, ROOT / "miniapp/examples/two_areas.json", "--out", out]
        settings = ["--set", "time.simulate_ms=20"]
        command = [*around, sys.executable, "-c", STARTER, *program, *settings]
        environment = {**os.environ, **OPEN_MPI, **variables}
        streams = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
        done = subprocess.run(
            [str(word) for word in command], env=environment, timeout=300, **streams
        )
        assert done.returncode == 0, done.stderr
        record = json.loads((out / "record.json").read_text())
        assert record["ranks"] == 2
        return record

    return run


@pytest.fixture
def path_without_slurm(tmp_path):
    """A PATH with the programs of this machine but those of Slurm, which a container lacks."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            if program.name not in ("scontrol", "srun", "squeue", "salloc"):
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return str(folder)


def test_a_container_in_a_job_runs_without_slurm(record_of, path_without_slurm):
    record = record_of(**STEP, PATH=path_without_slurm)
    assert not any(name.startswith("PMIX_") for name in record["host"]["surroundings"]["variables"])


def test_ranks_start_inside_an_outer_mpirun(record_of):
    record_of("mpirun", "-n", "1", "--bind-to", "none")


def test_ranks_stay_on_the_cores_of_taskset(record_of):
    core = max(os.sched_getaffinity(0))
    record = record_of("taskset", "--cpu-list", core)
    assert record["host"]["binding"] == [[core], [core]]
    assert any(text.startswith(("shared cores", "oversubscribed")) for text in warnings(record))


def test_the_surroundings_are_kept_and_remarked_upon(record_of):
    record = record_of(
        "nice", "-n", "3", MALLOC_CHECK_="1", OMPI_MCA_coll="^hcoll", OMP_DISPLAY_ENV="false"
    )
    around = record["host"]["surroundings"]
    assert around["nice"] >= 3 and around["scheduler"] == "other"
    assert (
        around["variables"].items()
        >= {"OMPI_MCA_coll": "^hcoll", "OMP_DISPLAY_ENV": "false"}.items()
    )
    assert not any(name.startswith("OMPI_MCA_orte_") for name in around["variables"])
    kinds = {text.split(":")[0] for text in warnings(record)}
    assert kinds >= {"environment", "low priority"}


@pytest.fixture
def group():
    """A control group with a tenth of a core, inside which there is another without a quota."""
    folder = CGROUP / f"spikemark-test-{os.getpid()}"
    inner = folder / "inner"
    try:
        inner.mkdir(parents=True)
        (folder / "cpu.cfs_quota_us").write_text("10000")
    except OSError:
        pytest.skip("no control group of version 1 can be made here")
    yield inner
    for process in (inner / "cgroup.procs").read_text().split():
        (CGROUP / "cgroup.procs").write_text(process)
    inner.rmdir()
    folder.rmdir()


def test_a_quota_and_what_it_took_are_recorded(group, tmp_path):
    """One rank of two threads, which want ten times as much even on a busy machine, for many
    periods.
    """
    join = ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
    words = [MINIAPP, ROOT / "miniapp/examples/two_areas.json", "--out", tmp_path / "run"]
    command = [*join, *words, "--set", "time.simulate_ms=10000"]
    environment = {**os.environ, **OPEN_MPI, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"}
    subprocess.run([str(word) for word in command], env=environment, timeout=300, check=True)
    record = json.loads((tmp_path / "run/record.json").read_text())
    (node,) = record["host"]["per_node"]
    assert node["quota_cores"] == 0.1 and "quota_reason" not in node
    assert record["host"]["throttled_load"] > 0.02 and "throttled_reason" not in record["host"]
    assert {"oversubscribed", "throttled"} <= {text.split(":")[0] for text in warnings(record)}
