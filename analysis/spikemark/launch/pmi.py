"""How ranks that srun starts find one another: option --mpi, chosen by the MPI library of a program.

A library that does not find its launcher starts every rank as a world of its own.
"""

import functools
import os
import re
import subprocess
from typing import NamedTuple

from spikemark.core.errors import BadInput

#: The variable that names the value of --mpi in place of the choice made here.
VARIABLE = "SPIKEMARK_SRUN_MPI"
LIMIT_S = 60


class Library(NamedTuple):
    """A family of MPI libraries: files of which a program loads one, and what it understands, best first."""

    name: str
    files: re.Pattern
    understands: tuple[str, ...]


#: The first whose files are all among what a program loads. Open MPI counts its files on from 40; those that
#: keep the binary interface of MPICH are libmpi.so.12.
LIBRARIES = (
    Library("Open MPI", re.compile(r"\blibmpi\.so\.[4-9]\d"), ("pmix",)),
    Library("Cray MPICH", re.compile(r"\blibmpi_\w+\.so"), ("cray_shasta", "pmi2")),
    Library("MPICH with PMIx", re.compile(r"(?s)^(?=.*\blibpmix\.so).*\blibmpi(ch)?\.so"), ("pmix",)),
    Library("MPICH", re.compile(r"\blibmpi(ch)?\.so"), ("pmi2",)),
)
UNKNOWN = Library("an unknown MPI library", re.compile(""), ("pmix", "pmi2"))


def option(program: str) -> list[str]:
    """The option of srun for a program; none if its library is unknown and srun offers nothing known.

    Raises BadInput if srun offers nothing that the library understands, or not what VARIABLE names.
    """
    offered = _offered()
    words = ", ".join(sorted(offered)) or "nothing"
    if named := os.environ.get(VARIABLE):
        if named not in offered:
            raise BadInput(f"{VARIABLE}: {named!r} is not allowed: srun --mpi=list offers {words}")
        return [f"--mpi={named}"]
    library = library_of(_loaded(program))
    found = [f"--mpi={name}" for name in library.understands if name in offered]
    if not found and library is not UNKNOWN:
        raise BadInput(
            f"--mpi: {program} is linked with {library.name}; allowed: {' or '.join(library.understands)},"
            f" but srun --mpi=list offers {words}: {VARIABLE} names another"
        )
    return found[:1]


def library_of(loaded: str) -> Library:
    """The library of a program, from what ldd says about it."""
    return next((library for library in LIBRARIES if library.files.search(loaded)), UNKNOWN)


def offers(listed: str) -> set[str]:
    """What `srun --mpi=list` offers; releases of Slurm differ in the words around it."""
    lines = (line.strip().removeprefix("srun:").strip() for line in listed.splitlines())
    versions = (line.removeprefix("specific pmix plugin versions available:") for line in lines)
    words = (word.strip() for line in versions for word in line.split(","))
    return {word for word in words if re.fullmatch(r"\w+", word)}


def _offered() -> set[str]:
    return offers(_said("srun", "--mpi=list"))


def _loaded(program: str) -> str:
    return _said("ldd", program)


@functools.cache  # both stay as they are while runs are carried out
def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
