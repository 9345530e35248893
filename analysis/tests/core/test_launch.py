"""Command lines and environments for one run."""

import pytest

from spikemark.core import launch
from spikemark.core.errors import BadInput

PROGRAM = ["miniapp", "run.json", "--out", "there"]


@pytest.mark.parametrize("name", launch.LAUNCHERS)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 1), (2, 3), (16, 2)])
def test_every_launcher_asks_for_ranks_and_threads(name, ranks, threads):
    start = launch.LAUNCHERS[name](PROGRAM, ranks, threads, 4)
    assert start.command[-len(PROGRAM) :] == PROGRAM
    options = " ".join(start.command[: -len(PROGRAM)])
    assert f"-n {ranks}" in options or f"--ntasks={ranks}" in options
    assert start.environment["OMP_NUM_THREADS"] == str(threads)


@pytest.mark.parametrize(
    ("ranks", "threads", "fits"), [(4, 1, True), (2, 2, True), (2, 3, False), (5, 1, False)]
)
def test_oversubscription_only_where_cores_run_out(ranks, threads, fits):
    start = launch.mpirun(PROGRAM, ranks, threads, cores=4)
    bound = start.command[start.command.index("--bind-to") + 1] != "none"
    oversubscribed = {name for name in start.environment if "oversubscribe" in start.environment[name] + name}
    assert bound == fits
    assert bool(oversubscribed) != fits
    if fits:
        assert f"slot:PE={threads}" in start.command


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_for_root(monkeypatch, user, allowed):
    monkeypatch.setattr("os.geteuid", lambda: user)
    start = launch.mpirun(PROGRAM, 1, 1, 4)
    assert ("OMPI_ALLOW_RUN_AS_ROOT" in start.environment) == allowed
    assert ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" in start.environment) == allowed


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
        launch.launch("qsub", PROGRAM, 1, 1)
