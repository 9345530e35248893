"""`spikemark calibrate --part`: what it refuses, and the files that it makes of measurements."""

import os
import subprocess
from datetime import UTC, datetime
from functools import partial

import pytest

from spikemark import calibration, machines
from spikemark.bench.kept import BenchFailed
from spikemark.calibration import messages, session
from spikemark.calibration.values import measured
from spikemark.core import launch, mpirun, places, slurm, srun
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Value

NODES = ("n1", "n2", "n3", "n4")
TIMES = {(0, n): 4e-6 + (n - 1) * 2e-7 for n in (1, 4, 16, 64)}
TIMES |= {(size, 1): 4e-6 + size / 1e10 for size in (messages.LARGE, messages.LARGEST)}


@pytest.fixture
def job(monkeypatch):
    """This process is in a job of four nodes, of which the first two have 8 CPUs and the others 4."""
    given = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-4]", "SLURM_JOB_CPUS_PER_NODE": "8(x2),4(x2)"}
    for name in [name for name in os.environ if slurm.INHERITED.match(name)]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    lists = {"n[1-4]": NODES, "n[1-2]": NODES[:2], "n[3-4]": NODES[2:], "n[2-3]": NODES[1:3], "n[1-9]": ()}
    lists["n[1-9]"] = tuple(f"n{i}" for i in range(1, 10))
    lists |= {node: (node,) for node in NODES} | {"n3,n3": ("n3", "n3"), "n4,n3": ("n4", "n3")}

    def expanded(nodes):
        if nodes not in lists:
            raise slurm.SlurmFailed("scontrol: Invalid hostlist")
        return lists[nodes]

    monkeypatch.setattr(slurm, "_hosts", expanded)
    monkeypatch.setattr(slurm, "inside", lambda: True)
    monkeypatch.setattr(slurm, "cpus_per_core", lambda node: 2 if node in NODES[:2] else 1)


BAD = [
    (["arm"], "--part: 'arm'; allowed: NAME=NODES, such as arm=n[3-4]"),
    (["=n1"], "--part: '=n1'; allowed: NAME=NODES"),
    (["Arm=n1"], "--part: 'Arm=n1'; allowed: NAME=NODES"),
    (["a-b=n1"], "--part: 'a-b=n1'; allowed: NAME=NODES"),
    (["arm="], "--part: 'arm=' has no nodes; allowed: NAME=NODES"),
    (["arm= "], "--part: 'arm= ' has no nodes; allowed: NAME=NODES"),
    (["arm=n[3-"], "--part: 'arm=n[3-': scontrol: Invalid hostlist; allowed: NAME=NODES"),
    (["arm=n[1-9]"], "--part: 'arm=n[1-9]': no node n5; allowed: the nodes of job 7, n1, n2, n3, n4"),
    (["arm=n3", "arm=n4"], "--part: arm is given twice; allowed: each part once"),
    (["x86=n[1-2]", "arm=n[2-3]"], "--part: 'arm=n[2-3]': node n2 is in part x86; allowed: one part for a"),
]


@pytest.mark.parametrize(("given", "complaint"), BAD, ids=[" ".join(given) for given, _ in BAD])
def test_parts_that_the_allocation_does_not_have_are_refused(job, monkeypatch, tmp_path, given, complaint):
    monkeypatch.setattr(session, "measure", lambda *_: pytest.fail("measured"))
    with pytest.raises(BadInput) as bad:
        calibration.calibrate_parts(given, out=tmp_path / "bath.yaml")
    assert complaint in str(bad.value) and "\n" not in str(bad.value)
    assert list(tmp_path.iterdir()) == []


def test_other_bad_input_is_refused_before_anything_is_measured(job, refusal, monkeypatch, tmp_path):
    monkeypatch.setattr(session, "measure", lambda *_: pytest.fail("measured"))
    monkeypatch.setattr(places, "program", lambda name: name)
    calibrate = partial(refusal, "calibrate", "--quick", "--part", "x86=n1", "--part", "arm=n2")
    assert calibrate() == "--part: allowed with --name or --out, after which the files are named"
    assert calibrate("--nodes", 2).startswith("--nodes: 2; allowed without --part")
    assert calibrate("--name", "Bath").startswith("--name: 'Bath'; allowed: lower-case")
    (tmp_path / "bath-arm.yaml").write_text("mine")
    assert calibrate("--out", tmp_path / "bath.yaml") == (
        f"{tmp_path / 'bath-arm.yaml'}: exists; --force replaces it"
    )
    (tmp_path / "bath-arm.yaml").rename(tmp_path / "bath.yaml")
    assert (
        calibrate("--out", tmp_path / "bath.yaml") == f"{tmp_path / 'bath.yaml'}: exists; --force replaces it"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["bath.yaml"]


def test_outside_an_allocation_there_are_no_parts(refusal, tmp_path):
    said = refusal("calibrate", "--part", "x86=n1", "--out", tmp_path / "bath.yaml")
    assert said == "--part: allowed inside an allocation of Slurm (salloc)"


def test_programs_of_a_part_start_only_on_its_nodes_with_their_cores(job, monkeypatch):
    monkeypatch.setattr(srun.pmi, "option", lambda program: [])
    assert launch.nodes_at_hand().cores == (4, 4, 2, 2)  # as if all had the threads of the first node
    with slurm.only(("n3", "n4")):
        assert launch.nodes_at_hand() == launch.Nodes((4, 4), "job 7", ("n3", "n4"))
        command = srun.start(["program"], launch.Layout(2, ranks_per_node=1), launch.nodes_at_hand()).command
        assert "--nodelist=n3,n4" in command
        environment = mpirun.start(["program"], launch.Layout(2), launch.nodes_at_hand()).environment
        assert environment["SLURM_NODELIST"] == "n3,n4" and environment["SLURM_NNODES"] == "2"
    assert launch.nodes_at_hand().names == NODES


@pytest.fixture
def planted(job, monkeypatch):
    """Nothing is measured: parts have values by their nodes, and messages go between the nodes at hand."""

    def measure(site, effort, near, say):
        values = {
            "node.cores": measured(site.cores, "1", detail=" ".join(site.names)),
            "interconnect.selector": Value("ompi", None, "measured", "a library"),
        }
        unknown = {"power.idle": "no meter"}
        return session.Session(f"A node of {site.cores} cores", values, unknown, [], datetime.now(UTC), "abc")

    def between(site, effort, first):
        return messages.Round(list(site.names), {(0, 1): TIMES}, {}, 4040 if first else None)

    monkeypatch.setattr(session, "measure", measure)
    monkeypatch.setattr(messages, "between", between)
    monkeypatch.setattr(places, "program", lambda name: name)
    return monkeypatch


def test_each_part_gets_a_profile_and_all_of_them_a_machine(planted, tmp_path):
    given = ["x86=n[1-2]", "small_arm=n4,n3"]
    outcomes = calibration.calibrate_parts(given, out=tmp_path / "bath.yaml", effort=calibration.QUICK)
    names = ["bath-x86.yaml", "bath-small-arm.yaml", "bath.yaml"]
    assert [outcome.path.name for outcome in outcomes] == names
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    made = machines.load_any(outcomes[-1].path)
    assert not made.assumptions and {v.kind for v in made.values.values()} == {"measured"}
    assert [(p.name, p.nodes, p.profile.name) for p in made.parts.values()] == [
        ("x86", 2, "bath-x86"),
        ("small_arm", 2, "bath-small-arm"),
    ]
    assert made.get("parts.x86.nodes").reference.endswith("commit abc: n1, n2")
    assert made.get("parts.small_arm.nodes").reference.endswith("commit abc: n3, n4")
    start = "spikemark calibrate --part x86=n[1-2] --part small_arm=n4,n3, 20"
    assert all(value.reference.startswith(start) for value in made.values.values())
    link = made.links["x86-small_arm"].profile
    assert {path.split(".")[1]: value.value for path, value in link.values.items()} == {
        "latency": pytest.approx(2), "bandwidth": pytest.approx(10), "gap": pytest.approx(0.2),
        "eager": pytest.approx(3.945), "selector": "ompi",
    }  # fmt: skip
    assert "between n1 and n3" in link.get("interconnect.latency").reference
    text = outcomes[-1].path.read_text()
    assert f"# Unknown: links.x86-small_arm.interconnect.fabric: {messages.FABRIC}\n" in text
    assert not any("_node" in path for path in outcomes[-1].unknown)


def test_a_single_part_gets_its_profile_only(planted, tmp_path):
    (tmp_path / "bath.yaml").write_text("a machine of parts, of which one is measured again")
    (outcome,) = calibration.calibrate_parts(["arm=n3"], out=tmp_path / "bath.yaml", effort=calibration.QUICK)
    assert outcome.path.name == "bath-arm.yaml" and machines.load(outcome.path).get("node.cores").value == 4
    assert (tmp_path / "bath.yaml").read_text().startswith("a machine")


def test_three_parts_have_three_links(planted, tmp_path):
    given = ["a=n1", "b=n2", "c=n[3-4]"]
    made = calibration.calibrate_parts(given, out=tmp_path / "bath.yaml", effort=calibration.QUICK)
    assert list(machines.load_any(made[-1].path).links) == ["a-b", "a-c", "b-c"]


def test_a_link_that_cannot_be_measured_is_unknown_with_the_reason(planted, tmp_path):
    def fails(*_):
        raise BenchFailed("bench_messages: no route to host")

    planted.setattr(messages, "between", fails)
    given = ["x86=n1", "arm=n3"]
    outcome = calibration.calibrate_parts(given, out=tmp_path / "bath.yaml", effort=calibration.QUICK)[-1]
    made = machines.load_any(outcome.path)
    assert made.links["x86-arm"].values == {}
    for name in ("latency", "bandwidth", "gap", "eager"):
        path = f"links.x86-arm.interconnect.{name}"
        assert outcome.unknown[path] == "bench_messages: no route to host" and made.get(path) is None
        assert f"# Unknown: {path}: bench_messages: no route to host\n" in outcome.path.read_text()
    assert (
        outcome.warnings == ["a program failed and was started again: bench_messages: no route to host"] * 3
    )


def test_a_part_that_cannot_be_measured_leaves_nothing(planted, tmp_path):
    measure = session.measure

    def fails_on_arm(site, *others):
        if "n3" in site.names:
            raise BenchFailed("bench_kernels: exec format error")
        return measure(site, *others)

    planted.setattr(session, "measure", fails_on_arm)
    with pytest.raises(BenchFailed):
        calibration.calibrate_parts(["x86=n1", "arm=n3"], out=tmp_path / "bath.yaml")
    assert list(tmp_path.iterdir()) == []


def test_names_of_nodes_are_asked_of_slurm_and_not_kept_after_a_failure(monkeypatch):
    def refused(*_, **__):
        return subprocess.CompletedProcess([], 1, "", "error: Invalid hostlist: n[")

    monkeypatch.setattr(subprocess, "run", refused)
    with pytest.raises(slurm.SlurmFailed, match="Invalid hostlist"):
        slurm.expanded("n[unheard-of")
