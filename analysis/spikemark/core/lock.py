"""Ensures that one command at a time works in a folder of results.

The system takes the lock from a process that ends, however it ends, so no lock is ever left behind. The file
also says who holds it.
"""

import contextlib
import fcntl
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from .errors import BadInput

LOCK = ".lock"
LONGEST = 300  # characters of a command that are shown
PATIENCE_S = 20.0  # programs of a command that was killed end within this time
SILENT_S = 1.0  # a wait of this length gets no line
LOOK_EVERY_S = 0.1


@contextlib.contextmanager
def locked(folder: Path, work: Callable[[], str] = str) -> Iterator[int]:
    """Locks the folder, which is created if missing; yields the descriptor of the lock.

    Processes that inherit the descriptor hold the lock as well. If the command that started them has ended
    on this host, they are given PATIENCE_S to end, too; after SILENT_S, a line on stderr names them. A folder
    that was created here and stayed empty is removed afterwards. Raises BadInput if the folder is held, and
    names the process and what `work` says about its work, in words.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "a+") as lock:
        try:
            if not _take(lock) and not (_ended(lock) and _waited(lock, folder, work)):
                raise BadInput(f"{folder}: {_holder(lock, work())}")
        except OSError as error:
            why = f"this file system cannot lock files ({error.strerror})"
            raise BadInput(
                f"{folder}: {why}: choose another one, or ask for its mount option flock"
            ) from None
        _sign(lock)
        try:
            yield lock.fileno()
        finally:
            if new and [path.name for path in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
                folder.rmdir()


def _take(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _waited(lock: TextIO, folder: Path, work: Callable[[], str]) -> bool:
    """Takes the lock once the programs of a command that has ended are gone; False if they stay."""
    began, said = time.monotonic(), False
    while time.monotonic() < began + PATIENCE_S:
        time.sleep(LOOK_EVERY_S)
        if _take(lock):
            return True
        if not said and time.monotonic() >= began + SILENT_S:
            said = True
            print(f"{folder}: {_holder(lock, work())}; waiting for them to end", file=sys.stderr, flush=True)
    return False


def _sign(lock: TextIO) -> None:
    """Writes into the lock who holds it."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    about = {
        "command": shlex.join([name, *sys.argv[1:]]),
        "pid": os.getpid(),
        "host": platform.node(),
        "since": time.strftime("%Y-%m-%d %H:%M"),
    }
    with contextlib.suppress(OSError):  # only the line that another command prints would need it
        lock.truncate(0)
        lock.write(json.dumps(about))
        lock.flush()


def _about(lock: TextIO) -> dict[str, Any] | None:
    """What the holder wrote about itself; None if that cannot be read."""
    lock.seek(0)
    try:
        about = json.loads(lock.read())
        return {"pid": int(about["pid"])} | {
            name: _short(about[name]) for name in ("command", "host", "since")
        }
    except (ValueError, KeyError, TypeError):
        return None


def _ended(lock: TextIO) -> bool:
    """Says whether the command that took the lock is known to have ended, on this host."""
    about = _about(lock)
    return about is not None and about["host"] == _short(platform.node()) and not _alive(about["pid"], lock)


def _holder(lock: TextIO, work: str) -> str:
    """Who holds the lock, at what work, and what to do, in words."""
    about, at = _about(lock), f", at {work}" if work else ""
    if about is None:
        return f"another command is running here{at}; wait for it or stop it"
    command, pid, host = about["command"], about["pid"], about["host"]
    running = f"`{command}` is running here since {about['since']}{at}"
    if host != _short(platform.node()):
        return f"{running} (process {pid} on {host}); wait for it, or stop it there with `kill {pid}`"
    if _alive(pid, lock):
        return f"{running} (process {pid}); wait for it, or stop it with `kill {pid}`"
    left = " ".join(map(str, _open_in(lock)))
    what = (
        f"programs that it started still run{at}; stop them with `kill {left}`" if left else "wait a moment"
    )
    return f"`{command}` was running here since {about['since']} (process {pid}) and has ended; {what}"


def _short(value: object) -> str:
    """A value of the lock as one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _alive(pid: int, lock: TextIO) -> bool:
    """Says whether a process of this host is there and, as far as we may look into it, has the lock open."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    try:
        return _has_open(Path(f"/proc/{pid}/fd"), os.fstat(lock.fileno()))
    except OSError:
        return True


def _has_open(descriptors: Path, file: os.stat_result) -> bool:
    """Says whether one of a process's descriptors is that file. Raises OSError if we may not look."""
    for descriptor in os.listdir(descriptors):
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat((descriptors / descriptor).stat(), file):
                return True
    return False


def _open_in(lock: TextIO) -> list[int]:
    """The other processes of this host that have the lock open, as far as we may look into them."""
    ours, found = os.fstat(lock.fileno()), []
    for descriptors in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if _has_open(descriptors, ours):
                found.append(int(descriptors.parts[2]))
    return sorted({*found} - {os.getpid()})
