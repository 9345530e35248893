"""What NEST can run of the schedules and placements that are known here, and how a user of NEST runs it.

Released NEST deals neurons to all virtual processes in turn, and exchanges spikes every minimum delay. The
branch published with Lober, Diesmann and Kunkel 2026 (arXiv 2602.23274) can also keep each area on one rank,
and then exchanges spikes as before or as in the structure-aware schedule. Kernel attributes and environment
variables are those of NEST's guides (nest-simulator.readthedocs.io: hpc/parallel_computing, hpc/threading).
"""

import shlex
from dataclasses import dataclass

from spikemark.machines.node import Node

RELEASED = "released NEST"
BRANCH = "the branch published with arXiv 2602.23274"
#: (schedule, placement) -> which NEST has it; none has any other.
WAYS = {
    ("conventional", "round_robin"): RELEASED,
    ("placement_only", "area"): BRANCH,
    ("structure_aware", "area"): BRANCH,
}
EXCHANGE = "MPI_Alltoall"
SCRIPT = "my_network.py"
UNBOUND = ["--oversubscribe", "--bind-to", "none"]  # options of Open MPI for more ranks than cores


@dataclass(frozen=True)
class HowTo:
    """What a user does: lines of the own script, the commands that start it, and sentences about them."""

    script: list[str]
    command: str
    on_fewer_cores: str  # the command where nodes have fewer cores
    notes: list[str]


def how(node: Node, ranks: int, cycle_s: float) -> HowTo:
    """How to run a network with NEST on filled nodes. `cycle_s`: the minimum delay."""
    start = ["mpirun", "-n", ranks, "--map-by", f"ppr:{node.ranks}:node:PE={node.threads}"]
    start += ["-x", "OMP_PROC_BIND", "-x", "OMP_PLACES", "python3", SCRIPT]
    return HowTo(
        [f"nest.local_num_threads = {node.threads}"],
        f"OMP_PROC_BIND=close OMP_PLACES=cores {shlex.join(map(str, start))}",
        shlex.join(["mpirun", "-n", str(ranks), *UNBOUND, "python3", SCRIPT]),
        [
            "Your script sets `nest.local_num_threads` before it creates nodes, since NEST ignores"
            " OMP_NUM_THREADS; OMP_PROC_BIND and OMP_PLACES bind the threads to cores.",
            f"NEST then has {ranks} × {node.threads} = {ranks * node.threads} virtual processes. It exchanges"
            f" spikes with {EXCHANGE} every minimum delay of the synapses, {cycle_s * 1e3:g} ms here"
            " (`nest.min_delay`).",
        ],
    )
