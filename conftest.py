"""What all tests share, whichever folder they are in."""

import gc
import os
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from spikemark.core.single_process import SESSION_FOLDERS

SLOWEST = 20
#: The files that take most of `make test` and, last, of `make check`. One process runs all of a
#: file: were one among the last, the others would wait for it.
LONGEST = (
    "test_sweep.py",
    "test_no_option_is_ignored.py",
    "test_module.py",
    "test_sweep_page.py",
    "test_agreement.py",
    "test_record.py",
    "test_examples.py",
)
#: Markers of tests that nobody wants by surprise: they take minutes, or need what a host may lack.
ONLY_WHEN_ASKED = {"nightly", "alone", "slurm"}


@pytest.fixture(scope="session", autouse=True)
def session_folder_of_open_mpi() -> Iterator[None]:
    """Gives each process of the tests a folder of its own for the files of Open MPI.

    Open MPI 4 has the files of all runs of a user in one folder, and those of all programs without
    a daemon, such as `miniapp --explain`, in one below it (`jf.0/1/0`). The last to end removes
    them. A run that starts beside others then fails where one of them makes or removes a folder
    between its look and its own attempt ("File exists", "No such file or directory"). A folder that
    is not empty stays, for programs that a test starts side by side.
    """
    host = socket.gethostname().split(".")[0]
    with tempfile.TemporaryDirectory(prefix="mpi", ignore_cleanup_errors=True) as session:
        for variable in SESSION_FOLDERS:
            os.environ[variable] = session
        of_user = Path(session) / f"ompi.{host}.{os.geteuid()}"
        for folder in (of_user, of_user / "jf.0", of_user / "jf.0" / "1", of_user / "jf.0/1/0"):
            (folder / "keep").mkdir(parents=True)
        yield


@pytest.fixture(scope="session", autouse=True)
def single_processes_without_a_daemon() -> None:
    """Open MPI 4 starts a daemon for a program that no launcher started: half of the processor time
    of a short run, such as `miniapp --explain`.
    """
    os.environ.setdefault("OMPI_MCA_ess_singleton_isolated", "1")


@pytest.fixture(scope="session", autouse=True)
def lock_of_measured_runs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests that run side by side do not wait for each other's runs, nor for those of people."""
    os.environ["SPIKEMARK_LOCK"] = str(tmp_path_factory.mktemp("lock") / "lock")


@pytest.fixture(autouse=True)
def figures_closed() -> Iterator[None]:
    """Closes the figures of a test, of which pyplot keeps all: from 20 on, it warns."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begins with the LONGEST files, and leaves out tests ONLY_WHEN_ASKED.

    They are not left out where `-m` says which tests are meant, or one is named by `::`.
    """
    begin = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: begin.get(item.path.name, len(LONGEST)))
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    unasked = []
    asked = []
    for item in items:
        markers = {marker.name for marker in item.iter_markers()}
        (unasked if markers & ONLY_WHEN_ASKED else asked).append(item)
    if unasked:
        config.hook.pytest_deselected(items=unasked)
        items[:] = asked


def pytest_collection() -> None:
    """Keeps Python from searching all modules and tests for what is unused, again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From here on, it searches what tests make; modules and tests stay."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the slowest files in continuous integration, with the seconds of their tests and
    fixtures.
    """
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
