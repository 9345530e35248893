"""Ranks started with mpirun: that of Open MPI 4 and 5, or Hydra of MPICH and Intel MPI."""

import os
import shutil

from . import slurm
from .layout import Launch, Layout, Nodes, Spread, openmp, spread
from .process import said

#: Open MPI starts nothing for root otherwise.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
#: What keeps ranks on too few cores from spinning while they wait.
CROWDED = {
    "SPIKEMARK_WAITING": "spikemark",  # the record says who chose
    "OMP_WAIT_POLICY": "passive",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "OMPI_MCA_mpi_yield_when_idle": "1",  # Open MPI 4 cannot see cores taken away by taskset
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",  # MPICH with ch3
    "I_MPI_WAIT_MODE": "1",
    "I_MPI_THREAD_YIELD": "2",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
}


def start(program: list[str], layout: Layout, nodes: Nodes) -> Launch:
    """Each thread gets its own core. If a single node has too few cores, no thread is bound.

    Raises BadInput if several nodes have too few cores, or if `layout` asks for more of a node than it has.
    """
    on_one = len(nodes.cores) == 1 and (layout.ranks_per_node or layout.ranks) >= layout.ranks
    crowded = on_one and layout.binding != "cores" and layout.ranks * layout.threads > nodes.cores[0]
    placed = Spread(layout.ranks, 1, layout.ranks, names=nodes.names) if crowded else spread(layout, nodes)
    bound = not crowded and layout.binding != "none"
    environment = openmp(layout.threads, bound) | AS_ROOT | (CROWDED if crowded else {})
    removed: tuple[str, ...] = ()
    if slurm.inside():
        removed = slurm.inherited()
        environment |= _daemons(nodes)
    version = said(shutil.which("mpirun") or "mpirun", "--version")
    if "Intel(R) MPI" in version:
        environment |= {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "omp"} if bound else {"I_MPI_PIN": "0"}
        options = _hydra(placed)
    elif "HYDRA" in version:
        options = ["-bind-to", f"core:{layout.threads}" if bound else "none", *_hydra(placed)]
    else:
        options = _open_mpi(placed, layout.threads if bound else None)
        if placed.names:  # daemons started by ssh have an environment of their own
            options += [part for name in environment if name.startswith("OMP_") for part in ("-x", name)]
    command = ["mpirun", *options, "-n", str(layout.ranks), *program]
    # Without names, another batch system may tell mpirun of nodes that are not known here.
    return Launch(command, environment, removed, placed if placed.names else None)


def _open_mpi(placed: Spread, threads: int | None) -> list[str]:
    """`threads`: cores that each rank is bound to; None: it is not bound."""
    binding = ["--bind-to", "core:if-supported" if threads else "none"]
    cores = f":PE={threads}" if threads else ""
    if not placed.names:
        return [*binding, "--map-by", f"slot{cores}"] if threads else binding
    hosts = ",".join(f"{name}:{placed.ranks_per_node * (threads or 1)}" for name in placed.names)
    order = "slot" if placed.distribution == "block" else "node"
    mapping = f"ppr:{placed.ranks_per_node}:node{cores}"
    return [*binding, "--host", hosts, "--map-by", mapping, "--rank-by", order]


def _hydra(placed: Spread) -> list[str]:
    """Hydra goes round the hosts again until all ranks have a place."""
    in_turn = placed.ranks_per_node if placed.distribution == "block" else 1
    return ["-hosts", ",".join(placed.names), "-ppn", str(in_turn)] if placed.names else []


def _daemons(nodes: Nodes) -> dict[str, str]:
    """What mpirun reads about the allocation, and options of the step in which it starts its daemons.

    All nodes of the job are named: Open MPI asks Slurm for certain nodes only where it takes fewer.
    """
    hosts, cores = slurm.hosts(), dict(zip(nodes.names, nodes.cores, strict=False))
    return {
        "SLURM_NODELIST": os.environ.get("SLURM_JOB_NODELIST", ""),
        "SLURM_NNODES": str(len(hosts)),
        "SLURM_TASKS_PER_NODE": ",".join(str(cores.get(host, 1)) for host in hosts),
        "SLURM_OVERLAP": "1",
        "SLURM_MEM_PER_NODE": "0",
    }
