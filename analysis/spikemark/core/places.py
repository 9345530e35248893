"""Finds things: the checkout, the mini-app, the results, and the name of this machine."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import BadInput

#: The checkout that contains the package, where it is installed in place.
AROUND = Path(__file__).resolve().parents[3]
#: What a wheel holds of a checkout: Snakefile, machines/, profiles/ and workflows/.
SHARE = Path(__file__).resolve().parents[1] / "share"
#: Programs that `make build` does not build: where they lie, and what builds them.
OTHER_BUILDS = {
    "miniapp_scorep": ("build-scorep/miniapp", "as docs/energy-and-traces.md says"),
    "miniapp_smpi": ("build-smpi/miniapp", "with `make simulator`"),
    "replay_smpi": ("build-smpi/replay", "with `make simulator`"),
}


def root() -> Path:
    """The folder with `Snakefile`, `machines/` and `workflows/`.

    That is a checkout, or the copies in a wheel. Raises BadInput if there is neither.

    Example:
        >>> (root() / "machines").is_dir()
        True
    """
    folder = _checkout()
    if folder is None and _has_parts(SHARE):
        folder = SHARE
    return folder or checkout()


def checkout() -> Path:
    """The checkout around the package or the current folder. Raises BadInput if there is none.

    Example:
        >>> checkout() == root()
        True
    """
    folder = _checkout()
    if folder is None:
        searched = f"no Snakefile with workflows/ in {Path.cwd()} or above"
        raise BadInput(f"{searched}: run this inside a checkout of Spikemark", code="file")
    return folder


def short(path: Path) -> Path:
    """The path from the current directory, where it lies in it.

    Example:
        >>> short(Path.cwd() / "results" / "demo")
        PosixPath('results/demo')
    """
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def profiles_folder() -> Path:
    """Where profiles are written: machines/ of the checkout, or else of the current folder.

    Example:
        >>> profiles_folder().name
        'machines'
    """
    return (_checkout() or Path.cwd()) / "machines"


def _checkout() -> Path | None:
    """The checkout around the package or the current folder; None if there is none."""
    for folder in (AROUND, Path.cwd(), *Path.cwd().parents):
        if _has_parts(folder):
            return folder
    return None


def _has_parts(folder: Path) -> bool:
    return os.path.isfile(f"{folder}/Snakefile") and os.path.isdir(f"{folder}/workflows")


def program(name: str) -> Path:
    """Where a program of the project lies.

    What SPIKEMARK_NAME names, else `build/NAME` (or OTHER_BUILDS) in the checkout, else NAME in
    PATH. Raises BadInput if it is not an executable file.

    Example:
        >>> program("no_miniapp")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: no_miniapp: ...
    """
    variable = f"SPIKEMARK_{name.upper()}"
    named = os.environ.get(variable)
    if named:
        path = Path(named).resolve()
        advice = f"{variable} must name an executable file"
    else:
        folder = _checkout()
        installed = shutil.which(name) if folder is None else None
        if installed:
            return Path(installed).resolve()
        place, builder = OTHER_BUILDS.get(name, (f"build/{name}", "with `make build`"))
        path = (folder or Path.cwd()) / place
        advice = f"build it {builder}"
        if folder is None:
            advice += f" in a checkout, and put it into the PATH or name it in {variable}"
    if path.is_file() and os.access(path, os.X_OK):
        return path
    message = f"{name}: {path} is not an executable file: {advice}"
    raise BadInput(message, field=name, code="file")


def commit() -> str | None:
    """The commit of the checkout, ` with changes` if sources differ from it; None without git.

    Example:
        >>> commit() is None or len(commit()) >= 7
        True
    """
    try:
        head = _git("rev-parse", "--short=7", "HEAD")
        sources = ("analysis", "machines", "miniapp", "workflows")
        changed = _git("status", "--porcelain", "--", *sources)
    except (BadInput, OSError, subprocess.CalledProcessError):
        return None
    return f"{head} with changes" if changed else head


def _git(*words: str) -> str:
    """What git prints in the checkout. Raises CalledProcessError, and BadInput as `checkout`."""
    command = ["git", "-C", str(checkout()), *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def host() -> str:
    """The name that this host gives itself.

    Example:
        >>> host() != ""
        True
    """
    return os.uname().nodename


def host_name() -> str:
    """The host name without its domain.

    Example:
        >>> host_name() != ""
        True
    """
    return as_name(host().split(".")[0])


def as_name(text: str) -> str:
    """A text as the name of a machine: letters, digits, `.`, `_` and `-`.

    Example:
        >>> as_name("node 7")
        'node-7'
    """
    name = re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")
    return check_machine(name or "localhost")


def check_machine(name: str) -> str:
    """Returns `name` if it can be the name of a results folder, else raises BadInput.

    Example:
        >>> check_machine("jureca-dc")
        'jureca-dc'
    """
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        return name
    expected = "letters, digits, '.', '_' and '-', starting with a letter or digit"
    raise BadInput(f"machine: {name!r}; expected {expected}", field="machine")
