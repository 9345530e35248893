"""Command lines and environments for one run."""

import os

import pytest

from spikemark.core import launch, mpirun, slurm, srun
from spikemark.core.errors import BadInput
from spikemark.core.layout import BINDINGS, DISTRIBUTIONS, Layout, Nodes, Spread, spread

PROGRAM = ["miniapp", "run.json", "--out", "there"]
HERE = Nodes((4,), "this host")
JOB = Nodes((2, 2, 2, 2), "job 7")


@pytest.fixture
def job(monkeypatch):
    """This process is in a job of four nodes of two cores, in a step of one task on the first."""
    for name in [name for name in os.environ if slurm.INHERITED.match(name)]:
        monkeypatch.delenv(name)
    given = {
        "SLURM_CONF": os.devnull,
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "n[1-4]",
        "SLURM_NTASKS": "1",
        "SLURM_DISTRIBUTION": "cyclic",
        "SLURM_NNODES": "1",
        "SLURM_JOB_NUM_NODES": "4",
        "SLURM_STEP_NODELIST": "n1",
        "SLURM_CPU_BIND_TYPE": "mask_cpu:",
        "SLURM_HINT": "multithread",
        "SLURM_EXPORT_ENV": "NONE",
        "SRUN_CPUS_PER_TASK": "1",
        "SBATCH_TIMELIMIT": "5",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(launch, "nodes_at_hand", lambda: JOB)


@pytest.mark.parametrize("name", launch.LAUNCHERS)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_every_launcher_asks_for_ranks_and_threads(name, ranks, threads, job):
    start = launch.launch(name, PROGRAM, Layout(ranks, threads))
    assert start.command[-len(PROGRAM) :] == PROGRAM
    options = " ".join(start.command[: -len(PROGRAM)])
    assert f"-n {ranks}" in options or f"--ntasks={ranks}" in options
    assert start.environment["OMP_NUM_THREADS"] == str(threads)
    assert start.spread.ranks == ranks
    assert start.spread.nodes == -(-ranks * threads // 2)


@pytest.mark.parametrize("distribution", [None, *DISTRIBUTIONS])
@pytest.mark.parametrize("binding", [None, *BINDINGS])
def test_a_step_is_told_everything(distribution, binding, job):
    command = launch.launch("srun", PROGRAM, Layout(4, 1, 1, distribution, binding)).command
    wanted = {
        "--nodes=4",
        "--ntasks=4",
        "--ntasks-per-node=1",
        "--cpus-per-task=1",
        f"--distribution={distribution or 'block'}:block",
        f"--cpu-bind={binding or 'cores'}",
        "--hint=nomultithread",
        "--overlap",
    }
    assert wanted <= set(command)


def test_no_option_of_the_job_passes_on_to_a_step(job):
    start = launch.launch("srun", PROGRAM, Layout(4))
    left = {name for name in start.applied(os.environ) if slurm.INHERITED.match(name)}
    assert left == {"SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOB_NODELIST"}


def test_the_default_is_srun_only_inside_an_allocation(job, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert launch.default_launcher() == "srun"
    monkeypatch.delenv("SLURM_JOB_ID")
    assert launch.default_launcher() == "mpirun"
    with pytest.raises(BadInput, match="'srun' is not allowed here"):
        launch.launch("srun", PROGRAM, Layout(1))


@pytest.mark.parametrize(
    ("layout", "nodes", "found"),
    [
        (Layout(1), JOB, Spread(1, 1, 1)),
        (Layout(4), JOB, Spread(4, 2, 2)),
        (Layout(3), JOB, Spread(3, 2, 2)),
        (Layout(3, 2), JOB, Spread(3, 3, 1)),
        (Layout(4, 1, 1), JOB, Spread(4, 4, 1)),
        (Layout(4, 1, None, "cyclic"), JOB, Spread(4, 2, 2, "cyclic")),
        (Layout(3), Nodes((2, 1), "job 7"), Spread(3, 2, 2)),
        (Layout(2), Nodes((1, 2, 1), "job 7"), Spread(2, 1, 2)),
    ],
)
def test_nodes_are_as_few_as_the_layout_allows(layout, nodes, found):
    assert spread(layout, nodes) == found


def test_the_node_of_a_rank_follows_from_the_distribution():
    assert [Spread(5, 3, 2).node(rank) for rank in range(5)] == [0, 0, 1, 1, 2]
    assert [Spread(5, 3, 2, "cyclic").node(rank) for rank in range(5)] == [0, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("layout", "complaint"),
    [
        (Layout(9), r"ranks: 9; allowed with threads=1, ranks_per_node=2: at most 8, by the nodes \(4\)"),
        (Layout(5, 1, 1), r"ranks: 5; allowed with threads=1, ranks_per_node=1: at most 4"),
        (Layout(1, 3), "threads: 3; allowed: at most 2, the cores of a node of job 7"),
        (Layout(4, 1, 3), r"ranks_per_node: 3; allowed with threads=1: at most 2, by the cores \(2\)"),
        (Layout(4, 2, 2), r"ranks_per_node: 2; allowed with threads=2: at most 1"),
        (Layout(2, distribution="plane"), "distribution: 'plane' is not allowed: one of block, cyclic"),
        (Layout(2, binding="sockets"), "binding: 'sockets' is not allowed: one of cores, none"),
    ],
)
def test_an_impossible_layout_is_refused_by_its_field(layout, complaint, job):
    with pytest.raises(BadInput, match=complaint) as refusal:
        launch.launch("srun", PROGRAM, layout)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("ranks", "threads", "fits"), [(4, 1, True), (2, 2, True), (2, 3, False), (5, 1, False)]
)
def test_oversubscription_only_where_cores_run_out(ranks, threads, fits):
    start = mpirun.start(PROGRAM, Layout(ranks, threads), HERE)
    bound = start.command[start.command.index("--bind-to") + 1] != "none"
    oversubscribed = {name for name in start.environment if "oversubscribe" in start.environment[name] + name}
    assert bound == fits
    assert bool(oversubscribed) != fits
    if fits:
        assert f"slot:PE={threads}" in start.command


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_for_root(monkeypatch, user, allowed):
    monkeypatch.setattr("os.geteuid", lambda: user)
    start = mpirun.start(PROGRAM, Layout(1), HERE)
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in start.environment) == allowed
    assert ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" in start.environment) == allowed


def test_numbers_of_cpus_as_slurm_writes_them():
    assert list(srun.cpus_of_nodes("4(x2),2")) == [4, 4, 2]
    assert list(srun.cpus_of_nodes("128")) == [128]


@pytest.mark.parametrize(
    ("told", "cores"), [({}, 2), ({"SLURM_THREADS_PER_CORE": "1"}, 4), ({"SLURM_THREADS_PER_CORE": "2"}, 2)]
)
def test_cores_of_a_job_that_may_use_some_threads_of_each(monkeypatch, told, cores):
    monkeypatch.setattr(slurm, "hosts", lambda _: ("n1",))
    monkeypatch.setattr(slurm, "cpus_per_core", lambda _: 2)
    given = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4", **told}
    assert srun.nodes(given).cores == (cores,)


def test_hardware_threads_of_one_core_count_once(monkeypatch, tmp_path):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 5})
    for cpu, (package, core) in {0: (0, 0), 1: (0, 0), 2: (0, 1), 5: (1, 0)}.items():
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{package}\n")
        (topology / "core_id").write_text(f"{core}\n")
    assert launch.available_cores(tmp_path) == 3


def test_without_topology_every_cpu_is_a_core(monkeypatch, tmp_path):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    assert launch.available_cores(tmp_path) == 3


def test_unknown_launcher_names_those_that_exist():
    with pytest.raises(BadInput, match=r"'qsub'.*mpirun, srun"):
        launch.launch("qsub", PROGRAM, Layout(1))
