"""Ensures that one command at a time works in a folder of results."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from .errors import BadInput

LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Locks the folder, which is created if missing; yields the descriptor of the lock.

    Processes that inherit the descriptor hold the lock as well. A folder that was created here and stayed
    empty is removed afterwards. Raises BadInput if the folder is held already.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"{folder}: another sweep or benchmark is running here; wait for it or stop it"
            ) from None
        except OSError as error:
            why = f"this file system cannot lock files ({error.strerror})"
            raise BadInput(
                f"{folder}: {why}: choose another one, or ask for its mount option flock"
            ) from None
        try:
            yield lock.fileno()
        finally:
            if new and [path.name for path in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
                folder.rmdir()
