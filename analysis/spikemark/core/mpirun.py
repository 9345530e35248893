"""Ranks started with mpirun."""

import os

from .command import Launch
from .layout import Layout, Nodes, Spread, check, spread


def start(program: list[str], layout: Layout, nodes: Nodes) -> Launch:
    """For Open MPI 4 and 5: each thread gets its own core; if there are too few cores, no thread is bound."""
    check(layout)
    environment = {"OMP_NUM_THREADS": str(layout.threads)}
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if fits(layout, nodes) or layout.binding == "cores":
        placed = spread(layout, nodes)
        binding = ["--bind-to", "core:if-supported", "--map-by", f"slot:PE={layout.threads}"]
        environment.update(OMP_PROC_BIND="close", OMP_PLACES="cores")
    else:
        placed = Spread(layout.ranks, 1, layout.ranks)
        binding = ["--bind-to", "none"]
        environment.update(
            OMP_PROC_BIND="false",
            OMP_WAIT_POLICY="passive",
            OMPI_MCA_rmaps_base_oversubscribe="1",  # Open MPI 4
            OMPI_MCA_mpi_yield_when_idle="1",  # Open MPI 4 cannot see cores taken away by taskset
            PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",  # Open MPI 5
        )
    command = ["mpirun", "--quiet", *binding, "-n", str(layout.ranks), *program]
    return Launch(command, environment, spread=placed)


def fits(layout: Layout, nodes: Nodes) -> bool:
    """Says whether every thread can have a core of its own."""
    return layout.ranks * layout.threads <= sum(nodes.cores)
