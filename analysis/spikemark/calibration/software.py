"""Which tools this environment has."""

import os
import shutil

from .values import Value


def score_p() -> Value:
    """`software.scorep`: the modules loaded now if the program `scorep` is among the programs, or `none`."""
    if shutil.which("scorep") is None:
        return Value("none", None, detail="no program scorep in PATH")
    modules = [name for name in os.environ.get("LOADEDMODULES", "").split(":") if name]
    if not any("score" in name.lower() for name in modules):
        return Value("in PATH", None, detail="no module of that name is loaded")
    return Value(f"module load {' '.join(modules)}", None, detail="modules loaded meanwhile")
