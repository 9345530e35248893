"""Starting the mini-app with the right ranks, threads, nodes and binding."""

import contextlib
import os
import shutil
import threading
from pathlib import Path

from spikemark.core import places
from spikemark.core.errors import unknown_name

from . import cgroups, host_file, mpirun, slurm, srun
from .layout import Launch, LaunchLayout, Nodes

CPUS = Path("/sys/devices/system/cpu")
#: Files that together name a core; core_id alone repeats in every die of a package.
CORE_FILES = ("physical_package_id", "die_id", "core_id")
#: Ways to start the ranks, by name: each makes a command from (program, layout, nodes).
LAUNCHERS = {"mpirun": mpirun.start, "srun": srun.start}


def launch(
    launcher: str | None,
    program: list[str],
    layout: LaunchLayout,
    nodes: Nodes | None = None,
) -> Launch:
    """How to start the ranks of a program.

    Args:
        launcher: a key of LAUNCHERS; None or empty for `default_launcher()`.
        program: the command line of each rank.
        layout: of ranks and threads.
        nodes: those to use; None for all `nodes_at_hand()`.

    Raises BadInput for an unknown launcher, and for a layout that the nodes do not allow.

    Example:
        >>> launch("mpirun", ["miniapp"], LaunchLayout(1), Nodes((4,), "this host")).command[-1]
        'miniapp'
        >>> launch("qsub", ["miniapp"], LaunchLayout(1))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: launcher='qsub'; expected one of mpirun, srun
    """
    launcher = launcher or default_launcher()
    if launcher not in LAUNCHERS:
        raise unknown_name("launcher", launcher, LAUNCHERS)
    return LAUNCHERS[launcher](program, layout, nodes or nodes_at_hand())


def default_launcher() -> str:
    """The launcher for this process: srun inside an allocation of Slurm, else mpirun.

    Example:
        >>> default_launcher() in LAUNCHERS
        True
    """
    return "srun" if slurm.inside() and shutil.which("srun") else "mpirun"


def nodes_at_hand() -> Nodes:
    """The nodes of the allocation, or of the host file, or else this host.

    Raises BadInput for the file, and if Slurm does not tell the nodes.

    Example:
        >>> sum(nodes_at_hand().cores) >= 1
        True
    """
    if slurm.inside():
        return slurm.nodes()
    file = os.environ.get(host_file.VARIABLE)
    if file:
        return host_file.nodes_of_file(Path(file))
    confined = bool(hidden_cores())
    return Nodes((available_cores(),), "this host", confined=confined)


def machine_name() -> str:
    """What results are named after: the cluster of Slurm, or else this host.

    Example:
        >>> machine_name() != ""
        True
    """
    cluster = slurm.cluster_name()
    return places.host_name() if cluster is None else places.as_name(cluster)


def here_name() -> str:
    """The machine that this process itself computes on.

    That is `machine_name`, but CLUSTER-HOST on a login node.

    Example:
        >>> here_name() != ""
        True
    """
    in_job = "SLURMD_NODENAME" in os.environ  # set in batch jobs and steps
    if not in_job and slurm.cluster_name():
        return f"{machine_name()}-{places.host_name()}"
    return machine_name()


def available_cores(cpus: Path = CPUS) -> int:
    """The number of physical cores that this process may keep busy, at least 1.

    Hardware threads of one core count once. Where a control group has a quota, its whole cores
    count.

    Example:
        >>> available_cores() >= 1
        True
    """
    quota = cgroups.quota_cores()
    cores = len(core_threads(cpus))
    return cores if quota is None else max(1, min(cores, int(quota)))


def hidden_cores(cpus: Path = CPUS) -> int:
    """The number of cores that the system would grant this process but it was told not to use.

    A mask (taskset, numactl, an outer mpirun) is a wish that a process may undo, and mpirun does:
    it binds ranks to the first cores of the host. What a control group (cpuset) forbids is
    forbidden to mpirun, too.

    Example:
        >>> hidden_cores() >= 0
        True
    """
    granted: set[int] = set()

    def ask() -> None:  # a thread has a mask of its own, which ends with it
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, range(os.sysconf("SC_NPROCESSORS_CONF")))
            granted.update(os.sched_getaffinity(0))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return max(0, len(_first_threads(granted, cpus)) - len(core_threads(cpus)))


def core_threads(cpus: Path = CPUS) -> list[int]:
    """The first hardware thread of each physical core that this process may use, ascending.

    Example:
        >>> len(core_threads()) >= 1
        True
    """
    return _first_threads(os.sched_getaffinity(0), cpus)


def _first_threads(usable: set[int], cpus: Path) -> list[int]:
    """The first of these hardware threads on each physical core, ascending."""
    first: dict[tuple[object, ...], int] = {}
    for cpu in sorted(usable):
        files = [cpus / f"cpu{cpu}" / "topology" / name for name in CORE_FILES]
        core = tuple(file.read_text() for file in files if file.exists())
        first.setdefault(core or (cpu,), cpu)
    return list(first.values())


#: Names and modules that other packages may import.
__all__ = [
    "Launch",
    "LaunchLayout",
    "Nodes",
    "launch",
    "machine_name",
    "nodes_at_hand",
    "process",
    "sampler",
    "slurm",
]
