"""Ranks as a step of a Slurm allocation.

They find one another through the interface that option --mpi names; an MPI library that does not
find its own starts every rank as a world of its own.
"""

import os
import re
from dataclasses import dataclass

from spikemark.core.errors import BadInput, unknown_name

from . import slurm
from .layout import Launch, LaunchLayout, Nodes, RanksOnNodes, openmp, spread
from .process import command_output

#: The variable that names the value of --mpi in place of the choice made here.
VARIABLE = "SPIKEMARK_SRUN_MPI"


@dataclass(frozen=True)
class MpiFamily:
    """A family of MPI libraries that have the same ways to find one another."""

    name: str
    #: What `ldd PROGRAM` prints for such a library. Open MPI counts its files on from 40; those
    #: that keep the binary interface of MPICH are libmpi.so.12.
    files: str
    understands: tuple[str, ...]  #: values of --mpi, best first


#: The first family counts whose files a program loads.
FAMILIES = (
    MpiFamily("Open MPI", r"\blibmpi\.so\.[4-9]\d", ("pmix",)),
    MpiFamily("Cray MPICH", r"\blibmpi_\w+\.so", ("cray_shasta", "pmi2")),
    MpiFamily("MPICH with PMIx", r"(?s)^(?=.*\blibpmix\.so).*\blibmpi(ch)?\.so", ("pmix",)),
    MpiFamily("MPICH", r"\blibmpi(ch)?\.so", ("pmi2",)),
)
#: What is tried for a library that is none of these.
UNKNOWN_UNDERSTANDS = ("pmix", "pmi2")


def start(program: list[str], layout: LaunchLayout, nodes: Nodes) -> Launch:
    """Starts ranks as a step that is alone in the allocation.

    The step takes all memory of the nodes it uses. No option of the job or of a step around this
    process passes on to the new step, such as a number of tasks or a distribution. Raises BadInput
    outside an allocation.

    Example:
        >>> from unittest.mock import patch
        >>> nodes = Nodes((2, 2), "job 17")
        >>> with patch(f"{__name__}.slurm.inside", return_value=True):
        ...     with patch(f"{__name__}._mpi_option", return_value=[]):
        ...         launch = start(["miniapp"], LaunchLayout(ranks=4), nodes)
        >>> launch.command[3:6]
        ['--mem=0', '--nodes=2', '--ntasks=4']
    """
    if not slurm.inside():
        raise BadInput(
            field="launcher",
            value="srun",
            expected="mpirun outside an allocation of Slurm (salloc)",
        )
    placed = spread(layout, nodes)
    bound = layout.binding != "none"
    step = ["srun", *_mpi_option(program[0]), "--overlap"]
    step.append("--kill-on-bad-exit=1")  # else the others wait for a rank that is gone
    step += ["--mem=0", f"--nodes={placed.nodes}"]
    if placed.names:
        step.append(f"--nodelist={','.join(placed.names)}")
    step += [f"--ntasks={placed.ranks}", *_distribution_options(placed)]
    if bound:  # a number of CPUs per task would confine the step to these, even if none is bound
        step.append(f"--cpus-per-task={layout.threads}")
    step += ["--hint=nomultithread", "--cpu-bind=cores" if bound else "--cpu-bind=none"]
    return Launch([*step, *program], openmp(layout.threads, bound), spread=placed)


def _distribution_options(placed: RanksOnNodes) -> list[str]:
    """How many ranks a node gets, and in which order.

    Slurm ignores --ntasks-per-node where the last node gets fewer; a plane is a block of that size.
    """
    even = placed.ranks == placed.nodes * placed.ranks_per_node
    order = f"--distribution={placed.distribution}:block"
    if even:
        return [f"--ntasks-per-node={placed.ranks_per_node}", order]
    if placed.distribution == "block":
        return [f"--distribution=plane={placed.ranks_per_node}"]
    return [order]


def _mpi_option(program: str) -> list[str]:
    """The option --mpi for a program; none if its library is unknown and srun offers nothing known.

    Raises BadInput if srun offers nothing that the library understands, or not what VARIABLE names.
    """
    offered = offers(command_output("srun", "--mpi=list"))
    expected = f"one of {', '.join(sorted(offered)) or 'none'}, as srun --mpi=list offers"
    named = os.environ.get(VARIABLE)
    if named:
        if named not in offered:
            raise unknown_name(VARIABLE, named, offered, expected=expected)
        return [f"--mpi={named}"]
    family = _family(program)
    understands = UNKNOWN_UNDERSTANDS if family is None else family.understands
    for name in understands:
        if name in offered:
            return [f"--mpi={name}"]
    if family is None:
        return []
    reason = f"{program} is linked with {family.name}, which understands {' or '.join(understands)}"
    message = f"--mpi: {reason}; expected {expected}: {VARIABLE} names another"
    raise BadInput(message, field="--mpi")


def _family(program: str) -> MpiFamily | None:
    """The family of the MPI library that a program loads; None if it is unknown."""
    loaded = command_output("ldd", program)
    for family in FAMILIES:
        if re.search(family.files, loaded):
            return family
    return None


def offers(listing: str) -> set[str]:
    """What `srun --mpi=list` offers; releases of Slurm differ in the words around it.

    Example:
        >>> sorted(offers("MPI plugin types are...\\n\\tnone\\n\\tpmix\\n"))
        ['none', 'pmix']
    """
    return set(re.findall(r"(?:^(?:srun:)?|[:,])\s*(\w+)\s*(?=,|$)", listing, re.MULTILINE))
