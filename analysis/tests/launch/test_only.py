"""Programs that are to start only on some nodes of an allocation."""

import os

from spikemark import launch
from spikemark.launch import mpirun, slurm, srun

NODES = ("n1", "n2", "n3", "n4")


def test_programs_start_only_on_the_chosen_nodes_with_their_cores(monkeypatch):
    """Of four nodes, the first two have 8 CPUs, two to a core, and the others 4."""
    given = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-4]", "SLURM_JOB_CPUS_PER_NODE": "8(x2),4(x2)"}
    for name in [name for name in os.environ if slurm.INHERITED.match(name)]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(slurm, "expanded", lambda nodes: {"n[1-4]": NODES, "n3,n4": NODES[2:]}[nodes])
    monkeypatch.setattr(slurm, "inside", lambda: True)
    monkeypatch.setattr(slurm, "cpus_per_core", lambda node: 2 if node in NODES[:2] else 1)
    monkeypatch.setattr(srun.pmi, "option", lambda program: [])
    assert launch.nodes_at_hand().cores == (4, 4, 2, 2)  # as if all had the threads of the first node
    with slurm.only(("n3", "n4")):
        assert launch.nodes_at_hand() == launch.Nodes((4, 4), "job 7", ("n3", "n4"))
        command = srun.start(["program"], launch.Layout(2, ranks_per_node=1), launch.nodes_at_hand()).command
        assert "--nodelist=n3,n4" in command
        environment = mpirun.start(["program"], launch.Layout(2), launch.nodes_at_hand()).environment
        assert (environment["SLURM_NNODES"], environment["SLURM_TASKS_PER_NODE"]) == ("4", "1,1,4,4")
    assert launch.nodes_at_hand().names == NODES
