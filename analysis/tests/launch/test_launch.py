"""Command lines and environments for one run."""

import os
import subprocess
import sys
from datetime import datetime

import pytest

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import cgroups, mpirun, outer, slurm, srun
from spikemark.launch.layout import LaunchLayout, Nodes, RanksOnNodes, spread

PROGRAM = ["miniapp", "run.json", "--out", "there"]
HERE = Nodes((4,), "this host")
NAMES = ("n1", "n2", "n3", "n4")
JOB = Nodes((2, 2, 2, 2), "job 7", NAMES)
#: This process is in a job of four nodes of two cores, in a step of one task on the first.
IN_A_JOB = {
    "SLURM_CONF": os.devnull,
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_NODELIST": "n[1-4]",
    "SLURM_JOB_CPUS_PER_NODE": "4(x4)",
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
KEPT = {"SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE"}
NODE = "CPUTot=4 Sockets=1 CoresPerSocket=2"
VERSIONS = {
    "Open MPI": "mpirun (Open MPI) 4.1.4",
    "MPICH": "HYDRA build details:\n    Version:  4.0.2",
    "Intel MPI": "Intel(R) MPI Library for Linux* OS, Version 2021.11",
}


@pytest.fixture
def job(monkeypatch, plant):
    """This process is in the job; srun offers pmix."""
    for name in [name for name in os.environ if outer.INHERITED.match(name)]:
        monkeypatch.delenv(name)
    for name, value in IN_A_JOB.items():
        monkeypatch.setenv(name, value)
    for cached in (slurm._expanded, slurm._cpus_per_core):
        cached.cache_clear()
    plant("scontrol", f"[ $2 = hostnames ] && echo {' '.join(NAMES)} || echo {NODE}")
    monkeypatch.setattr(
        srun, "command_output", lambda *command: "pmix" if command[0] == "srun" else ""
    )


@pytest.fixture
def mpirun_is(monkeypatch):
    """Makes mpirun that of a library of VERSIONS."""
    return lambda library: monkeypatch.setattr(
        mpirun, "command_output", lambda *_: VERSIONS[library]
    )


@pytest.mark.parametrize("name", launch.LAUNCHERS)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_every_launcher_asks_for_ranks_and_threads(name, ranks, threads, job):
    start = launch.launch(name, PROGRAM, LaunchLayout(ranks, threads))
    assert start.command[-len(PROGRAM) :] == PROGRAM
    options = " ".join(start.command[: -len(PROGRAM)])
    assert f"-n {ranks}" in options or f"--ntasks={ranks}" in options
    assert start.environment["OMP_NUM_THREADS"] == str(threads)
    assert (start.spread.ranks, start.spread.nodes) == (ranks, -(-ranks * threads // 2))


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        (
            LaunchLayout(4, 1, 1),
            "--ntasks-per-node=1 --distribution=block:block --cpus-per-task=1 --cpu-bind=cores",
        ),
        (
            LaunchLayout(4, 1, 1, "cyclic", "none"),
            "--ntasks-per-node=1 --distribution=cyclic:block --cpu-bind=none",
        ),
        (
            LaunchLayout(4),
            "--ntasks-per-node=2 --distribution=block:block --cpus-per-task=1 --cpu-bind=cores",
        ),
        # Where the last node gets fewer, Slurm would ignore a number per node and fill the first
        # node.
        (LaunchLayout(3), "--distribution=plane=2 --cpus-per-task=1 --cpu-bind=cores"),
        (
            LaunchLayout(3, 1, None, "cyclic"),
            "--distribution=cyclic:block --cpus-per-task=1 --cpu-bind=cores",
        ),
    ],
)
def test_a_step_has_the_options_of_its_layout(layout, options, job):
    start = launch.launch("srun", PROGRAM, layout)
    nodes = start.spread.names
    everywhere = [
        "--mpi=pmix",
        "--overlap",
        "--kill-on-bad-exit=1",
        "--mem=0",
        "--hint=nomultithread",
    ]
    where = [f"--nodes={len(nodes)}", f"--nodelist={','.join(nodes)}", f"--ntasks={layout.ranks}"]
    assert {*start.command} == {"srun", *everywhere, *where, *options.split(), *PROGRAM}


def test_no_option_of_the_job_passes_on(job, mpirun_is):
    """The daemons of mpirun are a step of the whole job."""
    mpirun_is("Open MPI")
    left = {
        name: launch.launch(name, PROGRAM, LaunchLayout(4)).applied(os.environ)
        for name in launch.LAUNCHERS
    }
    assert {name for name in left["srun"] if outer.INHERITED.match(name)} == KEPT
    given = {"SLURM_NODELIST": "n[1-4]", "SLURM_TASKS_PER_NODE": "2,2,2,2", "SLURM_NNODES": "4"}
    assert left["mpirun"].items() >= given.items() and "SLURM_OVERLAP" in left["mpirun"]
    assert not left["mpirun"].keys() & {"SLURM_NTASKS", "SLURM_STEP_NODELIST", "SLURM_DISTRIBUTION"}


def test_the_default_is_srun_only_inside_an_allocation(job, plant, monkeypatch):
    plant("srun", "exit 1")
    assert launch.default_launcher() == "srun"
    assert launch.nodes_at_hand() == JOB
    monkeypatch.delenv("SLURM_JOB_ID")
    assert launch.default_launcher() == "mpirun"
    assert launch.nodes_at_hand() == Nodes((launch.available_cores(),), "this host")
    for name in ("srun", "qsub"):
        with pytest.raises(BadInput, match=r"launcher='.*'; expected .*mpirun"):
            launch.launch(name, PROGRAM, LaunchLayout(1))


@pytest.mark.parametrize(
    ("layout", "nodes", "found"),
    [
        (LaunchLayout(1), JOB, RanksOnNodes(1, 1, 1, names=("n1",))),
        (LaunchLayout(4), JOB, RanksOnNodes(4, 2, 2, names=("n1", "n2"))),
        (LaunchLayout(3), JOB, RanksOnNodes(3, 2, 2, names=("n1", "n2"))),
        (LaunchLayout(3, 2), JOB, RanksOnNodes(3, 3, 1, names=("n1", "n2", "n3"))),
        (LaunchLayout(4, 1, 1), JOB, RanksOnNodes(4, 4, 1, names=NAMES)),
        (LaunchLayout(4, 1, None, "cyclic"), JOB, RanksOnNodes(4, 2, 2, "cyclic", ("n1", "n2"))),
        (
            LaunchLayout(2),
            Nodes((1, 2, 1), "job 7", ("n1", "n2", "n3")),
            RanksOnNodes(2, 1, 2, names=("n2",)),
        ),
        (LaunchLayout(3), Nodes((2, 1), "job 7"), RanksOnNodes(3, 2, 2)),
        (LaunchLayout(2), Nodes((1, 2, 1), "job 7"), RanksOnNodes(2, 1, 2)),
        (LaunchLayout(256), Nodes((64, 64, 64, 128), "job 7"), RanksOnNodes(256, 4, 64)),
    ],
)
def test_nodes_are_as_few_as_the_layout_allows(layout, nodes, found):
    assert spread(layout, nodes) == found


@pytest.mark.parametrize(
    ("how", "nodes"), [("block", [0, 0, 1, 1, 2]), ("cyclic", [0, 1, 2, 0, 1])]
)
def test_the_node_of_a_rank_follows_from_the_distribution(how, nodes):
    assert [RanksOnNodes(5, 3, 2, how).node(rank) for rank in range(5)] == nodes


IMPOSSIBLE = [  # (launcher, arguments of Layout, nodes, field, what is expected)
    (
        "srun",
        (9,),
        JOB,
        "ranks",
        "at most 8 with threads=1, ranks_per_node=2, by the nodes (4) of job 7",
    ),
    ("srun", (5, 1, 1), JOB, "ranks", "at most 4"),
    ("srun", (1, 3), JOB, "threads", "at most 2, the cores of a node of job 7"),
    ("srun", (4, 1, 3), JOB, "ranks_per_node", "at most 2 with threads=1, by the cores (2)"),
    ("srun", (4, 2, 2), JOB, "ranks_per_node", "at most 1"),
    ("srun", (2, 1, None, "plane"), JOB, "distribution", "one of block, cyclic"),
    ("srun", (2, 1, None, None, "sockets"), JOB, "binding", "one of cores, none"),
    ("mpirun", (9,), JOB, "ranks", "at most 8"),
    ("mpirun", (5, 1, None, None, "cores"), HERE, "ranks", "at most 4"),
    (
        "mpirun",
        (4, 1, 2),
        HERE,
        "ranks",
        "at most 2 with threads=1, ranks_per_node=2, by the nodes (1)",
    ),
]


@pytest.mark.parametrize(("launcher", "layout", "nodes", "field", "expected"), IMPOSSIBLE)
def test_an_impossible_layout_is_refused_by_its_field(
    launcher, layout, nodes, field, expected, job
):
    with pytest.raises(BadInput) as refusal:
        launch.launch(launcher, PROGRAM, LaunchLayout(*layout), nodes)
    assert refusal.value.field == field and f"; expected {expected}" in str(refusal.value)


@pytest.mark.parametrize(
    ("ranks", "threads", "fits"), [(4, 1, True), (2, 2, True), (2, 3, False), (5, 1, False)]
)
def test_oversubscription_only_where_cores_run_out(ranks, threads, fits):
    start = mpirun.start(PROGRAM, LaunchLayout(ranks, threads), HERE)
    assert (start.environment.items() >= mpirun.CROWDED.items()) != fits
    assert (start.command[start.command.index("--bind-to") + 1] != "none") == fits
    assert (f"slot:PE={threads}" in start.command) == fits
    assert ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" in start.environment) == (os.geteuid() == 0)


ON_NODES = {  # options for blocks, in turn, and without binding
    "Open MPI": (
        "--bind-to core:if-supported --host n1:2,n2:2 --map-by ppr:2:node:PE=1 --rank-by slot",
        "--rank-by node",
        "--bind-to none",
    ),
    "MPICH": ("-bind-to core:1 -hosts n1,n2 -ppn 2", "-ppn 1", "-bind-to none"),
    "Intel MPI": ("-hosts n1,n2 -ppn 2", "-ppn 1", ""),
}


@pytest.mark.parametrize("library", VERSIONS)
def test_every_mpirun_gets_the_nodes(library, job, mpirun_is):
    mpirun_is(library)
    for how, options in zip(
        (("block",), ("cyclic",), ("block", "none")), ON_NODES[library], strict=True
    ):
        assert options in " ".join(
            launch.launch("mpirun", PROGRAM, LaunchLayout(4, 1, 2, *how)).command
        )


def test_cores_of_a_job_that_may_use_some_threads_of_each(job, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "8(x2),4(x2)")
    for threads, cores in (("", (4, 4, 2, 2)), ("1", (8, 8, 4, 4)), ("2", (4, 4, 2, 2))):
        monkeypatch.setenv("SLURM_THREADS_PER_CORE", threads)
        assert slurm.nodes().cores == cores


def test_programs_start_on_chosen_nodes_only(job):
    nodes = launch.nodes_at_hand().only(("n3", "n4"))
    assert nodes == Nodes((2, 2), "job 7", ("n3", "n4")) and JOB.only(("n9",)) == JOB
    assert HERE.only(("n9",)) == HERE
    assert (
        "--nodelist=n3,n4" in launch.launch("srun", PROGRAM, LaunchLayout(2, 1, 1), nodes).command
    )
    environment = launch.launch("mpirun", PROGRAM, LaunchLayout(2), nodes).environment
    assert (environment["SLURM_NNODES"], environment["SLURM_TASKS_PER_NODE"]) == ("4", "1,1,2,2")


def test_hardware_threads_of_one_core_count_once(monkeypatch, tmp_path):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 5})
    assert launch.available_cores(tmp_path) == 4  # without topology, every CPU is a core
    for cpu, (package, core) in {0: (0, 0), 1: (0, 0), 2: (0, 1), 5: (1, 0)}.items():
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{package}\n")
        (topology / "core_id").write_text(f"{core}\n")
    assert launch.core_threads(tmp_path) == [0, 2, 5]


@pytest.mark.parametrize(
    ("quota", "cores"), [(None, 4), (0.5, 1), (1.0, 1), (2.9, 2), (4.0, 4), (64.0, 4)]
)
def test_whole_cores_of_a_quota_count(quota, cores, monkeypatch, tmp_path):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 5})
    monkeypatch.setattr(cgroups, "quota_cores", lambda: quota)
    assert launch.available_cores(tmp_path) == cores
    assert len(launch.core_threads(tmp_path)) == 4


def test_ranks_stay_on_the_cores_that_this_process_may_use():
    """mpirun would bind them to the first cores of the host."""
    confined = Nodes((2,), "this host", confined=True)
    start = mpirun.start(PROGRAM, LaunchLayout(2), confined)
    assert (
        start.command[start.command.index("--bind-to") + 1] == "none"
        and "--map-by" not in start.command
    )
    assert (
        start.environment["OMP_PROC_BIND"] == "false" and "OMP_WAIT_POLICY" not in start.environment
    )
    with pytest.raises(BadInput) as refusal:
        mpirun.start(PROGRAM, LaunchLayout(2, binding="cores"), confined)
    assert refusal.value.field == "binding" and confined.only(("n1",)).confined


def test_a_mask_hides_cores():
    """In processes of their own, since a test is on one core."""
    ask = "import os; from spikemark import launch; "
    confine = "os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}); "
    tell = "print(launch.hidden_cores(), len(launch.core_threads()))"
    numbers = []
    for words in (ask + tell, ask + confine + tell):
        done = subprocess.run(
            [sys.executable, "-c", words], capture_output=True, text=True, check=True
        )
        numbers.append([int(word) for word in done.stdout.split()])
    (hidden, cores), (hidden_then, cores_then) = numbers
    assert cores_then == 1 and hidden_then == hidden + cores - 1


def test_the_end_of_a_job(job, plant, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1000.0)
    plant("squeue", "echo N/A")
    assert slurm.left_s() is None
    plant("squeue", "echo 1970-01-01T00:20:00")
    assert slurm.left_s() == datetime(1970, 1, 1, 0, 20).timestamp() - 1000
    for name in reversed(slurm.ENDS):  # the first, ours, wins
        monkeypatch.setenv(name, f"1{slurm.ENDS.index(name)}00")
        assert slurm.left_s() == 100 * slurm.ENDS.index(name)


NEW = (
    "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n"
    "specific pmix plugin versions available: pmix_v3,pmix_v4\n"
)
OLD = "srun: MPI types are...\nsrun: none\nsrun: pmi2\nsrun: openmpi\n"
OPEN_MPI = "\tlibm.so.6 => /lib/libm.so.6 (0x0)\n\tlibmpi.so.40 => /lib/libmpi.so.40 (0x0)\n"
MPICH = "\tlibmpich.so.12 => /lib/libmpich.so.12 (0x0)\n\tlibm.so.6 => /lib/libm.so.6 (0x0)\n"
PMIX = "\tlibpmix.so.2 => /lib/libpmix.so.2 (0x0)\n"
CRAY = "\tlibmpi_gnu_123.so.12 => /opt/cray/libmpi_gnu_123.so.12 (0x0)\n"
SCRIPT = "\tnot a dynamic executable\n"
LOADED = {  # what srun offers, what the program loads, the choice
    "Open MPI": (NEW, OPEN_MPI, ["--mpi=pmix"]),
    "Open MPI, which names PMIx too": (NEW, PMIX + OPEN_MPI, ["--mpi=pmix"]),
    "MPICH": (NEW, MPICH, ["--mpi=pmi2"]),
    "MPICH by its other name": (NEW, "\tlibmpi.so.12 => /lib/libmpi.so.12 (0x0)\n", ["--mpi=pmi2"]),
    "MPICH with PMIx": (NEW, MPICH + PMIX, ["--mpi=pmix"]),
    "MPICH with PMIx, in the other order": (NEW, PMIX + MPICH, ["--mpi=pmix"]),
    "Cray MPICH": (NEW, CRAY, ["--mpi=pmi2"]),
    "Cray MPICH on a Cray": (NEW + "\tcray_shasta\n", CRAY, ["--mpi=cray_shasta"]),
    "a script": (NEW, SCRIPT, ["--mpi=pmix"]),
    "a script, and no offer": ("", SCRIPT, []),
}


@pytest.fixture
def offers(monkeypatch):
    """Returns a function that says what srun offers and what the program loads."""
    monkeypatch.delenv(srun.VARIABLE, raising=False)

    def says(offered: str, loaded: str) -> None:
        monkeypatch.setattr(
            srun, "command_output", lambda *command: offered if command[0] == "srun" else loaded
        )

    return says


@pytest.mark.parametrize("case", LOADED)
def test_the_library_of_the_program_decides_how_ranks_meet(case, offers):
    offered, loaded, wanted = LOADED[case]
    offers(offered, loaded)
    assert srun._mpi_option("miniapp") == wanted


def test_nothing_starts_where_each_rank_would_be_alone(offers, monkeypatch):
    assert srun.offers(NEW) == {"pmix", "none", "pmi2", "pmix_v3", "pmix_v4"}
    offers(OLD, OPEN_MPI)
    with pytest.raises(
        BadInput, match=r"Open MPI, which understands pmix; expected one of none, openmpi, p"
    ):
        srun._mpi_option("miniapp")
    monkeypatch.setenv(srun.VARIABLE, "openmpi")  # a user may know better
    assert srun._mpi_option("miniapp") == ["--mpi=openmpi"]
    monkeypatch.setenv(srun.VARIABLE, "pmi7")
    with pytest.raises(BadInput, match=f"{srun.VARIABLE}='pmi7'; expected one of none"):
        srun._mpi_option("miniapp")
