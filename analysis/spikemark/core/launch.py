"""Starting the mini-app with the right ranks, threads and binding."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadInput

CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Launch:
    """A command line, and the variables that it adds to the environment."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def available_cores(cpus: Path = CPUS) -> int:
    """The number of physical cores that this process may use; hardware threads of one core count once."""
    return len(core_threads(cpus))


def core_threads(cpus: Path = CPUS) -> list[int]:
    """The first hardware thread of each physical core that this process may use, ascending."""
    allowed = sorted(os.sched_getaffinity(0))
    first: dict[tuple[str, str], int] = {}
    for cpu in allowed:
        topology = cpus / f"cpu{cpu}" / "topology"
        try:
            core = (topology / "physical_package_id").read_text(), (topology / "core_id").read_text()
        except OSError:
            return allowed
        first.setdefault(core, cpu)
    return list(first.values())


def mpirun(program: list[str], ranks: int, threads: int, cores: int) -> Launch:
    """For Open MPI 4 and 5: each thread gets its own core; if there are too few cores, no thread is bound."""
    environment = {"OMP_NUM_THREADS": str(threads)}
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if ranks * threads <= cores:
        binding = ["--bind-to", "core:if-supported", "--map-by", f"slot:PE={threads}"]
        environment.update(OMP_PROC_BIND="close", OMP_PLACES="cores")
    else:
        binding = ["--bind-to", "none"]
        environment.update(
            OMP_PROC_BIND="false",
            OMP_WAIT_POLICY="passive",
            OMPI_MCA_rmaps_base_oversubscribe="1",  # Open MPI 4
            OMPI_MCA_mpi_yield_when_idle="1",  # Open MPI 4 cannot see cores taken away by taskset
            PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",  # Open MPI 5
        )
    return Launch(["mpirun", "--quiet", *binding, "-n", str(ranks), *program], environment)


def srun(program: list[str], ranks: int, threads: int, cores: int) -> Launch:
    """For a Slurm allocation, which has already reserved the cores; `cores` is not used."""
    step = [
        "srun",
        "--mpi=pmix",
        "--overlap",
        f"--ntasks={ranks}",
        f"--cpus-per-task={threads}",
        "--cpu-bind=cores",
    ]
    return Launch(
        [*step, *program], {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
    )


#: Ways to start the ranks, by name: (program, ranks, threads, cores) -> Launch.
LAUNCHERS: Mapping[str, Callable[[list[str], int, int, int], Launch]] = {"mpirun": mpirun, "srun": srun}


def launch(launcher: str, program: list[str], ranks: int, threads: int) -> Launch:
    """How to start `program` with the named launcher. Raises BadInput for an unknown launcher."""
    if launcher not in LAUNCHERS:
        raise BadInput(f"launcher: {launcher!r} is not allowed: one of {', '.join(LAUNCHERS)}")
    return LAUNCHERS[launcher](program, ranks, threads, available_cores())
