"""The file that a calibration writes, checked before anything is measured."""

import re
from pathlib import Path

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import output_file

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


def target(name: str, out: Path | None, force: bool) -> tuple[str, Path]:
    """The name of a machine and its file: `out`, by default machines/NAME.yaml in the checkout.

    Raises BadInput for a name that is not allowed, a file of another name or that cannot be written, and one
    that exists, unless `force`.
    """
    if not NAME.fullmatch(name):
        raise BadInput(
            f"--name: {name!r}; allowed: lower-case letters, digits, '.' and '-', starting with "
            "a letter or digit"
        )
    path = out or places.root() / "machines" / f"{name}.yaml"
    if path.name != f"{name}.yaml":
        raise BadInput(f"--out: {path}; the file of machine {name} is called {name}.yaml")
    output_file("--out", path)
    if path.exists() and not force:
        raise BadInput(f"{path}: exists; --force replaces it")
    return name, path
