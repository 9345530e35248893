"""Writing files whole or not at all."""

import contextlib
import ctypes
import json
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from .errors import BadInput

#: Arguments of renameat2 (linux/fcntl.h, linux/fs.h): paths are as the process sees them.
AT_FDCWD = -100
#: Names are traded.
RENAME_EXCHANGE = 2


def write_json(path: Path, value: object) -> None:
    """Writes `value` as indented JSON, whole or not at all.

    A file that already contains it is left alone.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     write_json(Path(folder, "plan.json"), {"ranks": 4})
        ...     Path(folder, "plan.json").read_text().split()
        ['{', '"ranks":', '4', '}']
    """
    data = (json.dumps(value, indent=1) + "\n").encode()
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file as `write_output` does, in a folder that is made if it is missing.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     write_atomically(Path(folder, "new", "notes.txt"), "whole or not at all")
        ...     len(list(Path(folder, "new").iterdir()))
        1
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, content)


def write_output(path: Path, content: str | bytes) -> None:
    """Write `content` to a temporary name beside `path`, flush it to the disk and rename it.

    A link is followed. A device or a FIFO is written to and stays what it is. An ordinary file
    keeps its permissions, and its owner and group where this process may give them. Raises OSError,
    FileNotFoundError where the folder is missing.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_output(Path(folder, "answer.txt"), "42")
        ...     print(Path(folder, "answer.txt").read_text())
        42
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
        with contextlib.suppress(OSError):  # of a file system that takes no changes
            temporary.unlink()


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """Yields a new folder, which takes the place of the folder `place` when the block ends well.

    Until then, `place` stays as it is, or absent. A mount point, the working folder, and a folder
    beside which nothing can be written are yielded themselves. Raises OSError that names files of
    `place`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with whole_folder(Path(folder, "results")) as new:
        ...         _ = Path(new, "answer.txt").write_text("42")
        ...     print(sorted(path.name for path in Path(folder).iterdir()))
        ['results']
    """
    target = Path(os.path.realpath(place))
    target.parent.mkdir(parents=True, exist_ok=True)
    is_used = os.path.ismount(target) or Path.cwd().is_relative_to(target)
    if is_used or not os.access(target.parent, os.W_OK):
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
    """Removes a folder and what is in it, as far as that can be done; raises nothing.

    Example:
        >>> discard(Path("nowhere"))
    """
    with contextlib.suppress(OSError):  # rmtree raises even so where a folder cannot be closed
        shutil.rmtree(folder, ignore_errors=True)


def replace_folder(new: Path, place: Path) -> None:
    """Moves the folder `new` to `place`, then removes the folder that was there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "new").mkdir()
        ...     replace_folder(Path(folder, "new"), Path(folder, "results"))
        ...     print([path.name for path in Path(folder).iterdir()])
        ['results']
    """
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
    """Lets two paths trade names at once, so that neither is ever missing.

    False if the system cannot.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     new, old = Path(folder, "new"), Path(folder, "old")
        ...     _ = new.write_text("new"), old.write_text("old")
        ...     if trade(new, old):  # not every file system can
        ...         assert old.read_text() == "new"
    """
    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    return swap is not None and (
        swap(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) == 0
    )


def replaceable(
    folder: Path,
    names: Collection[str],
    mark: str,
    content: str,
) -> None:
    """Refuses, before any work, a folder in which a command would replace files of others.

    Args:
        folder: of `--out`; it may be missing or empty.
        names: of the files that it may hold.
        mark: the file that it must hold unless it is empty.
        content: what such a folder holds, in words.

    Raises BadInput.

    Example:
        >>> replaceable(Path("docs/results"), ("record.json",), "record.json", "a run")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: out=docs/results: contains 'beyond-waiting.svg'; ...
    """
    problem = _foreign_content(folder, names, mark)
    if problem is not None:
        expected = f"a folder that is new, empty, or holds {content} and nothing else"
        message = f"out={folder}: {problem}; expected {expected}"
        raise BadInput(message, field="out", code="file")


def _foreign_content(folder: Path, names: Collection[str], mark: str) -> str | None:
    """Why files of a folder may not be replaced; None where they may."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return "is not a folder"
    if not folder.exists():
        return None
    present = sorted(path.name for path in folder.iterdir())
    for name in present:
        if name not in names:
            return f"contains {name!r}"
    if present and mark not in present:
        return f"contains {present[0]!r} without {mark}"
    return None


def output_file(option: str, path: Path | None) -> None:
    """Refuses, before any work, a file named by `option` that is a folder or lies in none.

    `path` is None where the option is not given. Raises BadInput.

    Example:
        >>> output_file("--html", Path("nowhere/page.html"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: --html: there is no folder nowhere; expected a file ...
    """
    if path is None:
        return
    if path.is_dir():
        raise BadInput(
            f"{option}: {path} is a folder; expected a file",
            field=option,
            code="file",
        )
    if not path.absolute().parent.is_dir():
        expected = "a file in a folder that exists"
        message = f"{option}: there is no folder {path.parent}; expected {expected}"
        raise BadInput(message, field=option, code="file")
