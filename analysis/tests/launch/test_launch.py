"""Command lines and environments for one run."""

import os

import pytest

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import hostfile, mpirun, pmi, slurm, srun
from spikemark.launch.layout import BINDINGS, DISTRIBUTIONS, Layout, Nodes, Spread, spread

PROGRAM = ["miniapp", "run.json", "--out", "there"]
HERE = Nodes((4,), "this host")
JOB = Nodes((2, 2, 2, 2), "job 7", ("n1", "n2", "n3", "n4"))
VERSIONS = {
    "Open MPI": "mpirun (Open MPI) 4.1.4",
    "MPICH": "HYDRA build details:\n    Version:  4.0.2",
    "Intel MPI": "Intel(R) MPI Library for Linux* OS, Version 2021.11",
}


@pytest.fixture
def job(monkeypatch, plant):
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
    plant("scontrol", "[ $2 = hostnames ] && echo n1 n2 n3 n4")
    monkeypatch.setattr(launch, "nodes_at_hand", lambda: JOB)
    monkeypatch.setattr(pmi, "option", lambda program: ["--mpi=pmix"])


@pytest.fixture
def mpirun_is(monkeypatch):
    """Makes mpirun that of a library of VERSIONS."""
    return lambda library: monkeypatch.setattr(mpirun, "_version", lambda program: VERSIONS[library])


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
        "--nodelist=n1,n2,n3,n4",
        "--ntasks=4",
        "--ntasks-per-node=1",
        f"--distribution={distribution or 'block'}:block",
        f"--cpu-bind={binding or 'cores'}",
        "--hint=nomultithread",
        "--overlap",
    }
    assert wanted <= set(command)
    assert ("--cpus-per-task=1" in command) == (binding != "none")


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
        (Layout(1), JOB, Spread(1, 1, 1, names=("n1",))),
        (Layout(4), JOB, Spread(4, 2, 2, names=("n1", "n2"))),
        (Layout(3), JOB, Spread(3, 2, 2, names=("n1", "n2"))),
        (Layout(3, 2), JOB, Spread(3, 3, 1, names=("n1", "n2", "n3"))),
        (Layout(4, 1, 1), JOB, Spread(4, 4, 1, names=JOB.names)),
        (Layout(4, 1, None, "cyclic"), JOB, Spread(4, 2, 2, "cyclic", ("n1", "n2"))),
        (Layout(2), Nodes((1, 2, 1), "job 7", ("n1", "n2", "n3")), Spread(2, 1, 2, names=("n2",))),
        (Layout(3), Nodes((2, 1), "job 7"), Spread(3, 2, 2)),
        (Layout(2), Nodes((1, 2, 1), "job 7"), Spread(2, 1, 2)),
        (Layout(256), Nodes((64, 64, 64, 128), "job 7"), Spread(256, 4, 64)),
    ],
)
def test_nodes_are_as_few_as_the_layout_allows(layout, nodes, found):
    assert spread(layout, nodes) == found


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        (Layout(4), {"--ntasks-per-node=2", "--distribution=block:block"}),
        (Layout(3), {"--distribution=plane=2"}),
        (Layout(3, distribution="cyclic"), {"--distribution=cyclic:block"}),
    ],
)
def test_where_the_last_node_gets_fewer_slurm_takes_no_number_per_node(layout, options, job):
    """It ignores it then, and would fill the first node."""
    command = launch.launch("srun", PROGRAM, layout).command
    assert {part for part in command if part.startswith(("--ntasks-per", "--distribution"))} == options


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
    assert (start.environment.items() >= mpirun.CROWDED.items()) != fits
    if fits:
        assert f"slot:PE={threads}" in start.command


ON_NODES = {
    "Open MPI": "--bind-to core:if-supported --host n1:2,n2:2 --map-by ppr:2:node:PE=1 --rank-by slot",
    "MPICH": "-bind-to core:1 -hosts n1,n2 -ppn 2",
    "Intel MPI": "-hosts n1,n2 -ppn 2",
}
CYCLIC = {"Open MPI": "--rank-by node", "MPICH": "-ppn 1", "Intel MPI": "-ppn 1"}
UNBOUND = {"Open MPI": "--bind-to none", "MPICH": "-bind-to none", "Intel MPI": ""}


@pytest.mark.parametrize("library", VERSIONS)
def test_every_mpirun_is_told_the_nodes(library, job, mpirun_is):
    mpirun_is(library)
    block, cyclic, unbound = (
        " ".join(launch.launch("mpirun", PROGRAM, Layout(4, 1, 2, *how)).command)
        for how in (("block",), ("cyclic",), ("block", "none"))
    )
    assert ON_NODES[library] in block
    assert CYCLIC[library] in cyclic
    assert UNBOUND[library] in unbound


def test_the_daemons_of_mpirun_are_a_step_of_the_whole_job(job, mpirun_is):
    mpirun_is("Open MPI")
    environment = launch.launch("mpirun", PROGRAM, Layout(4)).applied(os.environ)
    left = {name for name in environment if slurm.INHERITED.match(name)}
    assert environment["SLURM_NODELIST"] == "n[1-4]"
    assert environment["SLURM_TASKS_PER_NODE"] == "2,2,2,2"
    assert "SLURM_OVERLAP" in left
    assert not left & {"SLURM_NTASKS", "SLURM_STEP_NODELIST", "SLURM_DISTRIBUTION"}


def test_several_nodes_are_never_oversubscribed(job):
    with pytest.raises(BadInput, match="ranks: 9; allowed"):
        launch.launch("mpirun", PROGRAM, Layout(9))


@pytest.mark.parametrize(
    ("layout", "complaint"),
    [
        (Layout(5, binding="cores"), "ranks: 5; allowed .* at most 4"),
        (Layout(4, 1, 2), "ranks: 4; allowed .* at most 2, by the nodes .1. of this host"),
    ],
)
def test_what_one_host_cannot_give_is_refused(layout, complaint):
    with pytest.raises(BadInput, match=complaint):
        mpirun.start(PROGRAM, layout, HERE)


def test_a_host_file_names_nodes_and_cores(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("# ours\nn1 slots=4\nn2:2  # half\n\n")
    found = hostfile.nodes({hostfile.VARIABLE: str(file)})
    assert found == Nodes((4, 2), str(file), ("n1", "n2"))
    assert hostfile.nodes({}) is None


@pytest.mark.parametrize("text", ["", "n1\n", "n1 slots=0\n", "n1 slots=2 slots=3\n", "n1 2\n"])
def test_other_lines_of_a_host_file_are_refused(text, tmp_path):
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(BadInput, match=r"hosts: .*a line is NAME slots=CORES"):
        hostfile.nodes({hostfile.VARIABLE: str(tmp_path / "hosts")})


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
