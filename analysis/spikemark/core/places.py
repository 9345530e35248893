"""Finds things: the checkout, the mini-app, the results, and the name of this machine."""

import os
import re
import socket
from pathlib import Path

from .errors import BadInput


def root() -> Path:
    """The checkout: the folder that holds `Snakefile` and `workflows/`.

    The package is normally installed in place, so this is the checkout that contains it. A package installed
    elsewhere takes the checkout that contains the current directory. Raises BadInput if there is none.
    """
    for folder in (Path(__file__).resolve().parents[3], Path.cwd(), *Path.cwd().parents):
        if (folder / "Snakefile").is_file() and (folder / "workflows").is_dir():
            return folder
    raise BadInput(
        f"no Snakefile with workflows/ in {Path.cwd()} or above: run this inside a checkout of Spikemark"
    )


def miniapp() -> Path:
    """The simulator: `build/miniapp`, or what the environment variable SPIKEMARK_MINIAPP names.

    Raises BadInput if it is not an executable file.
    """
    return _program("miniapp")


def miniapp_scorep() -> Path:
    """The simulator instrumented for Score-P: `build-scorep/miniapp`, or SPIKEMARK_MINIAPP_SCOREP.

    Raises BadInput if it is not an executable file.
    """
    return _program("miniapp_scorep", "build-scorep/miniapp", "docs/scorep.md says how to build it")


def miniapp_smpi() -> Path:
    """The simulator built for SimGrid: `build-smpi/miniapp`, or SPIKEMARK_MINIAPP_SMPI.

    Raises BadInput if it is not an executable file.
    """
    return _program("miniapp_smpi", "build-smpi/miniapp", "build it with `make simulator`")


def bench_kernels() -> Path:
    """The benchmark of the simulator's kernels: `build/bench_kernels`, or SPIKEMARK_BENCH_KERNELS.

    Raises BadInput if it is not an executable file.
    """
    return _program("bench_kernels")


def bench_exchange() -> Path:
    """The benchmark of the exchanges: `build/bench_exchange`, or SPIKEMARK_BENCH_EXCHANGE.

    Raises BadInput if it is not an executable file.
    """
    return _program("bench_exchange")


def bench_messages() -> Path:
    """The benchmark of single messages: `build/bench_messages`, or SPIKEMARK_BENCH_MESSAGES.

    Raises BadInput if it is not an executable file.
    """
    return _program("bench_messages")


def _program(name: str, place: str | None = None, advice: str = "build it with `make build`") -> Path:
    variable = f"SPIKEMARK_{name.upper()}"
    named = os.environ.get(variable)
    path = Path(named).resolve() if named else root() / (place or f"build/{name}")
    if not (path.is_file() and os.access(path, os.X_OK)):
        advice = f"{variable} must name an executable file" if named else advice
        raise BadInput(f"{name}: {path} is not an executable file: {advice}")
    return path


def machine_name() -> str:
    """The host name without its domain, reduced to letters, digits, `.`, `_` and `-`."""
    return check_machine(re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname().split(".")[0]) or "localhost")


def check_machine(name: str) -> str:
    """Returns `name` if it can be the name of a results folder, else raises BadInput."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(
            f"machine: {name!r} is not allowed: allowed are letters, digits, '.', '_' and '-', starting "
            "with a letter or digit"
        )
    return name
