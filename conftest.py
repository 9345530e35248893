"""What all tests share, whichever folder they are in."""

import gc
import os
import socket
import tempfile
from pathlib import Path

import pytest

ALONE = "mark.alone"


@pytest.fixture(scope="session", autouse=True)
def session_folder_of_open_mpi() -> None:
    """Keeps the folder in which Open MPI 4 has the files of all runs of a user on this host.

    The last run to end removes it. A run that starts beside others then fails where one of them makes the
    folder anew between its look and its own attempt ("File exists"). A folder that is not empty stays.
    """
    host = socket.gethostname().split(".")[0]
    (Path(tempfile.gettempdir()) / f"ompi.{host}.{os.geteuid()}" / "keep").mkdir(parents=True, exist_ok=True)


def pytest_collection_finish() -> None:
    """Keeps Python from searching all modules and tests for what is unused, again and again."""
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files out of `-m alone` in which, as in all conftest.py above them, nothing is marked so.

    Reading all files takes longer than many of these tests.
    """
    if config.option.markexpr != "alone" or collection_path.suffix != ".py":
        return None
    folders = [parent for parent in collection_path.parents if parent.is_relative_to(config.rootpath)]
    read = [collection_path, *(folder / "conftest.py" for folder in folders)]
    own = Path(__file__)
    return None if any(ALONE in path.read_text() for path in read if path.is_file() and path != own) else True
