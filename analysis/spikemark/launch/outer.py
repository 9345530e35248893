"""Variables that tell a process that it is a rank of an outer mpirun, or a step of a job.

A program that Spikemark starts is a job of its own. If it saw these variables, its MPI library
would look for the server of the outer job, and mpirun would ask Slurm for nodes: both fail inside
`srun`, inside `mpirun`, and in a container that was started in a job but has no Slurm. So every
program is started without them; variables that a user sets, such as OMPI_MCA_btl, stay.
"""

import os
import re
import shutil
from collections.abc import Mapping

#: Variables that Slurm takes for options of a command that is started inside a job.
INHERITED = re.compile(r"SLURM(D|STEPD)?_|SBATCH_|SALLOC_|SRUN_")
#: Those of them that say which job it is, and what concerns the nodes themselves.
OF_THE_JOB = re.compile(
    r"SLURM_(CONF|JOBID|JOB_(?!NUM_NODES$).*|(WORKING_)?CLUSTER.*|NODE_ALIASES|NETWORK|CPU_FREQ_REQ)$|SLURMD_"
)
#: What launchers tell each rank: Open MPI 4 and 5, PMIx, PMI of Slurm and Cray, Hydra.
OF_A_RANK = re.compile(
    r"OMPI_(COMM_WORLD_|WORLD_|UNIVERSE_SIZE$|APP_CTX_|NUM_APP_CTX$|FIRST_RANKS$|FILE_LOCATION$|PARENT_"
    r"|COMMAND$|ARGV$|VERSION$|TOOL_NAME$|LIBDIR_LOC$)|OPAL_USER_PARAMS_GIVEN$|PRTE_(LAUNCHED|SHARED_FS)$"
    r"|PMIX_(?!MCA_)|PMI2?_(RANK|SIZE|FD|PORT|ID|JOBID|APPNUM|SPAWNED|UNIVERSE_SIZE|LOCAL_|CONTROL_PORT"
    r"|SHARED_SECRET|PROCESS_MAPPING|HOSTNAME)|HYDI_|HYDRA_|MPI_LOCALN?RANK"
)
#: Parameters of Open MPI that an outer mpirun sets for its ranks; without one, they are the user's.
OF_MPIRUN = re.compile(
    r"OMPI_MCA_(orte_|ess|pmix|num_procs|initial_wdir|shmem_RUNTIME_QUERY_hint|PREFIXES|cpu_type"
    r"|mpi_oversubscribe|mca_base_component_path)|(PMIX|PRTE)_MCA_(mca_base_component_|ess|prte_|psec)"
)


def slurm_in_reach() -> bool:
    """Says whether Slurm's commands are there; in a container they rarely are.

    Example:
        >>> slurm_in_reach() in (True, False)  # False without Slurm
        True
    """
    return shutil.which("scontrol") is not None


def variables(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The names of the variables that a program must not see, sorted.

    Where Slurm can be asked, those that say which job this is stay. `environment`: None for that of
    this process.

    Example:
        >>> variables({"HOME": "/home/ada", "OMPI_COMM_WORLD_RANK": "3"})
        ('OMPI_COMM_WORLD_RANK',)
    """
    environment = os.environ if environment is None else environment
    asks_slurm = slurm_in_reach()
    is_rank = "OMPI_COMM_WORLD_RANK" in environment

    def is_outer(name: str) -> bool:
        if INHERITED.match(name):
            return not (asks_slurm and OF_THE_JOB.match(name))
        return bool(OF_A_RANK.match(name) or (is_rank and OF_MPIRUN.match(name)))

    return tuple(sorted(name for name in environment if is_outer(name)))
