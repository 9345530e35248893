"""Writing files whole or not at all."""

import contextlib
import ctypes
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .errors import BadInput

#: Arguments of renameat2 (linux/fcntl.h, linux/fs.h): paths are as the process sees them; names are traded.
HERE, EXCHANGE = -100, 2
#: A name there stands for what is open already.
OPENED = ("/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file as `write_output` does, in a folder of our own, which is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, content)


def write_output(path: Path, content: str | bytes) -> None:
    """Write `content` to a temporary name beside `path`, flush it to the disk and rename it.

    A link is followed. A device, a FIFO or an open file of a process is written to and stays what it is. An
    ordinary file keeps its permissions, and its owner and group where this process may give them.
    Raises OSError, FileNotFoundError where the folder is missing.
    """
    data = content.encode() if isinstance(content, str) else content
    if (path.exists() and not path.is_file()) or any(map(path.absolute().is_relative_to, OPENED)):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as stream:
            _keep_owner(stream.fileno(), target)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:  # names the file that is wanted, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _keep_owner(file: int, target: Path) -> None:
    """Gives an open file the owner, group and permissions of `target`, as far as that is there."""
    try:
        before = target.stat()
    except FileNotFoundError:
        return
    with contextlib.suppress(PermissionError):
        os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode) & 0o777)


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """Yields a new folder, which takes the place of the folder `place` when the block has ended well.

    Until then, `place` stays as it is, or absent. A mount point, the working folder, and a folder beside
    which nothing can be written are yielded themselves. Raises OSError that names files of `place`.
    """
    target = Path(os.path.realpath(place))
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.ismount(target) or Path.cwd().is_relative_to(target) or not os.access(target.parent, os.W_OK):
        target.mkdir(exist_ok=True)
        yield target
        return
    folder = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        folder.mkdir()
        yield folder
        replace_folder(folder, target)
    except OSError as error:
        name = str(error.filename or place).replace(str(folder), str(place))
        raise OSError(error.errno, error.strerror, name) from None
    finally:
        discard(folder)


@contextlib.contextmanager
def changed_folder(place: Path) -> Iterator[Path]:
    """As `whole_folder`, of a folder that is there: the new one begins with all files of `place`.

    Files that the block leaves alone are not copied where the disk has hard links. A file is to be replaced,
    as `write_output` does, never written into. Raises OSError as `whole_folder` does.
    """
    with whole_folder(place) as made:
        if not made.samefile(place):
            shutil.copytree(place, made, symlinks=True, copy_function=_linked, dirs_exist_ok=True)
        yield made


def _linked(file: str, other: str) -> None:
    try:
        os.link(file, other)
    except OSError:  # a disk without hard links
        shutil.copy2(file, other)


def discard(folder: Path) -> None:
    """Removes a folder and what is in it, as far as that can be done; raises nothing where it cannot.

    Python's own function raises even if asked to ignore errors, where a folder cannot be closed.
    """
    with contextlib.suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)


def replace_folder(new: Path, place: Path, check: Callable[[Path], None] = lambda old: None) -> None:
    """Moves the folder `new` to `place`, and removes the folder that is there once the new one is in place.

    `check` is called with the old folder when nobody can put anything into it any more; where it raises,
    nothing has changed.
    """
    if not os.path.lexists(place):
        os.rename(new, place)
        return
    if trade(new, place):
        try:
            check(new)
        except BaseException:
            trade(new, place)
            raise
        shutil.rmtree(new)
        return
    old = place.with_name(f".{place.name}.replaced-{os.getpid()}")
    os.rename(place, old)
    try:
        check(old)
        os.rename(new, place)
    except BaseException:
        os.rename(old, place)
        raise
    shutil.rmtree(old)


def trade(a: Path, b: Path) -> bool:
    """Let two paths trade names at once, so that neither name is ever missing.

    False where the system cannot do that; then nothing has changed.
    """
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return swap(HERE, os.fsencode(a), HERE, os.fsencode(b), EXCHANGE) == 0


def output_file(option: str, path: Path | None) -> None:
    """Refuse, before any work, a file named by `option` that is a folder or lies in none. None: not given."""
    if path is None:
        return
    if path.is_dir():
        raise BadInput(f"{option}: {path} is a folder; allowed: a file")
    if not path.absolute().parent.is_dir():
        raise BadInput(f"{option}: there is no folder {path.parent}; allowed: a file in a folder that exists")


def write_json(path: Path, value: Any) -> None:
    """Writes `value` as indented JSON, whole or not at all; a file that already contains it is left alone."""
    data = (json.dumps(value, indent=1) + "\n").encode()
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)
