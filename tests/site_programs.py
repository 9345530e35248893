"""What a site must offer to the files in workflows/clusters: the command `spikemark`, and modules."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLUSTERS = ROOT / "workflows" / "clusters"


def programs(folder: Path) -> dict[str, str]:
    """Variables with which `spikemark` is this checkout, and `module` writes its arguments into `modules`."""
    bin = folder / "bin"
    bin.mkdir()
    (bin / "spikemark").write_text(f'#!/bin/sh\nexec {sys.executable} -m spikemark "$@"\n')
    (bin / "module").write_text(f'#!/bin/sh\necho "$@" >> {folder}/modules\n')
    for path in bin.iterdir():
        path.chmod(0o755)
    search = os.pathsep.join([str(bin), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": search, "PYTHONPATH": str(ROOT / "analysis")}
