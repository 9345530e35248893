"""The record of a run on several nodes names them, says where each rank ran, and warns of shared
cores.
"""

import csv
import json

import program
import pytest

from spikemark.records.judged import warnings
from spikemark.records.record import load_run

FIELDS = {"schedule": "conventional", "placement": "round_robin", "time__simulate_ms": 1}


@pytest.fixture
def run(slurm, tmp_path):
    """A function of options of srun: the record of that run, and the node of every rank in
    ranks.csv.
    """

    def run(*options):
        out = tmp_path / "run"
        changes = program.sets(**FIELDS, record__cycles=False)
        command = [program.MINIAPP, program.EXAMPLE, "--out", out, *changes]
        done = slurm.run("srun", "--mpi=pmix", *options, *command, OMP_NUM_THREADS="1")
        assert done.returncode == 0, done.stderr
        with open(out / "ranks.csv") as file:
            nodes = [int(row["node"]) for row in csv.DictReader(file)]
        return json.loads((out / "record.json").read_text()), nodes

    return run


@pytest.mark.parametrize(
    ("distribution", "expected"), [("block", [0, 0, 1, 1]), ("cyclic", [0, 1, 0, 1])]
)
def test_the_node_of_every_rank_is_recorded(run, tmp_path, distribution, expected):
    record, nodes = run("--nodelist=n1,n2", "--ntasks-per-node=2", f"--distribution={distribution}")
    host = record["host"]
    assert nodes == expected
    assert (host["nodes"], host["node_names"]) == (2, ["n1", "n2"])
    assert [node["name"] for node in host["per_node"]] == ["n1", "n2"]
    assert [node["ranks"] for node in host["per_node"]] == [2, 2]
    assert host["name"] == "n1"
    assert load_run(tmp_path / "run").node_of_rank == [f"n{node + 1}" for node in expected]


@pytest.mark.parametrize(
    ("cores", "said"), [("0,0", ["shared cores: 1 threads on node n1"]), ("0,1", [])]
)
def test_two_ranks_on_one_core_are_a_warning_that_names_the_node(run, cores, said):
    record, _ = run("--ntasks=2", "--nodelist=n1", f"--cpu-bind=map_cpu:{cores}")
    assert record["host"]["binding"] == [[int(core)] for core in cores.split(",")]
    found = [text for text in warnings(record) if text.startswith("shared cores")]
    assert [text[: len(said[0])] for text in found] == said


def test_a_crowded_node_is_named_though_the_first_rank_is_elsewhere(run):
    record, nodes = run(
        "--nodes=2",
        "--ntasks=4",
        "--overcommit",
        "--distribution=arbitrary",
        "--nodelist=n1,n2,n2,n2",
    )
    assert nodes == [0, 1, 1, 1]
    found = [text for text in warnings(record) if text.startswith("oversubscribed")]
    assert [text.split(";")[0] for text in found] == [
        "oversubscribed: 3 ranks x 1 thread on 2 cores of node n2"
    ]
