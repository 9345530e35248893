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
ELSEWHERE = {
    "miniapp_scorep": ("build-scorep/miniapp", "as docs/energy-and-traces.md says"),
    "miniapp_smpi": ("build-smpi/miniapp", "with `make simulator`"),
    "replay_smpi": ("build-smpi/replay", "with `make simulator`"),
}


def root() -> Path:
    """The folder with `Snakefile`, `machines/` and `workflows/`: a checkout, or the copies in a wheel.

    Raises BadInput if there is neither.
    """
    return _checkout() or (SHARE if _has_parts(SHARE) else checkout())


def checkout() -> Path:
    """The checkout around the package or the current directory. Raises BadInput if there is none."""
    if found := _checkout():
        return found
    searched = f"no Snakefile with workflows/ in {Path.cwd()} or above"
    raise BadInput(f"{searched}: run this inside a checkout of Spikemark")


def own(folder: str) -> Path:
    """Where results and profiles are written: `folder` in the checkout, else in the current directory."""
    return (_checkout() or Path.cwd()) / folder


def _checkout() -> Path | None:
    return next(filter(_has_parts, (AROUND, Path.cwd(), *Path.cwd().parents)), None)


def _has_parts(folder: Path) -> bool:
    return os.path.isfile(f"{folder}/Snakefile") and os.path.isdir(f"{folder}/workflows")


def program(name: str) -> Path:
    """A program: what SPIKEMARK_NAME names, else `build/NAME` (or ELSEWHERE) in the checkout, else from PATH.

    Raises BadInput if it is not an executable file.
    """
    place, advice = ELSEWHERE.get(name, (f"build/{name}", "with `make build`"))
    variable = f"SPIKEMARK_{name.upper()}"
    named, found = os.environ.get(variable), _checkout()
    if named is None and found is None and (installed := shutil.which(name)):
        return Path(installed).resolve()
    path = Path(named).resolve() if named else (found or Path.cwd()) / place
    if path.is_file() and os.access(path, os.X_OK):
        return path
    elsewhere = "" if found else f" in a checkout, and put it into the PATH or name it in {variable}"
    wanted = f"{variable} must name an executable file" if named else f"build it {advice}{elsewhere}"
    raise BadInput(f"{name}: {path} is not an executable file: {wanted}")


def commit() -> str | None:
    """The commit of the checkout, ` with changes` if sources differ from it; None without git."""
    sources = ("status", "--porcelain", "--", "analysis", "machines", "miniapp", "workflows")
    try:
        git = ["git", "-C", str(checkout())]
        head, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "--short=7", "HEAD"), sources)
        )
    except (BadInput, OSError, subprocess.CalledProcessError):
        return None
    return head + (" with changes" if changed else "")


def host() -> str:
    """The name that this host gives itself."""
    return os.uname().nodename


def host_name() -> str:
    """The host name without its domain."""
    return as_name(host().split(".")[0])


def as_name(text: str) -> str:
    """Reduced to letters, digits, `.`, `_` and `-`."""
    return check_machine(re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-") or "localhost")


def check_machine(name: str) -> str:
    """Returns `name` if it can be the name of a results folder, else raises BadInput."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        return name
    expected = "letters, digits, '.', '_' and '-', starting with a letter or digit"
    raise BadInput(f"machine: {name!r}; expected {expected}")
