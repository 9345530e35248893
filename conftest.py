"""What all tests share, whichever folder they are in."""

import gc
import os
import socket
import tempfile
from collections import Counter
from pathlib import Path

import pytest

SLOWEST = 20


@pytest.fixture(scope="session", autouse=True)
def session_folder_of_open_mpi() -> None:
    """Keeps the folder in which Open MPI 4 has the files of all runs of a user on this host.

    The last run to end removes it. A run that starts beside others then fails where one of them makes the
    folder anew between its look and its own attempt ("File exists"). A folder that is not empty stays.
    """
    host = socket.gethostname().split(".")[0]
    (Path(tempfile.gettempdir()) / f"ompi.{host}.{os.geteuid()}" / "keep").mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session", autouse=True)
def lock_of_measured_runs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests that run side by side do not wait for each other's runs, nor for those of people."""
    os.environ["SPIKEMARK_LOCK"] = str(tmp_path_factory.mktemp("lock") / "lock")


def pytest_collection_finish() -> None:
    """Keeps Python from searching all modules and tests for what is unused, again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the slowest files in continuous integration, with the seconds of their tests and fixtures."""
    if not os.environ.get("CI"):
        return
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.split("::")[0]] += report.duration
    terminalreporter.section(f"slowest files of {len(seconds)}, {seconds.total():.0f} s in all")
    for file, taken in seconds.most_common(SLOWEST):
        terminalreporter.line(f"{taken:7.1f} s  {file}")
