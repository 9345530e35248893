"""What a program sees of the job around Spikemark: nothing that makes it a rank or a step of that
job.
"""

import os

import pytest

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.launch import mpirun, outer, slurm
from spikemark.launch.layout import Launch, LaunchLayout, Nodes

#: What each outer launcher tells its ranks.
TOLD = {
    "Slurm": """
        SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NODELIST=n7 SLURM_JOB_NODELIST=n7 SLURM_NNODES=1
        SLURM_TASKS_PER_NODE=1 SLURM_PROCID=0 SLURM_STEP_ID=0 SLURMD_NODENAME=n7 SBATCH_TIMELIMIT=5
        SALLOC_PARTITION=x SRUN_DEBUG=3 SLURM_CPU_BIND=quiet
    """,
    "srun --mpi=pmix": """
        PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.7.0 PMIX_SERVER_URI2=x PMIX_VERSION=4
        PMIX_GDS_MODULE=hash PMIX_SECURITY_MODE=native PMIX_HOSTNAME=n7
    """,
    "srun --mpi=pmi2": """
        PMI_FD=9 PMI_JOBID=7.0 PMI_RANK=0 PMI_SIZE=1
    """,
    "mpirun of Open MPI 4": """
        OMPI_COMM_WORLD_RANK=0 OMPI_UNIVERSE_SIZE=2 OMPI_MCA_ess=^singleton
        OMPI_MCA_orte_hnp_uri=1.0;tcp://x OMPI_MCA_pmix=^s1,s2 OMPI_COMMAND=x
        OMPI_MCA_ess_base_jobid=1 OMPI_MCA_initial_wdir=/ PMIX_ID=1.0 OMPI_FILE_LOCATION=/tmp/x
        OMPI_APP_CTX_NUM_PROCS=1 OMPI_FIRST_RANKS=0
    """,
    "mpirun of Open MPI 5": """
        OMPI_COMM_WORLD_RANK=0 PRTE_LAUNCHED=1 OMPI_MCA_num_procs=1 OPAL_USER_PARAMS_GIVEN=1
        PMIX_PARAM_FILE_PASSED=1 OMPI_WORLD_SIZE=1 OMPI_MCA_PREFIXES=mca OMPI_VERSION=5.0.7
        OMPI_TOOL_NAME=mpirun
    """,
    "Hydra": """
        PMI_RANK=0 PMI_FD=7 PMI_SIZE=2 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=0 HYDI_CONTROL_FD=3
    """,
}
#: What a user sets.
KEPT = """
    OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_CC=gcc
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    PRTE_MCA_rmaps_default_mapping_policy=x PMIX_MCA_gds=hash OPAL_PREFIX=/opt/mpi
    PMI_MMAP_SYNC_WAIT_TIME=9 MPIR_CVAR_X=1 I_MPI_PIN=1 UCX_TLS=tcp OMP_PLACES=cores LD_PRELOAD=x.so
    SPIKEMARK_X=1 PATH=/bin HOME=/x
"""


def pairs(text: str) -> dict[str, str]:
    """The variables in a text of settings NAME=VALUE."""
    return dict(setting.split("=", 1) for setting in text.split())


@pytest.fixture
def no_slurm(monkeypatch):
    """Slurm's commands are out of reach, as in a container."""
    monkeypatch.setattr(outer.shutil, "which", lambda name: None)


def test_nothing_of_an_outer_job_reaches_a_program_and_what_a_user_sets_does(no_slurm):
    told = [pairs(settings) for settings in TOLD.values()]
    for around in (*told, told[0] | told[1], told[0] | told[3], told[0] | told[4]):
        environment = around | pairs(KEPT)
        assert set(outer.variables(environment)) == around.keys()
    assert outer.variables(pairs(KEPT)) == ()


def test_parameters_are_the_users_outside_an_outer_mpirun(no_slurm):
    environment = pairs("OMPI_MCA_mpi_oversubscribe=0 OMPI_MCA_ess=x")
    assert outer.variables(environment) == ()
    assert len(outer.variables(environment | {"OMPI_COMM_WORLD_RANK": "0"})) == 3


def test_every_launch_starts_a_job_of_its_own(no_slurm, monkeypatch):
    for settings in TOLD.values():
        for name, value in pairs(settings).items():
            monkeypatch.setenv(name, value)
    mpirun.command_output.cache_clear()
    here = Nodes((4,), "this host")
    for start in (Launch(["x"]), launch.launch("mpirun", ["x"], LaunchLayout(2), here)):
        assert outer.variables(start.applied(os.environ)) == ()
        assert not any(name.startswith("SLURM") for name in start.applied(os.environ))
    assert launch.nodes_at_hand().whose == "this host"


def test_a_job_of_several_components_is_refused(monkeypatch, plant):
    plant("scontrol", "echo n1 n2")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    slurm._expanded.cache_clear()
    assert slurm.hosts() == ("n1", "n2")
    for name in slurm.COMPONENTS:
        monkeypatch.setenv(name, "1")
        assert slurm.hosts() == ("n1", "n2")
        monkeypatch.setenv(name, "2")
        for ask in (slurm.hosts, slurm.nodes, slurm.allocation, launch.nodes_at_hand):
            with pytest.raises(BadInput, match=f"{name}='2'; expected 1"):
                ask()
        monkeypatch.delenv(name)
