"""Ranks as a step of a Slurm allocation.

They find one another through the interface that option --mpi names; an MPI library that does not find its
own starts every rank as a world of its own.
"""

import os
import re

from spikemark.core.errors import BadInput

from . import slurm
from .layout import Launch, Layout, Nodes, Spread, openmp, spread
from .process import said

#: The variable that names the value of --mpi in place of the choice made here.
VARIABLE = "SPIKEMARK_SRUN_MPI"
#: Families of MPI libraries: files of which a program loads one, and what it understands, best first. The
#: first counts whose files are all among what a program loads. Open MPI counts its files on from 40; those
#: that keep the binary interface of MPICH are libmpi.so.12.
LIBRARIES = {
    "Open MPI": (r"\blibmpi\.so\.[4-9]\d", ("pmix",)),
    "Cray MPICH": (r"\blibmpi_\w+\.so", ("cray_shasta", "pmi2")),
    "MPICH with PMIx": (r"(?s)^(?=.*\blibpmix\.so).*\blibmpi(ch)?\.so", ("pmix",)),
    "MPICH": (r"\blibmpi(ch)?\.so", ("pmi2",)),
    "an unknown MPI library": ("", ("pmix", "pmi2")),
}


def start(program: list[str], layout: Layout, nodes: Nodes) -> Launch:
    """Starts ranks as a step that is alone in the allocation; raises BadInput outside an allocation.

    The step takes all memory of the nodes it uses. No option of the job or of a step around this process
    passes on to the new step, such as a number of tasks or a distribution.
    """
    if not slurm.inside():
        raise BadInput.of("launcher", "srun", "mpirun outside an allocation of Slurm (salloc)")
    placed = spread(layout, nodes)
    bound = layout.binding != "none"
    step = [
        "srun",
        *mpi_option(program[0]),
        "--overlap",
        "--kill-on-bad-exit=1",  # else the others wait for a rank that is gone
        "--mem=0",
        f"--nodes={placed.nodes}",
        *([f"--nodelist={','.join(placed.names)}"] if placed.names else []),
        f"--ntasks={placed.ranks}",
        *_per_node(placed),
        # A number of CPUs per task would confine the step to these, even if no task is bound.
        *([f"--cpus-per-task={layout.threads}"] if bound else []),
        "--hint=nomultithread",
        f"--cpu-bind={'cores' if bound else 'none'}",
    ]
    return Launch([*step, *program], openmp(layout.threads, bound), slurm.inherited(), placed)


def _per_node(placed: Spread) -> list[str]:
    """Slurm ignores --ntasks-per-node where the last node gets fewer; a plane is a block of that size."""
    even = placed.ranks == placed.nodes * placed.ranks_per_node
    if placed.distribution == "block" and not even:
        return [f"--distribution=plane={placed.ranks_per_node}"]
    limit = [f"--ntasks-per-node={placed.ranks_per_node}"] if even else []
    return [*limit, f"--distribution={placed.distribution}:block"]


def mpi_option(program: str) -> list[str]:
    """The option --mpi for a program; none if its library is unknown and srun offers nothing known.

    Raises BadInput if srun offers nothing that the library understands, or not what VARIABLE names.
    """
    offered = offers(said("srun", "--mpi=list"))
    expected = f"one of {', '.join(sorted(offered)) or 'none'}, as srun --mpi=list offers"
    if named := os.environ.get(VARIABLE):
        if named not in offered:
            raise BadInput.of(VARIABLE, named, expected, code="unknown")
        return [f"--mpi={named}"]
    loaded = said("ldd", program)
    library = next(name for name, (files, _) in LIBRARIES.items() if re.search(files, loaded))
    files, understands = LIBRARIES[library]
    found = [f"--mpi={name}" for name in understands if name in offered]
    if files and not found:
        reason = f"{program} is linked with {library}, which understands {' or '.join(understands)}"
        raise BadInput(f"--mpi: {reason}; expected {expected}: {VARIABLE} names another")
    return found[:1]


def offers(listed: str) -> set[str]:
    """What `srun --mpi=list` offers; releases of Slurm differ in the words around it."""
    return set(re.findall(r"(?:^(?:srun:)?|[:,])\s*(\w+)\s*(?=,|$)", listed, re.MULTILINE))
