"""One command at a time: a lock that the system takes from a process that ends, however it ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from .errors import BadInput

LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder, which is created if missing, and removed again if it stays empty.

    Raises BadInput if another command holds it, and where the file system has no locks.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with open_locked(folder / LOCK) as lock:
        if lock is None:
            raise BadInput(f"{folder}: another command is at work here; wait for it or stop it")
        try:
            yield
        finally:
            if new and os.listdir(folder) == [LOCK]:
                (folder / LOCK).unlink()
                folder.rmdir()


@contextlib.contextmanager
def open_locked(file: Path, wait: bool = False) -> Iterator[int | None]:
    """The descriptor of a locked file, which is created if missing; None if another process has the lock.

    Programs that inherit the descriptor hold the lock as well. `wait`: until it is free.
    """
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:  # of another user
        lock = os.open(file, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield lock
    except BlockingIOError:
        yield None
    finally:
        os.close(lock)
