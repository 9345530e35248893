"""Finds things: the checkout, the mini-app, the results, and the name of this machine."""

import os
import re
import socket
from pathlib import Path

from . import slurm
from .errors import BadInput

#: What contains the package where it is installed in place: a checkout.
PACKAGE = Path(__file__).resolve().parents[3]
#: Programs that `make build` does not build: where they lie, and what builds them.
ELSEWHERE = {
    "miniapp_scorep": ("build-scorep/miniapp", "as docs/scorep.md says"),
    "miniapp_smpi": ("build-smpi/miniapp", "with `make simulator`"),
    "replay_smpi": ("build-smpi/replay", "with `make simulator`"),
}


def root() -> Path:
    """The checkout: the folder that holds `Snakefile` and `workflows/`.

    The package is normally installed in place, so this is the checkout that contains it. A package installed
    elsewhere takes the checkout that contains the current directory. Raises BadInput if there is none.
    """
    if _is_checkout(PACKAGE):
        return PACKAGE
    for folder in (Path.cwd(), *Path.cwd().parents):
        if _is_checkout(folder):
            return folder
    raise BadInput(
        f"no Snakefile with workflows/ in {Path.cwd()} or above: run this inside a checkout of Spikemark"
    )


def _is_checkout(folder: Path) -> bool:
    return os.path.isfile(f"{folder}/Snakefile") and os.path.isdir(f"{folder}/workflows")


def program(name: str) -> Path:
    """A program of the checkout: `build/NAME` or its place in ELSEWHERE, or what SPIKEMARK_NAME names.

    Raises BadInput if it is not an executable file.
    """
    place, advice = ELSEWHERE.get(name, (f"build/{name}", "with `make build`"))
    variable = f"SPIKEMARK_{name.upper()}"
    named = os.environ.get(variable)
    path = Path(named).resolve() if named else root() / place
    if not (path.is_file() and os.access(path, os.X_OK)):
        wanted = f"{variable} must name an executable file" if named else f"build it {advice}"
        raise BadInput(f"{name}: {path} is not an executable file: {wanted}")
    return path


def machine_name() -> str:
    """What results are named after: the cluster of Slurm, or else this host (host_name)."""
    cluster = slurm.cluster_name()
    return host_name() if cluster is None else as_name(cluster)


def here_name() -> str:
    """The machine that this process itself computes on: `machine_name`, but CLUSTER-HOST on a login node."""
    cluster = slurm.cluster_name()
    if cluster is None or "SLURMD_NODENAME" in os.environ:  # set in batch jobs and steps
        return machine_name()
    return f"{as_name(cluster)}-{host_name()}"


def host_name() -> str:
    """The host name without its domain."""
    return as_name(socket.gethostname().split(".")[0])


def as_name(text: str) -> str:
    """Reduced to letters, digits, `.`, `_` and `-`."""
    return check_machine(re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-") or "localhost")


def check_machine(name: str) -> str:
    """Returns `name` if it can be the name of a results folder, else raises BadInput."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(
            f"machine: {name!r} is not allowed: allowed are letters, digits, '.', '_' and '-', starting "
            "with a letter or digit"
        )
    return name
