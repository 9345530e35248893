"""One command at a time works in a folder of results."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from .errors import BadInput

LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold the folder, which is made where it is missing; yields the descriptor of the lock.

    Processes that inherit the descriptor hold the folder as well. Raises BadInput if it is held already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"{folder}: another sweep or benchmark is at work here; wait for it or stop it"
            ) from None
        yield lock.fileno()
