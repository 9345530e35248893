"""The noise of every node of an allocation."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_node_of_an_allocation_is_looked_at(slurm):
    command = [sys.executable, "-m", "spikemark", "noise", "--seconds", "0.05", "--json"]
    package = str(ROOT / "analysis")
    done = slurm.run("salloc", "--nodes=2", "--exclusive", *command, PYTHONPATH=package)
    assert done.returncode == 0, done.stderr
    nodes = json.loads(done.stdout)
    assert [node["node"] for node in nodes] == ["n1", "n2"]
    assert all(node["cores"] for node in nodes)
