"""Tools of other projects, each installed from PyPI into an environment of its own.

Their pins differ from each other and from ours.
"""

import sys
from pathlib import Path

import pytest
from checkout import run

INSTALL_S = 600.0


def installed(folder: Path, *requirements: str) -> Path:
    """The folder of programs of a new environment; skips a test where PyPI lacks something."""
    made = run(sys.executable, "-m", "venv", folder)
    assert made.returncode == 0, made.stderr
    programs = folder / "bin"
    pip = [programs / "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = run(*pip, *requirements, timeout=INSTALL_S)
    if done.returncode:
        pytest.skip(f"no {', '.join(requirements)} from PyPI: {done.stderr.splitlines()[-1]}")
    return programs
