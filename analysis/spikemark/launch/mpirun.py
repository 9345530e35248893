"""Ranks started with mpirun: that of Open MPI 4 and 5, or Hydra of MPICH and Intel MPI."""

import os
import shutil

from spikemark.core.errors import BadInput

from . import slurm
from .layout import Launch, LaunchLayout, Nodes, RanksOnNodes, openmp, spread
from .process import command_output

#: Open MPI starts nothing for root otherwise.
AS_ROOT: dict[str, str] = {}
if os.geteuid() == 0:
    AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
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
#: Seconds between SIGTERM and SIGKILL for ranks that mpirun ends. It waits that long even where
#: they have ended. They have nothing to put in order, and somebody may have pressed Ctrl-C.
ENDING_S = {
    "OMPI_MCA_odls_base_sigkill_timeout": "0",  # Open MPI 4; 1 by default
    "PRTE_MCA_odls_base_sigkill_timeout": "0",  # Open MPI 5
}
#: What tells Intel MPI to give each thread a core, or to bind none.
INTEL_BOUND = {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "omp"}
INTEL_UNBOUND = {"I_MPI_PIN": "0"}


def start(program: list[str], layout: LaunchLayout, nodes: Nodes) -> Launch:
    """Each thread gets its own core. If a single node has too few cores, no thread is bound.

    Nor is one where this process may use some cores only (`Nodes.confined`): unbound ranks inherit
    its mask. Raises BadInput for `binding=cores` there, if several nodes have too few cores, or if
    `layout` asks for more of a node than it has.

    Example:
        >>> layout = LaunchLayout(ranks=2)
        >>> start(["miniapp"], layout, Nodes((4,), "this host")).command[0]
        'mpirun'
    """
    crowded = _is_crowded(layout, nodes)
    if crowded:
        placed = RanksOnNodes(layout.ranks, 1, layout.ranks, names=nodes.names)
    else:
        placed = spread(layout, nodes)
    if nodes.confined and layout.binding == "cores":
        expected = "none, since mpirun would bind ranks outside the cores of this process (taskset)"
        raise BadInput(
            field="binding",
            value=layout.binding,
            expected=expected,
            code="conflict",
        )
    bound = not crowded and not nodes.confined and layout.binding != "none"
    environment = openmp(layout.threads, bound) | AS_ROOT | ENDING_S
    if crowded:
        environment |= CROWDED
    if slurm.inside():
        environment |= _variables_for_daemons(nodes)
    version = command_output(shutil.which("mpirun") or "mpirun", "--version")
    if "Intel(R) MPI" in version:
        environment |= INTEL_BOUND if bound else INTEL_UNBOUND
        options = _hydra_hosts(placed)
    elif "HYDRA" in version:
        binding = f"core:{layout.threads}" if bound else "none"
        options = ["-bind-to", binding, *_hydra_hosts(placed)]
    else:
        options = _open_mpi(placed, layout.threads if bound else None)
        if placed.names:  # daemons started by ssh have an environment of their own
            for name in environment:
                if name.startswith("OMP_"):
                    options += ["-x", name]
    command = ["mpirun", *options, "-n", str(layout.ranks), *program]
    # Without names, another batch system may tell mpirun of nodes that are not known here.
    return Launch(command, environment, spread=placed if placed.names else None)


def _is_crowded(layout: LaunchLayout, nodes: Nodes) -> bool:
    """Whether all ranks are to share a single node with too few cores for their threads."""
    if len(nodes.cores) > 1 or layout.binding == "cores":
        return False
    if layout.ranks_per_node is not None and layout.ranks_per_node < layout.ranks:
        return False
    return layout.ranks * layout.threads > nodes.cores[0]


def _open_mpi(placed: RanksOnNodes, threads: int | None) -> list[str]:
    """The options of Open MPI. `threads`: cores that each rank is bound to; None: it is not."""
    if threads is None:
        binding = ["--bind-to", "none"]
        cores = ""
        cores_per_rank = 1
    else:
        binding = ["--bind-to", "core:if-supported"]
        cores = f":PE={threads}"
        cores_per_rank = threads
    if not placed.names:
        return binding if threads is None else [*binding, "--map-by", f"slot{cores}"]
    slots = placed.ranks_per_node * cores_per_rank
    hosts = ",".join(f"{name}:{slots}" for name in placed.names)
    order = "slot" if placed.distribution == "block" else "node"
    mapping = f"ppr:{placed.ranks_per_node}:node{cores}"
    return [*binding, "--host", hosts, "--map-by", mapping, "--rank-by", order]


def _hydra_hosts(placed: RanksOnNodes) -> list[str]:
    """The options of Hydra, which goes round the hosts again until all ranks have a place."""
    if not placed.names:
        return []
    in_turn = placed.ranks_per_node if placed.distribution == "block" else 1
    return ["-hosts", ",".join(placed.names), "-ppn", str(in_turn)]


def _variables_for_daemons(nodes: Nodes) -> dict[str, str]:
    """What mpirun reads about the allocation, and options of the step that starts its daemons.

    All nodes of the job are named: Open MPI asks Slurm for certain nodes only where it takes fewer.
    """
    hosts = slurm.hosts()
    cores = dict(zip(nodes.names, nodes.cores, strict=False))
    return {
        "SLURM_NODELIST": os.environ.get("SLURM_JOB_NODELIST", ""),
        "SLURM_NNODES": str(len(hosts)),
        "SLURM_TASKS_PER_NODE": ",".join(str(cores.get(host, 1)) for host in hosts),
        "SLURM_OVERLAP": "1",
        "SLURM_MEM_PER_NODE": "0",
    }
