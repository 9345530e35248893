"""Starting the mini-app with the right ranks, threads, nodes and binding."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from spikemark.core import places
from spikemark.core.errors import BadInput

from . import hostfile, mpirun, slurm, srun
from .command import Launch
from .layout import Layout, Nodes

CPUS = Path("/sys/devices/system/cpu")
#: Files that together name a core; core_id alone repeats in every die of a package.
CORE = ("physical_package_id", "die_id", "core_id")


class Launcher(NamedTuple):
    """A way to start ranks. `start` makes a command from (program, layout, nodes)."""

    title: str
    start: Callable[[list[str], Layout, Nodes], Launch]


#: Ways to start the ranks, by name.
LAUNCHERS: Mapping[str, Launcher] = {
    "mpirun": Launcher("mpirun of Open MPI or MPICH", mpirun.start),
    "srun": Launcher("srun inside an allocation of Slurm", srun.start),
}


def launch(launcher: str | None, program: list[str], layout: Layout) -> Launch:
    """How to start `program` with the named launcher; None or empty: `default_launcher()`.

    Raises BadInput for an unknown launcher, and for a layout that the nodes at hand do not allow.
    """
    launcher = launcher or default_launcher()
    if launcher not in LAUNCHERS:
        raise BadInput(
            f"launcher: {launcher!r} is not allowed: one of {', '.join(LAUNCHERS)}", code="unknown"
        )
    return LAUNCHERS[launcher].start(program, layout, nodes_at_hand())


def default_launcher() -> str:
    """The launcher for this process: srun inside an allocation of Slurm, else mpirun."""
    return "srun" if slurm.inside() and shutil.which("srun") else "mpirun"


def nodes_at_hand() -> Nodes:
    """The nodes of the allocation, or of the host file, or else this host.

    Raises BadInput for the file, and if Slurm does not tell the nodes.
    """
    if slurm.inside():
        try:
            return srun.nodes()
        except slurm.SlurmFailed as failed:
            raise BadInput(f"the nodes of this job are unknown: {failed}") from None
    return hostfile.nodes() or Nodes((available_cores(),), "this host")


def machine_name() -> str:
    """What results are named after: the cluster of Slurm, or else this host."""
    cluster = slurm.cluster_name()
    return places.host_name() if cluster is None else places.as_name(cluster)


def here_name() -> str:
    """The machine that this process itself computes on: `machine_name`, but CLUSTER-HOST on a login node."""
    cluster = slurm.cluster_name()
    if cluster is None or "SLURMD_NODENAME" in os.environ:  # set in batch jobs and steps
        return machine_name()
    return f"{places.as_name(cluster)}-{places.host_name()}"


def available_cores(cpus: Path = CPUS) -> int:
    """The number of physical cores that this process may use; hardware threads of one core count once."""
    return len(core_threads(cpus))


def core_threads(cpus: Path = CPUS) -> list[int]:
    """The first hardware thread of each physical core that this process may use, ascending."""
    allowed = sorted(os.sched_getaffinity(0))
    first: dict[tuple[str, ...], int] = {}
    for cpu in allowed:
        topology = cpus / f"cpu{cpu}" / "topology"
        try:
            core = tuple((topology / name).read_text() for name in CORE if (topology / name).exists())
        except OSError:
            return allowed
        if not core:
            return allowed
        first.setdefault(core, cpu)
    return list(first.values())


__all__ = [
    "LAUNCHERS",
    "Launch",
    "Layout",
    "Nodes",
    "available_cores",
    "core_threads",
    "default_launcher",
    "here_name",
    "launch",
    "machine_name",
    "nodes_at_hand",
]
