"""A subject of faults: a command that writes results, and how a whole result is told."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spikemark.core import places
from spikemark.core.command import Launch
from spikemark.core.errors import BadInput
from spikemark.core.process import watch

#: What there is of each part of a result: a digest of what it says; parts that are absent are left out.
Parts = dict[str, str]
LIMIT_S = 300
#: For programs with more ranks and threads than there may be cores, as any user.
QUIET = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # No daemon for a program without mpirun: where files may not grow, that of Open MPI 4.1 took all memory.
    "OMPI_MCA_ess_singleton_isolated": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
}


@dataclass(frozen=True)
class Subject:
    """A command. All that is written lies in the folder that its functions are given.

    `prepare` makes what lies there before. `command` is the command line, without the program's path.
    `parts` raises BadInput where something is neither absent nor whole. `keeps`: what is there is never made
    again, so that its files must stay as they are. `most`: at how many calls it is disturbed at most.
    `output`: the file or folder that an argument names for the result; empty where none does.
    """

    name: str
    prepare: Callable[[Path], None]
    command: Callable[[Path], list[str]]
    parts: Callable[[Path], Parts]
    keeps: bool = False
    most: int = 8
    output: str = ""


def digest(folder: Path) -> str:
    """Of the names and bytes of all files below a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return found.hexdigest()


def ran(command: list[str]) -> str:
    """Runs a program of ours, undisturbed; what it prints. Raises BadInput with its last line if it fails."""
    program, *words = command
    own = [sys.executable, "-m", program] if program == "spikemark" else [str(places.program(program))]
    done = watch(Launch([*own, *words], QUIET), LIMIT_S)
    if done.status != 0:
        raise BadInput(f"{program}: {done.reason}")
    return done.output
