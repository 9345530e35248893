"""What all tests share, whichever folder they are in."""

import os
import socket
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def session_folder_of_open_mpi() -> None:
    """Keeps the folder in which Open MPI 4 has the files of all runs of a user on this host.

    The last run to end removes it. A run that starts beside others then fails where one of them makes the
    folder anew between its look and its own attempt ("File exists"). A folder that is not empty stays.
    """
    host = socket.gethostname().split(".")[0]
    (Path(tempfile.gettempdir()) / f"ompi.{host}.{os.geteuid()}" / "keep").mkdir(parents=True, exist_ok=True)
