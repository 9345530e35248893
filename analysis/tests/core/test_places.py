"""Results are named after the cluster, or after this host where there is none."""

import time

import pytest

from spikemark import launch
from spikemark.core import places
from spikemark.measuring import exchanges
from spikemark.running import experiments, sweeps
from spikemark_studies import study

#: What the commands of Slurm 22.05.8 print.
UP = "echo 'Slurmctld(primary) at login1 is UP'"
CONFIG = "echo 'ClusterName             = fine'; echo 'CommunicationParameters = (null)'"
CONTROLLER = f'case "$*" in ping) {UP};; *) {CONFIG};; esac'
DOWN = """\
case "$*" in
ping) echo 'Slurmctld(primary) at login1 is DOWN'; exit 1;;
*) sleep 60; exit 1;;
esac"""
UNCONFIGURED = "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1"


@pytest.fixture(autouse=True)
def login_node(monkeypatch):
    monkeypatch.setattr(places, "host", lambda: "login1.example.org")
    for name in ("SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURMD_NODENAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("scontrol", [DOWN, UNCONFIGURED, "exit 0", "exec sleep 60"])
def test_without_a_controller_it_is_the_host_and_nobody_waits(scontrol, plant, monkeypatch):
    monkeypatch.setattr("spikemark.launch.slurm.SHORT_LIMIT_S", 1)
    plant("scontrol", scontrol)
    began = time.monotonic()
    assert launch.machine_name() == launch.here_name() == "login1"
    assert time.monotonic() - began < 30


def test_without_slurm_it_is_the_host(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert launch.machine_name() == launch.here_name() == "login1"


def test_results_of_a_cluster_are_named_after_it(plant, tmp_path):
    plant("scontrol", CONTROLLER)
    assert launch.machine_name() == "fine"
    smoke = experiments.load_experiment("smoke")
    assert sweeps.folder(smoke, None, tmp_path).path == tmp_path / "smoke" / "fine"
    assert sweeps.folder(smoke, "told", tmp_path).path == tmp_path / "smoke" / "told"


def test_the_controller_is_asked_once_for_the_nodes_of_all_runs(plant, tmp_path):
    """An answer takes it tens of milliseconds, and a sweep has up to thousands of runs."""
    asked = tmp_path / "asked"
    plant("scontrol", f"echo $* >> {asked}; {CONTROLLER}")
    runs = experiments.expand(experiments.load_experiment("smoke"))
    for run in runs:
        sweeps.nodes_of(run)
    assert len(runs) > 1
    assert asked.read_text().splitlines() == ["ping", "show config"]


def test_the_login_node_is_not_the_cluster(plant, tmp_path, monkeypatch):
    """Kernels are timed where the command runs; an allocation alone does not move it."""
    plant("scontrol", CONTROLLER)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert exchanges.folder(root=tmp_path).name == launch.here_name() == "fine-login1"
    monkeypatch.setenv("SLURMD_NODENAME", "n3")
    assert exchanges.folder(root=tmp_path).name == launch.here_name() == "fine"


def test_benches_and_studies_lie_where_the_user_stands(tmp_path, monkeypatch):
    """As sweeps do, unless told otherwise."""
    monkeypatch.chdir(tmp_path)
    smoke = experiments.load_experiment("smoke")
    assert sweeps.folder(smoke, "here", None).path == tmp_path / "results" / "smoke" / "here"
    assert exchanges.folder("here") == tmp_path / "results" / "bench" / "here"
    kept = study._folder("study-lober", "here", None)
    assert kept == tmp_path / "results" / "study-lober" / "here"


def test_a_job_knows_its_cluster_without_asking(plant, monkeypatch):
    plant("scontrol", "exec sleep 60")
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "toy")
    assert launch.machine_name() == "toy"


@pytest.mark.parametrize(
    ("host", "name"), [("a_b.c", "a_b"), ("-x", "x"), ("ä", "localhost"), ("", "localhost")]
)
def test_a_name_of_a_host_that_can_be_a_folder(host, name, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(places, "host", lambda: host)
    assert launch.machine_name() == name
