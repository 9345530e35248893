"""The jobs in workflows/clusters and its ReFrame test work on a cluster."""

import json
import tempfile
from pathlib import Path

import private_slurm
import pytest
from site_programs import CLUSTERS, programs

#: Which cluster an example needs: hardware threads of each core.
EXAMPLES = {"one-allocation": 1, "modules": 1, "one-thread-per-core": 2}


@pytest.fixture(scope="session")
def clusters(slurm):
    """A Slurm by the hardware threads of each core."""
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        private_slurm.private_slurm(Path(folder), "twice", nodes=2, threads_per_core=2) as threaded,
    ):
        yield {1: slurm, 2: threaded}


def launches(results: Path) -> list[dict]:
    """How the runs of a sweep were started."""
    return [json.loads(path.read_text()) for path in results.glob("runs/*/launch.json")]


def test_every_example_is_tried():
    assert {path.stem for path in (CLUSTERS / "sbatch").iterdir()} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_a_job_measures_all_runs(clusters, name, tmp_path):
    slurm = clusters[EXAMPLES[name]]
    script, log = CLUSTERS / "sbatch" / f"{name}.sh", tmp_path / "log"
    done = slurm.run(
        "sbatch",
        f"--output={log}",
        *(script, "smoke", "--machine", "toy", "--results", tmp_path),
        **programs(tmp_path),
        MODULES="GCC OpenMPI",
    )
    assert done.returncode == 0, done.stderr
    slurm.wait_until_empty(120)
    found = launches(tmp_path / "smoke" / "toy")
    assert len(found) == 8, log.read_text()
    assert {run["launcher"] for run in found} == {"srun"}
    if name == "modules":
        assert (tmp_path / "modules").read_text() == "purge\nload GCC OpenMPI\n"


def test_the_reframe_test_submits_itself(slurm, tmp_path):
    site = {
        "systems": [
            {
                "name": "toy",
                "hostnames": [".*"],
                "partitions": [
                    {"name": "main", "scheduler": "squeue", "launcher": "srun", "environs": ["builtin"]}
                ],
            }
        ],
        "environments": [{"name": "builtin"}],
    }
    (tmp_path / "site.json").write_text(json.dumps(site))
    options = ["-C", tmp_path / "site.json", "--prefix", tmp_path, "--report-file", tmp_path / "report.json"]
    check = ["-c", CLUSTERS / "reframe" / "smoke.py", "-r", "--nocolor"]
    environment = programs(tmp_path)
    done = slurm.run("reframe", *options, *check, timeout=300, **environment)
    assert done.returncode == 0, done.stdout
    assert "Ran 1/1 test case" in done.stdout
