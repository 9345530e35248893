"""A bidder measures a tender in an allocation of two nodes: one run on one of them, one on both."""

import json
import subprocess
import sys

import pytest

from spikemark_tender import formats

SMALL = (
    "--quick",
    "--commit",
    "HEAD",
    "--node-memory",
    "0.01",
    "--minimum",
    "0.02",
    "--repetitions",
    "2",
)
TARGET = (
    "mam-benchmark",
    "--option",
    "areas=2",
    "--option",
    "neurons_per_area=100",
    "--option",
    "indegree=10",
)


@pytest.fixture
def command(tmp_path):
    """`spikemark tender` in a folder of its own, after the words that `before` gives."""

    def run(
        *words,
        before=lambda *command: subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path
        ),
    ):
        done = before(sys.executable, "-m", "spikemark", "tender", *map(str, words))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_tender_is_measured_on_one_and_two_nodes_of_an_allocation(command, slurm, tmp_path):
    bundle, work, answer = tmp_path / "bundle", tmp_path / "work", tmp_path / "answer"

    def allocated(*words):
        return slurm.run("salloc", "--quiet", "--nodes=2", "--exclusive", *words, timeout=600)

    command("new", bundle, *SMALL, "--target", *TARGET)
    command(
        "run",
        bundle,
        "--work",
        work,
        "--run",
        "bench-small",
        "--ranks",
        2,
        "--ranks-per-node",
        2,
        "--run",
        "bench-medium",
        "--run",
        "bench-large",
        before=allocated,
    )
    command(
        *("run", bundle, "--work", work, "--run", "target", "--ranks", 2, "--ranks-per-node", 1),
        before=allocated,
    )
    about = ("--bidder", "Ada", "--system", "x", "--nodes", 2)
    command("answer", bundle, "--work", work, "--out", answer, *about)
    assert command("check", answer, "--bundle", bundle).startswith("VALID")
    found = formats.read_answer(answer)
    assert {run.name: run.layout.nodes for run in found.runs} == {
        "bench-small": 1,
        "bench-medium": 1,
        "bench-large": 1,
        "target": 2,
    }
    record = json.loads((answer / "runs/target/1/record.json").read_text())
    nodes = json.loads((answer / formats.ENVIRONMENT).read_text())["nodes"]
    assert set(record["host"]["node_names"]) == {"n1", "n2"} <= {node["host"] for node in nodes}
    assert all(node["processor"] for node in nodes)
