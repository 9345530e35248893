"""Runs that several tests read, and what is collected: the comparison with NEST only where `make peers` has
installed it (.venv-peers); in conda, simulated clusters only where the system has SimGrid, which conda-forge
lacks.
"""

import os
import shutil

import levels
import program
import pytest

collect_ignore = [] if program.NEST.exists() else ["test_nest.py"]
if os.environ.get("CONDA_PREFIX", "").endswith("/spikemark") and not shutil.which("smpicc"):
    collect_ignore.append("test_simulated.py")


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    return program.record_of(tmp_path_factory.mktemp("plain") / "run", ranks=2, threads=2)


@pytest.fixture(scope="session")
def counted(tmp_path_factory):
    """A run with counters: its directory and record."""
    out = tmp_path_factory.mktemp("counted") / "run"
    return out, program.record_of(out, *program.sets(record__counters="true"), ranks=2, threads=2)


@pytest.fixture(scope="session")
def direct(tmp_path_factory):
    out = tmp_path_factory.mktemp("direct") / "run"
    return out, program.record_of(
        out,
        *levels.SHORT,
        *program.sets(schedule="conventional", placement="round_robin"),
        ranks=levels.RANKS,
    )
