"""Ranks on several nodes: each layout that is asked for is the one that is found."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from checkout import ROOT
from private_slurm import private_slurm

from spikemark.launch.host_file import VARIABLE as HOST_FILE
from spikemark.launch.layout import LaunchLayout, spread
from spikemark.launch.layout import Nodes as Given

#: Starts what says where each rank is, with a launcher and a layout.
START = """
import json, sys
from spikemark.core.errors import BadInput
from spikemark.launch import LaunchLayout, launch
from spikemark.launch.process import watch

say = 'echo rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}} node=$(uname -n)'
say += ' threads=$OMP_NUM_THREADS cores=$(env --unset=OMP_NUM_THREADS nproc)'
try:
    program = sys.argv[3:] or ["sh", "-c", say]
    start = launch(sys.argv[1], program, LaunchLayout(**json.loads(sys.argv[2])))
except BadInput as refused:
    sys.exit(f"refused: {refused}")
done = watch(start, 50)
print(done.output)
sys.exit(done.reason if done.status else 0)
"""
FOUR = Given((2, 2, 2, 2), "the job", ("n1", "n2", "n3", "n4"))


@pytest.fixture
def start(tmp_path):
    """Returns a function that starts ranks: (Slurm, command around it, launcher, layout) -> how it
    ended.
    """
    script = tmp_path / "start.py"
    script.write_text(START)

    def run(slurm, around: list[str], launcher: str, layout: LaunchLayout, *program: str | Path):
        command = [*around, sys.executable, script, launcher, json.dumps(vars(layout)), *program]
        return slurm.run(*command, PYTHONPATH=str(ROOT / "analysis"))

    return run


def nodes_of_ranks(output: str) -> list[str]:
    """The name of the node of each rank."""
    found = {int(rank): node for rank, node in re.findall(r"rank=(\d+) node=(\S+)", output)}
    return [found[rank] for rank in range(len(found))]


JOB = ["salloc", "--quiet", "--nodes=4", "--exclusive"]
#: In a job as a user has it, and in a step that is confined to its first node, with options of
#: their own.
INSIDE = {
    "the job": JOB,
    "another distribution": [
        *JOB,
        "--distribution=cyclic",
        "--ntasks-per-node=1",
        "--cpus-per-task=2",
    ],
    "a step on one node": [*JOB, "srun", "--ntasks=1", "--nodes=1", "--cpu-bind=cores"],
}
LAYOUTS = [
    LaunchLayout(2, ranks_per_node=1),
    LaunchLayout(4),
    LaunchLayout(4, distribution="cyclic"),
    LaunchLayout(3),
    LaunchLayout(3, distribution="cyclic"),
    LaunchLayout(2, threads=2),
    LaunchLayout(2, ranks_per_node=1, binding="none"),
]


@pytest.mark.parametrize("place", [*INSIDE, "mpirun"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_every_rank_is_on_its_node(place, layout, slurm, start):
    done = start(slurm, INSIDE.get(place, JOB), "srun" if place in INSIDE else "mpirun", layout)
    assert done.returncode == 0, done.stderr
    placed = spread(layout, FOUR)
    assert nodes_of_ranks(done.stdout) == [
        placed.names[placed.node(rank)] for rank in range(layout.ranks)
    ]
    if place in INSIDE and (os.cpu_count() or 1) > 1:  # a node has two cores
        cores = 2 if layout.binding == "none" else layout.threads
        assert re.findall(r"cores=(\d+)", done.stdout) == [str(cores)] * layout.ranks


def test_a_host_file_takes_the_place_of_a_job(slurm, start, tmp_path):
    """What stands in for ssh gives the node its name."""
    agent, hosts = tmp_path / "agent", tmp_path / "hosts"
    agent.write_text(
        "#!/bin/sh\nexport SLURMD_NODENAME=$1; shift\n"
        f'LD_PRELOAD={slurm.folder / "node-name.so"} exec env --unset=OMP_NUM_THREADS sh -c "$*"\n'
    )
    agent.chmod(0o755)
    hosts.write_text("n1 slots=1\nn2 slots=2\nn1 slots=1\n")
    given = {HOST_FILE: str(hosts), "OMPI_MCA_plm_rsh_agent": str(agent)}
    around = ["env", *(f"{name}={value}" for name, value in given.items())]
    done = start(slurm, around, "", LaunchLayout(4, distribution="cyclic"))
    assert nodes_of_ranks(done.stdout) == ["n1", "n2", "n1", "n2"], done.stderr
    assert re.findall(r"threads=(\d+)", done.stdout) == ["1"] * 4


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
@pytest.mark.parametrize(
    ("layout", "complaint"),
    [
        (LaunchLayout(9), "ranks=9;"),
        (LaunchLayout(2, 3), "threads=3;"),
        (LaunchLayout(4, 2, 2), "ranks_per_node=2;"),
    ],
)
def test_what_the_job_cannot_hold_is_refused_before_anything_starts(
    launcher, layout, complaint, slurm, start
):
    done = start(slurm, JOB, launcher, layout)
    assert f"refused: {complaint}" in done.stderr
    assert nodes_of_ranks(done.stdout) == []


def test_two_ranks_never_share_a_core_of_two_hardware_threads(start):
    """Nodes with one such core: Slurm by itself would start both ranks on the first."""
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        private_slurm(Path(folder), "threads", nodes=2, cores=1, threads_per_core=2) as slurm,
    ):
        job = ["salloc", "--quiet", "--nodes=2", "--exclusive"]
        done = start(slurm, job, "srun", LaunchLayout(2))
        assert nodes_of_ranks(done.stdout) == ["n1", "n2"], done.stderr
        alone = start(
            slurm, ["salloc", "--quiet", "--nodes=1", "--exclusive"], "srun", LaunchLayout(2)
        )
        assert "refused: ranks=2;" in alone.stderr


#: The compilers of the MPI libraries that are installed here.
COMPILERS = [name for name in ("mpicc", "mpicc.openmpi", "mpicc.mpich") if shutil.which(name)]
WORLD = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size;
    char node[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(node, &(int){0});
    printf("rank=%d node=%s size=%d\\n", rank, node, size);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_ranks_of_every_mpi_library_are_one_world(compiler, slurm, start, tmp_path):
    (tmp_path / "world.c").write_text(WORLD)
    program = tmp_path / "world"
    subprocess.run([compiler, "-o", program, tmp_path / "world.c"], check=True)
    done = start(slurm, JOB, "srun", LaunchLayout(4, distribution="cyclic"), program)
    assert nodes_of_ranks(done.stdout) == ["n1", "n2", "n1", "n2"], done.stderr
    assert re.findall(r"size=(\d+)", done.stdout) == ["4"] * 4


EXPERIMENT = """
name: nodes
title: layouts
preset:
  name: mam-benchmark
  options: {areas: 4, neurons_per_area: 50, indegree: 10, simulate_ms: 10, warmup_ms: 0}
grid:
  - {ranks: 2, ranks_per_node: 1}
  - {ranks: 4, distribution: [block, cyclic]}
ranks: 2
shuffle_seed: 1
"""


def test_a_sweep_inside_an_allocation_spreads_its_runs(slurm, tmp_path):
    (tmp_path / "nodes.yaml").write_text(EXPERIMENT)
    command = [
        sys.executable,
        "-m",
        "spikemark",
        "sweep",
        tmp_path / "nodes.yaml",
        "--machine",
        "toy",
    ]
    command += ["--results", tmp_path / "results"]
    folder = tmp_path / "results" / "nodes" / "toy"
    done = slurm.run(*JOB, *command, PYTHONPATH=str(ROOT / "analysis"), timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    plan = json.loads((folder / "plan.json").read_text())
    assert len(plan["runs"]) == 3
    for run in plan["runs"]:
        place = folder / "runs" / run["id"]
        record, launched = (
            json.loads((place / f"{name}.json").read_text()) for name in ("record", "launch")
        )
        assert record["ranks"] == run["ranks"]
        assert record["host"]["node_names"] == ["n1", "n2"]
        assert launched["command"][0] == "srun"
        assert f"--distribution={run.get('distribution', 'block')}:block" in launched["command"]


def test_a_job_of_several_components_is_refused(slurm, start):
    around = ["salloc", "--quiet", "--nodes=1", "--exclusive", ":", "--nodes=1", "--exclusive"]
    for launcher in ("srun", "mpirun"):
        done = start(slurm, around, launcher, LaunchLayout(2))
        assert "refused: SLURM_HET_SIZE='2'; expected 1" in done.stderr
