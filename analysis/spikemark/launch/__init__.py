"""Starting the mini-app with the right ranks, threads, nodes and binding."""

import os
import re
import shutil
from pathlib import Path

from spikemark.core import places
from spikemark.core.errors import BadInput, shown

from . import mpirun, slurm, srun
from .layout import Launch, Layout, Nodes

CPUS = Path("/sys/devices/system/cpu")
#: Files that together name a core; core_id alone repeats in every die of a package.
CORE = ("physical_package_id", "die_id", "core_id")
#: Ways to start the ranks, by name: each makes a command from (program, layout, nodes).
LAUNCHERS = {"mpirun": mpirun.start, "srun": srun.start}
#: The variable that names a file of nodes, for mpirun where no batch system says them.
HOST_FILE = "SPIKEMARK_HOSTFILE"
HOST = re.compile(r"([A-Za-z0-9._-]+)(?:\s+slots=|:)([1-9][0-9]{0,5})")


def launch(launcher: str | None, program: list[str], layout: Layout, nodes: Nodes | None = None) -> Launch:
    """How to start `program` with the named launcher; None or empty: `default_launcher()`.

    `nodes`: those to use, unless all `nodes_at_hand()`. Raises BadInput for an unknown launcher, and for a
    layout that the nodes do not allow.
    """
    launcher = launcher or default_launcher()
    if launcher not in LAUNCHERS:
        raise BadInput.of("launcher", launcher, f"one of {', '.join(LAUNCHERS)}", code="unknown")
    return LAUNCHERS[launcher](program, layout, nodes or nodes_at_hand())


def default_launcher() -> str:
    """The launcher for this process: srun inside an allocation of Slurm, else mpirun."""
    return "srun" if slurm.inside() and shutil.which("srun") else "mpirun"


def nodes_at_hand() -> Nodes:
    """The nodes of the allocation, or of the host file, or else this host.

    Raises BadInput for the file, and if Slurm does not tell the nodes.
    """
    if slurm.inside():
        return slurm.nodes()
    if file := os.environ.get(HOST_FILE):
        return nodes_of_file(Path(file))
    return Nodes((available_cores(),), "this host")


def nodes_of_file(file: Path) -> Nodes:
    """The nodes in a host file. A line is NAME slots=CORES or NAME:CORES. Raises BadInput for others."""
    found = {}
    for line in file.read_text(errors="replace").splitlines():
        if text := line.partition("#")[0].strip():
            if (match := HOST.fullmatch(text)) is None:
                raise BadInput(f"{file}: {shown(text)}; expected lines NAME slots=CORES")
            found[match[1]] = int(match[2])
    if not found:
        raise BadInput(f"{file}: no node; expected lines NAME slots=CORES")
    return Nodes(tuple(found.values()), str(file), tuple(found))


def machine_name() -> str:
    """What results are named after: the cluster of Slurm, or else this host."""
    cluster = slurm.cluster_name()
    return places.host_name() if cluster is None else places.as_name(cluster)


def here_name() -> str:
    """The machine that this process itself computes on: `machine_name`, but CLUSTER-HOST on a login node."""
    on_login_node = (
        "SLURMD_NODENAME" not in os.environ and slurm.cluster_name()
    )  # set in batch jobs and steps
    return f"{machine_name()}-{places.host_name()}" if on_login_node else machine_name()


def available_cores(cpus: Path = CPUS) -> int:
    """The number of physical cores that this process may use; hardware threads of one core count once."""
    return len(core_threads(cpus))


def core_threads(cpus: Path = CPUS) -> list[int]:
    """The first hardware thread of each physical core that this process may use, ascending."""
    first: dict[tuple, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        files = [cpus / f"cpu{cpu}" / "topology" / name for name in CORE]
        core = tuple(file.read_text() for file in files if file.exists())
        first.setdefault(core or (cpu,), cpu)
    return list(first.values())


__all__ = ["Launch", "Layout", "Nodes"]
