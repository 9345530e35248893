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

    Raises BadInput if another command holds it; OSError that names the folder where it cannot be
    written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder, "results")):
        ...     print(Path(folder, "results").is_dir())
        True
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with open_locked(folder / LOCK) as lock:
        if lock is None:
            message = "another command is at work here; wait for it or stop it"
            raise BadInput(message, file=folder, code="file")
        try:
            yield
        finally:
            if is_new and os.listdir(folder) == [LOCK]:
                (folder / LOCK).unlink()
                folder.rmdir()


@contextlib.contextmanager
def open_locked(file: Path, wait: bool = False) -> Iterator[int | None]:
    """The descriptor of a locked file; None if another process has the lock.

    Programs that inherit the descriptor hold the lock as well.

    Args:
        file: to lock; it is created if missing.
        wait: whether to wait until the lock is free.

    Raises OSError that names the folder where there is no such file and none can be made.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "lock")
        ...     with open_locked(file) as first, open_locked(file) as second:
        ...         print(first is None, second is None)
        False True
    """
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        if not file.exists():
            raise OSError(error.errno, error.strerror, str(file.parent)) from None
        lock = os.open(file, os.O_RDONLY)  # of another user, or of a folder that is read only
    operation = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
    try:
        fcntl.flock(lock, operation)
        yield lock
    except BlockingIOError:
        yield None
    finally:
        os.close(lock)
