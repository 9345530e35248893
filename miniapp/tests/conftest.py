"""What is collected: the comparison with NEST only where `make peers` has installed it
(.venv-peers); in conda, simulated clusters only where the system has SimGrid, which conda-forge
lacks.
"""

import os
import shutil

import program

collect_ignore = [] if program.NEST.exists() else ["test_nest.py"]
if os.environ.get("CONDA_PREFIX", "").endswith("/spikemark") and not shutil.which("smpicc"):
    collect_ignore.append("test_simulated.py")
