"""FIFOs, devices and links that lie where a command should put its result."""

import contextlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from spikemark.core.errors import BadInput

from .server import LIMIT_S
from .tries import ENDLESS, Bench, Outcomes, Said, wrong_words

FAULT = "a FIFO, a device or a link in its place"
NULL, FULL = os.makedev(1, 3), os.makedev(1, 7)  # as /dev/null and /dev/full
LOOK_S = 0.01
ELSEWHERE = "elsewhere"  # what links lead to


def _device(number: int) -> Callable[[Path], None]:
    return lambda path: os.mknod(path, stat.S_IFCHR | 0o666, number)


def _link(path: Path) -> None:
    """Moves what lies there elsewhere and leaves a link to it, which leads nowhere if there was nothing."""
    other = path.with_name(ELSEWHERE)
    with contextlib.suppress(FileNotFoundError):
        path.rename(other)
    path.symlink_to(other)


#: What lies there, by its name.
MADE: dict[str, Callable[[Path], None]] = {
    "a FIFO": os.mkfifo,
    "a device": _device(NULL),
    "a full device": _device(FULL),
    "a link": _link,
}


def in_its_place(bench: Bench) -> Outcomes:
    """Puts each of MADE where the result should be. It stays, and gets the whole result or one line says why.

    Devices are left out where this process may make none.
    """
    found = Outcomes()
    for name, make in MADE.items():
        bench.anew()
        path = bench.place / bench.subject.output
        if make is not _link:
            bench.remove(path)
        try:
            make(path)
        except PermissionError:
            continue
        kind = path.lstat()
        with _read(path) as arrived, bench.started() as (_, ended):
            said = ended()
        wrong = [*wrong_words(said), *_wrong(said, kind, path)]
        left = _left(bench, name, path, arrived) if not wrong else "some"
        if left != "whole" and said.status == 0 and name in ("a FIFO", "a link"):
            wrong.append("status 0, but not whole")
        found.add(left, [f"{bench.subject.name}: {name}: {line}" for line in wrong])
    return found


def _wrong(said: Said, kind: os.stat_result, path: Path) -> Iterator[str]:
    """What a command did to what lies there, and whether it ended."""
    if said.status == ENDLESS:
        yield f"has not ended after {LIMIT_S} s"
    elif said.status < 0:
        yield f"ended by signal {-said.status}"
    try:
        now = path.lstat()
    except FileNotFoundError:
        yield "is gone"
        return
    if (stat.S_IFMT(now.st_mode), now.st_rdev) != (stat.S_IFMT(kind.st_mode), kind.st_rdev):
        yield "has become something else"
    if kind.st_rdev == FULL and said.status == 0:
        yield "status 0 on a device that takes nothing"


def _left(bench: Bench, name: str, path: Path, arrived: bytearray) -> str:
    """What came out: whole, absent (or as before), or some."""
    if name != "a link":
        path.unlink()
        if arrived:
            path.write_bytes(arrived)
    try:
        parts = bench.subject.parts(bench.place)
    except BadInput:
        return "some"
    within = [part for part in bench.after if "/" not in part or part.startswith(f"{bench.subject.output}/")]
    if all(parts.get(part) == bench.after[part] for part in within):  # work beside it is beside the target
        return "whole"
    return "some" if any(bench.before.get(part) != made for part, made in parts.items()) else "absent"


@contextlib.contextmanager
def _read(path: Path) -> Iterator[bytearray]:
    """Reads what a FIFO gets, until the end of the block; yields the bytes. Does nothing for other files."""
    arrived, over = bytearray(), threading.Event()
    if not path.is_fifo():
        yield arrived
        return
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def take() -> None:
        last = False
        while not last:
            last = over.wait(LOOK_S)
            with contextlib.suppress(BlockingIOError):
                while some := os.read(file, 1 << 16):
                    arrived.extend(some)

    reader = threading.Thread(target=take)
    reader.start()
    try:
        yield arrived
    finally:
        over.set()
        reader.join()
        os.close(file)
