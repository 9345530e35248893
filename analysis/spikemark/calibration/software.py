"""The tools that this environment has."""

import os
import shutil

from spikemark.machines.profile import Value

from .values import measured


def score_p() -> Value:
    """`software.scorep`: the modules loaded now if the program `scorep` is among the programs, or `none`."""
    if shutil.which("scorep") is None:
        return measured("none", None, detail="no program scorep in PATH")
    modules = [name for name in os.environ.get("LOADEDMODULES", "").split(":") if name]
    if not any("score" in name.lower() for name in modules):
        return measured("in PATH", None, detail="no module of that name is loaded")
    return measured(f"module load {' '.join(modules)}", None, detail="modules loaded meanwhile")
