"""Writing files whole or not at all."""

import contextlib
import ctypes
import json
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from .errors import BadInput

#: Arguments of renameat2 (linux/fcntl.h, linux/fs.h): paths are as the process sees them; names are traded.
HERE, EXCHANGE = -100, 2


def write_json(path: Path, value: Any) -> None:
    """Writes `value` as indented JSON, whole or not at all; a file that already contains it is left alone."""
    data = (json.dumps(value, indent=1) + "\n").encode()
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file as `write_output` does, in a folder of our own, which is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, content)


def write_output(path: Path, content: str | bytes) -> None:
    """Write `content` to a temporary name beside `path`, flush it to the disk and rename it.

    A link is followed. A device or a FIFO is written to and stays what it is. An ordinary file keeps its
    permissions, and its owner and group where this process may give them.
    Raises OSError, FileNotFoundError where the folder is missing.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as stream:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                before = target.stat()
                os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode) & 0o777)
                os.fchown(stream.fileno(), before.st_uid, before.st_gid)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:  # names the file that is wanted, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


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


def discard(folder: Path) -> None:
    """Removes a folder and what is in it, as far as that can be done; raises nothing where it cannot."""
    with contextlib.suppress(OSError):  # rmtree raises even so where a folder cannot be closed
        shutil.rmtree(folder, ignore_errors=True)


def replace_folder(new: Path, place: Path) -> None:
    """Moves the folder `new` to `place`, then removes the folder that was there."""
    if not os.path.lexists(place):
        os.rename(new, place)
    elif trade(new, place):
        shutil.rmtree(new)
    else:
        old = place.with_name(f".{place.name}.replaced-{os.getpid()}")
        os.rename(place, old)
        try:
            os.rename(new, place)
        except OSError:
            os.rename(old, place)
            raise
        shutil.rmtree(old)


def trade(a: Path, b: Path) -> bool:
    """Lets two paths trade names at once, so that neither is ever missing; False if the system cannot."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    return swap is not None and swap(HERE, os.fsencode(a), HERE, os.fsencode(b), EXCHANGE) == 0


def replaceable(folder: Path, names: Collection[str], mark: str, what: str) -> None:
    """Refuse, before any work, a folder in which a command must replace nothing.

    It may be missing, empty, or hold the file `mark` and other files of `names`, which in words is `what`.
    """
    problem = ""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        problem = "is not a folder"
    elif present := sorted(path.name for path in folder.iterdir()) if folder.exists() else []:
        if foreign := [name for name in present if name not in names]:
            problem = f"contains {foreign[0]!r}"
        elif mark not in present:
            problem = f"contains {present[0]!r} without {mark}"
    if problem:
        expected = f"a folder that is new, empty, or holds {what} and nothing else"
        raise BadInput(f"--out {folder}: {problem}; expected {expected}", field="out", code="file")


def output_file(option: str, path: Path | None) -> None:
    """Refuse, before any work, a file named by `option` that is a folder or lies in none. None: not given."""
    if path is not None and path.is_dir():
        raise BadInput(f"{option}: {path} is a folder; expected a file")
    if path is not None and not path.absolute().parent.is_dir():
        raise BadInput(f"{option}: there is no folder {path.parent}; expected a file in a folder that exists")
