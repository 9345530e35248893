"""The nodes that a host file names, for mpirun where no batch system says them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from spikemark.core.errors import BadInput, shown

from .layout import Nodes

#: The variable that names the file.
VARIABLE = "SPIKEMARK_HOSTFILE"
LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\s+slots=|:)(?P<cores>[1-9][0-9]{0,5})")


def nodes(environment: Mapping[str, str] = os.environ) -> Nodes | None:
    """The nodes in the file; None if none is named. A line is NAME slots=CORES or NAME:CORES.

    Raises BadInput for any other line, and OSError for a file that cannot be read.
    """
    if not (path := environment.get(VARIABLE)):
        return None
    found: dict[str, int] = {}
    for line in Path(path).read_text(errors="replace").splitlines():
        if text := line.partition("#")[0].strip():
            match = LINE.fullmatch(text)
            if not match:
                raise BadInput(f"{path}: {shown(text)} is not allowed: a line is NAME slots=CORES")
            found[match["name"]] = int(match["cores"])
    if not found:
        raise BadInput(f"{path}: no node: a line is NAME slots=CORES")
    return Nodes(tuple(found.values()), path, tuple(found))
